"""What becomes of the classes of the same questions from one run to another (K-(CSA)², arXiv 2501.01332).

The unit is the question, paired: a question that both runs class alike adds nothing to any difference. Intervals are
those of :mod:`src.stats.categories`, of shares for upgrade, stable and downgrade, of means for the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from src.stats.categories import CLASSES, KNOWN, WEIGHTS, Codes, mean, share
from src.stats.intervals import Number

NONE = "the two runs share no question with all of its answers"


@dataclass(frozen=True)
class Transitions:
    """From the classes of run A to those of run B on the questions of both.

    Attributes:
        matrix: questions of each class of A (rows) in each class of B (columns), shape (6, 6), in the order of CLASSES.
        upgrade, stable, downgrade: share of questions whose class in B is better, the same, worse; their sum is 1.
        net: upgrade less downgrade.
        accuracy: of B less that of A.
        p_accuracy: McNemar's test of the same, two-sided, mid-p; 1 if the greedy answers never differ.
        category_score: of B less that of A.
    """

    matrix: Codes
    upgrade: Number
    stable: Number
    downgrade: Number
    net: Number
    accuracy: Number
    p_accuracy: float
    category_score: Number

    @property
    def row_shares(self) -> npt.NDArray[np.float64]:
        """The matrix with each row divided by its sum; NaN where A has no question of the class."""
        sums = self.matrix.sum(axis=1, keepdims=True)
        shares: npt.NDArray[np.float64] = np.full(self.matrix.shape, np.nan)
        np.divide(self.matrix, sums, out=shares, where=sums > 0)
        return shares


def transitions(before: npt.ArrayLike, after: npt.ArrayLike, seed: int) -> Transitions:
    """Compare two runs on the questions that both have a class for.

    Args:
        before: class of each shared question in run A, as its place in CLASSES, shape (q,).
        after: the same of run B, the questions in the same order.
        seed: of the bootstrap.

    Raises:
        ValueError: the two differ in length.
    """
    one, other = np.asarray(before, dtype=np.int64), np.asarray(after, dtype=np.int64)
    if one.shape != other.shape:
        raise ValueError(f"both runs need a class for every shared question, got {one.size} and {other.size}")
    size, n = len(CLASSES), len(one)
    gained = WEIGHTS[other] - WEIGHTS[one]
    knew, knows = one < KNOWN, other < KNOWN
    return Transitions(
        matrix=np.bincount(one * size + other, minlength=size**2).reshape(size, size),
        upgrade=share(int((gained > 0).sum()), n, NONE),
        stable=share(int((gained == 0).sum()), n, NONE),
        downgrade=share(int((gained < 0).sum()), n, NONE),
        net=mean(np.sign(gained), (-1, 1), seed, NONE),
        accuracy=mean(knows.astype(np.int64) - knew, (-1, 1), seed, NONE),
        p_accuracy=_midp(int((knows & ~knew).sum()), int((knew & ~knows).sum())),
        category_score=mean(gained, (1 - size, size - 1), seed, NONE),
    )


def _midp(one: int, other: int) -> float:
    """McNemar's mid-p of pairs that differ one way and the other."""
    fewer, both = min(one, other), one + other
    return float(2 * binom.cdf(fewer, both, 0.5) - binom.pmf(fewer, both, 0.5))
