"""Rows of marks with intervals, one row for each model: legible in grey, from one model to fifty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from src.figures.canvas import COLOURS

ROW = 0.26
"""Inches that a row takes."""
FEWEST_ROWS = 8
WORDS = 2.45
"""Inches above and below the axes, for words."""


def height(rows: int, panels: int = 1) -> float:
    """Inches of a figure whose tallest panel has that many rows, with rows of panels below each other."""
    return WORDS + panels * (ROW * max(rows, FEWEST_ROWS) + 0.35)


def dots(
    ax: Axes,
    labels: Sequence[str],
    values: Sequence[float | None],
    bounds: Sequence[tuple[float | None, float | None]],
    filled: Sequence[bool],
    *,
    colour: str = COLOURS.blue,
    named: bool = True,
) -> None:
    """Draw a mark with its interval in every row, the first row on top.

    Args:
        ax: where.
        labels: of the rows.
        values: None: the row stays empty, and says "none".
        bounds: of the intervals; None: no line.
        filled: whether a mark is filled.
        colour: of the marks.
        named: whether the labels are written.
    """
    for row, (value, (low, high), full) in enumerate(zip(values, bounds, filled, strict=True)):
        if value is None:
            ax.text(0.5, row, "none", transform=ax.get_yaxis_transform(), va="center", ha="center", fontsize=8,
                    color=COLOURS.muted)  # fmt: skip
            continue
        if low is not None and high is not None:
            ax.plot([low, high], [row, row], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=3)
        face = colour if full else "white"
        ax.plot([value], [row], "o", color=colour, markerfacecolor=face, markersize=6, markeredgewidth=1.5, zorder=4)
    many = max(len(labels), 1)
    ax.set_ylim(max(many, FEWEST_ROWS) - 0.4 if many > FEWEST_ROWS else many - 0.4, -0.6)
    ax.set_yticks(range(len(labels)), [shortened(label) for label in labels] if named else [""] * len(labels))
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
        text.set_color(COLOURS.ink)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)


def legend(ax: Axes, entries: Sequence[tuple[str, bool]], *, colour: str = COLOURS.blue, **place: Any) -> None:
    """Explain the marks below or beside the axes."""
    for words, full in entries:
        face = colour if full else "white"
        ax.plot([], [], "o", color=colour, markerfacecolor=face, markersize=6, markeredgewidth=1.5, label=words)
    ax.legend(frameon=False, fontsize=9, **place)


def shortened(name: str, longest: int = 24) -> str:
    """A name that fits beside an axis."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
