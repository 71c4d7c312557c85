"""Finished cells as a table: what was asked, what was found, how sure that is, who judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from src.figures.captions import percent, plural
from src.figures.finding import Source
from src.figures.tabulated import Grid, Notes
from src.records import Metrics

FEW = 25
"""Cells that are shown in one table; more of them are folded, a table per domain."""
HEADINGS = ("model", "strategy", "domain", "judge", "subject")
COUNTS = ("raw", "unique", "valid")
NUMBERS = (*COUNTS, "accuracy", "95 % leaf", "95 % plain", "n", "tokens")
BESIDE = {
    "coverage": "coverage",
    "reachable": "chao2",
    "truth: accuracy": "truth_accuracy",
    "truth: coverage": "truth_coverage",
    "truth: reachable": "truth_reachable",
}
"""Columns that are shown if a cell has their number, and its name."""
MEANINGS = {
    "raw": "points as they were listed",
    "unique": "clusters of points, those that say the same merged",
    "valid": "clusters whose representative the audit accepts",
    "accuracy": "valid of the n clusters on which the audit gave a readable verdict",
    "95 % leaf": "interval of accuracy, points of a branch taken as alike: Wilson on n/deff with t; unit: branch",
    "95 % plain": "interval of accuracy, points taken as independent: Wilson; unit: cluster; too narrow where points "
    "of a branch resemble each other",
    "tokens": "generation in and out plus embedding, as if nothing were replayed; judge and audit apart",
    "coverage": "share of what one more draw of the prompts of turn 1 brings that repeats found, with 95 % bounds",
    "reachable": "at least so many valid clusters (branch × cluster) can these prompts bring: Chao2, with 95 % bounds",
    "truth": "of simulated models, whose knowledge is planted; the same quantity as the column without the word",
    "cell": "first 8 digits of the cell_key, the hash of everything that the answers depend on",
}


@dataclass(frozen=True)
class CellLine:
    """A finished cell.

    Attributes:
        source: what it is, who judged, whether a real model was asked, its key and folder.
        query: its domain as the prompts say it.
        settings: name → value of what else tells cells apart.
        metrics: as of the cell.
    """

    source: Source
    query: str
    settings: Mapping[str, str]
    metrics: Metrics

    @property
    def anchor(self) -> str:
        """Name of its row, for links."""
        return f"cell-{self.source.cell_key[:16]}"


@dataclass(frozen=True)
class Fold:
    """Cells that are shown or folded away together: a line that sums them up, their table, the cell of each row."""

    summary: str
    grid: Grid
    cells: tuple[CellLine, ...]


@dataclass(frozen=True)
class CellTable:
    """All cells: what they have in common, one fold or one per domain, why values are none."""

    common: str
    folds: tuple[Fold, ...]
    notes: tuple[str, ...]


def cell_table(cells: Sequence[CellLine]) -> CellTable:
    """Lay out cells, which are sorted by domain; settings in which they differ become columns."""
    if not cells:
        return CellTable("", (), ())
    common, varied = settings_of(cells)
    notes = Notes()
    parts = [list(part) for _, part in groupby(cells, key=lambda cell: cell.source.domain)] if len(cells) > FEW else []
    beside = [name for name, key in BESIDE.items() if any(cell.metrics.get(key) is not None for cell in cells)]
    columns = [*HEADINGS, *varied, *NUMBERS, *beside, "stop reason", "cell"]
    if parts:
        columns.remove("domain")  # the fold is named after it
    folds = []
    for part in parts or [list(cells)]:
        lines = [_texts(cell, notes) for cell in part]
        rows = tuple(tuple(texts.get(name, "") for name in columns) for texts in lines)
        grid = Grid(tuple(columns), tuple(name in (*NUMBERS, *BESIDE) for name in columns), rows, total=len(rows))
        folds.append(Fold(_summary(part), grid, tuple(part)))
    return CellTable(common, tuple(folds), notes.lines())


def settings_of(cells: Sequence[CellLine]) -> tuple[str, list[str]]:
    """What all cells have in common, in words, and the names of the settings in which they differ."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.settings))
    values = {name: {cell.settings.get(name, "") for cell in cells} for name in names}
    varied = [name for name in names if len(values[name]) > 1]
    return ", ".join(f"{name} {next(iter(values[name]))}" for name in names if name not in varied), varied


def _texts(cell: CellLine, notes: Notes) -> dict[str, str]:
    """Heading → what stands under it."""
    source, metrics = cell.source, cell.metrics
    judged = sum(value for name in ("valid", "invalid") if isinstance(value := metrics.get(name), int))
    return {
        "model": source.model,
        "strategy": source.strategy,
        "domain": source.domain,
        "judge": source.judge,
        "subject": source.subject,
        **cell.settings,
        **{name: _count(metrics, name, notes) for name in COUNTS},
        "accuracy": _share(metrics, "accuracy", notes),
        "95 % leaf": _bounds(metrics, "accuracy_leaf", notes),
        "95 % plain": _bounds(metrics, "accuracy", notes),
        "n": f"{judged:,}",
        "tokens": _count(metrics, "tokens_nominal", notes),
        **{name: _beside(metrics, key, notes) for name, key in BESIDE.items()},
        "stop reason": source.stop_reason,
        "cell": source.cell_key[:8],
    }


def _summary(cells: Sequence[CellLine]) -> str:
    """`deep_learning: 50 cells; valid 12–812, median 301; accuracy 61.0 %–93.2 %, median 80.1 %`."""
    words = [f"{', '.join(sorted({cell.source.domain for cell in cells}))}: {plural(len(cells), 'cell')}"]
    for name, spell in (("valid", lambda value: f"{value:,.0f}"), ("accuracy", percent)):
        known = [value for cell in cells if isinstance(value := cell.metrics.get(name), int | float)]
        if known:
            words.append(f"{name} {spell(min(known))} to {spell(max(known))}, median {spell(median(known))}")
    return "; ".join(words)


def _count(metrics: Metrics, name: str, notes: Notes) -> str:
    value = metrics.get(name)
    return f"{value:,.0f}" if isinstance(value, int | float) else notes.none(_why(metrics, name))


def _share(metrics: Metrics, name: str, notes: Notes) -> str:
    value = metrics.get(name)
    return percent(value) if isinstance(value, int | float) else notes.none(_why(metrics, name))


def _bounds(metrics: Metrics, name: str, notes: Notes) -> str:
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return notes.none(_why(metrics, f"{name}_low"))
    return f"{100 * low:.1f}–{percent(high)}"


def _beside(metrics: Metrics, name: str, notes: Notes) -> str:
    """A number with its bounds if it has any; nothing for a cell in which nobody asked for it."""
    if name not in metrics or (metrics.get("repeats") == 1 and not name.startswith(("truth_acc", "truth_reach"))):
        return ""
    write = _count if name in ("chao2", "truth_reachable") else _share
    value, low, high = (metrics.get(name + end) for end in ("", "_low", "_high"))
    text = write(metrics, name, notes)
    if value is None or not isinstance(low, int | float):
        return text
    if not isinstance(high, int | float):
        return f"{text} (from {low:,.0f})"
    return f"{text} ({low:,.0f}–{high:,.0f})" if write is _count else f"{text} ({100 * low:.1f}–{100 * high:.1f})"


def _why(metrics: Metrics, name: str) -> str:
    return str(metrics.get(f"{name}_reason", "not computed"))
