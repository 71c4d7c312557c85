"""Bars of class shares, one above another: the classes in their order, told apart by place, letters and hatching."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from src.figures.canvas import COLOURS
from src.figures.categories_lines import MEANINGS
from src.figures.dots import MANY, shortened

CLASSES = tuple(MEANINGS)
"""In the order of the score, the best first."""
LOOKS = {
    "HK": (COLOURS.blue, ""),
    "MK": (COLOURS.sky, ""),
    "WK": ("#cfe6f5", ""),
    "UU": ("#f8e8c8", "...."),
    "MU": (COLOURS.yellow, "////"),
    "CU": (COLOURS.orange, "xxxx"),
}
"""Colour and hatch; what is unknown is hatched, so that the order holds in grey."""
LONGEST = 64
"""Letters of a label."""
NAMED = 0.07
"""Least share whose bar bears its name."""


def bars(ax: Axes, labels: Sequence[str], shares: Sequence[Sequence[float]], notes: Sequence[str]) -> None:
    """Draw a bar of six shares in every row, the first row on top, and a note beside each.

    Args:
        ax: where.
        labels: of the rows.
        shares: of the classes in each row, in their order; NaN throughout: the row says "none".
        notes: what stands to the right of each bar.
    """
    small = len(labels) > MANY
    size = 6.5 if small else 8.5
    for row, (values, words) in enumerate(zip(shares, notes, strict=True)):
        left = 0.0
        for name, value in zip(CLASSES, values, strict=True):
            if not value > 0:
                continue
            colour, hatch = LOOKS[name]
            ax.barh(row, value, left=left, height=0.72, color=colour, hatch=hatch, edgecolor="white", linewidth=0.8)
            if value >= NAMED:
                ax.text(left + value / 2, row, name, ha="center", va="center", fontsize=size - 0.5, color=COLOURS.ink,
                        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8})  # fmt: skip
            left += value
        if not left:
            ax.text(0.5, row, "none", va="center", ha="center", fontsize=size, color=COLOURS.muted)
        ax.text(1.015, row, words, va="center", fontsize=size, color=COLOURS.ink, parse_math=False)
    ax.set_xlim(0, 1)
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    ax.set_yticks(range(len(labels)), [shortened(label, LONGEST) for label in labels])
    ax.tick_params(axis="y", labelsize=7 if small else 9, length=0)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
        text.set_color(COLOURS.ink)
    ax.grid(axis="y", visible=False)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def label_inches(labels: Sequence[str]) -> float:
    """The room that labels of rows take."""
    return 0.4 + (0.058 if len(labels) > MANY else 0.076) * max([12, *(min(len(label), LONGEST) for label in labels)])


def legend(figure: Figure, left: float = 0.2, top: float = 0.72) -> None:
    """Name the classes in one line; its upper left corner in inches from that of the figure."""
    width, tall = figure.get_size_inches()
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="#777777", linewidth=0.6, label=f"{name} {short(name)}")
        for name, (colour, hatch) in LOOKS.items()
    ]
    figure.legend(
        handles=handles, frameon=False, fontsize=8.5, ncols=len(handles), loc="upper left", borderaxespad=0.0,
        handletextpad=0.4, columnspacing=1.0, bbox_to_anchor=(left / width, 1 - top / tall),
    )  # fmt: skip


def short(name: str) -> str:
    """What a class is called: "highly known" for HK."""
    return MEANINGS[name].partition(":")[0]
