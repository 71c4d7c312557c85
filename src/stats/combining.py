"""Means, weighted sums and ranges of independent numbers, with intervals made of theirs by square-and-add."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, studentized_range

from src.stats.intervals import LEVEL, Interval


def averaged(values: Sequence[float], intervals: Sequence[Interval]) -> tuple[float, Interval]:
    """Mean of independent numbers with its interval."""
    weights = [1 / len(values)] * len(values)
    return float(np.mean(values)), combined(weights, values, intervals)


def combined(weights: Sequence[float], values: Sequence[float], intervals: Sequence[Interval]) -> Interval:
    """Interval of a weighted sum of independent numbers from their own intervals.

    Square-and-add: the distance of each bound is the root of the squared distances of the parts' bounds on that side
    (method of variance estimates recovery; Zou and Donner, Statistics in Medicine 27, 2008).
    """
    units = " and ".join(sorted({part.unit for part in intervals}))
    n, branches = sum(part.n for part in intervals), sum(part.branches for part in intervals)
    if missing := [part for part in intervals if part.reason]:
        return Interval(math.nan, math.nan, n, units, missing[0].method, missing[0].reason, branches)
    if len(intervals) == 1 and weights[0] == 1:
        return intervals[0]
    total, below, above = 0.0, 0.0, 0.0
    for weight, value, part in zip(weights, values, intervals, strict=True):
        ends = sorted((weight * part.low, weight * part.high))
        total += weight * value
        below += (weight * value - ends[0]) ** 2
        above += (ends[1] - weight * value) ** 2
    methods = " and ".join(sorted({part.method.partition(",")[0] for part in intervals}))
    low, high = total - math.sqrt(below), total + math.sqrt(above)
    return Interval(low, high, n, units, f"{methods}, square-and-add", branches=branches)


def spread(values: Sequence[float], intervals: Sequence[Interval]) -> tuple[float, Interval]:
    """Largest less smallest of independent shares, with an interval that allows for picking the two afterwards.

    It is wide enough for all pairs at once: square-and-add with the studentised range in the place of z (Tukey).

    Args:
        values: at least two.
        intervals: of the values, none with a reason.
    """
    value, low, high = np.array(values), *np.array([(part.low, part.high) for part in intervals]).T
    wider = studentized_range.ppf(LEVEL, len(values), np.inf) / (math.sqrt(2) * norm.ppf((1 + LEVEL) / 2))
    gap = value[:, None] - value[None, :]
    below = wider * np.sqrt((value - low)[:, None] ** 2 + (high - value)[None, :] ** 2)
    above = wider * np.sqrt((high - value)[:, None] ** 2 + (value - low)[None, :] ** 2)
    whole = combined([1.0] * len(values), values, intervals)
    widest = float((gap + above)[~np.eye(len(values), dtype=bool)].max())
    bounds = max(0.0, float((gap - below).max())), min(1.0, widest)
    method = "square-and-add, studentised range over all pairs"
    return float(gap.max()), Interval(*bounds, whole.n, whole.unit, method, branches=whole.branches)
