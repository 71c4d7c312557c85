"""How accuracy changes from turn to turn, and where the accuracies of two models cross (arXiv 2602.00959).

Points of one branch resemble each other, so a standard error is that of branches, and quantiles are Student's with the
number of branches less the number of lines. No standard error is below what independent points would give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from src.stats.intervals import FEWEST_BRANCHES, LEVEL, Interval

UNIT = "branch"
LINEARISED = "linearised, standard error over branches, t"
LINES = "binomial regression, standard errors over branches, t"
FIELLER = "Fieller, binomial regression, standard errors over branches, t"


class _Size(NamedTuple):
    """How many points an interval rests on, and from how many branches they come."""

    n: int
    branches: int


class Judged(NamedTuple):
    """Judged points of a cell, one row for each.

    Attributes:
        valid: its verdict, shape (n,).
        turn: in which it first appeared, from 1, shape (n,).
        branch: number of the branch that it came from, shape (n,).
    """

    valid: npt.NDArray[np.bool_]
    turn: npt.NDArray[np.int64]
    branch: npt.NDArray[np.int64]

    @property
    def branches(self) -> int:
        """How many branches have a point."""
        return len(np.unique(self.branch))

    @property
    def size(self) -> _Size:
        """Points and branches."""
        return _Size(len(self.valid), self.branches)

    def until(self, last: int) -> Judged:
        """The points up to a turn."""
        early = self.turn <= last
        return Judged(self.valid[early], self.turn[early], self.branch[early])


@dataclass(frozen=True)
class Trend:
    """A number of one model with its standard error.

    Attributes:
        value: NaN when there is none; `interval.reason` says why.
        error: standard error, NaN when there is none.
        freedom: degrees of freedom of the error.
        interval: of the value.
    """

    value: float
    error: float
    freedom: float
    interval: Interval

    @property
    def p(self) -> float:
        """Two-sided, of the value being 0; NaN without an error."""
        return _two_sided(self.value, self.error, self.freedom)


@dataclass(frozen=True)
class Crossing:
    """Where the accuracies of two models cross.

    Attributes:
        turn: −β_model/β_interaction; NaN when there is no crossing, and `interval.reason` says why.
        interval: Fieller's.
        slopes: how much faster the log odds of the one change per turn than those of the other.
        lead: log odds of the one in turn 1 less those of the other, on the lines.
    """

    turn: float
    interval: Interval
    slopes: Trend
    lead: Trend


class _Line(NamedTuple):
    """Log odds of a valid point against the turn: intercept and slope, and their covariance."""

    beta: npt.NDArray[np.float64]
    covariance: npt.NDArray[np.float64]


def decline(points: Judged, last: int) -> Trend:
    """Decline rate (acc_1 − acc_T)/(T−1) per turn, accuracies cumulative; positive when accuracy falls.

    Args:
        points: of one cell.
        last: T, the last turn that counts.
    """
    seen = points.until(last)
    first, size = seen.turn == 1, seen.size
    n, branches = size
    if last < 2:
        return _none(math.nan, size, LINEARISED, "one turn: there is nothing to decline from")
    if not first.any():
        return _none(math.nan, size, LINEARISED, "no point of turn 1 was judged valid or invalid")
    early, late = float(seen.valid[first].mean()), float(seen.valid.mean())
    value = (early - late) / (last - 1)
    if branches < FEWEST_BRANCHES:
        return _none(value, size, LINEARISED, f"{_counted(branches)}: their spread needs at least {FEWEST_BRANCHES}")
    # What each point moves the value by: it counts in the late share, and in the early one if it is of turn 1.
    move = np.where(first, (seen.valid - early) / first.sum(), 0.0) - (seen.valid - late) / n
    _, group = np.unique(seen.branch, return_inverse=True)
    by_branch = np.bincount(group, weights=move)
    between = branches / (branches - 1) * float(by_branch @ by_branch)
    if not move.any():
        return _none(value, size, LINEARISED, "every point of these turns got the same verdict")
    # Early less late is early less later, times the share of later points.
    alone = (1 - first.sum() / n) ** 2 * (_spread(seen.valid[first]) + _spread(seen.valid[~first]))
    error = math.sqrt(max(between, float(move @ move), alone)) / (last - 1)
    return _student(value, error, branches - 1, size, f"{LINEARISED} of {branches - 1} degrees of freedom")


def _spread(valid: npt.NDArray[np.bool_]) -> float:
    """Variance of a share of independent points with one more of each verdict (Agresti and Caffo 2000).

    Where hardly any point is invalid, the plain one is near 0 by chance.
    """
    share = (float(valid.sum()) + 1) / (len(valid) + 2)
    return share * (1 - share) / (len(valid) + 2)


def difference(one: Trend, other: Trend) -> Trend:
    """One number less the other, of independent cells (Welch–Satterthwaite)."""
    size = _Size(one.interval.n + other.interval.n, one.interval.branches + other.interval.branches)
    value = one.value - other.value
    for part in (one, other):
        if part.interval.reason:
            return _none(value, size, LINEARISED, part.interval.reason)
    variance = one.error**2 + other.error**2
    freedom = variance**2 / (one.error**4 / one.freedom + other.error**4 / other.freedom)
    return _student(value, math.sqrt(variance), freedom, size, f"{LINEARISED} of {freedom:.1f} degrees of freedom")


def crossing(one: Judged, other: Judged, last: int) -> Crossing:
    """Where the accuracy of the one meets that of the other: logit valid ~ model × turn of first appearance.

    With an interaction the regression falls apart into one line for each model, whose branches are its own.

    Args:
        one: points of one cell.
        other: points of the other cell.
        last: T, the last turn that both reached.
    """
    sides = one.until(last), other.until(last)
    size = _Size(*(sum(part) for part in zip(*(side.size for side in sides), strict=True)))
    for name, side in zip(("the first model", "the second model"), sides, strict=True):
        if reason := _unfit(side, last):
            nothing = _none(math.nan, size, FIELLER, f"{name}: {reason}")
            return Crossing(math.nan, nothing.interval, nothing, nothing)
    here, there = (_line(side) for side in sides)
    gap, covariance = here.beta - there.beta, here.covariance + there.covariance
    freedom = size.branches - len(sides)
    first = np.ones(2)  # the line in turn 1
    lead = _student(float(first @ gap), math.sqrt(first @ covariance @ first), freedom, size, LINES)
    slopes = _student(float(gap[1]), math.sqrt(covariance[1, 1]), freedom, size, LINES)
    turn, low, high, reason = _fieller(gap, covariance, float(t.ppf((1 + LEVEL) / 2, freedom)))
    if not reason and not 1 <= turn <= last:
        reason = f"the lines would cross in turn {turn:.1f}, outside 1 to {last}"
    if reason:
        return Crossing(math.nan, _none(math.nan, size, FIELLER, reason).interval, slopes, lead)
    method = f"{FIELLER} of {freedom} degrees of freedom"
    return Crossing(turn, Interval(low, high, size.n, UNIT, method, branches=size.branches), slopes, lead)


def _unfit(points: Judged, last: int) -> str:
    """Why no line can be laid through the points; "" when one can."""
    if last < 2:
        return "one turn: accuracies cannot cross"
    branches = points.branches
    if branches < FEWEST_BRANCHES:
        return f"{_counted(branches)}: standard errors need at least {FEWEST_BRANCHES}"
    good, bad = points.turn[points.valid], points.turn[~points.valid]
    if not len(good) or not len(bad):
        return "every point got the same verdict"
    if not (good.min() < bad.max() and bad.min() < good.max()):
        return "the turn separates valid from invalid points, so no line has a finite slope"
    return ""


def _line(points: Judged) -> _Line:
    """Binomial regression on the turn; covariance by branch, with each branch's own pull on the line taken out.

    The residuals of a branch are divided by one less its leverage (CR3; Bell and McCaffrey 2002): with few branches
    the plain sandwich is too narrow.
    """
    design = np.column_stack([np.ones(len(points.turn)), points.turn.astype(np.float64)])
    fitted = GLM(points.valid.astype(np.float64), design, family=Binomial()).fit()
    chance = np.asarray(fitted.fittedvalues, dtype=np.float64)
    weight = chance * (1 - chance)
    bread = np.linalg.inv(design.T @ (weight[:, None] * design))
    names, group = np.unique(points.branch, return_inverse=True)
    meat = np.zeros((2, 2))
    for branch in range(len(names)):
        rows = design[group == branch]
        score = rows.T @ (points.valid[group == branch] - chance[group == branch])
        share = rows.T @ (weight[group == branch][:, None] * rows)
        # (I − share·bread)⁻¹ score: how far the line moves when the branch is left out, in one step.
        pulled = np.linalg.lstsq(np.eye(2) - share @ bread, score, rcond=None)[0]
        meat += np.outer(pulled, pulled)
    between = (len(names) - 1) / len(names) * bread @ meat @ bread
    # Not below independent points for any sum of the two numbers: seen in units of theirs, no variance is under 1.
    root = np.linalg.cholesky(bread)
    inverse = np.linalg.inv(root)
    ratio, axes = np.linalg.eigh(inverse @ between @ inverse.T)
    turned = root @ axes
    covariance = turned @ np.diag(np.maximum(ratio, 1.0)) @ turned.T
    return _Line(np.asarray(fitted.params, dtype=np.float64), np.asarray(covariance, dtype=np.float64))


def _fieller(
    gap: npt.NDArray[np.float64], covariance: npt.NDArray[np.float64], quantile: float
) -> tuple[float, float, float, str]:
    """The turn in which the gap is zero, its bounds, and why there are none (Fieller 1954)."""
    level, slope = float(gap[0]), float(gap[1])
    q2 = quantile**2
    a = slope**2 - q2 * float(covariance[1, 1])
    if a <= 0:
        return math.nan, math.nan, math.nan, "the two lines cannot be told from parallel ones"
    b = level * slope - q2 * float(covariance[0, 1])
    c = level**2 - q2 * float(covariance[0, 0])
    root = math.sqrt(max(0.0, b**2 - a * c))
    return -level / slope, (-b - root) / a, (-b + root) / a, ""


def _student(value: float, error: float, freedom: float, size: _Size, method: str) -> Trend:
    reach = float(t.ppf((1 + LEVEL) / 2, freedom)) * error
    interval = Interval(value - reach, value + reach, size.n, UNIT, method, branches=size.branches)
    return Trend(value, error, freedom, interval)


def _two_sided(value: float, error: float, freedom: float) -> float:
    return float(2 * t.sf(abs(value) / error, freedom)) if error > 0 else math.nan


def _none(value: float, size: _Size, method: str, reason: str) -> Trend:
    interval = Interval(math.nan, math.nan, size.n, UNIT, method, reason, size.branches)
    return Trend(value, math.nan, math.nan, interval)


def _counted(branches: int) -> str:
    return f"{branches} branch{'' if branches == 1 else 'es'}"
