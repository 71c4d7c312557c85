"""Cells of questions side by side: named so that they can be told apart, lined up question by question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from src.cells import MeasuredCell
from src.errors import ConfigError
from src.figures.captions import judge_label, plural
from src.identity import key_of
from src.stats.categories import CLASSES, Codes, Over
from src.stats.transitions import Transitions, transitions

DETAILS = {
    "model.revision": "revision",
    "temperature": "temperature",
    "top_k": "top_k",
    "samples": "samples",
    "confidence_over": "over",
    "questions": "questions",
    "wording.name": "wording",
    "seed": "seed",
}
"""What a label names besides model and setting, where cells alike in those differ in it."""
ABSENT = -1

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Answered:
    """A cell of questions.

    Attributes:
        cell: as it was read.
        dataset: name of the data set, with the start of its file's hash where cells of one name had different files;
            simulated and rehearsed models have one of their own beside real ones: they rank with nobody.
        label: model · setting, and what else tells it from its like.
        classes: class of every question of the data set, as its place in CLASSES; ABSENT where the cell has none.
        asked: whether the cell asked the question.
        yes_no: whether it did, and the answer is yes or no and nothing else.
    """

    cell: MeasuredCell
    dataset: str
    label: str
    classes: Codes
    asked: Flags
    yes_no: Flags

    @property
    def slug(self) -> str:
        """Data set and label as the end of a metric's name."""
        return slug(f"{self.dataset} {self.label}")

    @property
    def known(self) -> Codes:
        """Classes of the questions that have all of their answers."""
        return self.classes[self.classes >= 0]

    @property
    def incomplete(self) -> int:
        """Questions that lack an answer."""
        return int(self.asked.sum()) - len(self.known)

    @property
    def over(self) -> Over:
        """Among which answers the cell counted the frequency of an answer."""
        return "samples" if self.cell.value("confidence_over") == "samples" else "all"

    @cached_property
    def answers(self) -> tuple[Flags, Codes]:
        """What was right, and codes of the normalised answers, shape (complete questions, answers), greedy first."""
        # The processing wrote all answers to a question one after another, in the order of its questions.
        whole = (self.cell.processed["questions"]["state"] == "complete").to_numpy()
        rows = self.cell.processed["answers"].select(
            pl.col("correct").fill_null(value=False), pl.col("normal").cast(pl.Categorical).to_physical()
        )
        right, codes = (rows[name].to_numpy().reshape(len(whole), -1)[whole] for name in ("correct", "normal"))
        return right, codes.astype(np.int64)


@dataclass(frozen=True)
class Compared:
    """Two cells on the questions of both.

    Attributes:
        one, other: the cells.
        shared: questions that both have a class for.
        incomplete: questions that both asked and at least one lacks an answer to.
        moved: what became of the classes.
        parts: the same of the shared questions whose answer is yes or no, and of the rest; {} unless there are both.
    """

    one: Answered
    other: Answered
    shared: int
    incomplete: int
    moved: Transitions
    parts: Mapping[str, Transitions]


def distinct(cells: Sequence[MeasuredCell]) -> tuple[tuple[MeasuredCell, ...], tuple[str, ...]]:
    """Set aside cells of which another one holds every question: those that differ in the number of questions alone.

    Returns:
        The cells that are left, in their order, and a clause on each that is not.
    """
    alike: dict[str, list[MeasuredCell]] = {}
    for cell in cells:
        alike.setdefault(key_of({**cell.config, "questions": None}), []).append(cell)
    largest = {key: max(group, key=_size) for key, group in alike.items()}
    kept = {cell.key for cell in largest.values()}
    clauses = [
        f"{cell.domain} · {_short(cell)} with {plural(_size(cell)[1], 'question')}: part of the cell with "
        f"{_size(largest[key])[1]:,}"
        for key, group in alike.items()
        for cell in group
        if cell.key not in kept
    ]
    return tuple(cell for cell in cells if cell.key in kept), tuple(clauses)


def answered(cells: Sequence[MeasuredCell]) -> dict[str, tuple[Answered, ...]]:
    """By data set, its cells with their questions lined up; both sorted by name, data sets of real models first.

    Raises:
        ConfigError: there are none, or two data sets would have one name.
    """
    if not cells:
        raise ConfigError("no cell fits: run some with `python -m src.run probe=categories`, or widen where=…")
    groups: dict[tuple[str, str, str], list[MeasuredCell]] = {}
    for cell in cells:  # the same id can be another question in another file
        key = cell.domain, str(cell.value("dataset.revision")), cell.title.subject
        groups.setdefault(key, []).append(cell)
    found: dict[str, tuple[Answered, ...]] = {}
    for (name, file, subject), alike in sorted(groups.items(), key=lambda item: (item[0][2] != "real", item[0])):
        like = [key for key in groups if key[0] == name]
        parts = [name]
        if len({each for _, each, _ in like}) > 1:
            parts.append(file.removeprefix("sha256:")[:8])
        if subject != "real" and len({each for *_, each in like}) > 1:
            parts.append(subject)
        called = " ".join(parts)
        if slug(called) in map(slug, found):
            raise ConfigError(
                f"two data sets would be called {slug(called)}: give one of them another dataset.name, or choose cells "
                "by where=…"
            )
        found[called] = _lined_up(called, alike)
    return found


def compare(one: Answered, other: Answered, seed: int) -> Compared:
    """What becomes of the classes from one cell of a data set to another."""
    both = (one.classes >= 0) & (other.classes >= 0)
    shared = int(both.sum())
    lacking = int((one.asked & other.asked).sum()) - shared
    of = {"yes or no": both & one.yes_no, "not yes or no": both & ~one.yes_no}
    of = of if all(part.any() for part in of.values()) else {}
    moved, *parts = (transitions(one.classes[part], other.classes[part], seed) for part in (both, *of.values()))
    return Compared(one, other, shared, lacking, moved, dict(zip(of, parts, strict=True)))


def differing(one: MeasuredCell, other: MeasuredCell) -> set[str]:
    """Root names of the configuration in which two cells differ; an endpoint belongs to its model."""
    names = (one.config.keys() | other.config.keys()) - {"endpoint"}
    found = {name for name in names if one.config.get(name) != other.config.get(name)}
    return found | ({"model"} if one.config.get("endpoint") != other.config.get("endpoint") else set())


def fits(cell: MeasuredCell, wanted: Mapping[str, object]) -> bool:
    """Whether a cell has the wanted values, by dotted names; one of several where a list is given."""
    return all(
        cell.value(name) in (value if isinstance(value, list | tuple) else [value]) for name, value in wanted.items()
    )


def caveat(cells: Sequence[Answered]) -> str:
    """What must be known before the numbers of a figure, in a few words."""
    titles = [each.cell.title for each in cells]
    subjects = ", ".join(sorted({title.subject for title in titles} - {"real"}))
    judges = ", ".join(judge_label(judge) for judge in sorted({title.judge for title in titles}))
    return " · ".join(part for part in (subjects, judges) if part)


def slug(text: str) -> str:
    """A text as part of a metric's name: letters, digits, dots and hyphens, the rest underscores."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("_")


def natural(text: str) -> list[tuple[int, int, str]]:
    """A key that sorts step 9 before step 10."""
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"([0-9]+)", text) if part]


def table(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table; a column that is empty throughout is one of numbers."""
    found = pl.DataFrame(rows, infer_schema_length=None)
    return found.with_columns(pl.col(pl.Null).cast(pl.Float64))


def _lined_up(dataset: str, cells: Sequence[MeasuredCell]) -> tuple[Answered, ...]:
    tables = [cell.processed["questions"].select("question_id", "category", "yes_no") for cell in cells]
    ids = pl.concat([table["question_id"] for table in tables]).unique().sort()
    codes = {name: place for place, name in enumerate(CLASSES)}
    found = []
    for cell, label, table in zip(cells, _labels(cells), tables, strict=True):
        classes, (asked, yes_no) = np.full(len(ids), ABSENT), np.zeros((2, len(ids)), dtype=bool)
        places = ids.search_sorted(table["question_id"]).to_numpy()
        asked[places], yes_no[places] = True, table["yes_no"]
        classes[places] = [codes.get(name, ABSENT) for name in table["category"]]
        found.append(Answered(cell, dataset, label, classes, asked, yes_no))
    return tuple(sorted(found, key=lambda each: (natural(each.label), each.cell.key)))


def _labels(cells: Sequence[MeasuredCell]) -> list[str]:
    """Model and setting of each cell; the details in which cells alike in those differ; the key where that is all."""
    groups: dict[str, list[MeasuredCell]] = {}
    for cell in cells:
        groups.setdefault(_short(cell), []).append(cell)
    labels = []
    for cell in cells:
        like = groups[_short(cell)]
        told = [f"{words} {_value(cell, name)}" for name, words in DETAILS.items() if len(_values(like, name)) > 1]
        labels.append(" · ".join([_short(cell), *told]))
    alike = [slug(label) for label in labels]
    return [
        label if alike.count(name) == 1 else f"{label} · {cell.key[:8]}"
        for label, name, cell in zip(labels, alike, cells, strict=True)
    ]


def _size(cell: MeasuredCell) -> tuple[int, int]:
    """Questions with all of their answers, and all of them."""
    questions = cell.processed["questions"]
    return questions.filter(state="complete").height, questions.height


def _short(cell: MeasuredCell) -> str:
    return f"{cell.model} · {cell.strategy.replace('_', ', ')}"


def _value(cell: MeasuredCell, name: str) -> str:
    value = cell.value(name)
    text = value if isinstance(value, str) else json.dumps(value)
    # A hash is known by its first digits.
    return re.sub(r"^(?:sha256:)?([0-9a-f]{8})[0-9a-f]{12,}$", r"\1", text)


def _values(cells: Sequence[MeasuredCell], name: str) -> set[str]:
    return {_value(cell, name) for cell in cells}
