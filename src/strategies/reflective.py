"""One prompt a turn that shows all kept points: criticise them, then add what is missing (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from itertools import count

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.costs import Calls
from src.interfaces import Ask
from src.records import Domain, Point, Request, Turn


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Reflective:
    """Starts as :class:`src.strategies.sequential.Sequential` does, with the same request, then reviews the pool."""

    name: str

    async def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield one answer a turn (1 call in every turn); from turn 2 on a criticism stands before its points."""
        pool = yield Turn(await ask([Request("sequential.first", {"query": domain.query, "turn": 1})]))
        for turn in count(2):
            values = {"query": domain.query, "points": tuple(point.text for point in pool), "turn": turn}
            pool = yield Turn(await ask([Request("reflective.more", values, form="critique")]))

    def calls(self, turn: int) -> Calls:
        """What turn `turn` asks for: the points of all earlier answers are shown."""
        return Calls(1, 1, 1, answers=1, shown=turn - 1)
