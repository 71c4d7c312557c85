"""Models compared on the unions of what they know, pair by pair on the same clusters.

The unit is the cluster of a union. A cluster is one of the patterns that occur: how many points each model has in it. A
repeat of the measurement is a multinomial draw over the patterns, in every domain of its own, so that what two models
share moves both. What is estimated is Σ_f π_mf / Σ_f π_∪f, π being the probability that a fresh run of a model, and of
any of the models, finds the fact f. If facts differ in how easily they are found, such draws vary a little too much;
if what is found in one branch comes together, a little too little: :mod:`src.stats.branches` shows that side. What is
averaged over domains gives each domain the same weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, norm, t

from src.stats.intervals import LEVEL, Interval, wilson
from src.stats.recall import ALONE, Counts, recall_count, recall_match

DRAWS = 2_000
CHUNK = 2_000_000
"""Most numbers that one step of the multinomial draws at once."""
FEWEST_CLUSTERS = 3
FEWEST_DISCORDANT = 10
"""Clusters unlike the rest that draws need to say how far a number moves, and pairs a normal limit."""
MOST_SUMS = 4_096
"""Sums of which one pair's exact p is made at most."""
SEVERAL = "McNemar's test pools clusters, and these domains weigh the same: only with one domain"
UNIT = "union cluster"
PERCENTILE = f"percentiles of {DRAWS:,} multinomial draws over the patterns of membership, expanded by t"

Vector = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Repeats:
    """What repeats of the measurement would have given, models side by side.

    Attributes:
        unions: counts of points, shape (clusters, models), one for each domain.
        matches: recall_match in every draw, shape (DRAWS, domains, models).
        counted: recall_count in every draw, the same.
    """

    unions: tuple[Counts, ...]
    matches: Vector
    counted: Vector

    @property
    def match(self) -> Vector:
        """recall_match of each model, mean over the domains, shape (models,)."""
        return np.asarray(np.mean([recall_match(counts) for counts in self.unions], axis=0))

    @property
    def count(self) -> Vector:
        """recall_count of each model, mean over the domains, shape (models,)."""
        return np.asarray(np.mean([recall_count(counts) for counts in self.unions], axis=0))

    @property
    def clusters(self) -> tuple[int, ...]:
        """Clusters of each domain."""
        return tuple(len(counts) for counts in self.unions)

    def of_domain(self, place: int) -> Repeats:
        """The same of one domain alone."""
        one = slice(place, place + 1)
        return Repeats(self.unions[one], self.matches[:, one], self.counted[:, one])

    def functional(self, weights: Vector) -> tuple[float, Interval]:
        """A weighted sum of the models' recall_match, such as a slope, with its interval."""
        draws, parts = self.matches.mean(axis=1) @ weights, [(counts > 0) @ weights for counts in self.unions]
        return float(weights @ self.match), self._interval(draws, parts)

    def count_of(self, model: int) -> tuple[float, Interval]:
        """recall_count of a model, mean over the domains, with its interval."""
        draws, parts = self.counted[:, :, model].mean(axis=1), [counts[:, model] for counts in self.unions]
        return float(self.count[model]), self._interval(draws, parts)

    def _interval(self, draws: Vector, parts: Sequence[npt.NDArray[Any]]) -> Interval:
        """The interval of a mean from its draws, shape (DRAWS,), and what each cluster of a domain adds to it."""
        unlike = [len(part) - int(np.unique(np.round(part, 9), return_counts=True)[1].max()) for part in parts]
        return _bounded(np.quantile(draws, percentiles(min(self.clusters))).tolist(), self.clusters, unlike)


@dataclass(frozen=True)
class Pair:
    """Two models on the same clusters.

    Attributes:
        one, other: their places among the models.
        difference: recall_match of the one less that of the other, mean over the domains.
        interval: of the difference.
        only_one, only_other: clusters that hold a point of only one of the two, summed over the domains.
        p: two-sided, of the difference if both found equally much; see :func:`pairs`.
        p_holm: the same after Holm over all pairs of the comparison.
        p_midp: McNemar's test, mid-p; 1 if the two never differ; NaN with several domains.
    """

    one: int
    other: int
    difference: float
    interval: Interval
    only_one: int
    only_other: int
    p: float
    p_holm: float
    p_midp: float


def repeats(unions: Sequence[Counts], seed: int) -> Repeats:
    """Draw repeats of the measurement.

    Args:
        unions: counts of points, shape (clusters, models), one for each domain, all with the same models; none empty.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    drawn = [_redrawn(counts, rng) for counts in unions]
    matches, counted = (np.stack([part[side] for part in drawn], axis=1) for side in (0, 1))
    return Repeats(tuple(unions), matches, counted)


def recall_interval(counts: Counts, model: int) -> Interval:
    """Wilson interval of a model's recall_match in one domain; none for a model alone, which has all."""
    if counts.shape[1] == 1:
        return Interval(math.nan, math.nan, len(counts), UNIT, "Wilson", ALONE)
    return replace(wilson(int((counts[:, model] > 0).sum()), len(counts)), unit=UNIT)


def pairs(drawn: Repeats) -> list[Pair]:
    """Every pair of models on the clusters of all domains.

    Under equal recall each cluster that only one of the two has is as likely to be the other's. p is that of the
    difference over its standard error then, McNemar's with one domain; where a domain has fewer than FEWEST_DISCORDANT
    such clusters, theirs are counted exactly. Its tail is not bounded by the number of draws, which Holm over many
    pairs needs.
    """
    unions, draws = drawn.unions, drawn.matches.mean(axis=1)
    models, sizes = unions[0].shape[1], np.array(drawn.clusters)[:, None]
    one, other = np.triu_indices(models, k=1)
    if not len(one):
        return []
    # By domain and pair: clusters that only the one has, that only the other has.
    b, c = (np.array(side) for side in zip(*(discordant(counts, one, other) for counts in unions), strict=True))
    steps = 1 / (sizes * len(unions))
    difference, variance = ((b - c) * steps).sum(axis=0), ((b + c) * steps**2).sum(axis=0)
    z = np.divide(np.abs(difference), np.sqrt(variance), out=np.zeros(len(one)), where=variance > 0)
    p = np.minimum(1.0, 2 * norm.sf(z))
    for k in np.flatnonzero(((b + c > 0) & (b + c < FEWEST_DISCORDANT)).any(axis=0)).tolist():
        p[k] = _exact((b + c)[:, k], steps[:, 0], abs(float(difference[k])))
    only_one, only_other = b.sum(axis=0), c.sum(axis=0)
    fewer, both_sides = np.minimum(only_one, only_other), only_one + only_other
    midp = 2 * binom.cdf(fewer, both_sides, 0.5) - binom.pmf(fewer, both_sides, 0.5)
    if len(unions) > 1:
        midp = np.full(len(one), math.nan)
    adjusted = holm(p.tolist())
    levels = percentiles(min(drawn.clusters))
    unlike = (sizes - np.maximum(np.maximum(b, c), sizes - b - c)).T.tolist()
    bounds = np.concatenate(
        [np.quantile(draws[:, [i]] - draws[:, i + 1 :], levels, axis=0).T for i in range(models - 1)]
    ).tolist()
    found = []
    for k, (i, j) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        interval = _bounded(bounds[k], drawn.clusters, unlike[k])
        counted = int(only_one[k]), int(only_other[k])
        found.append(Pair(i, j, float(difference[k]), interval, *counted, float(p[k]), adjusted[k], float(midp[k])))
    return found


def holm(p: Sequence[float]) -> list[float]:
    """p-values after Holm's correction, in their order.

    The same as statsmodels' `multipletests`, which collects garbage on every call and so takes a tenth of a second.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order])
    return [min(1.0, float(value)) for value in adjusted]


def tied(values: Vector, compared: Sequence[Pair]) -> list[int]:
    """Places of the models that cannot be told apart from the best one, the best first; Holm over all pairs."""
    best = int(np.argmax(values))
    rivals = {pair.one + pair.other - best: pair for pair in compared if best in (pair.one, pair.other)}
    apart = {place for place, pair in rivals.items() if pair.p_holm < 1 - LEVEL}
    kept = [place for place in range(len(values)) if place not in apart]
    return sorted(kept, key=lambda place: (place != best, -values[place], place))


def discordant(counts: Counts, one: Places, other: Places) -> tuple[Places, Places]:
    """Clusters that hold a point of only the one, and of only the other, for each pair."""
    has = (counts > 0).astype(np.int64)
    both, sizes = (has.T @ has)[one, other], has.sum(axis=0)
    return sizes[one] - both, sizes[other] - both


def percentiles(units: int) -> tuple[float, float]:
    """Percentiles that bound 95 %, further out where few units make draws too alike (Hesterberg 2015, expanded)."""
    if units < 2:
        return 0.0, 1.0
    tail = float(norm.cdf(-math.sqrt(units / (units - 1)) * t.ppf((1 + LEVEL) / 2, units - 1)))
    return tail, 1 - tail


def _exact(discordant: Places, steps: Vector, gap: float) -> float:
    """Two-sided p of a gap made of steps either way, as likely as not, so many in each domain.

    Every outcome of the domains with few steps is counted, the largest steps first and as many as MOST_SUMS allows;
    what the others add is normal.

    Args:
        discordant: steps of each domain, shape (domains,).
        steps: their lengths, the same.
        gap: at least 0.
    """
    sums, chances, variance = np.zeros(1), np.ones(1), 0.0
    for domain in np.argsort(-steps, kind="stable").tolist():
        n, step = int(discordant[domain]), float(steps[domain])
        if n < FEWEST_DISCORDANT and len(sums) * (n + 1) <= MOST_SUMS:
            ways = np.arange(n + 1)
            sums = (sums[:, None] + step * (2 * ways - n)).ravel()
            chances = (chances[:, None] * binom.pmf(ways, n, 0.5)).ravel()
        else:
            variance += n * step**2
    # Equal up to rounding counts as reached.
    beyond = np.stack([gap - sums, gap + sums]) - 1e-12
    tails = norm.sf(beyond / math.sqrt(variance)) if variance else beyond <= 0
    return min(1.0, float((tails @ chances).sum()))


def _bounded(bounds: Sequence[float], clusters: Sequence[int], unlike: Sequence[int]) -> Interval:
    """The interval between bounds, or why draws cannot tell it.

    `unlike` clusters of each domain are not of its commonest kind. Where few of a small domain outweigh many of a large
    one, all of them count for as few (Kish's effective number).
    """
    n, reason = sum(clusters), ""
    square, fourth = (sum(each / size**k for each, size in zip(unlike, clusters, strict=True)) for k in (2, 4))
    count = math.floor(square**2 / fourth + 1e-9) if fourth else 0
    if min(clusters) < FEWEST_CLUSTERS:
        reason = f"a union of {min(clusters)} of {n} clusters: an interval needs at least {FEWEST_CLUSTERS}"
    elif count < FEWEST_DISCORDANT:
        weighed = ", weighed by domain," if len(clusters) > 1 else ""
        reason = f"{count} of {n} clusters{weighed} are unlike the rest: an interval needs at least {FEWEST_DISCORDANT}"
    low, high = (math.nan, math.nan) if reason else bounds
    return Interval(low, high, n, UNIT, PERCENTILE, reason)


def _redrawn(counts: Counts, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """recall_match and recall_count in every draw, shape (DRAWS, models) each."""
    patterns, sizes = np.unique(counts, axis=0, return_counts=True)
    # Whole numbers as floats: their sums are exact in whatever order they are made.
    has, points = (patterns > 0).astype(np.float64), patterns.astype(np.float64)
    step = max(1, CHUNK // len(patterns))
    match, count = [], []
    for start in range(0, DRAWS, step):
        drawn = rng.multinomial(len(counts), sizes / len(counts), size=min(step, DRAWS - start)).astype(np.float64)
        match.append(drawn @ has)
        count.append(drawn @ points)
    return np.concatenate(match) / len(counts), np.concatenate(count) / len(counts)
