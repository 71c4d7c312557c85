"""How many clusters a paired comparison of two models needs to find a small gap (McNemar's test; Connor 1987).

What decides is the share of discordant clusters, those that only one of the two models has: a cluster that both have
or neither has says nothing about who knows more. With that share ψ, a gap δ of recall_match is found with the wanted
power by (z_α √ψ + z_β √(ψ − δ²))² / δ² clusters. Over several domains of the same weight ψ is the sum of the domains'
shares, each times N / (n D²) for n of N clusters in D domains, and δ² takes the sum of these factors: the count is
that of N, the domains keeping their proportions. Simulated, the power is 80 to 83 % from ψ = .06 on, and more below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from src.stats.compare import discordant
from src.stats.intervals import LEVEL
from src.stats.recall import Counts

GAP = 0.03
POWER = 0.8

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Needed:
    """Clusters that a comparison of two models takes, at a two-sided level of 5 % for this pair alone.

    Attributes:
        clusters: to find a gap of GAP with a power of POWER, all domains together.
        low, high: the same at the bounds of the share of discordant clusters (Wilson, unit: union cluster).
        holm: at the level that the first of all pairs has to meet under Holm's correction, the hardest of them.
        there: clusters that there are.
    """

    clusters: int
    low: int
    high: int
    holm: int
    there: int


def needed(unions: Sequence[Counts]) -> list[Needed]:
    """What each pair of models needs, in the order of :func:`src.stats.compare.pairs`.

    Args:
        unions: counts of points, shape (clusters, models), one for each domain, all with the same models; none empty.
    """
    models, sizes = unions[0].shape[1], np.array([len(counts) for counts in unions])
    one, other = np.triu_indices(models, k=1)
    if not len(one):
        return []
    unlike = np.array([sum(discordant(counts, one, other)) for counts in unions])
    share, whole = unlike / sizes[:, None], np.broadcast_to(sizes[:, None], unlike.shape)
    low, high = proportion_confint(unlike, whole, alpha=1 - LEVEL, method="wilson")
    factor = (sizes.sum() / (sizes * len(unions) ** 2))[:, None]
    mean = (factor * share).sum(axis=0)
    # Square-and-add of the domains' Wilson bounds.
    below = mean - np.sqrt(((factor * (share - low)) ** 2).sum(axis=0))
    above = mean + np.sqrt(((factor * (high - share)) ** 2).sum(axis=0))
    total, level = float(factor.sum()), 1 - LEVEL
    counted = [_clusters(psi, total, level) for psi in (mean, below, above)]
    hardest = _clusters(mean, total, level / len(one))
    there = int(sizes.sum())
    rows = np.column_stack([*counted, hardest]).tolist()
    return [Needed(clusters, least, most, holm, there) for clusters, least, most, holm in rows]


def _clusters(psi: Vector, total: float, level: float) -> npt.NDArray[np.int64]:
    """Clusters for each weighed share of discordant ones; fewer discordant than the gap itself there cannot be."""
    psi = np.maximum(psi, total * GAP)
    reach = norm.isf(level / 2) * np.sqrt(psi) + norm.ppf(POWER) * np.sqrt(psi - total * GAP**2)
    counted: npt.NDArray[np.int64] = np.ceil((reach / GAP) ** 2).astype(np.int64)
    return counted
