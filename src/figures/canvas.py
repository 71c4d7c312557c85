"""One look for all figures: no pyplot, no global state, the same bytes for the same numbers."""

from __future__ import annotations

import io
import warnings
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 150


class Palette(NamedTuple):
    """Okabe and Ito's colours, told apart by colour-blind readers."""

    ink: str = "#222222"
    muted: str = "#6b6b6b"
    grid: str = "#e4e4e4"
    grey: str = "#b8b8b8"
    blue: str = "#0072b2"
    sky: str = "#56b4e9"
    green: str = "#009e73"
    orange: str = "#d55e00"
    yellow: str = "#e69f00"


COLOURS = Palette()


def canvas(
    title: str, subtitle: str, caption: str, *, panels: int = 1, width: float = 9.0, rows: int = 1, height: float = 4.8
) -> tuple[Figure, list[Axes]]:
    """An empty figure with its words and styled axes, `rows` of `panels` each; the words keep their places in inches.

    Args:
        title: what is shown, about what; one line.
        subtitle: n and what must be known before the numbers; one line.
        caption: what marks and intervals are; at most two lines.
        panels: axes in a row.
        width: inches.
        rows: rows of axes, returned row by row.
        height: inches.
    """
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    ink, muted = COLOURS.ink, COLOURS.muted
    size = min(13.0, 13.0 * 8.3 * width / max(len(title), 1))  # a long title shrinks rather than leaves the page
    inch = 4.8 / height  # of the usual height, which the places below are made for
    figure.text(0.02, 1 - 0.035 * inch, title, fontsize=size, fontweight="bold", color=ink, va="top", parse_math=False)
    figure.text(0.02, 1 - 0.105 * inch, subtitle, fontsize=9.5, color=muted, va="top", parse_math=False)
    figure.text(0.02, 0.025 * inch, caption, fontsize=9, color=muted, va="bottom", parse_math=False)
    axes = list(figure.subplots(rows, panels, squeeze=False).flat)
    figure.subplots_adjust(left=0.85 / width, right=0.98, top=1 - 0.23 * inch, bottom=0.22 * inch, wspace=0.28)
    for ax in axes:
        _style(ax)
    return figure, axes


def png(figure: Figure) -> bytes:
    """The figure as PNG without the time, the version or anything else that varies between runs."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # A name in a script that the bundled font lacks is drawn as boxes; that is no reason to fail.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """The figure as SVG: text stays text, names of its parts do not depend on the process."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "knowledge-frontier", "svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _style(ax: Axes) -> None:
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=COLOURS.grid, linewidth=0.8)
    ax.tick_params(colors=COLOURS.muted, labelsize=9, length=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(COLOURS.grey)
    ax.xaxis.label.set_color(COLOURS.ink)
    ax.yaxis.label.set_color(COLOURS.ink)
