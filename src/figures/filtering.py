"""What becomes of raw points: stacked bars of the stages, and their rates by model (arXiv 2602.00959)."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural

ROWS = 60
"""Bars that are drawn."""
FEW = 24
"""Up to so many bars there is one for each model and strategy."""

STAGES = (
    ("valid", "valid", COLOURS.blue, ""),
    ("invalid", "rejected by the audit", COLOURS.yellow, "////"),
    ("audit_unparsed", "audit unreadable", COLOURS.ink, ""),
    ("merged", "merged", COLOURS.grid, ""),
)
RATES = (
    ("dedup_rate", "merged / raw", COLOURS.ink, "o"),
    ("audit_rejection", "rejected / judged", COLOURS.orange, "D"),
)


def stages(points: pl.DataFrame, strategies: pl.DataFrame, models: pl.DataFrame, caveat: str) -> Figure:
    """Draw what became of the points and the rates, a row for each model and strategy, or model if those are many.

    Args:
        points: counts per cell: model, strategy, domain, raw, merged, valid, invalid, audit_unparsed.
        strategies: shares per model and strategy: stage, share, n, low, high, leaf_low, leaf_high.
        models: the same per model.
        caveat: who judged and whether a real model was asked.
    """
    by = ["model", "strategy"] if points.select("model", "strategy").n_unique() <= FEW else ["model"]
    bars = points.group_by(by).agg(pl.col("raw", *(name for name, *_ in STAGES)).sum()).sort(by)
    names = points["model"].unique().sort().to_list()
    cut = f" · the first {ROWS} of {bars.height} rows" if bars.height > ROWS else ""
    bars = bars.head(ROWS)
    labels = [
        " · ".join(row[name] for name in by[len(names) == 1 and len(by) - 1 :]) for row in bars.iter_rows(named=True)
    ]
    figure, (left, right) = canvas(
        f"What becomes of raw points · {names[0] if len(names) == 1 else plural(len(names), 'model')}",
        f"n = {plural(int(points['raw'].sum()), 'raw point')} in {plural(points.height, 'cell')}{cut} · {caveat}",
        "Left: all raw points of a row are 100 %. Right: 95 % intervals, Wilson on n/deff, unit branch; dotted where\n"
        "there are fewer than 3 branches: plain Wilson, unit point or cluster.",
        panels=2,
        width=12.0,
        height=max(4.8, 2.4 + 0.24 * bars.height),
    )
    figure.subplots_adjust(left=2.5 / 12, wspace=0.22, right=0.975)
    _bars(left, bars, labels)
    _rates(right, bars.select(by).join(strategies if len(by) > 1 else models, on=by, how="left"), bars.select(by))
    return figure


def _bars(ax: Axes, bars: pl.DataFrame, labels: list[str]) -> None:
    y = np.arange(bars.height)
    raw = bars["raw"].to_numpy()
    whole = np.maximum(raw, 1)
    start = np.zeros(bars.height)
    for name, words, colour, hatch in STAGES:
        share = bars[name].to_numpy() / whole
        ax.barh(
            y, share, left=start, height=0.72, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6, label=words
        )
        for place in np.flatnonzero(share >= 0.09).tolist():
            light = name in ("merged", "invalid")
            ax.text(
                start[place] + share[place] / 2, y[place], f"{100 * share[place]:.0f} %", ha="center", va="center",
                fontsize=8, color=COLOURS.ink if light else "white",
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 0.8} if hatch else None,
            )  # fmt: skip
        start = start + share
    _rows(ax, labels)
    for place, count in enumerate(raw):
        ax.annotate(
            f"{count:,}", (1.0, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8,
            color=COLOURS.muted, annotation_clip=False,
        )  # fmt: skip
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of raw points (their number at the right)")
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=4, frameon=False, fontsize=8.5, columnspacing=1.0,
        handlelength=1.2, borderaxespad=0.2,
    )  # fmt: skip


def _rates(ax: Axes, shares: pl.DataFrame, rows: pl.DataFrame) -> None:
    """The rates of the same rows, with their intervals."""
    for step, (stage, words, colour, mark) in enumerate(RATES):
        ax.plot([], [], mark, color=colour, markersize=5.5, label=words)
        found = rows.join(shares.filter(stage=stage), on=rows.columns, how="left", maintain_order="left")
        for place, row in enumerate(found.iter_rows(named=True)):
            if row["share"] is None:
                continue
            leaf = row["leaf_low"] is not None
            low, high = (row["leaf_low"], row["leaf_high"]) if leaf else (row["low"], row["high"])
            y = place + (-0.16, 0.16)[step]
            ax.plot([low, high], [y, y], color=colour, linewidth=1.6, linestyle="-" if leaf else ":")
            ax.plot([row["share"]], [y], mark, color=colour, markersize=5.5, clip_on=False, zorder=4)
    _rows(ax, [""] * rows.height)
    ax.set_xlim(left=0)
    ax.set_xlim(right=min(1.0, max(0.1, ax.get_xlim()[1])))
    ax.set_xlabel("rate")
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, frameon=False, fontsize=8.5, borderaxespad=0.2,
        handlelength=1.2,
    )  # fmt: skip


def _rows(ax: Axes, labels: list[str]) -> None:
    """Rows from top to bottom, named at the left."""
    ax.set_yticks(range(len(labels)))
    ax.set_yticklabels(labels, fontsize=8.5, parse_math=False)
    ax.set_ylim(max(len(labels), 4) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, labelcolor=COLOURS.ink)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
