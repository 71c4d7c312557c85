"""How often intervals held the truth: a row for each estimator, a mark for each setting."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import ABOVE, BELOW

LEAST = 0.70
"""Coverage at the left end; what is below is written there."""
ROW = 0.42
"""Inches of a row."""
LINES = (0.90, 0.95, 0.98)


def coverage_figure(estimates: pl.DataFrame, titles: Mapping[str, str], seeds: int) -> Figure:
    """Coverage by estimator and setting.

    Args:
        estimates: schema ESTIMATES of :mod:`src.studies.validation.summary`.
        titles: name of an estimator → how it is called.
        seeds: universes of each setting.
    """
    shown = estimates.filter(pl.col("intervals") > 0)
    names = shown["estimator"].unique(maintain_order=True).to_list()
    settings = estimates["setting"].unique(maintain_order=True).to_list()
    height = ABOVE + BELOW + ROW * max(4, len(names))
    figure, (ax,) = canvas(
        "How often intervals of nominal 95 % hold the truth",
        f"simulated models · {plural(len(settings), 'setting')} of {plural(seeds, 'universe')} each",
        "A mark for each setting, from top to bottom in their order. Filled: the interval claims 95 %. Orange: below "
        "90 %, triangle: below 70 %.\nDashed: 90, 95 and 98 %. Hollow: 95 % is not claimed for this truth.",
        height=height,
    )
    figure.subplots_adjust(left=2.2 / 9.0, top=1 - 0.95 / height, bottom=0.95 / height)
    offsets = dict(zip(settings, np.linspace(-0.32, 0.32, max(2, len(settings))).tolist(), strict=False))
    for row in shown.iter_rows(named=True):
        at, on = max(LEAST, row["coverage"]), names.index(row["estimator"]) + offsets[row["setting"]]
        low = row["coverage"] < LINES[0]
        colour = COLOURS.orange if low else COLOURS.blue
        face = colour if row["claims"] != "nothing" else "white"
        ax.plot(at, on, "<" if row["coverage"] < LEAST else "o", color=colour, markerfacecolor=face, markersize=4.5)
        if low and row["claims"] != "nothing":
            ax.annotate(
                f"{row['setting']} {row['coverage']:.2f}", (at, on), xytext=(6, 0), textcoords="offset points",
                va="center", fontsize=7.5, color=COLOURS.orange, parse_math=False,
            )  # fmt: skip
    for place in LINES:
        ax.axvline(place, color=COLOURS.muted, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.set_xlim(LEAST - 0.01, 1.008)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(range(len(names)), [titles[name] for name in names])
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("intervals that hold the truth")
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)
    for place in range(1, len(names)):
        ax.axhline(place - 0.5, color=COLOURS.grid, linewidth=0.8)
    return figure
