"""A sweep as a table: what became of each cell, what it found, what it cost; for the terminal and for MLflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from src.figures.captions import percent, plural
from src.figures.plans import PlanRow
from src.records import Metrics

Status = Literal["running", "ok", "kept", "cut", "failed", "planned"]
STATUS = {
    "ok": "ok",
    "kept": "kept: done before, nothing asked",
    "cut": "cut short by a budget: raise it to go on",
    "failed": "failed",
    "running": "stopped before its end",
    "planned": "planned: nothing asked",
}
UNDONE = ("cut", "failed", "running")
"""Statuses of cells that the same command runs again."""

COUNTED = ("raw", "unique", "valid", "questions", "incomplete")
"""What probes count; a column where a cell of the sweep has it."""
INTERVALS = {
    "raw": "accuracy of points: Wilson, points taken as independent",
    "questions": "accuracy over questions: Clopper–Pearson",
    "category_score": "score: Bayesian bootstrap over questions",
}
"""What a cell has → how its intervals are made."""


@dataclass(frozen=True)
class SweptCell:
    """What became of one cell of a sweep.

    Attributes:
        number: its place in the grid, from 0.
        overrides: the arguments that make it this cell.
        status: `running` while it is under way and after a kill; `kept` if it was done before; `cut` by a budget.
        why: what stopped it, or cut it short; "" otherwise.
        metrics, spend: as of the cell; empty where there are none.
        plan: what it can cost, where nothing else was asked for.
        caveat: whether a real model was asked and what its judge does not check.
    """

    number: int
    overrides: tuple[str, ...]
    status: Status
    why: str = ""
    metrics: Metrics = field(default_factory=dict)
    spend: dict[str, Any] = field(default_factory=dict)
    plan: tuple[PlanRow, ...] | None = None
    caveat: str = ""


def varied(cells: Sequence[SweptCell]) -> tuple[list[str], list[list[str]]]:
    """What tells the cells apart: the names of the overrides that differ, and their values in each cell."""
    given = [dict(text.split("=", 1) for text in cell.overrides if "=" in text) for cell in cells]
    names = list(dict.fromkeys(name for overrides in given for name in overrides))
    names = [name for name in names if len({overrides.get(name) for overrides in given}) > 1] or names[:1]
    return names, [[overrides.get(name, "") for name in names] for overrides in given]


def labels(cells: Sequence[SweptCell]) -> list[str]:
    """One line per cell: the overrides that not all of them have."""
    names, values = varied(cells)
    return [" ".join(f"{name}={value}" for name, value in zip(names, row, strict=True)) or "-" for row in values]


def caveats(cells: Sequence[SweptCell]) -> list[str]:
    """What must be known before the numbers of the cells are read, each with the number of cells that it holds for."""
    said = [cell.caveat for cell in cells if cell.caveat]
    return [f"{caveat} ({plural(said.count(caveat), 'cell')})" for caveat in dict.fromkeys(said)]


def rows(cells: Sequence[SweptCell]) -> list[dict[str, str]]:
    """The cells as column → text, the same columns for all; what a cell does not know is empty."""
    counted = [name for name in COUNTED if any(name in cell.metrics for cell in cells)]
    score = any("category_score" in cell.metrics for cell in cells)
    return [
        {
            "status": cell.status if cell.status != "running" else "stopped",
            **{name: _count(cell.metrics.get(name)) for name in counted},
            **_accuracy(cell.metrics),
            **({"score": _score(cell.metrics)} if score else {}),
            "stop": str(cell.metrics.get("stop_reason", "")),
            "calls": _count(cell.metrics.get("calls")),
            "tokens": _tokens(cell.metrics),
            "USD": _dollars(cell.spend),
        }
        for cell in cells
    ]


def intervals(cells: Sequence[SweptCell]) -> str:
    """How the intervals of these cells are made; "" if none has any."""
    bounds = dict.fromkeys(INTERVALS, "accuracy_low") | {"category_score": "category_score_low"}
    known = [{name for name, value in cell.metrics.items() if value is not None} for cell in cells]
    made = [words for name, words in INTERVALS.items() if any({name, bounds[name]} <= names for names in known)]
    return f"95 % intervals of {'; of '.join(made)}" if made else ""


def headline(name: str, cells: Sequence[SweptCell]) -> str:
    """`sweep-1a2b3c4d: 12 cells, 8 ok, 2 kept, 2 failed`."""
    counts = {status: sum(cell.status == status for cell in cells) for status in STATUS}
    words = [f"{count} {'stopped' if status == 'running' else status}" for status, count in counts.items() if count]
    return f"{name}: {plural(len(cells), 'cell')}, {', '.join(words)}"


def numbers(cells: Sequence[SweptCell]) -> dict[str, float | None]:
    """Metrics of a sweep: cells by status and what they cost over all their runs; None where a part is unknown."""
    counts = {f"cells_{status}": float(sum(cell.status == status for cell in cells)) for status in STATUS}
    totals: dict[str, float | None] = {}
    for name in ("cost_usd", "tokens_spent", "attempts"):
        parts = [cell.spend.get(name) for cell in cells if cell.spend]
        known = [float(part) for part in parts if part is not None]
        totals[name] = sum(known) if len(known) == len(parts) else None
    return {"cells": float(len(cells)), **counts, **totals}


def note(name: str, cells: Sequence[SweptCell]) -> str:
    """The description of a sweep in Markdown."""
    table = rows(cells)
    columns = list(table[0])
    made = intervals(cells)
    lines = [
        f"**{headline(name, cells)}**",
        *(f"**{line}**" for line in caveats(cells)),
        f'Its cells: search `tags.sweep = "{name}"` in the experiment of the probe. {made}{". " if made else ""}Calls '
        "and tokens are nominal, as if nothing were replayed; USD over all runs of the cell.",
        "\n".join(
            [
                f"| cell | {' | '.join(columns)} |",
                f"|:--|:--|{'--:|' * (len(columns) - 1)}",
                *(
                    f"| {_plain(label)} | {' | '.join(row.values())} |"
                    for label, row in zip(labels(cells), table, strict=True)
                ),
            ]
        ),
    ]
    failed = [
        f"- {_plain(label)}: {_plain(cell.why or STATUS[cell.status])}"
        for label, cell in zip(labels(cells), cells, strict=True)
        if cell.status in UNDONE
    ]
    return "\n\n".join([*lines, *(["**Not done**\n\n" + "\n".join(failed)] if failed else [])])


def csv(cells: Sequence[SweptCell]) -> str:
    """The cells as CSV, with every number that they know."""
    table = [
        {
            "cell": label,
            "status": cell.status,
            "why": cell.why,
            "caveat": cell.caveat,
            **{key: value for key, value in cell.metrics.items() if not key.endswith("_reason")},
            **{key: value for key, value in cell.spend.items() if not isinstance(value, dict | list)},
        }
        for label, cell in zip(labels(cells), cells, strict=True)
    ]
    return pl.DataFrame(table, infer_schema_length=None).write_csv()


def _accuracy(metrics: Metrics) -> dict[str, str]:
    found = _bounded(metrics, "accuracy")
    return {
        "accuracy": percent(found[0]) if found else "",
        "95 %": f"{100 * found[1]:.1f}–{100 * found[2]:.1f}" if found else "",
    }


def _score(metrics: Metrics) -> str:
    found, value = _bounded(metrics, "category_score"), metrics.get("category_score")
    bounds = f" [{found[1]:.2f}, {found[2]:.2f}]" if found else ""
    return f"{value:.2f}{bounds}" if isinstance(value, int | float) else ""


def _bounded(metrics: Metrics, name: str) -> tuple[float, float, float] | None:
    value, low, high = (metrics.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if not isinstance(value, int | float) or not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return value, low, high


def _tokens(metrics: Metrics) -> str:
    """Of all roles; a probe without others has those of the subject only."""
    parts = [metrics.get(f"tokens_generation_{way}") for way in ("in", "out")]
    known = [part for part in parts if isinstance(part, int | float)]
    return _count(metrics.get("tokens_nominal", sum(known) if len(known) == len(parts) else None))


def _count(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else ""


def _dollars(spend: dict[str, Any]) -> str:
    if not spend:
        return ""
    cost = spend.get("cost_usd")
    return "unknown" if cost is None else f"{cost:,.4f}"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
