"""Yield against tokens: curves of strategies, their ends, and the frontier that no other one beats (2602.00959)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import CENSORED, plural

LONGEST = 12
"""Models that are drawn and told one by one; the others are in the tables."""

Bars = list[list[float]] | None
"""Lengths of an error bar, down and up; None: there is none."""

SPARE = (COLOURS.blue, COLOURS.orange, COLOURS.green, COLOURS.yellow, COLOURS.sky, COLOURS.ink)
FAMILIES = {"sequential": (COLOURS.ink, "o", ":"), "reflective": (COLOURS.muted, "X", ":")}
"""Colour, mark and line of strategies that have no other of their kind."""
KINDS = {
    "taxonomy": ((COLOURS.sky, COLOURS.blue, COLOURS.green), "s", "-"),
    "personas": ((COLOURS.yellow, COLOURS.orange, "#a04000"), "^", "--"),
}
"""Colours from narrow to wide, mark and line of a kind of strategy."""


def frontier(curves: pl.DataFrame, strategies: pl.DataFrame, runs: pl.DataFrame, caveat: str, baseline: str) -> Figure:
    """Draw a panel for each model.

    Args:
        curves: model, strategy, tokens, yield_mean, yield_sd.
        strategies: model, strategy, domains, over, tokens_mean, tokens_sd, yield_mean, yield_sd, pareto_optimal.
        runs: model, strategy, domain, yield_low, yield_high, stop_reason.
        caveat: who judged and whether a real model was asked.
        baseline: the strategy whose yield is 1.
    """
    models = strategies["model"].unique().sort().to_list()
    shown = models[:LONGEST]
    columns = min(len(shown), 3)
    rows = ceil(len(shown) / columns)
    many = f" · the first {LONGEST} of {len(models)} models" if len(models) > LONGEST else ""
    figure, axes = canvas(
        f"What tokens buy · {shown[0] if len(models) == 1 else plural(len(models), 'model')}",
        f"n = {plural(runs.height, 'run')} over {plural(runs['domain'].n_unique(), 'domain')}{many} · {caveat}",
        f"Yield 1 = valid points of {baseline} at its end. Lines: mean over domains, band ± 1 sd. Ends: mean ± 1 sd,\n"
        "or 95 % interval of the only domain; filled, bold: Pareto-optimal, hollow: beaten; *: cut short. Dashed grey: "
        "frontier.",
        panels=columns,
        rows=rows,
        width=9.0 if columns == 1 else 4.6 * columns,
        height=5.2 if rows == 1 else 1.9 + 3.2 * rows,
    )
    names = 1.75 / 9.0 if columns == 1 else 1.6 / (4.6 * columns)  # of the width: they stand right of each panel
    figure.subplots_adjust(right=1 - names, hspace=0.3, wspace=0.0 if columns == 1 else 0.8)
    if len(models) == 1:
        figure.subplots_adjust(top=0.84)
    looks = _looks(strategies["strategy"].unique().sort().to_list())
    for place, ax in enumerate(axes):
        if place >= len(shown):
            ax.set_axis_off()
            continue
        of = [table.filter(model=shown[place]) for table in (curves, strategies, runs)]
        _panel(ax, of[0], of[1], of[2], looks)
        if len(models) > 1:
            ax.set_title(shown[place], loc="left", fontsize=10, parse_math=False)
        if place % columns == 0:
            ax.set_ylabel("yield")
        if place + columns >= len(shown):
            ax.set_xlabel("tokens, nominal" + (": generation in and out, embedding" if columns == 1 else ""))
    return figure


def _panel(
    ax: Axes, curves: pl.DataFrame, strategies: pl.DataFrame, runs: pl.DataFrame, looks: dict[str, tuple[str, str, str]]
) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ends = [
        row for row in strategies.sort("strategy").iter_rows(named=True) if row["tokens_mean"] and row["yield_mean"]
    ]
    if not ends:
        ax.set(xticks=[], yticks=[])
        ax.minorticks_off()
        words = "no strategy has both a yield and a cost"
        ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", fontsize=9.5, color=COLOURS.muted)
        return
    spreads = [_spread(row, runs) for row in ends]
    low, high = _limits(curves, ends, spreads)
    for row, (across, up) in zip(ends, spreads, strict=True):
        colour, mark, line = looks[row["strategy"]]
        curve = curves.filter(pl.col("strategy") == row["strategy"], pl.col("yield_mean") > 0)
        x, y = (curve[name].to_numpy() for name in ("tokens", "yield_mean"))
        ax.plot(x, y, color=colour, linestyle=line, linewidth=1.6, drawstyle="steps-post", zorder=3)
        if curve.height and not curve["yield_sd"].null_count():
            sd = curve["yield_sd"].to_numpy()
            ax.fill_between(x, np.maximum(y - sd, low), y + sd, step="post", color=colour, alpha=0.13, linewidth=0)
        if curve.height:  # the end is a mean over domains, the curve ends where the first of them does
            ax.plot([x[-1], row["tokens_mean"]], [y[-1], row["yield_mean"]], color=colour, linewidth=0.9, alpha=0.6)
        ax.errorbar(
            row["tokens_mean"], row["yield_mean"], xerr=across, yerr=up, fmt=mark, color=colour, markersize=7.5,
            markerfacecolor=colour if row["pareto_optimal"] else "white", markeredgecolor=colour, markeredgewidth=1.5,
            elinewidth=1.1, capsize=2.5, zorder=5,
        )  # fmt: skip
    _best(ax, ends)
    ax.set_ylim(low, high)
    ax.margins(x=0.06)
    _name(ax, ends, runs, looks)
    left, right = ax.get_xlim()
    for axis, decades in ((ax.xaxis, log10(right / left)), (ax.yaxis, log10(high / low))):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.2 else (1,), numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"))
        axis.set_minor_formatter(NullFormatter())
    ax.axhline(1.0, color=COLOURS.grey, linewidth=0.9, zorder=1)


def _limits(
    curves: pl.DataFrame, ends: Sequence[dict[str, Any]], spreads: Sequence[tuple[Bars, Bars]]
) -> tuple[float, float]:
    """Bounds of the axis of yields: every end with its interval, and every curve from its first valid point on."""
    positive = curves.filter(pl.col("yield_mean") > 0)["yield_mean"].to_list()
    values = [*(row["yield_mean"] for row in ends), *positive]
    tops = [row["yield_mean"] + (up[1][0] if up else 0.0) for row, (_, up) in zip(ends, spreads, strict=True)]
    return min(values) / 1.6, max(*values, *tops) * 1.25


def _spread(row: dict[str, Any], runs: pl.DataFrame) -> tuple[Bars, Bars]:
    """Error bars of an end: sd over domains both ways, or the interval of the yield of the only domain."""
    if row["yield_sd"] is not None:
        up = [[min(row["yield_sd"], 0.999 * row["yield_mean"])], [row["yield_sd"]]]
        sd = row["tokens_sd"]
        return None if sd is None else [[min(sd, 0.999 * row["tokens_mean"])], [sd]], up
    only = runs.filter(pl.col("yield_low").is_not_null(), strategy=row["strategy"], domain=row["over"])
    if only.is_empty():  # the baseline, or bounds that are unknown
        return None, None
    low, high = only["yield_low"][0], only["yield_high"][0]
    return None, [[max(0.0, row["yield_mean"] - max(low, 1e-9))], [max(0.0, high - row["yield_mean"])]]


def _best(ax: Axes, ends: Sequence[dict[str, Any]]) -> None:
    """The most that is to be had for a number of tokens or fewer, as a dashed stair through the optimal ends."""
    best = sorted((row["tokens_mean"], row["yield_mean"]) for row in ends if row["pareto_optimal"])
    if len(best) > 1:
        x, y = zip(*best, strict=True)
        ax.plot(x, y, color=COLOURS.grey, linewidth=1.3, linestyle=(0, (4, 2)), drawstyle="steps-post", zorder=2)


def _name(ax: Axes, ends: Sequence[dict[str, Any]], runs: pl.DataFrame, looks: dict[str, tuple[str, str, str]]) -> None:
    """Name the ends right of the panel, from low to high, pushed apart where they are close."""
    bottom, top = (log10(limit) for limit in ax.get_ylim())
    height = 0.055 if len(ends) <= 8 else 0.9 / len(ends)
    heights = [(log10(row["yield_mean"]) - bottom) / (top - bottom) for row in ends]
    order = sorted(range(len(ends)), key=lambda i: (heights[i], ends[i]["strategy"]))
    place, places = 0.0, {}
    for i in order:
        place = max(heights[i], place + height)
        places[i] = place
    above = max(0.0, max(places.values()) - 0.98)
    ceiling = 2.0
    for i in reversed(order):  # those pushed out at the top are pushed back, and push others down
        places[i] = min(places[i], ceiling - height, 0.98) if above else places[i]
        ceiling = places[i]
    for i in order:
        row = ends[i]
        cut = set(runs.filter(strategy=row["strategy"])["stop_reason"]) & CENSORED
        ax.annotate(
            f"{row['strategy']} {row['yield_mean']:.2f}{'*' if cut else ''}",
            (row["tokens_mean"], row["yield_mean"]),
            xytext=(1.03, places[i]),
            textcoords="axes fraction",
            ha="left",
            va="center",
            fontsize=8.5,
            fontweight="bold" if row["pareto_optimal"] else "normal",
            color=COLOURS.ink,
            parse_math=False,
            arrowprops={
                "arrowstyle": "-",
                "color": looks[row["strategy"]][0],
                "linewidth": 0.6,
                "alpha": 0.5,
                "shrinkB": 5,
            },
            zorder=6,
        )


def _looks(strategies: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Colour, mark and line of each strategy: a kind shares mark and line, its width makes the colour."""
    looks, spare = {}, iter(SPARE * len(strategies))
    seen: dict[str, int] = {}
    for name in sorted(strategies, key=lambda name: (len(name), name)):
        kind = name.partition("_")[0]
        if name in FAMILIES:
            looks[name] = FAMILIES[name]
        elif kind in KINDS:
            colours, mark, line = KINDS[kind]
            looks[name] = (colours[seen.get(kind, 0) % len(colours)], mark, line)
            seen[kind] = seen.get(kind, 0) + 1
        else:
            looks[name] = (next(spare), "D", "-.")
    return looks
