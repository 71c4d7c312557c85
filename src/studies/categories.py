"""Study `categories`: what do the models know, how sure are they, and which differ (K-(CSA)², arXiv 2501.01332)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import source
from src.figures.classes import checkpoints, compared, kinds, rules, samples
from src.figures.finding import Finding
from src.records import Metrics
from src.stats.categories import CLASSES, WEIGHTS, mean, measures, share
from src.stats.compare import holm
from src.stats.flat import put, put_interval
from src.stats.intervals import LEVEL, Number
from src.studies.answered import Answered, answered, caveat, compare, distinct, slug, table
from src.studies.categories_words import sentences
from src.studies.checkpoints import Series, find_series
from src.studies.known import Known
from src.studies.steadiness import rules_rows, samples_rows, temperature_rows
from src.studies.wording import columns

DEFINITIONS = {
    "question": "unit of every interval; only questions with all of their answers count, the others are incomplete",
    "accuracy": "share of questions whose greedy answer is right: HK and MK; interval: Clopper–Pearson",
    "category score": "mean over questions of 6 for HK, 5 MK, 4 WK, 3 UU, 2 MU, 1 CU; interval: Bayesian bootstrap of "
    "the questions with an imagined one at the far end, 2,000 draws",
    "classes": "greedy answer right: HK if all samples are, else MK; only samples right: WK; none right: UU if all "
    "answers differ, CU if all are alike, else MU",
    "difference": "of two cells of one data set, question by question on those that both have all answers to; p: "
    "McNemar's mid-p of accuracy, Holm over all pairs of the data set",
    "tied_with_best": "Holm's p of 5 % or more against the most accurate cell; empty: no shared question",
    "kept": "share of questions whose class is the same as with all samples and the cell's own rule (tables samples, "
    "rules), or at the lower temperature (table temperatures); interval: Clopper–Pearson",
    "rule": "all: the frequency of an answer counts the greedy one; samples: only the samples",
}
SETS = (("kinds", kinds), ("rules", rules), ("samples", samples))


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Categories:
    """Every cell of questions side by side, data set by data set.

    Attributes:
        name, question: of the study.
        revisions: of models, in the order of a series; None: as sorted, numbers by their value.
    """

    name: str
    question: str
    revisions: tuple[str, ...] | None
    probe: ClassVar[str] = "categories"

    def run(self, known: Known) -> Finding:
        """Compare what there is.

        Raises:
            ConfigError: there is no cell, or a series would have two cells of one revision.
        """
        cells, contained = distinct(known.cells)
        sets = answered(cells)
        every = [cell for cells in sets.values() for cell in cells]
        pairs = [row for cells in sets.values() for row in _pairs(cells, known.seed)]
        series = [each for cells in sets.values() for each in find_series(cells, self.revisions)]
        rows: dict[str, list[dict[str, Any]]] = {
            "cells": [row for cells in sets.values() for row in _cells(cells, pairs, known.seed)],
            "pairs": pairs,
            "kinds": [row for cell in every for row in _kinds(cell, known.seed)],
            "series": [row for each in series for row in each.rows(known.seed)],
            "samples": samples_rows(every, known.seed),
            "temperatures": [row for cells in sets.values() for row in temperature_rows(cells, known.seed)],
            "rules": rules_rows(every, known.seed),
        }
        tables = {name: table(found) for name, found in rows.items() if found}
        verdict = [line for name in sets for line in sentences(name, tables)]
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2501.01332, K-(CSA)²: six classes of correctness and confidence",
            verdict=(*verdict, *(each.sentence(known.seed) for each in series)),
            metrics=_metrics(every, tables, series, known.seed),
            tables=tables,
            figures=(figures := _figures(sets, tables, series)),
            captions={name: _caption(name) for name in figures},
            definitions=DEFINITIONS,
            missing=(*contained, *self._missing(every, pairs, series)),
            sources=tuple(source(cell.cell) for cell in every),
        )

    def _missing(
        self, cells: Sequence[Answered], pairs: Sequence[dict[str, Any]], series: Sequence[Series]
    ) -> tuple[str, ...]:
        """Clauses on what was asked for and is not there."""
        empty = [cell for cell in cells if not cell.known.size]
        missing = [f"{cell.dataset} · {cell.label}: no question with all of its answers" for cell in empty]
        mute = {(cell.dataset, cell.label) for cell in empty}
        missing += [
            f"{row['dataset']}: {row['cell']} and {row['other']}: no shared question"
            for row in pairs
            if not row["questions"] and not mute & {(row["dataset"], row["cell"]), (row["dataset"], row["other"])}
        ]
        if self.revisions is not None:
            there = {revision for each in series for revision in each.revisions}
            missing += [f"revision {name}: no series has it" for name in self.revisions if name not in there]
        return tuple(missing)


def _cells(cells: Sequence[Answered], pairs: Sequence[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """One row for each cell of a data set."""
    found = [measures(cell.known, seed) for cell in cells]
    best = _best(cells, found)
    against = {
        row["other"] if row["cell"] == best else row["cell"]: row["p_holm"]
        for row in pairs
        if best in (row["cell"], row["other"]) and row["dataset"] == cells[0].dataset
    }
    against[best] = 1.0
    return [
        {
            "dataset": cell.dataset,
            "cell": cell.label,
            "model": cell.cell.model,
            "setting": cell.cell.strategy,
            "questions": len(cell.known),
            "incomplete": cell.incomplete,
            **{key: value for name, each in numbers.items() for key, value in columns(name, *each).items()},
            "tied_with_best": None if (p := against.get(cell.label)) is None else p >= 1 - LEVEL,
        }
        for cell, numbers in zip(cells, found, strict=True)
    ]


def _best(cells: Sequence[Answered], found: Sequence[Mapping[str, Number]]) -> str:
    """Label of the most accurate cell, the first of several; cells without a question come last."""
    values = [numbers["accuracy"][0] for numbers in found]
    return cells[int(np.argmax([-1.0 if math.isnan(value) else value for value in values]))].label


def _pairs(cells: Sequence[Answered], seed: int) -> list[dict[str, Any]]:
    """Every pair of cells of a data set, question by question."""
    found = [compare(other, one, seed) for one, other in combinations(cells, 2)]
    apart = [place for place, each in enumerate(found) if each.shared]
    adjusted = dict(zip(apart, holm([found[place].moved.p_accuracy for place in apart]), strict=True))
    return [
        {
            "dataset": each.one.dataset,
            "cell": each.other.label,
            "other": each.one.label,
            "questions": each.shared,
            "incomplete": each.incomplete,
            **columns("difference", *each.moved.accuracy),
            "only_cell": int(each.moved.matrix[2:, :2].sum()),
            "only_other": int(each.moved.matrix[:2, 2:].sum()),
            "p": each.moved.p_accuracy if each.shared else None,
            "p_holm": adjusted.get(place),
            **columns("score_difference", *each.moved.category_score),
        }
        for place, each in enumerate(found)
    ]


def _kinds(cell: Answered, seed: int) -> list[dict[str, Any]]:
    """One row for each kind of question, and for those whose answer is yes or no and the rest where there are both."""
    whole = cell.cell.processed["questions"].filter(state="complete")
    parts = [("kind", kind, whole.filter(kind=kind)) for kind in sorted(set(whole["kind"]))]
    parts = parts if len(parts) > 1 else []
    if whole["yes_no"].n_unique() > 1:
        answers = ("yes or no", whole.filter("yes_no")), ("not yes or no", whole.filter(~pl.col("yes_no")))
        parts += [("answer", name, part) for name, part in answers]
    rows = []
    for by, name, part in parts:
        classes = np.array([CLASSES.index(each) for each in part["category"]])
        rows.append(
            {
                "dataset": cell.dataset,
                "cell": cell.label,
                "by": by,
                "kind": name,
                "questions": part.height,
                **columns("accuracy", *share(int(part["greedy_correct"].sum()), part.height)),
                **columns("category_score", *mean(WEIGHTS[classes], (1, len(CLASSES)), seed)),
            }
        )
    return rows


def _metrics(
    cells: Sequence[Answered], tables: Mapping[str, pl.DataFrame], series: Sequence[Series], seed: int
) -> Metrics:
    """Flat; the names end in data set and label."""
    metrics: Metrics = {}
    put(metrics, "cells", len(cells))
    if "pairs" in tables:
        put(metrics, "pairs", tables["pairs"]["p_holm"].count())
        put(metrics, "pairs_told_apart", int((tables["pairs"]["p_holm"] < 1 - LEVEL).sum()))
    for cell in cells:
        put(metrics, f"questions_{cell.slug}", len(cell.known))
        put(metrics, f"incomplete_{cell.slug}", cell.incomplete)
        for name, each in measures(cell.known, seed).items():
            put_interval(metrics, f"{name}_{cell.slug}", *each)
    for line in series:
        put_interval(metrics, f"accuracy_last_less_first_{slug(line.name)}", *line.ends(seed).moved.accuracy)
    return metrics


def _figures(
    sets: Mapping[str, Sequence[Answered]], tables: Mapping[str, pl.DataFrame], series: Sequence[Series]
) -> dict[str, Figure]:
    """Cells of different data sets are never in one order, so each data set has figures of its own."""
    figures: dict[str, Figure] = {}
    for name, cells in sets.items():
        figures[f"classes_{slug(name)}"] = compared(tables["cells"], name, caveat(cells))
    if "series" in tables:
        figures["series"] = checkpoints(tables["series"], caveat([cell for each in series for cell in each.cells]))
    for words, draw in SETS:
        for name, cells in sets.items():
            if words in tables and name in tables[words]["dataset"]:
                figures[f"{words}_{slug(name)}"] = draw(tables[words], name, caveat(cells))
    return figures


def _caption(name: str) -> str:
    return {
        "classes": "Shares of the six classes of every cell of one data set, sorted by accuracy, which stands beside "
        "each bar with its 95 % interval (Clopper–Pearson, unit: question) and n; a star: the most accurate and "
        "what cannot be told from it (McNemar mid-p on shared questions, Holm over all pairs).",
        "series": "Shares of the classes (bars) and accuracy with its 95 % interval (line) over the checkpoints of a "
        "model; unit: question.",
        "kinds": "Accuracy by kind of question with its 95 % interval (Clopper–Pearson); unit: question of that kind.",
        "rules": "The classes by both rules of what the frequency of an answer counts; beside each bar the category "
        "score with its 95 % interval (Bayesian bootstrap) and n questions.",
        "samples": "Share of questions that keep their class (left) and category score (right) from the first of the "
        "stored samples; 95 % intervals, unit: question.",
    }[name.partition("_")[0]]
