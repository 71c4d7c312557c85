"""What becomes of classes from one run to another: as a flow, class by class, and pairs of runs in a plane."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.shares import CLASSES, LOOKS, legend

MOST_FLOWS = 6
"""Pairs of runs of a data set whose flow is drawn."""
MOST_NAMED = 12
GAP = 0.025
"""Between classes of a column, as a share of all questions."""
THICK = 0.09
NAMED = 0.07
DIRECTIONS = (
    ("upgrade", COLOURS.blue, ""),
    ("stable", COLOURS.grid, ""),
    ("downgrade", COLOURS.orange, "////"),
)


def flow(matrix: npt.NDArray[np.int64], directions: pl.DataFrame, pair: str, incomplete: int, caveat: str) -> Figure:
    """Two panels: classes of the first run flowing into those of the second; and what becomes of each.

    Args:
        matrix: questions of each class of the first run (rows) in each of the second (columns), shape (6, 6).
        directions: rows of the table `directions`: all questions, then each class of the first run.
        pair: the two runs.
        incomplete: questions that were left out because an answer is lacking.
        caveat: what must be known before the numbers.
    """
    total = int(matrix.sum())
    left_out = f", {incomplete:,} incomplete left out" if incomplete else ""
    figure, (left, right) = canvas(
        pair,
        f"n = {plural(total, 'shared question')}{left_out} · {caveat}",
        "Left: a ribbon is as wide as the questions that go from a class of the first run to one of the second.\n"
        "Right: what becomes of each class of the first run, with n. Lines: 95 % intervals (Clopper–Pearson), above a "
        "bar of the share of upgrade, below it of downgrade, from the right.",
        panels=2,
        width=12.5,
        height=6.4,
    )
    _flow(left, matrix / max(total, 1), matrix)
    _directions(right, directions)
    figure.subplots_adjust(left=0.07, right=0.91, wspace=0.32, top=0.78, bottom=0.15)
    legend(figure, top=0.78)
    return figure


def plane(pairs: pl.DataFrame, caveat: str) -> Figure:
    """Change of accuracy against change of the category score, a mark with both intervals for each pair of runs.

    Args:
        pairs: the table `pairs` of the study.
        caveat: what must be known before the numbers.
    """
    rows = pairs.sort("dataset", "from", "to")
    sizes = sorted({*rows["questions"]})
    span = " to ".join(f"{size:,}" for size in (sizes[0], *sizes[1:][-1:]))
    few = rows.height <= MOST_NAMED
    figure, (ax,) = canvas(
        "What the change does to accuracy and to the category score",
        f"{plural(rows.height, 'pair')} of runs, n = {span} shared questions · {caveat}",
        "Lines: 95 % intervals (Bayesian bootstrap of the questions, paired). Filled: accuracy differs (McNemar mid-p, "
        "Holm over all pairs of the data set, 5 %).\n" + ("" if few else "Of so many pairs the table has the names."),
        width=12.0,
        height=max(5.6, 2.4 + 0.36 * rows.height if few else 0),
    )
    for place, row in enumerate(rows.iter_rows(named=True)):
        x, y = row["accuracy"], row["category_score"]
        for name, drawn, at in (("accuracy", ax.hlines, y), ("category_score", ax.vlines, x)):
            if row[f"{name}_low"] is not None:
                drawn(at, row[f"{name}_low"], row[f"{name}_high"], color=COLOURS.blue, linewidth=1.1, alpha=0.7)
        face = COLOURS.blue if row["p_holm"] < 0.05 else "white"
        ax.plot(x, y, "o", color=COLOURS.blue, markerfacecolor=face, markersize=15 if few else 6, zorder=4)
        if few:
            ink = "white" if face == COLOURS.blue else COLOURS.ink
            ax.text(x, y, str(place + 1), ha="center", va="center", fontsize=8, color=ink, zorder=5)
            words = f"{place + 1}  {row['dataset']}: {row['from']}\n     → {row['to']}, n = {row['questions']:,}"
            ax.text(1.03, 1 - place / max(rows.height, 6), words, transform=ax.transAxes, va="top", fontsize=8,
                    color=COLOURS.ink, parse_math=False)  # fmt: skip
    ax.axhline(0, color=COLOURS.grey, linewidth=1)
    ax.axvline(0, color=COLOURS.grey, linewidth=1)
    ax.set_xlabel("change of accuracy, percentage points")
    ax.set_ylabel("change of the category score")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:+.3g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:+.3g}"))
    ax.margins(0.08)
    if few:
        figure.subplots_adjust(right=0.55)
    return figure


def _flow(ax: Axes, shares: npt.NDArray[np.float64], matrix: npt.NDArray[np.int64]) -> None:
    """Columns of classes, the best on top, and ribbons between them."""
    tops = [_tops(shares.sum(axis=axis)) for axis in (1, 0)]
    starts, ends = tops[0].copy(), tops[1].copy()
    for row, name in enumerate(CLASSES):
        for column in range(len(CLASSES)):
            width = float(shares[row, column])
            if width > 0:
                _ribbon(ax, starts[row], ends[column], width, LOOKS[name][0])
                starts[row] -= width
                ends[column] -= width
    for side, (top, sizes, counts) in enumerate(
        zip(tops, (shares.sum(axis=1), shares.sum(axis=0)), (matrix.sum(axis=1), matrix.sum(axis=0)), strict=True)
    ):
        x = 0.0 if side == 0 else 1 - THICK
        for name, high, size, count in zip(CLASSES, top, sizes, counts, strict=True):
            if not count:
                continue
            colour, hatch = LOOKS[name]
            ax.add_patch(Rectangle((x, high - size), THICK, size, facecolor=colour, hatch=hatch, edgecolor="white"))
            place, align = (x - 0.02, "right") if side == 0 else (x + THICK + 0.02, "left")
            ax.text(place, high - size / 2, f"{name} {count:,}", ha=align, va="center", fontsize=9, color=COLOURS.ink)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-GAP * len(CLASSES), 1.01)
    ax.set_xticks([THICK / 2, 1 - THICK / 2], ["first run", "second run"], color=COLOURS.ink)
    ax.set_yticks([])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _tops(sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where each class of a column begins, from 1 down, with gaps after those that are not empty."""
    steps = sizes + GAP * (sizes > 0)
    return np.asarray(1 - np.concatenate([[0.0], np.cumsum(steps)[:-1]]), dtype=np.float64)


def _ribbon(ax: Axes, start: float, end: float, width: float, colour: str) -> None:
    """A band between two columns, both of its edges an S."""
    one, other, middle = THICK, 1 - THICK, 0.5
    points = [
        (one, start), (middle, start), (middle, end), (other, end),
        (other, end - width), (middle, end - width), (middle, start - width), (one, start - width), (one, start),
    ]  # fmt: skip
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    ax.add_patch(PathPatch(Path(points, codes), facecolor=colour, alpha=0.55, edgecolor=COLOURS.muted, linewidth=0.5))


def _directions(ax: Axes, rows: pl.DataFrame) -> None:
    """Upgraded, stable, downgraded, for all questions and for each class of the first run."""
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
    for place, row in enumerate(rows.iter_rows(named=True)):
        ax.text(1.015, place, f"n = {row['questions']:,}", va="center", fontsize=8.5, color=COLOURS.ink)
        if not row["questions"]:
            continue
        left = 0.0
        for name, colour, hatch in DIRECTIONS:
            share = row[name]
            ax.barh(place, share, left=left, height=0.6, color=colour, hatch=hatch, edgecolor="white")
            if share >= NAMED:
                ax.text(left + share / 2, place, f"{100 * share:.0f}%", ha="center", va="center", fontsize=8.5,
                        color=COLOURS.ink, bbox=box)  # fmt: skip
            left += share
        if row["upgrade_low"] is not None:
            ax.hlines(place - 0.4, row["upgrade_low"], row["upgrade_high"], color=COLOURS.blue, linewidth=1.8)
        if row["downgrade_low"] is not None:
            ends = 1 - row["downgrade_high"], 1 - row["downgrade_low"]
            ax.hlines(place + 0.4, *ends, color=COLOURS.orange, linewidth=1.8)
    for name, colour, hatch in DIRECTIONS:
        ax.barh(0, 0, color=colour, hatch=hatch, edgecolor=COLOURS.grey, label=name)
    ax.set_xlim(0, 1)
    ax.set_ylim(rows.height - 0.45, -0.6)
    ax.set_yticks(range(rows.height), rows["class_from"].to_list())
    ax.tick_params(axis="y", labelcolor=COLOURS.ink, length=0)
    ax.grid(visible=False)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.legend(frameon=False, fontsize=8.5, ncols=3, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)
