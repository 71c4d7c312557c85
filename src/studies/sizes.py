"""What the size of models has to do with what they know, decided from numbers alone (arXiv 2602.00959, scaling law)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from src.stats.combining import combined
from src.stats.compare import Repeats, Vector
from src.stats.intervals import Interval, Number
from src.studies.comparison import Comparison

NONE = Interval(math.nan, math.nan, 0, "model", "least squares", "slopes need models of at least two sizes")
BENT = "diminishing returns need models of at least three sizes"


class Step(NamedTuple):
    """From one size to the next.

    Attributes:
        low, high: log10 of the parameters.
        smaller, larger: places of the models of these sizes.
        gain: of recall_match per decade.
    """

    low: float
    high: float
    smaller: tuple[int, ...]
    larger: tuple[int, ...]
    gain: Number


@dataclass(frozen=True)
class Scaled:
    """What was decided about size.

    Attributes:
        recall_slope, accuracy_slope: per decade of parameters, NaN with models of one size.
        recall_curvature: change of the gain per decade, per further decade; NaN with fewer than three sizes.
        by_branch: intervals of slope and curvature if branches are redrawn; empty where that is not known.
        steps: between neighbouring sizes, the smallest first.
    """

    recall_slope: Number
    accuracy_slope: Number
    recall_curvature: Number
    by_branch: tuple[Interval, ...]
    steps: tuple[Step, ...]

    @property
    def trend(self) -> Literal["more", "less"] | None:
        """What larger models know, if the whole interval of the slope says so, and that by branch too."""
        side = self._side(0, self.recall_slope[1])
        return "more" if side > 0 else "less" if side < 0 else None

    @property
    def returns(self) -> Literal["growing", "diminishing"] | None:
        """How the gain per decade changes, if the whole interval of the curvature says so, and that by branch too."""
        side = self._side(1, self.recall_curvature[1])
        return "growing" if side > 0 else "diminishing" if side < 0 else None

    def _side(self, place: int, interval: Interval) -> int:
        """The side of 0 that an interval lies on, 0 if branches, redrawn, do not bear it out.

        Points of a branch come together: how long an answer was moves them all. Draws of clusters do not see that, and
        alone they find a curvature in 11 of 100 sets of equal models.
        """
        by_branch = self.by_branch[place : place + 1]
        told = all(each.reason or _side(each) == _side(interval) for each in by_branch)
        return _side(interval) if told else 0

    @property
    def against(self) -> list[Step]:
        """The steps that go against the slope with their whole interval, the largest first."""
        way = 1 if self.recall_slope[0] >= 0 else -1
        counter = [step for step in self.steps if _side(step.gain[1]) == -way]
        return sorted(counter, key=lambda step: -abs(step.gain[0]))


def scaling_decision(size: Vector, compared: Comparison, accuracy: Sequence[Number]) -> Scaled:
    """Decide what larger models know.

    Args:
        size: log10 of the parameters of each model, shape (models,).
        compared: the models on their unions.
        accuracy: of each model, mean over the domains.
    """
    drawn, sizes = compared.drawn, len(set(size.tolist()))
    recall = correct = (math.nan, NONE)
    redrawn = []
    bend = math.nan, replace(NONE, reason=BENT)
    if sizes >= 2:
        slope = np.linalg.pinv(np.column_stack([np.ones(len(size)), size]))[1]
        recall = drawn.functional(slope)
        redrawn.append(slope)
        values, intervals = zip(*accuracy, strict=True)
        correct = float(slope @ values), combined(slope.tolist(), values, intervals)
    if sizes >= 3:
        design = np.column_stack([np.ones(len(size)), size, size**2])
        redrawn.append(2 * np.linalg.pinv(design)[2])
        bend = drawn.functional(redrawn[-1])
    by_branch = tuple(compared.redrawn.functional(weights) for weights in redrawn) if compared.redrawn else ()
    return Scaled(recall, correct, bend, by_branch, _steps(size, drawn))


def _steps(size: Vector, drawn: Repeats) -> tuple[Step, ...]:
    """Gain per decade between neighbouring sizes; models of one size are averaged."""
    groups: dict[float, list[int]] = {}
    for place in np.argsort(size, kind="stable").tolist():
        groups.setdefault(float(size[place]), []).append(place)
    steps = []
    for (low, smaller), (high, larger) in pairwise(groups.items()):
        weights = np.zeros(len(size))
        weights[larger], weights[smaller] = 1 / len(larger) / (high - low), -1 / len(smaller) / (high - low)
        steps.append(Step(low, high, tuple(smaller), tuple(larger), drawn.functional(weights)))
    return tuple(steps)


def _side(interval: Interval) -> int:
    """1 if the whole interval is above 0, -1 if below, 0 if neither or if there is none."""
    return int(interval.low > 0) - int(interval.high < 0)
