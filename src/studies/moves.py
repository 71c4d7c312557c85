"""Tables of the study `transitions`: pairs of runs, and what becomes of each class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from src.stats.categories import CLASSES, share
from src.stats.transitions import Transitions
from src.studies.answered import Compared
from src.studies.wording import columns

DIRECTIONS = ("upgrade", "stable", "downgrade")
IMPOSSIBLE = {(CLASSES[0], DIRECTIONS[0]), (CLASSES[-1], DIRECTIONS[-1])}
"""The best class cannot get better, nor the worst one worse."""
NUMBERS = (*DIRECTIONS, "net", "accuracy", "category_score")


def pair_row(each: Compared, p_holm: float) -> dict[str, Any]:
    """Two runs, what changed from the one to the other, and which questions only one of them was asked."""
    return {
        **_named(each),
        "questions": each.shared,
        "incomplete": each.incomplete,
        "only_from": int((each.one.asked & ~each.other.asked).sum()),
        "only_to": int((each.other.asked & ~each.one.asked).sum()),
        **_changes(each.moved),
        "p": each.moved.p_accuracy,
        "p_holm": p_holm,
    }


def part_rows(each: Compared) -> list[dict[str, Any]]:
    """What changed among the shared questions whose answer is yes or no, and among the rest, where there are both."""
    return [
        {**_named(each), "part": name, "questions": int(moved.matrix.sum()), **_changes(moved), "p": moved.p_accuracy}
        for name, moved in each.parts.items()
    ]


def directions_rows(each: Compared) -> list[dict[str, Any]]:
    """What becomes of all shared questions, and of those of each class of the first run."""
    matrix = each.moved.matrix
    parts = np.stack([np.tril(matrix, -1).sum(axis=1), np.diag(matrix), np.triu(matrix, 1).sum(axis=1)], axis=1)
    rows = []
    for name, counts in zip(("all", *CLASSES), (parts.sum(axis=0), *parts), strict=True):
        n, none = int(counts.sum()), f"the first run has no question {name}"
        row: dict[str, Any] = {**_named(each), "class_from": name, "questions": n}
        for direction, count in zip(DIRECTIONS, counts.tolist(), strict=True):
            value, interval = share(count, n, none)
            if n and (name, direction) in IMPOSSIBLE:
                interval = replace(interval, low=math.nan, high=math.nan, reason="0 by definition")
            row |= columns(direction, value, interval)
        rows.append(row)
    return rows


def matrix_rows(each: Compared) -> Iterator[dict[str, Any]]:
    """One row for each pair of classes."""
    for start, counts in zip(CLASSES, each.moved.matrix, strict=True):
        for end, count in zip(CLASSES, counts, strict=True):
            yield {
                **_named(each),
                "class_from": start,
                "class_to": end,
                "questions": int(count),
                "of": int(counts.sum()),
                **columns("row_share", *share(int(count), int(counts.sum()), f"the first run has no question {start}")),
            }


def _named(each: Compared) -> dict[str, str]:
    return {"dataset": each.one.dataset, "from": each.one.label, "to": each.other.label}


def _changes(moved: Transitions) -> dict[str, Any]:
    return {key: value for name in NUMBERS for key, value in columns(name, *getattr(moved, name)).items()}
