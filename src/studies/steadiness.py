"""How far the classes of questions hang on how often, how warm and by which rule a model is asked; no new answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from src.stats.categories import CLASSES, WEIGHTS, classify, mean, share
from src.studies.answered import Answered, compare, differing
from src.studies.wording import columns

MOST_SIZES = 12
"""Numbers of samples that are tried at most; of many, some from few to all, evenly on a logarithmic axis."""
RULES = ("all", "samples")


def samples_rows(cells: Sequence[Answered], seed: int) -> list[dict[str, Any]]:
    """The classes that the first 2, 3, … of the stored samples give, beside those that all of them give."""
    return [row for cell in cells if cell.known.size for row in _fewer(cell, seed)]


def rules_rows(cells: Sequence[Answered], seed: int) -> list[dict[str, Any]]:
    """The classes by both rules of what the frequency of an answer counts."""
    rows = []
    for cell in cells:
        if not cell.known.size:
            continue
        right, codes = cell.answers
        by = {rule: classify(right, codes, rule) for rule in RULES}  # type: ignore[arg-type]
        for rule, classes in by.items():
            row = {"dataset": cell.dataset, "cell": cell.label, "rule": rule, "questions": len(classes)}
            for place, name in enumerate(CLASSES):
                row |= columns(f"share_{name}", *share(int((classes == place).sum()), len(classes)))
            row |= columns("category_score", *mean(WEIGHTS[classes], (1, len(CLASSES)), seed))
            kept = int((classes == by[cell.over]).sum())
            rows.append(row | columns("kept", *share(kept, len(classes))))
    return rows


def temperature_rows(cells: Sequence[Answered], seed: int) -> list[dict[str, Any]]:
    """Cells that differ in the temperature of their samples alone, paired, from the cooler to the warmer."""
    rows = []
    for one in cells:
        for other in cells:
            cool, warm = (each.cell.value("temperature") for each in (one, other))
            if not (cool < warm and differing(one.cell, other.cell) == {"temperature"}):
                continue
            found = compare(one, other, seed)
            rows.append(
                {
                    "dataset": one.dataset,
                    "cell": one.label,
                    "other": other.label,
                    "temperature": float(cool),
                    "temperature_other": float(warm),
                    "questions": found.shared,
                    **columns("kept", *found.moved.stable),
                    **columns("net", *found.moved.net),
                    **columns("category_score", *found.moved.category_score),
                }
            )
    return rows


def _fewer(cell: Answered, seed: int) -> Iterator[dict[str, Any]]:
    right, codes = cell.answers
    whole, most = classify(right, codes, cell.over), codes.shape[1] - 1
    sizes = range(2, most + 1) if most - 1 <= MOST_SIZES else np.geomspace(2, most, MOST_SIZES).round().astype(int)
    for size in sorted({int(each) for each in sizes}):
        classes = classify(right[:, : size + 1], codes[:, : size + 1], cell.over)
        yield {
            "dataset": cell.dataset,
            "cell": cell.label,
            "samples": size,
            "questions": len(classes),
            **columns("kept", *share(int((classes == whole).sum()), len(classes))),
            **columns("category_score", *mean(WEIGHTS[classes], (1, len(CLASSES)), seed)),
        }
