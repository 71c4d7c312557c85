"""Does a distribution have two modes? A test of its deepest valley, and Sarle's coefficient beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.stats import kurtosis, skew

from src.stats.intervals import LEVEL

Numbers = npt.NDArray[np.float64]

DRAWS = 2_000
UNIFORM = 5 / 9
"""Sarle's coefficient of a uniform distribution; above it a distribution may have two modes, or is very skewed."""
FEWEST = 30
"""Values that are needed."""
SHALLOW = 0.5
"""A valley that holds this share of the lower peak, or more, parts nothing."""


@dataclass(frozen=True)
class Modality:
    """What was computed on the values.

    Attributes:
        n: values.
        sarle: (skewness² + 1) / (excess kurtosis + 3 (n-1)² / ((n-2)(n-3))), bias-corrected moments; NaN with a reason.
        depth: of the deepest valley: how far the bin falls below the lower of the two peaks around it, over the root of
            that peak's count; 0 if the histogram has one mode.
        valley: middle of its bin; NaN without a valley.
        remains: count of that bin over that of the lower peak; 1 without a valley.
        p: share of 2,000 histograms drawn from the one-mode histogram that fits best whose valley is as deep.
        reason: why there is no answer; "" if there is.
    """

    n: int
    sarle: float
    depth: float
    valley: float
    remains: float
    p: float
    reason: str = ""

    @property
    def bimodal(self) -> bool | None:
        """Whether the valley is deeper than chance makes it, and deep; None without an answer.

        The coefficient does not decide: it misses two even, narrow modes and takes a long tail for a second one.
        """
        return None if self.reason else self.p < 1 - LEVEL and self.remains < SHALLOW


def modality(values: npt.ArrayLike, edges: Numbers, seed: int) -> Modality:
    """Ask whether values have two modes, the values taken as independent.

    Args:
        values: shape (n,).
        edges: of equal bins that hold all values, for the valley.
        seed: of the draws.
    """
    sample = np.asarray(values, dtype=float)
    n = sample.size
    if n < FEWEST:
        return Modality(
            n, math.nan, math.nan, math.nan, math.nan, math.nan, f"{n} values: at least {FEWEST} are needed"
        )
    if np.ptp(sample) == 0:
        return Modality(n, math.nan, math.nan, math.nan, math.nan, math.nan, "all values are equal")
    sarle = (skew(sample, bias=False) ** 2 + 1) / (
        kurtosis(sample, bias=False) + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))
    )
    counts = np.histogram(sample, edges)[0].astype(float)
    depths = _depths(counts)
    depth, place = float(depths.max()), int(depths.argmax())
    fitted = one_mode(counts)
    drawn = np.random.default_rng(seed).multinomial(n, fitted / fitted.sum(), size=DRAWS).astype(float)
    p = (1 + int((_depths(drawn).max(axis=1) >= depth).sum())) / (1 + DRAWS)
    if depth == 0:
        return Modality(n, float(sarle), depth, math.nan, 1.0, p)
    middle = float((edges[place] + edges[place + 1]) / 2)
    return Modality(n, float(sarle), depth, middle, float(counts[place] / _peaks(counts)[place]), p)


def one_mode(counts: Numbers) -> Numbers:
    """The histogram with one mode that is most likely to give these counts: rising to it, falling after it."""
    best, likelihood = counts, -np.inf
    for split in range(len(counts)):
        rising = isotonic_regression(counts[: split + 1]).x
        falling = (
            isotonic_regression(counts[split + 1 :], increasing=False).x if split + 1 < len(counts) else counts[:0]
        )
        fitted = np.concatenate([rising, falling])
        seen = counts > 0
        value = float((counts[seen] * np.log(fitted[seen])).sum())
        if value > likelihood:
            best, likelihood = fitted, value
    return best


def _peaks(counts: Numbers) -> Numbers:
    """For every bin the lower of the highest bins at its two sides, itself included; along the last axis."""
    left = np.maximum.accumulate(counts, axis=-1)
    right = np.flip(np.maximum.accumulate(np.flip(counts, axis=-1), axis=-1), axis=-1)
    return np.asarray(np.minimum(left, right))


def _depths(counts: Numbers) -> Numbers:
    """How far every bin lies below its lower peak, over the root of that one."""
    peaks = _peaks(counts)
    return np.asarray((peaks - counts) / np.sqrt(np.maximum(peaks, 1.0)))
