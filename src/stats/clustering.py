"""How well clusters that were found agree with clusters that are true, or with those of another way to make them.

Pairwise scores count pairs of items, so that one large cluster outweighs many small ones. B³ (Bagga and Baldwin 1998;
Amigó et al. 2009) scores every item and averages. The adjusted Rand index (Hubert and Arabie 1985) is the agreement
over pairs beyond chance: 1 for the same clusters, 0 on average for random ones of the same sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1 of clusters that were found.

    Attributes:
        precision, recall, f1: in [0, 1]; NaN where nothing was found, or nothing is there to be found.
        n: items, which is also the unit of B³; pairwise scores count pairs of them.
        reason: why one is NaN; "" if none is.
    """

    precision: float
    recall: float
    f1: float
    n: int
    reason: str = ""


def pairwise(truth: npt.ArrayLike, found: npt.ArrayLike) -> Scores:
    """Of the pairs in one found cluster how many belong together, and of those that belong together how many are found.

    Args:
        truth: true cluster of every item, shape (n,), any labels.
        found: the same for the clusters that were found.

    Raises:
        ValueError: the two differ in length.
    """
    table = _Table.of(truth, found)
    both, true, joined = table.pairs
    reasons = [
        f"no two of {table.n} items {what}"
        for count, what in ((joined, "were put together"), (true, "belong together"))
        if count == 0
    ]
    precision, recall = _share(both, joined), _share(both, true)
    return Scores(precision, recall, _share(2 * both, true + joined), table.n, "; ".join(reasons))


def b_cubed(truth: npt.ArrayLike, found: npt.ArrayLike) -> Scores:
    """B³: share of an item's found cluster that belongs with it, and of its true cluster that was found with it.

    F1 is the harmonic mean of the two averages. Arguments and errors are those of :func:`pairwise`.
    """
    table = _Table.of(truth, found)
    if table.n == 0:
        return Scores(math.nan, math.nan, math.nan, 0, "there are no items")
    squares = table.shared.astype(np.float64) ** 2
    precision = math.fsum(squares / table.found[table.column]) / table.n  # exact, so the order of items is nothing
    recall = math.fsum(squares / table.true[table.row]) / table.n
    return Scores(precision, recall, 2 * precision * recall / (precision + recall), table.n)


def adjusted_rand(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Adjusted Rand index of two ways to cluster the same items; symmetric, at most 1, NaN without items.

    1 where chance leaves nothing to agree about: each item alone in both, or all together in both.

    Raises:
        ValueError: the two differ in length.
    """
    table = _Table.of(one, other)
    if table.n == 0:
        return math.nan
    both, first, second = table.pairs
    every = table.n * (table.n - 1) // 2
    # Whole numbers up to here: first * second / every is the agreement that chance alone would give.
    excess = both * every - first * second
    most = (first + second) * every - 2 * first * second
    return 2 * excess / most if most else 1.0


@dataclass(frozen=True)
class _Table:
    """The contingency table, its filled fields only.

    Attributes:
        shared: items in each filled field.
        row, column: its true and its found cluster, by number.
        true, found: size of every true and found cluster.
    """

    shared: Ints
    row: Ints
    column: Ints
    true: Ints
    found: Ints

    @classmethod
    def of(cls, truth: npt.ArrayLike, found: npt.ArrayLike) -> _Table:
        one, other = _numbers(truth), _numbers(found)
        if len(one) != len(other):
            raise ValueError(f"one cluster per item is needed on both sides, got {len(one)} and {len(other)}")
        width = int(other.max(initial=0)) + 1
        field, shared = np.unique(one * width + other, return_counts=True)
        return cls(shared, field // width, field % width, np.bincount(one), np.bincount(other))

    @property
    def n(self) -> int:
        return int(self.shared.sum())

    @property
    def pairs(self) -> tuple[int, int, int]:
        """Pairs together on both sides, in the true clusters, in the found ones."""
        both, true, found = (int((size * (size - 1) // 2).sum()) for size in (self.shared, self.true, self.found))
        return both, true, found


def _numbers(labels: npt.ArrayLike) -> Ints:
    values: npt.NDArray[Any] = np.asarray(labels)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
