"""How far results move under other thresholds and wordings, and how alike points are (arXiv 2602.00959)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural

ROWS = 60
"""Rows that are drawn."""
FEW = 24
"""Up to so many rows there is one for each cell."""
STRICT, FUZZY = (0.90, 0.94), (0.65, 0.75)
"""Where the nine settings put their thresholds."""
PANELS = 3
"""Encoders that are drawn."""

COUNT = FuncFormatter(lambda value, _: f"{value:,.0f}")
KEYS = ("model", "strategy", "domain")


def settings(cells: pl.DataFrame, recalls: pl.DataFrame, caveat: str) -> Figure:
    """Draw unique clusters, accuracy and recall_match under the nine settings, a row for each cell or each model.

    Args:
        cells: per cell and setting: model, strategy, domain, strict, fuzzy, own, unique, accuracy.
        recalls: per union, model and setting: recall_match; may be empty.
        caveat: who judged and whether a real model was asked.
    """
    n = cells.select(KEYS).n_unique()
    by = list(KEYS) if n <= FEW else ["model"]
    moved = _moved(cells, recalls, by)
    rows = moved.select(by).unique().sort(by).head(ROWS)
    of = "" if len(by) > 1 else ", means over the cells of a model"
    cut = f" · the first {ROWS} of {moved.select(by).n_unique()} rows" if moved.select(by).n_unique() > ROWS else ""
    names = [("unique", "unique clusters / those of the own setting"), ("accuracy", "accuracy")]
    if recalls["recall_match"].count():
        names.append(("recall_match", "recall_match"))
    figure, axes = canvas(
        "Nine settings of the merge",
        f"n = {plural(n, 'cell')}{of}{cut} · strict .90 .92 .94 × fuzzy .65 .70 .75 · {caveat}",
        "Line: from the smallest to the largest of the nine; ticks: each of them; mark: the cell's own setting.\n"
        "No intervals: the points are the same in all nine.",
        panels=len(names),
        width=3.2 + 3.0 * len(names),
        height=max(4.2, 2.3 + 0.25 * rows.height),
    )
    labels = _labels(rows)
    margin = 0.5 + 0.072 * max((len(label) for label in labels), default=10)
    figure.subplots_adjust(left=margin / figure.get_figwidth(), right=0.97, wspace=0.16)
    for place, (ax, (name, words)) in enumerate(zip(axes, names, strict=True)):
        _ranges(ax, rows, moved, name)
        _rows(ax, labels if place == 0 else [""] * len(labels))
        ax.set_title(words, loc="left", fontsize=9.5)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        ax.xaxis.set_major_locator(MaxNLocator(5, min_n_ticks=2))
    return figure


def cosines(encoders: pl.DataFrame, bins: pl.DataFrame, caveat: str) -> Figure:
    """Draw the histogram of cosines of each encoder with the thresholds and what was computed about its modes.

    Args:
        encoders: embedder, cells, n, same_text, sarle, valley_at, valley_remains, valley_p, bimodal, reason.
        bins: embedder, from, to, points: the histogram of each.
        caveat: who judged and whether a real model was asked.
    """
    shown = encoders.sort("n", "embedder", descending=[True, False]).head(PANELS)
    cut = f" · {PANELS} of {encoders.height} encoders" if encoders.height > PANELS else ""
    points = int(shown["n"].sum())
    figure, axes = canvas(
        "How alike a raw point is to its nearest earlier one",
        f"n = {plural(points, 'raw point')} in {plural(int(shown['cells'].sum()), 'cell')}{cut} · {caveat}",
        "Shaded: where the nine settings put the two thresholds. p: share of histograms with one mode whose deepest\n"
        "valley is as deep; Sarle's coefficient above .556 suggests two modes. Word for word repeats are left out.",
        panels=max(shown.height, 1),
        width=9.0 if shown.height < 2 else 6.4 * shown.height,
        height=5.2,
    )
    for ax, row in zip(axes, shown.iter_rows(named=True), strict=True):
        mine = bins.filter(embedder=row["embedder"]).sort("from")
        edges, counts = (mine[name].to_numpy() for name in ("from", "points"))
        filled = np.flatnonzero(counts)
        first = min(int(filled[0]) if len(filled) else 50, int(np.searchsorted(edges, 0.4)))
        ax.bar(edges, counts, width=0.02, align="edge", color=COLOURS.blue, edgecolor="white", linewidth=0.4)
        ax.set_xlim(edges[first], 1.0)
        top = 1.15 * max(1.0, float(counts.max()))
        ax.set_ylim(0, top)
        for (low, high), words in ((FUZZY, "fuzzy"), (STRICT, "strict")):
            ax.axvspan(low, high, color=COLOURS.yellow, alpha=0.25, zorder=0, linewidth=0)
            ax.text((low + high) / 2, 0.985 * top, words, ha="center", va="top", fontsize=8.5, color=COLOURS.ink)
        if row["valley_at"] is not None:
            ax.annotate(
                "valley", (row["valley_at"], 0), (row["valley_at"], 0.09 * top), ha="center", fontsize=8.5,
                color=COLOURS.orange, arrowprops={"arrowstyle": "->", "color": COLOURS.orange},
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
            )  # fmt: skip
        ax.set_title(_computed(row), loc="left", fontsize=8.5, color=COLOURS.ink, parse_math=False)
        ax.set_xlabel("cosine")
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_formatter(COUNT)
    axes[0].set_ylabel("raw points")
    return figure


def prompts(pairs: pl.DataFrame, caveat: str) -> Figure:
    """Draw raw points and accuracy with prompts in other words against the same cell without.

    Args:
        pairs: model, strategy, domain, synonyms, raw_change, valid_change, accuracy_change with its bounds.
        caveat: who judged and whether a real model was asked.
    """
    shown = pairs.head(ROWS)
    cut = f" · the first {ROWS}" if pairs.height > ROWS else ""
    figure, (left, right) = canvas(
        "The same said in other words",
        f"n = {plural(pairs.height, 'pair')} of cells{cut} · {caveat}",
        "Left: change of counts in each pair, without interval; dashed: change of the total.\n"
        "Right: change of accuracy with 95 % interval, Wilson by branch (or point), square-and-add.",
        panels=2,
        width=9.6,
        height=max(4.2, 2.3 + 0.26 * shown.height),
    )
    labels = _labels(shown.select(KEYS))
    margin = 0.5 + 0.072 * max(len(label) for label in labels)
    figure.subplots_adjust(left=margin / figure.get_figwidth(), wspace=0.12)
    y = np.arange(shown.height)
    for name, colour, mark, shift in (("raw", COLOURS.ink, "o", -0.12), ("valid", COLOURS.blue, "s", 0.12)):
        left.plot(
            shown[f"{name}_change"].to_list(), y + shift, mark, color=colour, markersize=6, label=f"{name} points"
        )
        base, other = int(pairs[name].sum()), int(pairs[f"{name}_synonyms"].sum())
        if base:
            left.axvline(other / base - 1, color=colour, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    for place, row in enumerate(shown.iter_rows(named=True)):
        if row["accuracy_change_low"] is not None:
            bounds = [row["accuracy_change_low"], row["accuracy_change_high"]]
            right.plot(bounds, [place, place], color=COLOURS.orange, linewidth=1.6)
        if row["accuracy_change"] is not None:
            right.plot([row["accuracy_change"]], [place], "D", color=COLOURS.orange, markersize=6)
    for ax, names, words in (
        (left, labels, "change of counts"),
        (right, [""] * len(labels), "change of accuracy, percentage points"),
    ):
        _rows(ax, names)
        ax.axvline(0, color=COLOURS.grey, linewidth=1.0, zorder=1)
        ax.set_xlabel(words)
        ax.margins(x=0.12)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:+.3g}" if value else "0"))
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:+.3g} %" if value else "0"))
    left.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, frameon=False, fontsize=8.5, handlelength=1.2)
    return figure


def _moved(cells: pl.DataFrame, recalls: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Per row and setting: unique over that of the own setting; accuracy and recall_match, means where pooled."""
    setting = ["strict", "fuzzy"]
    own = cells.filter("own").select(*KEYS, pl.col("unique").alias("base"))
    if own.is_empty():  # the own setting is none of the nine: against the middle one
        own = cells.filter(strict=0.92, fuzzy=0.70).select(*KEYS, pl.col("unique").alias("base"))
    joined = cells.join(own, on=KEYS, how="left").join(
        recalls.select(*KEYS, *setting, "recall_match"), on=[*KEYS, *setting], how="left"
    )
    ratio = pl.when(pl.col("base").sum() > 0).then(pl.col("unique").sum() / pl.col("base").sum())
    return (
        joined.group_by(*by, *setting)
        .agg(ratio.alias("unique"), pl.col("accuracy", "recall_match").mean(), pl.col("own").any())
        .sort(*by, *setting)
    )


def _ranges(ax: Axes, rows: pl.DataFrame, moved: pl.DataFrame, name: str) -> None:
    """A line from the smallest to the largest value of each row, a tick for each setting, a mark for the own one."""
    by = rows.columns
    placed = rows.with_row_index("place").join(moved, on=by, how="left").filter(pl.col(name).is_not_null())
    for (place,), those in placed.group_by("place", maintain_order=True):
        values = those[name].to_list()
        ax.plot([min(values), max(values)], [place, place], color=COLOURS.grey, linewidth=2.2, zorder=2)
        ax.plot(values, [place] * len(values), "|", color=COLOURS.muted, markersize=7, zorder=3)
        own = those.filter("own")[name].to_list()
        ax.plot(own, [place] * len(own), "o", color=COLOURS.blue, markersize=5.5, zorder=4, clip_on=False)
    ax.margins(x=0.1)
    low, high = ax.get_xlim()
    if high - low < 0.02:  # what hardly moves is not blown up
        ax.set_xlim((low + high) / 2 - 0.01, (low + high) / 2 + 0.01)
    if placed.is_empty():
        ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", va="center", color=COLOURS.muted)


def _labels(rows: pl.DataFrame) -> list[str]:
    """The names of rows without the parts that all share, the model always."""
    keep = [name for name in rows.columns if name == "model" or rows[name].n_unique() > 1]
    return [" · ".join(str(row[name]) for name in keep) for row in rows.iter_rows(named=True)]


def _rows(ax: Axes, labels: list[str]) -> None:
    ax.set_yticks(range(len(labels)))
    ax.set_yticklabels(labels, fontsize=8.5, parse_math=False)
    ax.set_ylim(max(len(labels), 3) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, labelcolor=COLOURS.ink)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)


def _computed(row: dict[str, Any]) -> str:
    """What was computed about the modes of an encoder's cosines."""
    n = f"n = {plural(row['n'], 'point')}, {row['same_text']:,} repeats left out"
    if row["sarle"] is None:
        return f"{row['embedder']}: {row['reason']}\n{n}"
    return f"{row['embedder']} {mode_words(row)}\nSarle's coefficient {row['sarle']:.3f} · {n}"


def mode_words(row: dict[str, Any]) -> str:
    """What the test of the deepest valley says: `have two modes: a valley at 0.63 …`."""
    if row["valley_at"] is None:
        return "have one mode: there is no valley"
    p = f"p {'< .001' if row['valley_p'] < 0.001 else '= ' + format(row['valley_p'], '.3f').removeprefix('0')}"
    share = f"{100 * row['valley_remains']:.0f} % of the lower peak"
    if row["bimodal"]:
        return f"have two modes: a valley at {row['valley_at']:.2f} with {share}, {p}"
    if row["valley_p"] < 0.05:
        return f"have more than one mode, but the valley at {row['valley_at']:.2f} still holds {share}, {p}"
    return f"show no second mode: the valley at {row['valley_at']:.2f} is no deeper than chance makes it, {p}"
