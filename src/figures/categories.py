"""What one cell of questions looks like: shares of its classes, the same by kind of question, and a page of all."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import Title, percent, plural
from src.figures.dots import height, placed
from src.figures.drawings import Drawings
from src.figures.questions_page import questions_page
from src.figures.shares import CLASSES, LOOKS, bars, label_inches, legend, short
from src.records import Metrics, Tables

MOST_KINDS = 40
"""Kinds that are drawn, those with the most questions; the table has all."""


def draw(extracted: Tables, processed: Tables, kinds: pl.DataFrame, metrics: Metrics, title: Title) -> Drawings:
    """Draw a cell.

    Args:
        extracted: its tables of the extraction.
        processed: its tables of the processing.
        kinds: a row for every kind of question: `kind`, `questions`, `right` (greedy answers), `accuracy` with `_low`
            and `_high`, and the share of each class.
        metrics: its metrics.
        title: what it is about.

    Returns:
        The figure `categories`; the figure `kinds` if there are two kinds of questions or more; the page
        `questions.html`; no curves, as there are no turns.
    """
    figures = {"categories": _classes(metrics, title)}
    if kinds.height > 1:
        figures["kinds"] = _kinds(kinds, title)
    return Drawings(
        figures=figures,
        pages={"questions.html": questions_page(extracted["questions"], processed, title, metrics)},
        curves=pl.DataFrame(schema={"turn": pl.Int64}),
    )


def _classes(metrics: Metrics, title: Title) -> Figure:
    """The six shares with their intervals; what is true beside them, where that is known."""
    known = any(metrics.get(f"truth_share_{name}") is not None for name in CLASSES)
    diamonds = " Diamonds: expected shares of this simulated model." if known else ""
    figure, (ax,) = canvas(
        f"What it knows, and how sure it is · {title.line}",
        f"n = {plural(int(metrics['questions'] or 0), 'question')} · {title.caveat}",
        f"Lines and brackets: 95 % intervals (shares: Clopper–Pearson; score: Bayesian bootstrap; unit: question).\n"
        f"HK and MK: the greedy answer is right.{diamonds}",
        height=height(len(CLASSES)),
    )
    for row, name in enumerate(CLASSES):
        share = f"share_{name}"
        value, low, high, true = (
            _number(metrics, key) for key in (share, f"{share}_low", f"{share}_high", f"truth_{share}")
        )
        colour, hatch = LOOKS[name]
        if not math.isnan(value):
            ax.barh(row, value, height=0.62, color=colour, hatch=hatch, edgecolor="white", linewidth=0.8)
            ax.hlines(row, low, high, color=COLOURS.ink, linewidth=1.5)
        ax.plot(true, row, "D", color=COLOURS.ink, markerfacecolor="white", markersize=7)
        ax.text(max(high, 0.0) + 0.012, row, _said(metrics, f"share_{name}", 100, " %"), va="center", fontsize=9.5)
    ax.set_ylim(len(CLASSES) - 0.4, -0.6)
    ax.set_yticks(range(len(CLASSES)), [f"{name} · {short(name)}" for name in CLASSES])
    ax.tick_params(axis="y", labelcolor=COLOURS.ink)
    score = _said(metrics, "category_score", 1, "")
    ax.set_title(f"accuracy {_said(metrics, 'accuracy', 100, ' %')}, category score {score}", loc="left", fontsize=10)
    ax.set_xlim(0, 1.22)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8)
    placed(figure, len(CLASSES), 2.4)
    return figure


def _kinds(kinds: pl.DataFrame, title: Title) -> Figure:
    """Shares of the classes for every kind of question, those that are answered best on top."""
    largest = kinds.sort("questions", "kind", descending=[True, False]).head(MOST_KINDS)
    shown = largest.sort("accuracy", "questions", "kind", descending=[True, True, False])
    names = [kind or "(no kind)" for kind in shown["kind"]]
    of = f"the {shown.height} largest of " if shown.height < kinds.height else ""
    figure, (ax,) = canvas(
        f"Kinds of questions · {title.line}",
        f"n = {plural(int(shown['questions'].sum()), 'question')} of {of}{plural(kinds.height, 'kind')} · "
        f"{title.caveat}",
        "Beside each bar: greedy answers right, of the questions of that kind, with the 95 % interval of that share "
        "(Clopper–Pearson, unit: question);\nsorted by it.",
        width=10.3 + label_inches(names),
        height=height(shown.height),
    )
    notes = [
        f"{row['right']:,} of {row['questions']:,}: {percent(row['accuracy'])} "
        f"[{100 * row['accuracy_low']:.0f}, {100 * row['accuracy_high']:.0f}]"
        for row in shown.iter_rows(named=True)
    ]
    bars(ax, names, shown.select(CLASSES).rows(), notes)
    placed(figure, shown.height, label_inches(names))
    figure.subplots_adjust(right=1 - 2.6 / figure.get_figwidth())
    legend(figure)
    return figure


def _number(metrics: Metrics, name: str) -> float:
    value = metrics.get(name)
    return float(value) if isinstance(value, int | float) else math.nan


def _said(metrics: Metrics, name: str, scale: int, unit: str) -> str:
    """A number with its bounds as `61.0 % [50.7, 70.6]`, or `none`."""
    value, low, high = (_number(metrics, f"{name}{end}") * scale for end in ("", "_low", "_high"))
    digits = 1 if scale > 1 else 2
    if math.isnan(value):
        return "none"
    return f"{value:.{digits}f}{unit}" + ("" if math.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]")
