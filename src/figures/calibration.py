"""Figures of a calibration: how far a judge agrees with people, and what its shares are once corrected."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import dots, height

MEASURES = (
    ("as drawn", "agreement", "agreement, as drawn"),
    ("as drawn", "pabak", "PABAK, as drawn"),
    ("as drawn", "ac1", "AC1, as drawn"),
    ("as drawn", "kappa", "κ, as drawn"),
    ("weighted", "agreement", "agreement, weighted"),
    ("weighted", "ac1", "AC1, weighted"),
    ("weighted", "kappa", "κ, weighted"),
)


def agreement_figure(table: pl.DataFrame, unit: str, accepted: str, right: str, caveat: str) -> Figure:
    """Measures of agreement over everything, and what the judge accepts and misses in every domain and of every model.

    Args:
        table: the rows of the table `agreement` about one pair of raters; the first part is everything. n counts units
            and `judgements` those of cells; they differ where several cells said the same.
        unit: what was judged, such as `point`.
        accepted: what yes means, such as `valid`.
        right: who counts as right.
        caveat: what must be known before the numbers.
    """
    drawn, weighted = table.filter(weighting="as drawn"), table.filter(weighting="weighted")
    rows = {"as drawn": drawn.row(0, named=True), "weighted": weighted.row(0, named=True)}
    whole = rows["as drawn"]
    figure, (left, middle, last) = canvas(
        f"Judge against {right}: {unit}s",
        f"n = {rated_words(whole['n'], whole['judgements'], unit)} rated, of {whole['judged']:,} judged · {caveat}",
        f"Lines: 95 % intervals, Bayesian bootstrap of the {unit}s inside each verdict. Weighted: to all judged "
        f"{unit}s.\nPrecision: of what the judge accepts, the share that is {accepted} for {right}; missed: of what it "
        "turns down, the share that is; both as drawn.",
        panels=3,
        width=11.0,
        height=height(max(drawn.height, len(MEASURES))),
    )
    bounds = [(rows[side][f"{name}_low"], rows[side][f"{name}_high"]) for side, name, _ in MEASURES]
    values = [rows[side][name] for side, name, _ in MEASURES]
    filled = [side == "as drawn" for side, *_ in MEASURES]
    dots(left, [words for *_, words in MEASURES], values, bounds, filled, colour=COLOURS.blue)
    left.set_ylim(max(drawn.height, len(MEASURES)) - 0.4, -0.6)  # beside many models its rows stay together
    _parts(middle, drawn, "precision", COLOURS.green)
    _parts(last, drawn, "missed", COLOURS.orange, named=False)
    left.set_xlim(min([-0.03, *(low - 0.05 for low, _ in bounds if low is not None)]), 1.03)
    for ax, words in ((left, "agreement, all"), (middle, "precision"), (last, "missed")):
        ax.set_title(words, loc="left", fontsize=10)
    for ax in (middle, last):
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_xlim(-0.03, 1.03)
    for ax, start, wide in ((left, 0.15, 0.215), (middle, 0.53, 0.21), (last, 0.77, 0.21)):
        box = ax.get_position()
        ax.set_position((start, box.y0, wide, box.height))
    return figure


def corrected_figure(table: pl.DataFrame, unit: str, accepted: str, right: str, caveat: str) -> Figure:
    """The share that the judge accepts beside the corrected one, over everything, every domain and every model.

    Args:
        table: as that of :func:`agreement_figure`.
        unit: what was judged.
        accepted: what yes means.
        right: who counts as right.
        caveat: what must be known before the numbers.
    """
    weighted = table.filter(weighting="weighted")
    whole = weighted.row(0, named=True)
    figure, (ax,) = canvas(
        f"Share of {accepted} {unit}s, as judged and as corrected by {right}",
        f"n = {rated_words(whole['n'], whole['judgements'], unit)} rated, of {whole['judged']:,} judged · {caveat}",
        f"Lines: 95 % intervals of the corrected share, Bayesian bootstrap of the rated {unit}s inside each verdict,\n"
        f"weighted to all judged {unit}s. The judge's own share is counted over all of them.",
        height=height(weighted.height),
    )
    _parts(ax, weighted, "prevalence", COLOURS.blue)
    for row, (judged, corrected) in enumerate(weighted.select("first_share", "prevalence").iter_rows()):
        if judged is not None and corrected is not None:
            ax.plot([judged, corrected], [row, row], color=COLOURS.grey, linewidth=1.0, zorder=2)
    known = [(row, share) for row, share in enumerate(weighted["first_share"]) if share is not None]
    ax.scatter([share for _, share in known], [row for row, _ in known], s=30, marker="D", c="white",
               edgecolors=COLOURS.orange, linewidths=1.5, zorder=5)  # fmt: skip
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel(f"share of {accepted} {unit}s")
    figure.subplots_adjust(left=0.24)
    for mark, colour, face, words in (
        ("D", COLOURS.orange, "white", "as judged"),
        ("o", COLOURS.blue, COLOURS.blue, f"corrected by {right}"),
    ):
        ax.plot([], [], mark, color=colour, markerfacecolor=face, markersize=5.5, markeredgewidth=1.5, label=words)
    ax.legend(frameon=False, fontsize=9, ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    return figure


def rated_words(n: int, judgements: int, unit: str) -> str:
    """`96 points`, or `20 points (80 judgements)` where several cells said the same."""
    return plural(n, unit) + (f" ({plural(judgements, 'judgement')})" if judgements != n else "")


def _parts(ax: Axes, table: pl.DataFrame, measure: str, colour: str, *, named: bool = True) -> None:
    """A row for everything, then for every domain and every model."""
    names: Sequence[str] = [name or part for part, name in table.select("part", "name").iter_rows()]
    bounds = list(table.select(f"{measure}_low", f"{measure}_high").iter_rows())
    dots(ax, names, table[measure].to_list(), bounds, [True] * table.height, colour=colour, named=named)
    kinds = table["part"].to_list()
    for row in range(1, len(kinds)):
        if kinds[row] != kinds[row - 1]:
            ax.axhline(row - 0.5, color=COLOURS.grey, linewidth=0.8)
