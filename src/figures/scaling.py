"""Recall and accuracy against the size of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import shortened

MOST_NAMED = 8
"""Models that are named in the figure; of more, the table has the names."""


def scaling(models: pl.DataFrame, strategy: str, domains: int, clusters: Sequence[int], caveat: str) -> Figure:
    """Two panels: recall_match with recall_count, and accuracy, both with intervals, against parameters.

    Args:
        models: the table `models` of the study, sorted by parameters.
        strategy: how the models were asked.
        domains: over how many domains the numbers are means.
        clusters: of each domain's union.
        caveat: what must be known before the numbers.
    """
    figure, (left, right) = canvas(
        f"Knowledge against size · {strategy}",
        f"n = {plural(sum(clusters), 'union cluster')} of {plural(domains, 'domain')}, "
        f"{plural(models.height, 'model')} · {caveat}",
        "Lines at marks: 95 % intervals (recall: unit union cluster; accuracy: unit branch, or point with fewer than 3 "
        "branches).\nRecall, filled: not separable from the best, Holm over all pairs at 5 %.",
        panels=2,
        width=11.0,
    )
    size = models["parameters_billion"].to_numpy()
    for ax, name, colour in ((left, "recall_match", COLOURS.blue), (right, "accuracy", COLOURS.green)):
        filled = [name == "accuracy" or tied for tied in models["tied_with_best"]]
        _marks(ax, models, size, name, colour, filled)
        _line(ax, size, models[name])
        ax.set_xscale("log")
        ax.set_xlim(size.min() / 1.9, size.max() * 3.2)
        ax.set_xticks(_ticks(size), [f"{tick:.3g}" for tick in _ticks(size)])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("parameters, billions (logarithmic)")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        if models.height <= MOST_NAMED:
            _names(ax, models, size, name)
    left.plot(
        size, models["recall_count"].to_numpy(), "D", color=COLOURS.yellow, markerfacecolor="white", markersize=9,
        label="recall_count, as published", zorder=2,
    )  # fmt: skip
    left.plot([], [], "o", color=COLOURS.blue, label="recall_match")
    known = [
        value for name in ("recall_match", "recall_match_high", "recall_count") for value in models[name].drop_nulls()
    ]
    left.set_ylim(0, 1.15 * max([0.05, *known]))
    left.set_yticks([tick for tick in left.get_yticks() if tick <= max([1.0, *known])])
    left.set_title("recall", loc="left", fontsize=10)
    judged, branches = (int(models[name].sum()) for name in ("judged", "branches"))
    right.set_title(
        f"accuracy: valid of {plural(judged, 'judged point')}, branches: {branches:,}", loc="left", fontsize=10
    )
    right.set_ylim(*_framed(models))
    left.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1.02, 0.99), ncols=2, handletextpad=0.2,
                columnspacing=1.0, borderaxespad=0.2)  # fmt: skip
    return figure


def _marks(ax: Axes, models: pl.DataFrame, size: np.ndarray, name: str, colour: str, filled: Sequence[bool]) -> None:
    known = models.select(
        pl.Series("at", size), pl.Series("full", filled), value=name, low=f"{name}_low", high=f"{name}_high"
    ).drop_nulls("value")
    lined = known.drop_nulls()
    ax.vlines(lined["at"], lined["low"], lined["high"], color=colour, linewidth=1.5, zorder=3)
    faces = [colour if full else "white" for full in known["full"]]
    ax.scatter(known["at"], known["value"], s=42, c=faces or None, edgecolors=colour, linewidths=1.5, zorder=4)


def _line(ax: Axes, size: np.ndarray, values: pl.Series) -> None:
    """Least squares on log10 of the parameters, if there are two sizes."""
    known = values.is_not_null().to_numpy()
    if len(set(size[known].tolist())) < 2:
        return
    slope, level = np.polyfit(np.log10(size[known]), values.drop_nulls().to_numpy(), 1)
    ends = np.array([size[known].min(), size[known].max()])
    ax.plot(ends, level + slope * np.log10(ends), color=COLOURS.muted, linewidth=1.2, linestyle=(0, (5, 3)), zorder=1)


def _names(ax: Axes, models: pl.DataFrame, size: np.ndarray, name: str) -> None:
    """Write the names beside the marks; those of one size above each other in the order of their values."""
    for at in sorted(set(size.tolist())):
        rows = [(value, model) for value, model, here in zip(models[name], models["model"], size, strict=True)
                if here == at and value is not None]  # fmt: skip
        for place, (value, model) in enumerate(sorted(rows)):
            ax.annotate(
                shortened(model, 18), (at, value), xytext=(8, 4 + 11 * (place - (len(rows) - 1) / 2)),
                textcoords="offset points", fontsize=8.5, color=COLOURS.ink, va="bottom", parse_math=False, zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
            )  # fmt: skip


def _ticks(size: np.ndarray) -> list[float]:
    """At most eight sizes, those at the ends and some between that are far enough from each other."""
    kept: list[float] = []
    for value in sorted(set(size.tolist())):
        if not kept or value / kept[-1] > max(1.35, (size.max() / size.min()) ** (1 / 8)):
            kept.append(value)
    return kept


def _framed(models: pl.DataFrame) -> tuple[float, float]:
    """An axis of shares that shows every interval and says where 0 and 1 are only if they are near."""
    ends = [value for name in ("accuracy", "accuracy_low", "accuracy_high") for value in models[name].drop_nulls()]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = max(0.05, 0.15 * (high - low))
    return max(0.0, low - room), min(1.04, high + room)
