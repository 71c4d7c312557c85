"""What tokens buy: yields at a budget, which strategies no other one beats, area under a curve (arXiv 2602.00959)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

POINTS = 100
"""Points of a grid of costs."""


def pareto_optimal(cost: npt.ArrayLike, gain: npt.ArrayLike) -> Flags:
    """Which points no other point beats: none has cost <= and gain >= with one of them strict; shape (n,).

    Equal points do not beat one another.
    """
    c, g = np.asarray(cost, dtype=float), np.asarray(gain, dtype=float)
    no_worse = (c[:, None] <= c) & (g[:, None] >= g)
    better = (c[:, None] < c) | (g[:, None] > g)
    optimal: Flags = np.logical_not((no_worse & better).any(axis=0))
    return optimal


def gained(budgets: npt.ArrayLike, cost: npt.ArrayLike, gain: npt.ArrayLike) -> Numbers:
    """What each budget buys: the gain of the last turn that it pays for; 0 before the first, flat after the last.

    A turn that a budget cuts brings nothing, as in a run that a budget ends.

    Args:
        budgets: shape (k,), tokens.
        cost: shape (turns,), tokens spent up to each turn, ascending.
        gain: shape (turns,), gained up to each turn.
    """
    paid = np.searchsorted(np.asarray(cost, dtype=float), np.asarray(budgets, dtype=float), side="right")
    steps: Numbers = np.concatenate([[0.0], np.asarray(gain, dtype=float)])[paid]
    return steps


def log_grid(low: float, high: float) -> Numbers:
    """Costs from `low` to `high`, both included, in 100 equal steps of their logarithm; low > 0."""
    grid: Numbers = np.geomspace(low, high, POINTS)
    return grid


def common_range(costs: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """From the last first turn to the first last turn of several runs; None where they have no cost in common."""
    low, high = max(run[0] for run in costs), min(run[-1] for run in costs)
    return (low, high) if low <= high else None


def area(grid: Numbers, gain: Numbers) -> float:
    """Area under a gain over log10 of the cost (trapezoids): gain times decades."""
    return float(np.trapezoid(gain, np.log10(grid)))


def ratio_interval(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float] | tuple[None, None]:
    """Interval of the ratio of two independent estimates, from the interval of each (MOVER; Donner and Zou 2012).

    Args:
        one: estimate, lower and upper bound of the numerator, none negative.
        other: the same of the denominator.

    Returns:
        The bounds; (None, None) if the denominator may be 0.
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    if b_low <= 0:
        return None, None
    if a > 0:
        # Multiplied out by its conjugate: the usual form divides by 0 where b_high is 2b.
        root = math.sqrt(max(0.0, (a * b) ** 2 - a_low * b_high * (2 * a - a_low) * (2 * b - b_high)))
        low = a_low * (2 * a - a_low) / (a * b + root)
    else:
        low = 0.0
    high = (a * b + math.sqrt(max(0.0, (a * b) ** 2 - a_high * b_low * (2 * a - a_high) * (2 * b - b_low)))) / (
        b_low * (2 * b - b_low)
    )
    return low, high
