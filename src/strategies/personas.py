"""Experts of different kinds, named once, who add to the pool in parallel every turn (arXiv 2602.00959)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from itertools import count
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.costs import Calls
from src.errors import ConfigError
from src.interfaces import Ask
from src.records import Answer, Domain, Point, Request, Turn
from src.strategies.naming import Names, Wanted, ask_names, shortfall
from src.text.lists import parse_sentences
from src.text.reasoning import strip_reasoning

POINTS = 5
"""New points that an expert is asked for in a turn."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Personas:
    """Has the model name `experts` types of expert, then speaks as each of them.

    Attributes:
        name: of the strategy.
        experts: how many.
        shown_points: how many points of the pool an expert is shown, the first ones (30 in the authors' code), or all.
    """

    name: str
    experts: Annotated[int, Field(ge=1)]
    shown_points: Literal["all"] | Annotated[int, Field(ge=1)] = 30

    def __post_init__(self) -> None:
        said = re.fullmatch(r"personas_n(\d+)", self.name)
        if said and self.experts != int(said[1]):
            raise ConfigError(
                f"strategy.experts={self.experts} is not {self.name}, which studies compare with: "
                f"give it a name too, as strategy.name=personas_n{self.experts}"
            )

    async def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield an answer per expert each turn (1 + N calls in turn 1, then N).

        Who cannot name any expert answers as one of no particular kind, so that what it knows is not lost.
        """
        wanted = [Wanted({"query": domain.query}, self.experts)]
        (named,) = await ask_names(wanted, ask, _experts, first="personas.experts", missing="personas.missing")
        experts = named or (f"An expert in {domain.query}.",)
        short = shortfall(wanted, [named])
        pool: Sequence[Point] = ()
        for turn in count(1):
            shown = tuple(point.text for point in (pool if self.shown_points == "all" else pool[: self.shown_points]))
            values = {"query": domain.query, "count": POINTS, "points": shown, "turn": turn}
            answers = await ask(
                [
                    Request("personas.add", {**values, "expert": expert}, f"{number} {expert[:60].rstrip()}")
                    for number, expert in enumerate(experts, start=1)
                ]
            )
            pool = yield Turn(answers, short)
            short = 0

    def calls(self, turn: int) -> Calls:
        """What turn `turn` asks for; the sentences about the experts stand in two answers."""
        earlier = self.experts * (turn - 1)
        one = earlier if self.shown_points == "all" else min(earlier, self.shown_points)
        naming = Calls(2, 1, 2, answers=0, shown=1) if turn == 1 else Calls(0, 0, 0, answers=0)
        return Calls(
            least=1 + min(naming.least, self.experts),  # one expert who is named needs no second ask
            asked=naming.asked + self.experts,
            most=naming.most + self.experts,
            answers=self.experts,
            shown=naming.shown + 2 + self.experts * one,
        )


def _experts(answer: Answer) -> Names:
    text = strip_reasoning(answer.completion.text)
    return parse_sentences(text, truncated=answer.completion.state == "truncated")
