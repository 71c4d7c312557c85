"""Whether models come in the same order in every domain, decided from numbers alone (arXiv 2602.00959)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from src.stats.combining import spread
from src.stats.concordance import Concordance, concordance
from src.stats.intervals import Interval, Number
from src.stats.recall import recall_match
from src.studies.comparison import Comparison

FEW = Interval(
    math.nan, math.nan, 0, "branch", "square-and-add", "fewer than two models have an accuracy with an interval"
)


@dataclass(frozen=True)
class Ordered:
    """What was decided about the order of models.

    Attributes:
        agreed: Kendall's W over the domains.
        ahead, behind: for each pair the domains in which the first model is ahead of the other, or behind it, separated
            by Holm's p over all pairs of the domain.
        accuracy_spread: highest less lowest accuracy; NaN if fewer than two models have one with an interval.
    """

    agreed: Concordance
    ahead: tuple[int, ...]
    behind: tuple[int, ...]
    accuracy_spread: Number

    @property
    def reversals(self) -> list[int]:
        """Places of the pairs of which one is ahead in one domain and the other in another."""
        both = zip(self.ahead, self.behind, strict=True)
        return [place for place, (ahead, behind) in enumerate(both) if ahead and behind]

    @property
    def told(self) -> Literal["the same", "in part", "more than random"] | None:
        """How far domains agree; None if it cannot be told from chance. A small p refutes random orders, no more."""
        if self.agreed.reason or self.agreed.p >= 0.05:
            return None
        if self.reversals:
            return "in part"
        return "the same" if self.agreed.w > 1 - 1e-9 else "more than random"


def order_decision(compared: Comparison, accuracy: Sequence[Number], seed: int) -> Ordered:
    """Decide whether the order is stable.

    Args:
        compared: the models on their unions.
        accuracy: of each model, mean over the domains.
        seed: of the permutations.
    """
    drawn = compared.drawn
    by_pair = list(zip(*compared.in_domain, strict=True))
    ahead, behind = (
        tuple(sum(pair.p_holm < 0.05 and sign * pair.difference > 0 for pair in places) for places in by_pair)
        for sign in (1, -1)
    )
    known = [(value, interval) for value, interval in accuracy if not interval.reason]
    gap = spread([value for value, _ in known], [each for _, each in known]) if len(known) > 1 else (math.nan, FEW)
    agreed = concordance(np.array([recall_match(counts) for counts in drawn.unions]), drawn.matches, seed)
    return Ordered(agreed, ahead, behind, gap)
