"""How probable each layer finds the gold answer, by class of the question: a heat map, and lines with intervals."""

from __future__ import annotations

import polars as pl
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import Title, plural
from src.figures.shares import CLASSES, short

FAINTEST = 1e-6
"""Probability from which downwards all is one colour."""
LENS = "the logit lens: final norm and unembedding on what each layer hands on where the answer would begin"


def heat(table: pl.DataFrame, title: Title) -> Figure:
    """Class × layer, coloured by the mean probability on a logarithmic scale; the last layer in numbers.

    Args:
        table: `layers` of the study.
        title: of the cell.
    """
    classes, layers = _classes(table), int(table["layer"].to_numpy().max())
    figure, (ax,) = canvas(
        f"The gold answer, layer by layer · {title.line}",
        f"n = {plural(sum(classes.values()), 'question')} · probability of the answer's first token · {title.caveat}",
        f"By {LENS}.\nNumbers: last layer, what the model puts out, with its 95 % interval "
        "(Bayesian bootstrap; unit: question).",
        width=11.0,
        height=2.4 + 0.42 * max(len(classes), 3),
    )
    rows = [table.filter(category=name).sort("layer") for name in classes]
    drawn = ax.imshow(
        [row["probability"].clip(FAINTEST).to_list() for row in rows],
        aspect="auto", cmap="viridis", norm=LogNorm(FAINTEST, 1.0), extent=(0.5, layers + 0.5, len(rows) - 0.5, -0.5),
    )  # fmt: skip
    for place, row in enumerate(rows):
        last = row.row(-1, named=True)
        bounds = "no interval" if last["reason"] else f"{last['probability_low']:.3f}–{last['probability_high']:.3f}"
        ax.text(layers + 0.8, place, f"{last['probability']:.3f} [{bounds}]", va="center", fontsize=9,
                color=COLOURS.ink)  # fmt: skip
    ax.set_yticks(range(len(rows)), [f"{name} · {short(name)} (n = {n})" for name, n in classes.items()])
    ax.tick_params(axis="y", labelcolor=COLOURS.ink, length=0)
    ax.grid(visible=False)
    ax.set_xlabel("layer")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    inch = 1 / figure.get_size_inches()[1]
    figure.subplots_adjust(left=0.25, right=0.73, top=1 - 0.95 * inch, bottom=1.15 * inch)
    box = ax.get_position()
    bar = figure.colorbar(drawn, cax=figure.add_axes((0.89, box.y0, 0.015, box.height)), extend="min")
    bar.ax.tick_params(labelsize=8, colors=COLOURS.muted)
    return figure


def curves(table: pl.DataFrame, title: Title) -> Figure:
    """A panel for each class: the mean probability by layer, with its interval.

    Args:
        table: `layers` of the study.
        title: of the cell.
    """
    classes = _classes(table)
    figure, axes = canvas(
        f"The gold answer, layer by layer, with intervals · {title.line}",
        f"n = {plural(sum(classes.values()), 'question')} · probability of the answer's first token · {title.caveat}",
        f"By {LENS}.\nShaded: 95 % intervals (Bayesian bootstrap; unit: question), each layer by itself; they are wide "
        "where questions are few.",
        panels=3,
        rows=2,
        width=11.0,
        height=6.4,
    )
    top = max(0.05, *table["probability"], *table["probability_high"].drop_nulls())
    for ax, name in zip(axes, CLASSES, strict=True):
        ax.set_title(f"{name} · {short(name)} (n = {classes.get(name, 0)})", loc="left", fontsize=9.5)
        ax.set_ylim(0, min(1.0, 1.05 * top))
        ax.set_xlim(1, table["layer"].to_numpy().max())
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        row = table.filter(category=name).sort("layer")
        if row.is_empty():
            ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", color=COLOURS.muted)
            continue
        bounded = row.drop_nulls()
        ax.fill_between(bounded["layer"], bounded["probability_low"], bounded["probability_high"], color=COLOURS.sky,
                        alpha=0.35, linewidth=0)  # fmt: skip
        ax.plot(row["layer"], row["probability"], color=COLOURS.blue, linewidth=1.6)
    for ax in axes[3:]:
        ax.set_xlabel("layer")
    inch = 1 / figure.get_size_inches()[1]
    figure.subplots_adjust(hspace=0.35, top=1 - 1.05 * inch, bottom=1.05 * inch, wspace=0.2)
    return figure


def _classes(table: pl.DataFrame) -> dict[str, int]:
    """The classes that there are, in their order, and how many questions each has."""
    sizes = dict(table.select("category", "questions").unique().iter_rows())
    return {name: sizes[name] for name in CLASSES if name in sizes}
