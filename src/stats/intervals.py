"""Intervals for a share of points, each with its unit, method, n and, when there is none, the reason.

Wilson (1927) as computed by statsmodels. :func:`wilson_leaf` widens it for points that come in branches and resemble
each other inside a branch: with 60 points per branch that correlate at .05, plain Wilson holds the truth two times in
three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

LEVEL = 0.95
FEWEST_BRANCHES = 3


@dataclass(frozen=True)
class Interval:
    """A two-sided 95 % interval of a share.

    Attributes:
        low, high: bounds in [0, 1]; NaN when `reason` is not empty.
        n: number of units counted.
        unit: what was taken as independent.
        method: how the bounds were computed, with what it assumed.
        reason: why there are no bounds; "" when there are.
        branches: from how many branches the units come; 0 where that was not asked.
    """

    low: float
    high: float
    n: int
    unit: str
    method: str
    reason: str = ""
    branches: int = 0


Number = tuple[float, Interval]
"""A number and its interval."""


def wilson(successes: int, n: int) -> Interval:
    """Wilson 95 % interval of successes/n, the units taken as independent.

    Raises:
        ValueError: not 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n, got {successes} of {n}")
    if n == 0:
        return Interval(math.nan, math.nan, 0, "point", "Wilson", "no point was judged valid or invalid")
    low, high = _bounds(successes / n, n)
    return Interval(low, high, n, "point", "Wilson")


def wilson_leaf(valid: Sequence[bool], branch: Sequence[str]) -> Interval:
    """Wilson 95 % interval of the share of valid points when points of one branch resemble each other.

    Wilson on n/deff with z replaced by t of v degrees of freedom, where
    deff = max(1, sum_g u_g / [p(1-p)/n]), u_g = (p_-g - p)^2, p_-g the share without branch g, and 1 if p is 0 or 1;
    v = (sum_g u_g)^2 / sum_g u_g^2 is Kish's effective number of branches, at most G-1 of G branches, at least 1.
    Linearised deff and t of G-1 are too sure where few branches differ much (docs/decisions/017-leaf.md).

    Args:
        valid: verdict of each judged point, shape (n,).
        branch: branch of each point, shape (n,).

    Raises:
        ValueError: the two differ in length.
    """
    if len(valid) != len(branch):
        raise ValueError(f"one branch per verdict is needed, got {len(branch)} for {len(valid)}")
    verdicts = np.asarray(valid, dtype=bool)
    n = verdicts.size
    names, group = np.unique(np.asarray(branch, dtype=str), return_inverse=True)
    branches = names.size
    method = "Wilson on n/deff with t"
    if n == 0:
        return Interval(math.nan, math.nan, 0, "branch", method, "no point was judged valid or invalid")
    if branches < FEWEST_BRANCHES:
        reason = f"{branches} branch{'es' if branches > 1 else ''}: their spread needs at least {FEWEST_BRANCHES}"
        return Interval(math.nan, math.nan, n, "branch", method, reason, branches)
    p = float(verdicts.mean())
    deff, freedom = _between(verdicts, group, branches)
    # Wilson depends on n and z only through n/z^2, so t in the place of z is a smaller n.
    shrink = (norm.ppf((1 + LEVEL) / 2) / t.ppf((1 + LEVEL) / 2, freedom)) ** 2
    low, high = _bounds(p, n / deff * shrink)
    return Interval(low, high, n, "branch", f"{method}, {branches} branches, deff {deff:.2f}", branches=branches)


def _between(valid: np.ndarray, group: np.ndarray, branches: int) -> tuple[float, float]:
    """How many times larger the variance of the share is than with independent points, at least 1; and its freedom."""
    n, p = valid.size, float(valid.mean())
    if p in (0.0, 1.0):
        return 1.0, branches - 1.0
    points, right = np.bincount(group, minlength=branches), np.bincount(group, weights=valid, minlength=branches)
    moved = ((right.sum() - right) / (n - points) - p) ** 2
    if not moved.any():
        return 1.0, branches - 1.0
    freedom = float(moved.sum() ** 2 / (moved**2).sum())
    return max(1.0, float(moved.sum()) / (p * (1 - p) / n)), min(branches - 1.0, max(1.0, freedom))


def _bounds(p: float, n: float) -> tuple[float, float]:
    low, high = proportion_confint(p * n, n, alpha=1 - LEVEL, method="wilson")
    # Rounding may leave p = 0 or 1 a hair outside its own interval.
    return max(0.0, min(float(low), p)), min(1.0, max(float(high), p))
