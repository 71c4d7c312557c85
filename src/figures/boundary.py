"""Figures of one boundary cell: how it saturated, how alike its points are, what its tokens bought (2602.00959)."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import CENSORED, Title, plural, stop_words

THOUSANDS = FuncFormatter(lambda x, _: f"{x:,.0f}")


def saturation(
    turns: pl.DataFrame, title: Title, stop_reason: str, *, growth: float, efficiency: float, points: int
) -> Figure:
    """Novel points, growth and efficiency of every turn with the thresholds below which a turn is stale.

    Args:
        turns: the table `turns`.
        title: what the cell is about.
        stop_reason: why the loop ended.
        growth: threshold on novel points / pool before the turn.
        efficiency: threshold on novel points / raw points.
        points: threshold on novel points.
    """
    figure, (left, middle, right) = canvas(
        f"Saturation · {title.line}",
        f"n = {plural(int(turns['raw'].sum()), 'raw point')}, {int(turns['novel'].sum()):,} novel · {title.caveat}",
        f"Stopped after {plural(turns.height, 'turn')} ({stop_reason}): {stop_words(stop_reason)}.",
        panels=3,
        width=11.0,
    )
    number = turns["turn"].to_numpy()
    left.bar(number, turns["raw"].to_numpy(), width=0.7, color=COLOURS.grey, label="raw")
    left.bar(number, turns["novel"].to_numpy(), width=0.7, color=COLOURS.blue, label="novel")
    _threshold(left, points, f"{points}", 1.08 * max(1.0, points, _highest(turns["raw"])))
    left.set_title("points", loc="left", fontsize=10)
    left.yaxis.set_major_locator(MaxNLocator(integer=True))
    left.yaxis.set_major_formatter(THOUSANDS)
    left.legend(loc="lower right", bbox_to_anchor=(1.02, 0.98), frameon=False, fontsize=9, borderaxespad=0.2, ncols=2)
    for ax, column, limit, words in (
        (middle, "growth", growth, "growth = novel / pool before"),
        (right, "efficiency", efficiency, "efficiency = novel / raw"),
    ):
        stale = turns["stale"].to_numpy().astype(bool)
        values = turns[column].to_numpy()
        ax.plot(number, values, color=COLOURS.blue, linewidth=1.5, zorder=3)
        ax.scatter(number[~stale], values[~stale], color=COLOURS.blue, s=32, zorder=4)
        ax.scatter(number[stale], values[stale], color="white", edgecolor=COLOURS.orange, s=44, linewidth=1.8, zorder=4)
        ax.set_title(words, loc="left", fontsize=10)
        _threshold(ax, limit, f"{100 * limit:g} %", 1.08 * max(1.0, _highest(turns[column])))
    # Growth falls from 100 % to below 1 %: linear up to the threshold, logarithmic above it.
    middle.set_yscale("symlog", linthresh=max(growth, 1e-4))
    middle.set_yticks([0, *(tick for tick in (0.01, 0.1, 1.0) if tick >= growth)])
    middle.set_ylim(0, 1.5 * max(1.0, _highest(turns["growth"])))
    middle.minorticks_off()
    for ax in (middle, right):
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for ax in (left, middle, right):
        ax.set_xlim(0.4, max(turns.height, 1) + 0.6)
        ax.set_xlabel("turn")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if turns.is_empty():
        _nothing(middle, "no turn was finished")
    elif turns["stale"].any():
        right.scatter([], [], color="white", edgecolor=COLOURS.orange, s=44, linewidth=1.8, label="stale turn")
        right.legend(loc="lower right", bbox_to_anchor=(1.02, 0.98), frameon=False, fontsize=9, borderaxespad=0.2)
    return figure


def cosines(atoms: pl.DataFrame, judged: pl.DataFrame, title: Title, *, strict: float, fuzzy: float) -> Figure:
    """How alike each raw point is to its nearest earlier one, and whether it was merged or counted on its own.

    Args:
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`.
        title: what the cell is about.
        strict: cosine above which a pair merges unasked.
        fuzzy: cosine from which on a pair is judged.
    """
    nearest = (
        atoms.select("atom_id", "nearest_cosine").join(judged.select("atom_id", "unique"), on="atom_id").drop_nulls()
    )
    kept, merged = (nearest.filter(pl.col("unique") == side)["nearest_cosine"].to_numpy() for side in (True, False))
    figure, (ax,) = canvas(
        f"Nearest earlier point · {title.line}",
        f"n = {plural(nearest.height, 'raw point')} that had an earlier one · {title.caveat}",
        "A point may have merged with another than its nearest, or have been kept apart by the judge or by a guard\n"
        "(numbers, units, negation …).",
    )
    low = min(0.0, np.floor(10 * float(nearest["nearest_cosine"].min() or 0.0)) / 10)  # type: ignore[arg-type]
    edges = np.arange(round(low * 50), 51) / 50
    ax.hist(
        [np.clip(kept, low, 1), np.clip(merged, low, 1)],
        bins=list(edges),
        stacked=True,
        color=[COLOURS.blue, COLOURS.yellow],
        edgecolor="white",
        linewidth=0.5,
        label=[f"counted on its own ({kept.size:,})", f"merged into another ({merged.size:,})"],
    )
    ax.set_ylim(0, 1.25 * max(1.0, ax.get_ylim()[1]))
    ax.set_xlim(low, 1.0)
    ax.axvspan(fuzzy, strict, color=COLOURS.grid, alpha=0.6, zorder=0)
    for limit in (fuzzy, strict):
        ax.axvline(limit, color=COLOURS.ink, linewidth=1.2, linestyle=(0, (4, 2)))
    for x, words, side in (
        (fuzzy - 0.01, f"kept apart below {fuzzy:g}", "right"),
        ((fuzzy + strict) / 2, "judged", "center"),
        (strict + 0.005, f"> {strict:g}:\nmerged", "left"),
    ):
        ax.text(x, 0.97, words, transform=ax.get_xaxis_transform(), ha=side, va="top", fontsize=9, color=COLOURS.ink)
    ax.set_xlabel("cosine to the nearest earlier novel point, or earlier point of the same turn")
    ax.set_ylabel("raw points")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    if nearest.is_empty():
        _nothing(ax, "no point had an earlier one")
    return figure


def yield_curve(
    turns: pl.DataFrame, atoms: pl.DataFrame, judged: pl.DataFrame, title: Title, stop_reason: str
) -> Figure:
    """Raw, unique and valid points found so far against the tokens they took (generation and embedding, nominal).

    A cluster counts from the turn of its earliest member. Where the endpoint did not tell its tokens, the turn is the
    cost axis.

    Args:
        turns: the table `turns`.
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`.
        title: what the cell is about.
        stop_reason: why the loop ended; a censored curve ends in an open mark.
    """
    found = cumulated(turns, atoms, judged)
    known = not found["tokens"].null_count()
    cost = found["tokens" if known else "turn"].to_numpy()
    figure, (ax,) = canvas(
        f"Yield · {title.line}",
        f"n = {plural(atoms.height, 'raw point')} in {plural(turns.height, 'turn')} · {title.caveat}",
        f"A mark is a turn. Stopped ({stop_reason}): {stop_words(stop_reason)}.",
    )
    face = "white" if stop_reason in CENSORED else None
    # Each curve is thinner than the one below it, so that curves that coincide all stay visible.
    for name, colour, width in (
        ("raw", COLOURS.grey, 5.0),
        ("unique", COLOURS.sky, 3.2),
        ("valid", COLOURS.green, 1.6),
    ):
        values = found[name].to_numpy()
        ax.plot(cost, values, color=colour, linewidth=width, marker="o", markersize=2.5 + width, solid_capstyle="round")
        ax.plot(
            cost[-1:], values[-1:], "o", color=colour, markerfacecolor=face or colour, markersize=6 + width,
            clip_on=False, zorder=4,
        )  # fmt: skip
    _end_labels(ax, [(name, int(found[name][-1])) for name in ("valid", "unique", "raw")])
    ax.set_xlabel(
        "tokens, nominal: generation in and out, embedding" if known else "turn (the endpoint did not tell its tokens)"
    )
    ax.set_ylabel("points found so far")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(8, integer=True))
        axis.set_major_formatter(THOUSANDS)
    ax.set_xlim(0, max(1.0, 1.18 * float(cost[-1])))
    ax.set_ylim(0, 1.2 * max(1.0, float(found["raw"][-1])))
    if turns.is_empty():
        _nothing(ax, "no turn was finished")
    return figure


def cumulated(turns: pl.DataFrame, atoms: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Raw, unique and valid points and nominal tokens up to each turn, from a turn 0 with nothing.

    Returns:
        Columns turn, raw, unique, valid, tokens (null from the first turn whose tokens are unknown); turns + 1 rows.
    """
    clusters = (
        judged.join(atoms.select("atom_id", "turn"), on="atom_id", how="left")
        .with_columns(centre_valid=(pl.col("atom_id") == pl.col("representative")) & pl.col("valid").fill_null(False))
        .group_by("cluster_id")
        .agg(pl.col("turn").min(), valid=pl.col("centre_valid").any())
    )
    raw = atoms.group_by("turn").agg(raw=pl.len())
    per_turn = clusters.group_by("turn").agg(unique=pl.len(), valid=pl.col("valid").sum())
    tokens = pl.sum_horizontal("tokens_generation_in", "tokens_generation_out", "tokens_embedding", ignore_nulls=False)
    counts = ("raw", "unique", "valid")
    rest = (
        turns.select("turn", tokens=tokens)
        .join(raw, on="turn", how="left")
        .join(per_turn, on="turn", how="left")
        .sort("turn")
        .select(
            "turn",
            *(pl.col(name).fill_null(0).cum_sum().cast(pl.Int64) for name in counts),
            # One unknown turn makes every later sum unknown.
            tokens=pl.when(pl.col("tokens").is_null().cum_sum() == 0).then(pl.col("tokens").cum_sum()),
        )
    )
    start = pl.DataFrame({name: [0] for name in rest.columns}, schema=rest.schema)
    return pl.concat([start, rest])


def curves(turns: pl.DataFrame, atoms: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """The numbers of every turn that are worth a curve in MLflow: of the turn alone and so far."""
    so_far = cumulated(turns, atoms, judged).rename(
        {name: f"{name}_so_far" for name in ("raw", "unique", "valid", "tokens")}
    )
    return turns.select("turn", "raw", "novel", "growth", "efficiency").join(so_far, on="turn", how="left")


def _threshold(ax: Axes, limit: float, words: str, top: float) -> None:
    """A dashed line at a threshold over a shaded stale zone; the axis runs from 0 to `top`."""
    ax.set_ylim(0, top)
    ax.axhspan(0, limit, color=COLOURS.orange, alpha=0.10, zorder=0)
    ax.axhline(limit, color=COLOURS.orange, linewidth=1.2, linestyle=(0, (4, 2)), zorder=3)
    ax.annotate(
        f"stale below {words}", (1, limit), xycoords=("axes fraction", "data"), xytext=(-3, 4),
        textcoords="offset points", ha="right", fontsize=8.5, color=COLOURS.orange, zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )  # fmt: skip


def _end_labels(ax: Axes, ends: list[tuple[str, int]]) -> None:
    """Name the curves at their ends, given from low to high, pushed apart where the ends are close."""
    top = ends[-1][1] or 1
    place = 0.0
    for name, value in ends:
        place = max(value / top / 1.2, place + 0.06)
        ax.annotate(f"{name} {value:,}", (0.865, place), xycoords="axes fraction", va="center", fontsize=10)


def _nothing(ax: Axes, words: str) -> None:
    ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", fontsize=11, color=COLOURS.muted)


def _highest(column: pl.Series) -> float:
    value = column.max()
    return float(value) if isinstance(value, int | float) else 0.0
