"""Models on the same unions: what each knows, which of them can be told apart, and what it would take.

Nothing here reads a cell: a union is its counts, where its points came from is given apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from src.stats.branches import METHOD, NOT_GIVEN, UNIT, Origins, Redrawn, redraw
from src.stats.combining import averaged
from src.stats.compare import Pair, Repeats, pairs, recall_interval, repeats, tied
from src.stats.intervals import Interval, Number
from src.stats.recall import Counts, recall_match
from src.stats.separation import Needed, needed


@dataclass(frozen=True)
class Comparison:
    """Models side by side, in the order of the columns of the unions; pairs in the order of `compare.pairs`.

    Attributes:
        drawn: what repeats of the measurement would have given.
        recall: recall_match of each model, mean over the domains, with its interval.
        pairs: every pair on the clusters of all domains.
        needed: what each pair needs to be told apart by a small gap.
        redrawn: what runs made of other branches would have given; None if it is not known where points came from.
        by_branch: the interval of each pair's difference if branches are what is redrawn.
        best: places of the models that cannot be told apart from the best, the best first.
        in_domain: the pairs of each domain alone.
    """

    drawn: Repeats
    recall: tuple[Number, ...]
    pairs: tuple[Pair, ...]
    needed: tuple[Needed, ...]
    redrawn: Redrawn | None
    by_branch: tuple[Interval, ...]
    best: tuple[int, ...]
    in_domain: tuple[tuple[Pair, ...], ...]

    @property
    def domains(self) -> int:
        """Over how many domains the numbers are means."""
        return len(self.drawn.unions)

    @property
    def clusters(self) -> int:
        """Union clusters of all domains."""
        return sum(self.drawn.clusters)

    @property
    def leaders(self) -> tuple[Pair, Needed] | None:
        """The two models with the highest recall_match, and what it takes to tell them apart; None for one alone."""
        first = set(np.argsort(-self.drawn.match, kind="stable")[:2].tolist())
        both = zip(self.pairs, self.needed, strict=True)
        return next((each for each in both if {each[0].one, each[0].other} == first), None)


def compare(unions: Sequence[Counts], seed: int, origins: Sequence[Origins] | None = None) -> Comparison:
    """Compare models on their unions.

    Args:
        unions: counts of points, shape (clusters, models), one for each domain, all with the same models; none empty.
        seed: of the draws.
        origins: where the points of each union came from; None: not known, so nothing is redrawn by branch.
    """
    drawn, models = repeats(unions, seed), unions[0].shape[1]
    compared = pairs(drawn)
    redrawn = None if origins is None else redraw(origins, models, seed)
    unknown = Interval(math.nan, math.nan, 0, UNIT, METHOD, NOT_GIVEN)
    shares = [recall_match(counts).tolist() for counts in unions]
    return Comparison(
        drawn=drawn,
        recall=tuple(
            averaged([each[model] for each in shares], [recall_interval(counts, model) for counts in unions])
            for model in range(models)
        ),
        pairs=tuple(compared),
        needed=tuple(needed(unions)),
        redrawn=redrawn,
        by_branch=tuple(redrawn.pairs() if redrawn else [unknown] * len(compared)),
        best=tuple(tied(drawn.match, compared)),
        in_domain=tuple(tuple(pairs(drawn.of_domain(place))) for place in range(len(unions))),
    )
