"""What the estimators are after: what is expected over all universes of a setting; from many runs, with its own error.

Accuracy, decline and crossover of a domain are estimated from branches taken for a sample of branches. So the truth is
that of all the branches there could be: every universe has its own topics, and a model errs differently in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from src.studies.validation.setting import OWN, SIBLING, Setting, bench

FIRST = 1_000_000
"""Number of the first of these universes; no seed of a trial reaches it."""
PARTS = 20
STEPS = 25
"""Newton's, for a line; it takes about six."""
Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """A truth from simulation, and the standard error of that."""

    value: float
    error: float


def counted(setting: Setting, number: int) -> Counts:
    """Statements of `own` and of its sibling in one more universe, by turn of first appearance.

    Args:
        setting: of the universe.
        number: of the universe.

    Returns:
        Shape (2 models, 2, turns): judged, and valid among them.
    """
    place = bench(setting, FIRST + number, setting.lineup)
    rows = []
    for model in (OWN, SIBLING):
        seen = place.judged(place.run(model, "population"))
        turns = (seen.turn, seen.turn[seen.valid])
        rows.append([np.bincount(each - 1, minlength=setting.turns) for each in turns])
    return np.array(rows)


def truths(universes: Sequence[Counts]) -> dict[str, Truth]:
    """`accuracy` and `decline_rate` that a run of `own` has on average, and the turn of the `crossover`.

    The crossover is where the lines through the statements of all universes meet: the turn of a single universe has no
    mean. Its error is that of the same from every one of PARTS parts.

    Args:
        universes: as of :func:`counted`, at least PARTS.
    """
    counts = np.array(universes)
    judged, valid = counts[:, 0, 0], counts[:, 0, 1]
    accuracy = valid.sum(axis=1) / judged.sum(axis=1)
    decline = (valid[:, 0] / judged[:, 0] - accuracy) / (judged.shape[1] - 1)
    parts = [_crossover(part) for part in np.array_split(counts, PARTS)]
    return {
        "accuracy": _mean(accuracy),
        "decline_rate": _mean(decline),
        "crossover": Truth(_crossover(counts), float(np.std(parts, ddof=1) / np.sqrt(PARTS))),
    }


def line(valid: Numbers, judged: Numbers) -> Numbers:
    """Intercept and slope of the log odds of valid statements on the turn, fitted as an estimator would fit them.

    Args:
        valid: valid statements of each turn, shape (turns,).
        judged: all statements of each turn, the same.
    """
    design = np.column_stack([np.ones(len(judged)), np.arange(1.0, len(judged) + 1)])
    beta = np.zeros(2)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ beta))
        weight = judged * chance * (1 - chance)
        beta = beta + np.linalg.solve(design.T @ (weight[:, None] * design), design.T @ (valid - judged * chance))
    return beta


def _crossover(counts: Counts) -> float:
    (own, sibling) = counts.sum(axis=0).astype(np.float64)
    level, slope = line(own[1], own[0]) - line(sibling[1], sibling[0])
    return float(-level / slope)


def _mean(values: Numbers) -> Truth:
    return Truth(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))
