"""What there is to know: invented facts about a domain, the same for every simulated model; pure.

A domain is a line from 0 to 1, cut into topics of equal length, which hold unequally many facts. Any tree of sub-fields
divides the line further, so that a taxonomy of whatever shape has its facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import prod
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.records import STRICT

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

INVENTIONS = 4_096
"""Different statements about things that do not exist."""
JUNK = 240
"""Different sentences that say nothing."""
MOST_TOPICS = 4_096
"""Topics that a domain can have."""


@config_dataclass(frozen=True, config=STRICT)
class World:
    """The universe of facts.

    Attributes:
        facts: of each domain.
        topics: widths of the tree of topics.
        crowding: Dirichlet concentration of facts over topics; large is even.
        zipf: exponent of the popularity of the facts of a topic over their rank.
        siblings: share of facts that a neighbour resembles in all but a number.
        seed: another one is another universe.
    """

    facts: Annotated[int, Field(ge=1, le=16_384)] = 2_000
    topics: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (5, 5)
    crowding: Annotated[float, Field(ge=0.01, le=1_000_000)] = 8.0
    zipf: Annotated[float, Field(ge=0, le=4)] = 1.0
    siblings: Annotated[float, Field(ge=0, le=1)] = 0.1
    seed: Annotated[int, Field(ge=0)] = 0

    def __post_init__(self) -> None:
        if self.leaves > MOST_TOPICS:
            raise ValueError(
                f"topics={list(self.topics)} are {self.leaves:,} topics; a domain has at most {MOST_TOPICS:,}"
            )

    @property
    def leaves(self) -> int:
        """Number of topics."""
        return prod(self.topics)


@dataclass(frozen=True)
class Facts:
    """The facts of a domain, n of them; arrays of shape (n,).

    Attributes:
        topic: number of the topic; place: on the line of the domain, in [0, 1).
        popularity: weight with which a fact comes to mind, the mean of a domain is 1.
        kind: 0 factual, 1 conceptual, 2 procedural.
        common: standard normal; what all models' knowledge of a fact has in common.
        sibling: whether the fact is the second of two that differ in a number only; the first stands before it.
    """

    topic: Ints
    place: Numbers
    popularity: Numbers
    kind: Ints
    common: Numbers
    sibling: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.topic)


def stream(*parts: object) -> np.random.Generator:
    """A generator of its own for everything that is told apart by `parts`."""
    return np.random.default_rng(hashed(*parts))


def hashed(*parts: object) -> int:
    """A number of 128 bits of its own for everything that is told apart by `parts`."""
    return int.from_bytes(sha256(repr(parts).encode("utf-8", "replace")).digest()[:16])


@lru_cache(maxsize=64)
def facts(world: World, query: str) -> Facts:
    """The facts of a domain, which is known by how prompts say it."""
    rng = stream("facts", world, query)
    n = world.facts
    sizes = rng.multinomial(n, rng.dirichlet([world.crowding] * world.leaves))
    topic = np.repeat(np.arange(world.leaves), sizes)
    ranks = np.concatenate([rng.permutation(size) + 1.0 for size in sizes])
    popularity = ranks**-world.zipf
    sibling = rng.random(n) < world.siblings
    sibling[0] = False
    sibling[1:] &= topic[1:] == topic[:-1]
    for i in np.flatnonzero(sibling):  # a sibling has one neighbour, not a chain of them
        sibling[i] = not sibling[i - 1]
    place = (topic + rng.random(n)) / world.leaves
    kind = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    kind[sibling] = kind[np.flatnonzero(sibling) - 1]
    return Facts(
        topic=topic,
        place=place,
        popularity=popularity / popularity.mean(),
        kind=kind,
        common=rng.standard_normal(n),
        sibling=sibling,
    )
