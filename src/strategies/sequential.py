"""One prompt a turn: list everything, then what else, with the whole history shown (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from itertools import count

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.costs import Calls
from src.interfaces import Ask
from src.records import Domain, Point, Request, Turn
from src.text.reasoning import strip_reasoning


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Sequential:
    """Asks one question after the other; the flat history of its answers is the only memory."""

    name: str

    async def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield one answer a turn (1 call in every turn)."""
        answers = await ask([Request("sequential.first", {"query": domain.query, "turn": 1})])
        history = []
        for turn in count(2):
            yield Turn(answers)
            history.append(strip_reasoning(answers[0].completion.text))
            values = {"query": domain.query, "history": tuple(history), "turn": turn}
            answers = await ask([Request("sequential.more", values)])

    def calls(self, turn: int) -> Calls:
        """What turn `turn` asks for: all earlier answers are shown."""
        return Calls(1, 1, 1, answers=1, shown=turn - 1)
