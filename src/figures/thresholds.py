"""Figure of calibrated thresholds: what merging unasked gets right, and what a threshold loses."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from src.figures.canvas import COLOURS, canvas


def thresholds_figure(
    curve: pl.DataFrame, chosen: tuple[float, float], limits: tuple[float, float], encoder: str, counted: str
) -> Figure:
    """Both shares against the threshold, with their bounds and the limits that they must keep.

    Args:
        curve: the table `curve` of the finding.
        chosen: dedup.strict and dedup.fuzzy.
        limits: smallest share that is the same above the one, and that is kept by the other.
        encoder: whose cosines they are.
        counted: how many pairs, in words.
    """
    figure, (left, right) = canvas(
        f"Thresholds for {encoder}",
        counted,
        "Bands: Wilson 95 %, pairs taken as independent. Dashed: the limit that the lower bound must keep.\n"
        "Line: the threshold chosen.",
        panels=2,
        width=10.0,
    )
    seen = curve.filter(pl.col("merged") > 0).with_columns(
        (1 - pl.col("wrong_share")).alias("right"),
        (1 - pl.col("wrong_high")).alias("right_low"),
        (1 - pl.col("wrong_low")).alias("right_high"),
    )
    _share(left, seen, "right", limits[0], chosen[0], COLOURS.blue)
    left.set_title("same, of the unguarded pairs above it", loc="left", fontsize=10)
    left.set_xlabel(f"threshold; dedup.strict = {chosen[0]:g}")
    named = {"kept_share": "kept_all", "kept_low": "kept_all_low", "kept_high": "kept_all_high"}
    _share(right, curve.drop_nulls("kept_share").rename(named), "kept_all", limits[1], chosen[1], COLOURS.green)
    right.set_title("at or above it, of the pairs that are the same", loc="left", fontsize=10)
    right.set_xlabel(f"threshold; dedup.fuzzy = {chosen[1]:g}")
    return figure


def _share(ax: Axes, table: pl.DataFrame, name: str, limit: float, chosen: float, colour: str) -> None:
    at = table["threshold"].to_numpy()
    low, high = table[f"{name}_low"].to_numpy(), table[f"{name}_high"].to_numpy()
    ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(at, table[name].to_numpy(), color=colour, linewidth=1.8)
    ax.axhline(limit, color=COLOURS.muted, linewidth=1, linestyle="--")
    ax.axvline(chosen, color=COLOURS.ink, linewidth=1)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlim(0, 1)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
