"""What a simulated model holds of a domain: what it knows, what it has wrong, where it errs; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.knower.world import Facts, Numbers, World, facts, stream
from src.records import STRICT

Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(ge=0, lt=1)]
Rise = Annotated[float, Field(ge=-5, le=5)]
MOST_INVALID = 2_000
"""Invalid points that an answer is expected to have at most, however its log odds rise."""


@config_dataclass(frozen=True, config=STRICT)
class Tuning:
    """What narrow fine-tuning does in a domain, added to the model's own.

    Attributes:
        knows: to the share of facts known.
        errs: to the log odds of an invalid point in turn 1.
        errs_per_turn: to their rise per turn.
    """

    knows: Annotated[float, Field(ge=-1, le=1)] = 0.0
    errs: Annotated[float, Field(ge=-10, le=10)] = 0.0
    errs_per_turn: Rise = 0.0


@config_dataclass(frozen=True, config=STRICT)
class Knower:
    """A simulated model.

    Attributes:
        seed: another one knows other facts; models of one seed know the same but for their parameters.
        knows: share of the facts of a domain that are known.
        misbelieves: share that is held in a false form.
        shared: correlation with other models of what is known, in [0, 1].
        fame: how much rather a popular fact is known: its log popularity counts this much beside a standard normal.
        uneven: standard deviation from topic to topic of how much is known, in the same unit.
        errs: share of invalid points (invented or junk) among those of turn 1, without what is misbelieved.
        errs_per_turn: rise of its log odds with every further turn, until an answer has MOST_INVALID such points.
        errs_uneven: standard deviation of its log odds from topic to topic.
        junk: share of invalid points that say nothing; the others are invented.
        points: points that an answer lists where there is no end of facts.
        obeys: chance that a point which is shown is not said again.
        leaks: share of the facts of an answer that lie beside the sub-field asked about, at most half a topic off.
        strays: standard deviation of the log weight that an expert gives a topic.
        ways: chances of the ways to word a fact, from its own words to ever other ones.
        refuses: chance that an answer is refused.
        tuned: `query` of a domain, which is what prompts say → what fine-tuning does there.
    """

    seed: Annotated[int, Field(ge=0)] = 0
    knows: Share = 0.5
    misbelieves: Share = 0.05
    shared: Share = 0.6
    fame: Annotated[float, Field(ge=-10, le=10)] = 0.7
    uneven: Annotated[float, Field(ge=0, le=10)] = 0.3
    errs: Annotated[float, Field(ge=0, le=0.9)] = 0.1
    errs_per_turn: Rise = 0.1
    errs_uneven: Annotated[float, Field(ge=0, le=5)] = 0.4
    junk: Share = 0.3
    points: Annotated[float, Field(ge=0.1, le=500)] = 12.0
    obeys: Share = 0.9
    leaks: Rate = 0.05
    strays: Annotated[float, Field(ge=0, le=4)] = 1.0
    ways: Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=4, max_length=4)] = (0.4, 0.3, 0.2, 0.1)
    refuses: Rate = 0.0
    tuned: Mapping[str, Tuning] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.knows + self.misbelieves > 1:
            raise ValueError(f"knows={self.knows} and misbelieves={self.misbelieves} are more than all facts")
        if not self.errs and (self.errs_per_turn or self.errs_uneven):
            raise ValueError("errs=0 has no log odds: set errs_per_turn and errs_uneven to 0 too, or errs above 0")
        if (invalid := round(self.points * self.errs / (1 - self.errs))) > MOST_INVALID:
            raise ValueError(
                f"points={self.points:g} and errs={self.errs:g} are {invalid:,.0f} invalid points in an answer, which "
                f"has at most {MOST_INVALID:,}"
            )
        if abs(sum(self.ways) - 1) > 1e-9:
            raise ValueError(f"ways are chances and add up to 1, not {sum(self.ways):g}")


@dataclass(frozen=True)
class Knowledge:
    """What a model holds of a domain with n facts and G topics.

    Attributes:
        knower: whose.
        facts: what there is.
        known: bool, shape (n,): held in the true form; misbelieved: the same of the false form.
        errs: log odds of an invalid point in turn 1 by topic, shape (G,); -inf where it never errs.
        rise: of these log odds with every turn.
    """

    knower: Knower
    facts: Facts
    known: npt.NDArray[np.bool_]
    misbelieved: npt.NDArray[np.bool_]
    errs: Numbers
    rise: float

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Facts that the model can state, in a true or a false form, shape (n,)."""
        return self.known | self.misbelieved


def knowledge(world: World, knower: Knower, query: str) -> Knowledge:
    """What a model holds of the domain that prompts call `query`."""
    return _knowledge(world, _Hashed(knower), query)


class _Hashed:
    """A knower as a key of the cache: `tuned` is a mapping, which has no hash."""

    def __init__(self, knower: Knower) -> None:
        self.knower, self.said = knower, repr(knower)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.said == other.said

    def __hash__(self) -> int:
        return hash(self.said)


@lru_cache(maxsize=64)
def _knowledge(world: World, hashed: _Hashed, query: str) -> Knowledge:
    knower, there = hashed.knower, facts(world, query)
    tuning = knower.tuned.get(query, Tuning())
    own = stream("knows", world, knower.seed, query)
    fame = np.log(there.popularity)
    score = (
        np.sqrt(knower.shared) * there.common
        + np.sqrt(1 - knower.shared) * own.standard_normal(len(there))
        + knower.fame * (fame - fame.mean())
        + knower.uneven * own.standard_normal(world.leaves)[there.topic]
    )
    rank = np.empty(len(there), dtype=np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(len(there))
    # What is misbelieved comes right below what is known: half-remembered facts are the ones held wrongly.
    share = min(1.0, max(0.0, knower.knows + tuning.knows))
    known = round(share * len(there))
    held = round(min(1.0, share + knower.misbelieves) * len(there))
    odds = np.log(knower.errs / (1 - knower.errs)) + tuning.errs if knower.errs else -np.inf
    effects = knower.errs_uneven * stream("errs", world, knower.seed, query).standard_normal(world.leaves)
    return Knowledge(
        knower,
        there,
        known=rank < known,
        misbelieved=(rank >= known) & (rank < held),
        errs=odds + effects,
        rise=knower.errs_per_turn + tuning.errs_per_turn,
    )
