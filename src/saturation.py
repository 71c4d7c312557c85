"""When a run has dug out what it can: the stale turn and the patience with it (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Saturation:
    """Thresholds of the extraction loop.

    Attributes:
        novelty: a point is novel if its cosine to every earlier point is at most this.
        growth: a turn is stale if novel points / pool before it fall below this,
        efficiency: or novel points / raw points fall below this,
        points: or there are fewer novel points than this.
        patience: 0 stops at the first stale turn (the paper), 1 at the second in a row (the authors' code).
    """

    novelty: float = Field(ge=-1, le=1)
    growth: float = Field(ge=0)
    efficiency: float = Field(ge=0, le=1)
    points: int = Field(ge=0)
    patience: int = Field(ge=0)

    def stale(self, *, raw: int, novel: int, pool: int) -> bool:
        """Whether a turn of `raw` points, `novel` of them new, added too little to a pool of `pool` points."""
        return growth(novel, pool) < self.growth or efficiency(novel, raw) < self.efficiency or novel < self.points

    def saturated(self, stale: Sequence[bool]) -> bool:
        """Whether the last `patience` + 1 turns were all stale."""
        last = stale[-(self.patience + 1) :]
        return len(last) > self.patience and all(last)

    def earliest(self, max_turns: int) -> int:
        """The first turn after which a run can be over, whatever the answers are."""
        if self.growth > 1 or self.efficiency > 0 or self.points > 0:
            first = 1  # nothing listed at all is stale
        elif self.growth > 0:
            first = 2  # into an empty pool everything grows
        else:
            return max_turns
        return min(first + self.patience, max_turns)


def growth(novel: int, pool: int) -> float:
    """Novel points over the pool before the turn; 1.0 when that pool is empty."""
    return novel / pool if pool else 1.0


def efficiency(novel: int, raw: int) -> float:
    """Novel points over raw points of the turn; 0.0 when it has none."""
    return novel / raw if raw else 0.0
