"""Study `transitions`: what becomes of the classes of the same questions from one run to another (arXiv 2501.01332)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar

import polars as pl
from matplotlib.figure import Figure
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.transitions import MOST_FLOWS, flow, plane
from src.records import Metrics
from src.stats.categories import CLASSES
from src.stats.compare import holm
from src.stats.flat import put, put_interval
from src.stats.intervals import LEVEL
from src.studies.answered import Answered, Compared, answered, caveat, compare, differing, distinct, fits, slug, table
from src.studies.known import Known
from src.studies.moves import NUMBERS, directions_rows, matrix_rows, pair_row, part_rows
from src.studies.wording import p_words

MOST_TOLD = 6
"""Pairs of a data set that have a sentence of their own."""
DEFINITIONS = {
    "shared question": "unit of every number: both runs have all of their answers to it; the others are incomplete or "
    "asked by one run alone, and left out",
    "upgrade, stable, downgrade": "share of shared questions whose class gets better (towards HK), stays, gets worse; "
    "their sum is 1; interval: Clopper–Pearson; HK cannot get better and CU not worse: 0 by definition, no interval",
    "net": "upgrade less downgrade; interval: Bayesian bootstrap of the questions, paired, with an imagined one at the "
    "far end, 2,000 draws",
    "accuracy": "of the second run less that of the first; interval as of net; p: McNemar's mid-p, Holm over all pairs "
    "of the data set",
    "category_score": "of the second run less that of the first, on its scale of 1 to 6; interval as of net",
    "yes_no": "the same numbers for the questions whose answer is yes or no, which a guess gets right half the time, "
    "and for the rest; without Holm's correction",
    "row_share": "of the questions of a class in the first run, those of a class in the second; interval: "
    "Clopper–Pearson",
}
Move = tuple[Mapping[str, Any], Mapping[str, Any]]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Transitions:
    """Runs two by two on the questions of both.

    Attributes:
        name, question: of the study.
        pairs: from, to: dotted names of configured values → the value that a run has. Two runs of one data set pair if
            they differ in nothing that is not named, and are of one model unless `model.name` is.
        baseline: a model that is also compared with every other one that was asked alike; None: none is.
    """

    name: str
    question: str
    pairs: tuple[Move, ...]
    baseline: str | None
    probe: ClassVar[str] = "categories"

    def run(self, known: Known) -> Finding:
        """Compare what pairs.

        Raises:
            ConfigError: no two runs pair, or the baseline is not one of several models.
        """
        cells, contained = distinct(known.cells)
        sets = answered(cells)
        missing = list(contained)
        chosen: dict[tuple[str, str, str], tuple[Answered, Answered]] = {}
        for move in self._moves(known):
            met = [pair for each in sets.values() for pair in _pairs(each, *move)]
            if not met:
                missing.append(f"from {_said(move[0])} to {_said(move[1])}: no two runs that differ in nothing else")
            chosen |= {(one.dataset, one.label, other.label): (one, other) for one, other in met}
        order = list(sets)
        found = [
            compare(*chosen[key], known.seed) for key in sorted(chosen, key=lambda key: (order.index(key[0]), key))
        ]
        missing += [f"{_name(each)}: no shared question" for each in found if not each.shared]
        found = [each for each in found if each.shared]
        if not found:
            raise ConfigError(
                f"study {self.name}: no two of {plural(len(known.cells), 'cell')} pair: {'; '.join(missing)}; run the "
                "same questions in both ways, or say which runs to compare with study.pairs"
            )
        return self._finding(found, missing, known.seed)

    def _moves(self, known: Known) -> list[Move]:
        moves = list(self.pairs)
        if self.baseline is not None:
            models = sorted({cell.model for cell in known.cells})
            if self.baseline not in models:
                raise ConfigError(f"study.baseline={self.baseline}: no cell is of that model; give {', '.join(models)}")
            if models == [self.baseline]:
                raise ConfigError(
                    f"study.baseline={self.baseline}: no other model has such cells; ask one, or leave it out"
                )
            others = [model for model in models if model != self.baseline]
            moves.append(({"model.name": self.baseline}, {"model.name": others}))
        return moves

    def _finding(self, found: Sequence[Compared], missing: Sequence[str], seed: int) -> Finding:
        adjusted = _adjusted(found)
        pairs = table([pair_row(each, p) for each, p in zip(found, adjusted, strict=True)])
        directions = table([row for each in found for row in directions_rows(each)])
        matrix = table([row for each in found for row in matrix_rows(each)])
        parts = [row for each in found for row in part_rows(each)]
        every = sorted({each.cell.key: each for pair in found for each in (pair.one, pair.other)}.items())
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2501.01332, K-(CSA)²: knowledge transitions",
            verdict=_verdict(pairs, parts),
            metrics=_metrics(found, adjusted),
            tables={"pairs": pairs, "directions": directions, "matrix": matrix}
            | ({"yes_no": table(parts)} if parts else {}),
            figures=(figures := _figures(found, pairs, directions)),
            captions={name: PLANE if name.startswith("plane") else FLOW for name in figures},
            definitions=DEFINITIONS,
            missing=tuple(missing),
            sources=tuple(source(each.cell) for each in sorted((each for _, each in every), key=_place)),
        )


PLANE = (
    "Every pair of runs of a data set: change of accuracy (across) and of the category score (up), each with its 95 % "
    "interval (Bayesian bootstrap, paired; unit: shared question). Filled: accuracy differs by Holm's p below 5 %."
)
FLOW = (
    "Left: shared questions by class in the first run and in the second, ribbons as wide as the questions that go from "
    "one to the other. Right: what becomes of each class of the first run and of all, with 95 % intervals "
    "(Clopper–Pearson) of the shares that are upgraded and downgraded, and n; unit: shared question. "
    f"The {MOST_FLOWS} pairs of a data set with the largest net change are drawn, all are in the tables."
)


def _figures(found: Sequence[Compared], pairs: pl.DataFrame, directions: pl.DataFrame) -> dict[str, Figure]:
    """A plane for each data set, and the flow of those of its pairs that change most."""
    figures: dict[str, Figure] = {}
    for dataset, places in _by_dataset(found).items():
        cells = [cell for place in places for cell in (found[place].one, found[place].other)]
        figures[f"plane_{slug(dataset)}"] = plane(pairs.filter(dataset=dataset), caveat(cells))
        most = sorted(places, key=lambda place: (-abs(found[place].moved.net[0]), place))[:MOST_FLOWS]
        for place in sorted(most):
            each = found[place]
            rows = directions.slice(place * (1 + len(CLASSES)), 1 + len(CLASSES))
            title, known = _name(each), caveat([each.one, each.other])
            figures[f"flow_{_slug(each)}"] = flow(each.moved.matrix, rows, title, each.incomplete, known)
    return figures


def _by_dataset(found: Sequence[Compared]) -> dict[str, list[int]]:
    """Places of the pairs of each data set."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        places.setdefault(each.one.dataset, []).append(place)
    return places


def _pairs(
    cells: Sequence[Answered], start: Mapping[str, Any], end: Mapping[str, Any]
) -> Iterator[tuple[Answered, Answered]]:
    """Runs of one data set that differ in what is named and in nothing else."""
    named = start.keys() | end.keys()
    roots = {name.partition(".")[0] for name in named}
    for one, other in product(cells, cells):
        alike = one.cell.model == other.cell.model or "model.name" in named
        asked = one is not other and fits(one.cell, start) and fits(other.cell, end)
        if asked and alike and differing(one.cell, other.cell) <= roots:
            yield one, other


def _adjusted(found: Sequence[Compared]) -> list[float]:
    """p-values of accuracy after Holm's correction over the pairs of each data set."""
    adjusted: dict[int, float] = {}
    for family in _by_dataset(found).values():
        adjusted |= dict(zip(family, holm([found[place].moved.p_accuracy for place in family]), strict=True))
    return [adjusted[place] for place in range(len(found))]


def _verdict(pairs: pl.DataFrame, parts: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """How many pairs go up or down for sure, then the pairs that change most, yes/no questions apart."""
    lines = []
    for (dataset,), of in pairs.group_by("dataset", maintain_order=True):
        up, down = (of.filter(sure).height for sure in (pl.col("net_low") > 0, pl.col("net_high") < 0))
        lines.append(
            f"On {dataset}, of {plural(of.height, 'pair')} of runs {up} upgrade more questions than they downgrade "
            f"with the whole interval, {down} the reverse, {of.height - up - down} cannot be told; accuracy differs in "
            f"{of.filter(pl.col('p_holm') < 1 - LEVEL).height} (McNemar mid-p, Holm over all pairs of the data set; "
            "intervals below: 95 %, unit: shared question)."
        )
        most = of.sort(pl.col("net").abs(), "from", "to", descending=[True, False, False]).head(MOST_TOLD)
        lines += [_sentence(row, parts) for row in most.iter_rows(named=True)]
    return tuple(lines)


def _sentence(row: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> str:
    left_out = f", {row['incomplete']:,} incomplete left out" if row["incomplete"] else ""
    own = [part for part in parts if all(part[name] == row[name] for name in ("dataset", "from", "to"))]
    apart = "".join(f"; {part['part']} ({part['questions']:,}): accuracy {_change(part, 'accuracy')}" for part in own)
    return (
        f"On {row['dataset']}, from {row['from']} to {row['to']}: upgraded {_share(row, 'upgrade')}, stable "
        f"{_share(row, 'stable')}, downgraded {_share(row, 'downgrade')}; net {_change(row, 'net')}; accuracy "
        f"{_change(row, 'accuracy')} ({p_words(row['p_holm'], 'Holm p')}), category score {row['category_score']:+.2f}"
        f"{_span(row, 'category_score', 1, '+.2f')}; n = {plural(row['questions'], 'shared question')}"
        f"{left_out}{apart}."
    )


def _share(row: Mapping[str, Any], name: str) -> str:
    return f"{100 * row[name]:.1f} %{_span(row, name, 100, '.1f')}"


def _change(row: Mapping[str, Any], name: str) -> str:
    return f"{100 * row[name]:+.1f} percentage points{_span(row, name, 100, '+.1f')}"


def _span(row: Mapping[str, Any], name: str, scale: int, form: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None:
        return f" (no interval: {row[f'{name}_reason']})"
    return f" [{scale * low:{form}}, {scale * high:{form}}]"


def _metrics(found: Sequence[Compared], adjusted: Sequence[float]) -> Metrics:
    metrics: Metrics = {}
    put(metrics, "pairs", len(found))
    for each, p in zip(found, adjusted, strict=True):
        end = _slug(each)
        put(metrics, f"questions_{end}", each.shared)
        for name in NUMBERS:
            put_interval(metrics, f"{name}_{end}", *getattr(each.moved, name))
        put(metrics, f"p_holm_{end}", p)
    return metrics


def _slug(each: Compared) -> str:
    """The two runs as the end of a metric's name: the second by what is not in the first."""
    first = each.one.label.split(" · ")
    second = [part for part in each.other.label.split(" · ") if part not in first]
    return slug(" ".join([each.one.dataset, *first, "to", *second]))


def _name(each: Compared) -> str:
    return f"{each.one.dataset}: {each.one.label} → {each.other.label}"


def _said(wanted: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={' or '.join(map(str, value)) if isinstance(value, list) else value}" for name, value in wanted.items()
    )


def _place(each: Answered) -> tuple[str, str]:
    return each.dataset, each.label
