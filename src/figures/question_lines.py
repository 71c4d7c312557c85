"""Finished cells of questions as a table: how they were asked, what was right, how sure the model was."""

from __future__ import annotations

from collections.abc import Sequence

from src.figures.captions import percent, plural
from src.figures.categories_lines import MEANINGS as CLASSES
from src.figures.cell_lines import CellLine, CellTable, Fold, settings_of
from src.figures.tabulated import Grid, Notes
from src.records import Metrics

MEANINGS = {
    "questions": "those that have all of their answers; the others are incomplete and outside every number",
    "category score": "from 6, all highly known, to 1, all confidently wrong; 95 % by Bayesian bootstrap of questions",
    **{name: f"share of questions; {meaning}" for name, meaning in CLASSES.items()},
}
WORDS = ("model", "setting", "data set", "subject")
NUMBERS = ("questions", "incomplete", "accuracy", "95 %", "category score", "95 % score", *CLASSES)


def question_table(cells: Sequence[CellLine]) -> CellTable:
    """Lay out cells, which are sorted by data set; settings in which they differ become columns."""
    if not cells:
        return CellTable("", (), ())
    common, varied = settings_of(cells)
    notes = Notes()
    columns = (*WORDS, *varied, *NUMBERS, "stop reason", "cell")
    rows = []
    for cell in cells:
        source, metrics = cell.source, cell.metrics
        texts = {
            **dict(zip(WORDS, (source.model, source.strategy, source.domain, source.subject), strict=True)),
            **{name: cell.settings.get(name, "") for name in varied},
            **{name: f"{metrics[name]:,}" for name in ("questions", "incomplete")},
            "accuracy": _said(metrics, "accuracy", notes),
            "95 %": _bounds(metrics, "accuracy", notes),
            "category score": _said(metrics, "category_score", notes),
            "95 % score": _bounds(metrics, "category_score", notes),
            **{name: _said(metrics, f"share_{name}", notes) for name in CLASSES},
            "stop reason": source.stop_reason,
            "cell": source.cell_key[:8],
        }
        rows.append(tuple(texts[name] for name in columns))
    grid = Grid(columns, tuple(name in NUMBERS for name in columns), tuple(rows), total=len(rows))
    return CellTable(common, (Fold(plural(len(cells), "cell"), grid, tuple(cells)),), notes.lines())


def _said(metrics: Metrics, name: str, notes: Notes) -> str:
    value = metrics.get(name)
    if not isinstance(value, int | float):
        return notes.none(str(metrics.get(f"{name}_reason", "not computed")))
    return f"{value:.2f}" if name == "category_score" else percent(value)


def _bounds(metrics: Metrics, name: str, notes: Notes) -> str:
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return notes.none(str(metrics.get(f"{name}_low_reason", "not computed")))
    return f"{low:.2f}–{high:.2f}" if name == "category_score" else f"{100 * low:.1f}–{percent(high)}"
