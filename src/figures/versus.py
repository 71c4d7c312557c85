"""The model that knows most against every other one: differences with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import dots, height, legend, placed


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
        ahead = row["model"] == leader
        ends = (row["difference_low"], row["difference_high"])
        signed = [None if end is None else 100 * end * (1 if ahead else -1) for end in ends]
        low, high = signed if ahead else signed[::-1]
        rows.append((100 * row["difference"] * (1 if ahead else -1), row["other" if ahead else "model"], low, high))
    rows.sort()
    figure, (ax,) = canvas(
        f"Recall of {leader} less that of every other model",
        f"n = {plural(int(compared['clusters'][0]), 'union cluster')}, {plural(compared.height, 'pair')} · {caveat}",
        "Lines: 95 % intervals, multinomial draws over union clusters; none where fewer than 10 clusters are unlike\n"
        "the rest. Filled: not separable from the best, Holm over all pairs at 5 %.",
        height=height(len(rows)),
    )
    values = [value for value, *_ in rows]
    names = [name for _, name, *_ in rows]
    dots(ax, names, values, [(low, high) for *_, low, high in rows], [name in best for name in names])
    ax.axvline(0, color=COLOURS.ink, linewidth=1.0)
    reach = [0.0, *values, *(end for *_, low, high in rows for end in (low, high) if end is not None)]
    room = max(1.0, 0.06 * (max(reach) - min(reach)))
    ax.set_xlim(min(reach) - room, max(reach) + room)
    ax.set_xlabel("difference of recall_match, percentage points")
    placed(figure, len(rows), 2.1)
    legend(ax, [("not separable", True), ("separated", False)], at=(0.15, 0.75))
    return figure
