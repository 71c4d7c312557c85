"""Recall of models redrawn by (model, branch): how far a difference moves if the branches had been others.

The clusters stay what they are; what a run is made of is redrawn. Each model's branches are drawn with replacement, as
many as it has, in every domain. A cluster that a model has in k branches counts 1/k for each of them, and in the union
1/(h k) if h models have it: so a redrawn run is on average as large as the run. To keep a cluster if any of its
branches is drawn would lose a third of those that only one branch has, and give intervals up to twice as wide as they
should be (simulated; this one covers 95 to 98 %).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from src.stats.compare import DRAWS, percentiles
from src.stats.intervals import FEWEST_BRANCHES, Interval

UNIT = "branch of a model"
METHOD = f"percentiles of {DRAWS:,} draws of whole branches of each model, expanded by t"
NOT_GIVEN = "it is not known which branch a point came from"

Vector = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class Origins(NamedTuple):
    """Where the points of a union came from, one entry for each point, each of shape (points,), numbered from 0.

    Attributes:
        cluster: that a point is in.
        model: place of its model.
        branch: of its model; another model's branch of this number is another one.
    """

    cluster: Places
    model: Places
    branch: Places


@dataclass(frozen=True)
class Redrawn:
    """What runs made of other branches of the same models would have given.

    Attributes:
        recall: recall_match of every model in every draw, mean over the domains, shape (DRAWS, models).
        fewest: branches of each model in the domain where it has the fewest, shape (models,).
        counted: branches of each model in all domains, shape (models,).
    """

    recall: Vector
    fewest: Places
    counted: Places

    def functional(self, weights: Vector) -> Interval:
        """Interval of a weighted sum of the models' recall_match, such as a difference or a slope."""
        whose = np.flatnonzero(weights)
        few, n = int(self.fewest[whose].min()), int(self.counted[whose].sum())
        if few < FEWEST_BRANCHES:
            reason = f"a model has points of {few} branch{'' if few == 1 else 'es'}: draws need {FEWEST_BRANCHES}"
            return Interval(math.nan, math.nan, n, UNIT, METHOD, reason, n)
        low, high = np.quantile(self.recall @ weights, percentiles(few)).tolist()
        if low >= high:
            reason = "every branch brings as much as every other, so draws do not move"
            return Interval(math.nan, math.nan, n, UNIT, METHOD, reason, n)
        return Interval(low, high, n, UNIT, METHOD, "", n)

    def pairs(self) -> list[Interval]:
        """Interval of every pair's difference of recall_match, in the order of `compare.pairs`."""
        found = []
        for one, other in combinations(range(len(self.fewest)), 2):
            weights = np.zeros(len(self.fewest))
            weights[[one, other]] = 1, -1
            found.append(self.functional(weights))
        return found


def redraw(domains: Sequence[Origins], models: int, seed: int) -> Redrawn:
    """Redraw the branches of models.

    Args:
        domains: where the points came from, in each domain; none empty.
        models: how many there are.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    drawn = np.zeros((DRAWS, models))
    branches = np.zeros((len(domains), models), dtype=np.int64)
    for place, origins in enumerate(domains):
        recall, branches[place] = _redrawn(origins, models, rng)
        drawn += recall / len(domains)
    return Redrawn(drawn, branches.min(axis=0), branches.sum(axis=0))


def _redrawn(origins: Origins, models: int, rng: np.random.Generator) -> tuple[Vector, Places]:
    """recall_match of every model in every draw, shape (DRAWS, models); and how many branches each model has.

    A model with too few branches to draw from stays as it is.
    """
    clusters, names = int(origins.cluster.max()) + 1, int(origins.branch.max()) + 1
    # Points of one branch of a model in one cluster count once.
    once = np.unique((origins.model * names + origins.branch) * clusters + origins.cluster)
    of_branch, cluster = np.divmod(once, clusters)
    held, place, k = np.unique(of_branch // names * clusters + cluster, return_inverse=True, return_counts=True)
    h = np.bincount(held % clusters, minlength=clusters)
    own = 1 / k[place]
    of_branch, place = np.unique(of_branch, return_inverse=True)
    # In steps of 2^-20, so that sums of them are exact in whatever order they are made.
    credit, part = (np.round(np.bincount(place, each) * 2**20) / 2**20 for each in (own, own / h[cluster]))
    known, union, branches = np.zeros((DRAWS, models)), np.zeros(DRAWS), np.zeros(models, dtype=np.int64)
    for model in range(models):
        its = of_branch // names == model
        branches[model] = n = int(its.sum())
        times = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS) if n >= FEWEST_BRANCHES else np.ones((DRAWS, n))
        known[:, model] = times @ credit[its]
        union += times @ part[its]
    return known / union[:, None], branches
