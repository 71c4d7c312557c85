"""Accuracy of a general and a specialised model, turn by turn, domain by domain."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import shortened

WIDEST = 4
"""Panels in a row."""
PANEL = 3.0
"""Inches that a row of panels takes."""


def specialisation(
    turns: pl.DataFrame, events: pl.DataFrame, models: tuple[str, str], strategy: str, caveat: str
) -> Figure:
    """A panel for each domain: accuracy of all points up to a turn, and the crossover where there is one.

    Args:
        turns: the table `turns` of the study, at least one row.
        events: the table `events`.
        models: the general and the specialised one.
        strategy: how they were asked.
        caveat: what must be known before the numbers.
    """
    places = turns.select("zone", "domain").unique(maintain_order=True).rows()
    across = min(len(places), WIDEST)
    down = math.ceil(len(places) / WIDEST)
    judged, branches = turns.group_by("domain", "model").agg(pl.col("judged", "branches").max()).select(
        pl.col("judged", "branches").sum()
    ).row(0)  # fmt: skip
    figure, axes = canvas(
        f"{models[1]} against {models[0]} · {strategy}",
        f"n = {plural(judged, 'judged point')}, branches: {branches:,}, {plural(len(places), 'domain')} · {caveat}",
        "Bands: 95 % intervals (unit: branch, or point with fewer than 3 branches). Vertical line and grey band: "
        "crossover of the\naccuracies of new points with its Fieller interval; where there is none, the reason is in "
        "the table.",
        panels=across,
        rows=down,
        width=max(9.0, 0.9 + 3.4 * across),
        height=2.4 + PANEL * down,
    )
    for ax, (zone, domain) in zip(axes, places, strict=False):
        here = turns.filter(domain=domain)
        _lines(ax, here, models)
        said = events.filter(domain=domain)
        _crossing(ax, said.filter(event="crossover"))
        ax.set_title(f"{shortened(domain, 26)} ({zone})", loc="left", fontsize=10, pad=36, parse_math=False)
        words = "\n".join(_said(row) for row in said.iter_rows(named=True))
        ax.text(0, 1.02, words, transform=ax.transAxes, fontsize=8.5, color=COLOURS.muted, va="bottom")
    ends = [value for name in ("accuracy", "accuracy_low", "accuracy_high") for value in turns[name].drop_nulls()]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    for place, ax in enumerate(axes):
        if place >= len(places):
            ax.set_visible(False)
            continue
        ax.set_ylim(max(0.0, low - 0.04), min(1.02, high + 0.04))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_xlabel("turn")
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
        if place % across == 0:
            ax.set_ylabel("accuracy up to the turn")
    inch = 1 / figure.get_size_inches()[1]
    figure.subplots_adjust(top=1 - 1.75 * inch, hspace=0.75, wspace=0.22)
    figure.legend(
        *axes[0].get_legend_handles_labels(), frameon=False, fontsize=9, ncols=2, loc="upper left",
        bbox_to_anchor=(0.012, 1 - 0.68 * inch), borderaxespad=0.0,
    )  # fmt: skip
    return figure


def _said(row: dict[str, Any]) -> str:
    """What was expected of an event, and what was found."""
    expected = "predicted" if row["predicted"] else "not predicted"
    found = {None: row["outcome"], True: "shown", False: "none shown"}[row["shown"]]
    return f"{row['event']}: {expected}, {found}"


def _lines(ax: Axes, here: pl.DataFrame, models: tuple[str, str]) -> None:
    styles = ((COLOURS.blue, "-", "o", "general"), (COLOURS.orange, (0, (5, 2)), "s", "specialised"))
    for model, (colour, dash, mark, role) in zip(models, styles, strict=True):
        rows = here.filter((pl.col("model") == model) & pl.col("accuracy").is_not_null()).sort("turn")
        at, values = rows["turn"].to_numpy(), rows["accuracy"].to_numpy()
        ax.plot(at, values, color=colour, linestyle=dash, marker=mark, markersize=4, linewidth=1.6,
                label=f"{shortened(model)} ({role})", zorder=4)  # fmt: skip
        known = rows.drop_nulls(["accuracy_low", "accuracy_high"])
        ax.fill_between(
            known["turn"].to_numpy(), known["accuracy_low"].to_numpy(), known["accuracy_high"].to_numpy(),
            color=colour, alpha=0.14, linewidth=0, zorder=2,
        )  # fmt: skip


def _crossing(ax: Axes, event: pl.DataFrame) -> None:
    """The crossover of the first row, if there is one, with its interval cut at the edges of the panel."""
    row = event.row(0, named=True) if event.height else None
    if row is None or row["number"] is None:
        return
    left, right = ax.get_xlim()
    ax.axvspan(max(left, row["number_low"]), min(right, row["number_high"]), color=COLOURS.grey, alpha=0.35, zorder=1)
    ax.axvline(row["number"], color=COLOURS.ink, linewidth=1.2, linestyle=(0, (2, 2)), zorder=3)
    ax.set_xlim(left, right)
