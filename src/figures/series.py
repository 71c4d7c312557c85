"""Recall and accuracy of many models, domain by domain."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import dots, height, legend, placed, shortened

WIDEST = 11
"""Panels in a row."""
MEAN = "all domains"


def series(models: pl.DataFrame, domains: pl.DataFrame, strategy: str, caveat: str) -> Figure:
    """Panels of recall, then panels of accuracy: the mean first, then every domain; a row for each model.

    Args:
        models: the table `models` of the study.
        domains: the table `domains`.
        strategy: how the models were asked.
        caveat: what must be known before the numbers.
    """
    order = models.sort(["recall_match", "model"], descending=[True, False])["model"].to_list()
    names = sorted(set(domains["domain"]))
    panels = [(MEAN, models), *((name, domains.filter(domain=name)) for name in names)]
    if len(names) == 1:
        panels = panels[1:]
    across = min(len(panels), WIDEST)
    down = math.ceil(len(panels) / WIDEST)
    wide = across <= 6
    judged, branches = (int(models[name].sum()) for name in ("judged", "branches"))
    figure, axes = canvas(
        f"Models, domain by domain · {strategy}",
        f"n = {plural(int(models['clusters'].max()), 'union cluster')}, "  # type: ignore[arg-type]
        f"{plural(models.height, 'model')}, {plural(len(names), 'domain')} · {caveat}",
        "Lines: 95 % intervals (recall: Wilson, unit union cluster; accuracy: unit branch, or point with fewer than 3;"
        f"\n{plural(judged, 'judged point')}, branches: {branches:,}). Recall, filled: not separable from the best "
        "(Holm, panel, 5 %).",
        panels=across,
        rows=2 * down,
        width=2.3 + (2.1 if wide else 1.45) * max(across, 3),
        height=height(len(order), 2 * down),
    )
    blocks = (("recall_match", "recall_match", COLOURS.blue), ("accuracy", "accuracy", COLOURS.green))
    for block, (column, words, colour) in enumerate(blocks):
        low, high = _range(panels, column)
        for place in range(across * down):
            ax = axes[block * down * across + place]
            if place >= len(panels):
                ax.set_visible(False)
                continue
            _panel(ax, *panels[place], order, column, colour, named=place % across == 0, wide=wide)
            ax.set_xlim(low, high)
            ax.set_xlabel(words, fontsize=9)
    placed(figure, len(order), 2.0)
    legend(axes[0], [("not separable from the best", True), ("separated", False)], at=(0.15, 0.75))
    return figure


def _panel(
    ax: Axes, name: str, rows: pl.DataFrame, order: list[str], column: str, colour: str, *, named: bool, wide: bool
) -> None:
    found = {row["model"]: row for row in rows.iter_rows(named=True)}
    values = [found[model][column] for model in order]
    bounds = [(found[model][f"{column}_low"], found[model][f"{column}_high"]) for model in order]
    filled = [column == "accuracy" or found[model]["tied_with_best"] for model in order]
    dots(ax, order, values, bounds, filled, colour=colour, named=named)
    ax.set_title(shortened(name, 22 if wide else 16), loc="left", fontsize=9.5 if wide else 8.5, parse_math=False)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.3g}%"))
    ax.xaxis.set_major_locator(MaxNLocator(3))


def _range(panels: list[tuple[str, pl.DataFrame]], column: str) -> tuple[float, float]:
    """One axis for all panels of a measure."""
    ends = [value for _, rows in panels for name in (column, f"{column}_low", f"{column}_high")
            for value in rows[name].drop_nulls()]  # fmt: skip
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = max(0.05, 0.06 * (high - low))
    return max(-0.02, low - room), min(1.015, high + room)
