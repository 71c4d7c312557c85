"""The model that knows most against every other one: differences with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import dots, height, legend, placed

DIFFERENCES = (
    "Recall_match of the best model less that of every other, in percentage points, mean over domains, with 95 % "
    "intervals (unit: union cluster, 2,000 multinomial draws). Filled: not separable (Holm over all pairs). Thin grey "
    "line: the interval if whole branches of each model are redrawn."
)
"""What the figure shows."""
BELOW = 0.25
"""Of a row, how far the line of branches lies below the mark."""


def versus(compared: pl.DataFrame, best: Sequence[str], caveat: str) -> Figure:
    """Recall_match of the best model less that of every other one, the nearest first.

    Args:
        compared: the table `pairs` of a study, at least one row.
        best: names of the models that are not separable from the best, which comes first.
        caveat: what must be known before the numbers.
    """
    leader = best[0]
    rows = []
    for row in compared.filter((pl.col("model") == leader) | (pl.col("other") == leader)).iter_rows(named=True):
        sign = 1 if row["model"] == leader else -1
        bounds, branches = (_signed(row, name, sign) for name in ("difference", "branch"))
        rows.append((100 * sign * row["difference"], row["other" if sign > 0 else "model"], bounds, branches))
    rows.sort(key=lambda row: row[:2])
    figure, (ax,) = canvas(
        f"Recall of {leader} less that of every other model",
        f"n = {plural(int(compared['clusters'][0]), 'union cluster')}, {plural(compared.height, 'pair')} · {caveat}",
        "Lines: 95 % intervals, multinomial draws over union clusters; none where fewer than 10 clusters are unlike\n"
        "the rest. Thin grey: whole branches redrawn. Filled: not separable from the best, Holm over all pairs at 5 %.",
        height=height(len(rows)),
    )
    values, names = [value for value, *_ in rows], [name for _, name, *_ in rows]
    dots(ax, names, values, [bounds for _, _, bounds, _ in rows], [name in best for name in names])
    redrawn = [(place + BELOW, *ends) for place, (*_, ends) in enumerate(rows) if ends[0] is not None]
    if redrawn:
        ax.hlines(*zip(*redrawn, strict=True), color=COLOURS.muted, linewidth=0.9, zorder=2)
    ax.axvline(0, color=COLOURS.ink, linewidth=1.0)
    reach = [0.0, *values, *(end for row in rows for ends in row[2:] for end in ends if end is not None)]
    room = max(1.0, 0.06 * (max(reach) - min(reach)))
    ax.set_xlim(min(reach) - room, max(reach) + room)
    ax.set_xlabel("difference of recall_match, percentage points")
    placed(figure, len(rows), 2.1)
    legend(ax, [("not separable", True), ("separated", False)], at=(0.15, 0.75))
    return figure


def _signed(row: Mapping[str, Any], name: str, sign: int) -> tuple[float | None, float | None]:
    """Bounds of a difference in percentage points, turned round where the leader is the other model."""
    ends = [None if row[f"{name}_{end}"] is None else 100 * sign * row[f"{name}_{end}"] for end in ("low", "high")]
    low, high = ends if sign > 0 else ends[::-1]
    return low, high
