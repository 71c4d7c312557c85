"""Cells of questions side by side: their classes, kinds of questions, checkpoints, and what hangs on the asking."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import plural
from src.figures.dots import height, placed, shortened
from src.figures.shares import CLASSES, LONGEST, LOOKS, bars, label_inches, legend

MOST_KINDS = 16
MOST_SERIES = 6
MOST_NAMED = 8
STROKES = ("-", "--", "-.", ":")
MARKS = "osD^vP*X"


def compared(cells: pl.DataFrame, dataset: str, caveat: str) -> Figure:
    """A bar of class shares for every cell of a data set, the most accurate on top; the table `cells`."""
    rows = cells.filter(dataset=dataset).sort("accuracy", "cell", descending=[True, False], nulls_last=True)
    labels = rows["cell"].to_list()
    tied = rows["tied_with_best"].sum() > 1  # the most accurate one alone is tied with nobody
    star = "\n* the most accurate, and what cannot be told from it (McNemar mid-p on shared questions, Holm)."
    figure, (ax,) = canvas(
        f"What they know, and how sure they are · {dataset}",
        f"{plural(rows.height, 'cell')}, n beside each · {caveat}",
        "Beside each bar: accuracy with its 95 % interval (Clopper–Pearson, unit: question), and questions; sorted by "
        f"accuracy.{star if tied else ''}",
        width=9.5 + label_inches(labels),
        height=height(rows.height),
    )
    notes = [
        f"{_share(row, 'accuracy')}{' *' if tied and row['tied_with_best'] else ''}  n = {row['questions']:,}"
        for row in rows.iter_rows(named=True)
    ]
    _bars(figure, ax, rows, labels, notes)
    return figure


def rules(table: pl.DataFrame, dataset: str, caveat: str) -> Figure:
    """Two bars of class shares for every cell of a data set, one for each rule; the table `rules`."""
    rows = table.filter(dataset=dataset).sort("cell", "rule")
    labels = [f"{cell} · {rule}" for cell, rule in rows.select("cell", "rule").rows()]
    figure, (ax,) = canvas(
        f"What the frequency of an answer counts · {dataset}",
        f"{plural(rows['cell'].n_unique(), 'cell')}, n beside each · {caveat}",
        "all: the greedy answer counts too; samples: only the samples. Beside each bar: category score with its 95 % "
        "interval\n(Bayesian bootstrap, unit: question), and questions.",
        width=9.5 + label_inches(labels),
        height=height(rows.height),
    )
    notes = [f"{_score(row)}  n = {row['questions']:,}" for row in rows.iter_rows(named=True)]
    _bars(figure, ax, rows, labels, notes)
    return figure


def kinds(table: pl.DataFrame, dataset: str, caveat: str) -> Figure:
    """Accuracy of every cell on every kind of question, as shaded fields with their numbers; the table `kinds`."""
    here = table.filter(dataset=dataset)
    sizes = here.group_by("by", "kind").agg(pl.col("questions").max())
    sizes = sizes.sort("questions", "by", "kind", descending=[True, True, False])
    shown = sorted(sizes.head(MOST_KINDS).select("by", "kind").rows())
    labels = sorted(set(here["cell"]))
    at = {(row["cell"], row["by"], row["kind"]): row for row in here.iter_rows(named=True)}
    left = label_inches(labels)
    of = f"the {len(shown)} largest of " if len(shown) < sizes.height else ""
    figure, (ax,) = canvas(
        f"Accuracy by kind of question · {dataset}",
        f"{plural(len(labels), 'cell')}, {of}{plural(sizes.height, 'kind')}, n under each name · {caveat}",
        "In each field: percent of greedy answers that are right, and in brackets the 95 % interval (Clopper–Pearson, "
        "unit: question).\nDarker: more. n: most questions of that kind in any cell.",
        width=left + 0.4 + 1.05 * max(len(shown), 6),
        height=height(len(labels)) + 0.25,
    )
    values = [[(at.get((label, *kind)) or {}).get("accuracy") for kind in shown] for label in labels]
    shades = [[float("nan") if value is None else value for value in row] for row in values]
    ax.imshow(shades, cmap="Blues", vmin=0, vmax=1.7, aspect="auto")
    for row, label in enumerate(labels):
        for column, kind in enumerate(shown):
            field = at.get((label, *kind))
            if not field or field["accuracy"] is None:
                ax.text(column, row, "none", ha="center", va="center", fontsize=7, color=COLOURS.muted)
                continue
            low, high = (100 * field[f"accuracy_{end}"] for end in ("low", "high"))
            words = f"{100 * field['accuracy']:.0f} [{low:.0f}, {high:.0f}]"
            ax.text(column, row, words, ha="center", va="center", fontsize=7.5, color=COLOURS.ink)
    counts = {(by, kind): count for by, kind, count in sizes.rows()}
    names = [f"{shortened(kind[1] or '(no kind)', 15)}\n{counts[kind]:,}" for kind in shown]
    ax.set_xticks(range(len(shown)), names, fontsize=8)
    ax.set_yticks(range(len(labels)), [shortened(label, LONGEST) for label in labels], fontsize=8)
    _plain(ax)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.xaxis.tick_top()
    placed(figure, len(labels), left)
    return figure


def checkpoints(table: pl.DataFrame, caveat: str) -> Figure:
    """Shares of the classes and accuracy over the revisions of a model, a panel for each series; table `series`."""
    names = sorted(set(table["series"]))
    shown = names[:MOST_SERIES]
    across = min(3, len(shown))
    down = -(-len(shown) // across)
    of = f"the first {len(shown)} of " if len(shown) < len(names) else ""
    figure, axes = canvas(
        "Classes and accuracy over checkpoints",
        f"{of}{len(names)} series · {caveat}",
        "Bars: shares of the classes. Line: accuracy, the top of MK, with its 95 % interval (Clopper–Pearson, unit: "
        "question; n: questions of the first checkpoint).",
        panels=across,
        rows=down,
        width=max(11.0, 4.2 * across),
        height=1.2 + 3.6 * down,
    )
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    for ax, name in zip(axes, shown, strict=False):
        rows = table.filter(series=name).sort("place")
        at = rows["place"].to_numpy()
        bottom = 0.0 * at
        for each in CLASSES:
            colour, hatch = LOOKS[each]
            height_ = rows[f"share_{each}"].fill_null(0.0).to_numpy()
            ax.bar(at, height_, 0.78, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", alpha=0.75)
            bottom = bottom + height_
        _line(ax, rows, "place", "accuracy", COLOURS.ink, "o", "-")
        ax.set_title(f"{shortened(name, 40)}, n = {rows['questions'][0]:,}", loc="left", fontsize=8.5, parse_math=False)
        ax.set_xticks(at, [shortened(_brief(each), 14) for each in rows["revision"]], fontsize=8)
        _plain(ax)
        ax.set_ylim(0, 1)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    figure.subplots_adjust(hspace=0.4)
    legend(figure, top=0.68)
    return figure


def samples(table: pl.DataFrame, dataset: str, caveat: str) -> Figure:
    """Questions that keep their class, and the category score, with fewer samples; the table `samples`."""
    here = table.filter(dataset=dataset)
    groups = here.partition_by("cell", maintain_order=True)
    few = len(groups) <= MOST_NAMED
    names = [shortened(rows["cell"][0], LONGEST) for rows in groups]
    room = 0.6 + label_inches(names) if few else 0.2
    figure, (left, right) = canvas(
        f"Classes from fewer samples · {dataset}",
        f"{plural(len(groups), 'cell')}, n = up to {plural(int(here['questions'].max()), 'question')} each · {caveat}",  # type: ignore[arg-type]
        f"The first of the stored samples, against all of them. Lines at marks: 95 % intervals (unit: question; left "
        f"Clopper–Pearson,\nright Bayesian bootstrap). Of more than {MOST_NAMED} cells: see the table.",
        panels=2,
        width=11.0 + room,
        height=5.6,
    )
    for place, rows in enumerate(groups):
        colour = list(COLOURS)[4:][place % 5] if few else COLOURS.muted
        look = (MARKS[place % len(MARKS)], STROKES[place % len(STROKES)]) if few else ("", "-")
        label = names[place] if few else None
        for ax, name in ((left, "kept"), (right, "category_score")):
            nudge = 0.05 * (place - (len(groups) - 1) / 2) if few else 0.0
            moved = rows.with_columns(pl.col("samples") + nudge)
            _line(ax, moved, "samples", name, colour, *look, label=label, bounds=few)
    left.set_title("questions that keep their class", loc="left", fontsize=10)
    left.set_ylim(min(0.9, left.get_ylim()[0]), 1.01)
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    right.set_title("category score", loc="left", fontsize=10)
    for ax in (left, right):
        ax.set_xlabel("samples besides the greedy answer")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.subplots_adjust(right=1 - room / figure.get_figwidth())
    if few:
        right.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    return figure


def _line(
    ax: Axes, rows: pl.DataFrame, x: str, name: str, colour: str, mark: str, stroke: str, *,
    label: str | None = None, bounds: bool = True,
) -> None:  # fmt: skip
    known = rows.drop_nulls(name)
    if bounds:
        lined = known.drop_nulls(f"{name}_low")
        ax.vlines(lined[x], lined[f"{name}_low"], lined[f"{name}_high"], color=colour, linewidth=1.2)
    ax.plot(known[x], known[name], color=colour, marker=mark, linestyle=stroke, markerfacecolor="white", label=label,
            markersize=5, linewidth=1.3)  # fmt: skip


def _bars(figure: Figure, ax: Axes, rows: pl.DataFrame, labels: list[str], notes: list[str]) -> None:
    shares = rows.select(pl.col(f"share_{name}").fill_null(float("nan")) for name in CLASSES).rows()
    bars(ax, labels, shares, notes)
    placed(figure, rows.height, label_inches(labels))
    figure.subplots_adjust(right=1 - 2.5 / figure.get_figwidth())
    legend(figure)


def _plain(ax: Axes) -> None:
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)
        text.set_color(COLOURS.ink)


def _brief(revision: str) -> str:
    """A hash by its first digits."""
    return revision.removeprefix("sha256:")[:8] if revision.startswith("sha256:") else revision


def _share(row: dict[str, float | None], name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None or low is None or high is None:
        return "none"
    return f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _score(row: dict[str, float | None]) -> str:
    value, low, high = (row[f"category_score{end}"] for end in ("", "_low", "_high"))
    bounds = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return "none" if value is None else f"{value:.2f}{bounds}"
