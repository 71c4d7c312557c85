"""Rows of marks with intervals, one row for each model: legible in grey, from one model to fifty."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from src.figures.canvas import COLOURS

MANY = 20
"""Rows from which on they are set closer."""
FEWEST_ROWS = 8
ABOVE, BELOW = 1.4, 1.06
"""Inches above and below the axes, for words."""
GAP = 0.85
"""Inches between axes above one another."""


def panel_height(rows: int) -> float:
    """Inches of the axes for that many rows."""
    return 0.26 * max(rows, FEWEST_ROWS) if rows <= MANY else 0.165 * rows + 1.9


def height(rows: int, panels: int = 1) -> float:
    """Inches of a figure with that many rows in each of the panels below one another."""
    return ABOVE + BELOW + panels * panel_height(rows) + (panels - 1) * GAP


def placed(figure: Figure, rows: int, left: float) -> None:
    """Give the axes their places; `left` is the inches that names take."""
    width, tall = figure.get_size_inches()
    figure.subplots_adjust(
        left=left / width, wspace=0.12, top=1 - ABOVE / tall, bottom=BELOW / tall, hspace=GAP / panel_height(rows)
    )


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
        values: None: the row says "none".
        bounds: of the intervals; None: no line.
        filled: whether a mark is filled.
        colour: of the marks.
        named: whether the labels are written.
    """
    small = len(labels) > MANY
    lines = [(row, low, high) for row, (low, high) in enumerate(bounds) if low is not None and high is not None]
    if lines:
        rows, lows, highs = zip(*lines, strict=True)
        ax.hlines(rows, lows, highs, color=colour, linewidth=1.2 if small else 1.6, zorder=3)
    known = [(value, row) for row, value in enumerate(values) if value is not None]
    faces = [colour if filled[row] else "white" for _, row in known]
    at, on = [value for value, _ in known], [row for _, row in known]
    size, edge = (16, 1.2) if small else (34, 1.5)
    ax.scatter(at, on, s=size, c=faces, edgecolors=colour, linewidths=edge, zorder=4)
    for row, value in enumerate(values):
        if value is None:
            ax.text(0.5, row, "none", transform=ax.get_yaxis_transform(), va="center", ha="center", fontsize=8,
                    color=COLOURS.muted)  # fmt: skip
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    ax.set_yticks(range(len(labels)) if named else [], [shortened(label) for label in labels] if named else [])
    ax.tick_params(axis="y", labelsize=7.5 if small else 9)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
        text.set_color(COLOURS.ink)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)


def legend(ax: Axes, entries: Sequence[tuple[str, bool]], at: tuple[float, float], colour: str = COLOURS.blue) -> None:
    """Explain the marks; `at` is the upper left corner, in inches from the upper left corner of the figure."""
    figure = ax.figure
    for words, full in entries:
        face = colour if full else "white"
        ax.plot([], [], "o", color=colour, markerfacecolor=face, markersize=6, markeredgewidth=1.5, label=words)
    width, tall = figure.get_figure(root=True).get_size_inches()
    ax.legend(
        frameon=False, fontsize=9, ncols=len(entries), loc="upper left", borderaxespad=0.0, handletextpad=0.2,
        bbox_to_anchor=(at[0] / width, 1 - at[1] / tall), bbox_transform=figure.transFigure,
    )  # fmt: skip


def shortened(name: str, longest: int = 24) -> str:
    """A name that fits beside an axis."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
