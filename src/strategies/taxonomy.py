"""A tree of sub-fields, built once, whose leaves are mined in parallel every turn (arXiv 2602.00959)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from itertools import count
from math import prod
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.costs import Calls
from src.errors import ConfigError
from src.interfaces import Ask
from src.records import Answer, Domain, Point, Request, Turn
from src.strategies.naming import Names, Wanted, ask_names, shortfall
from src.text.lists import parse_names
from src.text.reasoning import strip_reasoning

Path = tuple[str, ...]
"""Names from below the domain down to a node; () is the domain itself."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Taxonomy:
    """Splits the domain into `widths[0]` sub-categories, each into `widths[1]`, and so on, and mines the leaves."""

    name: str
    widths: tuple[Annotated[int, Field(ge=1)], ...] = Field(min_length=1)

    def __post_init__(self) -> None:
        said = re.fullmatch(r"taxonomy_l(\d+)w(\d+)", self.name)
        if said and self.widths != tuple(int(width) for width in said.groups()):
            other = "x".join(str(width) for width in self.widths)
            raise ConfigError(
                f"strategy.widths={list(self.widths)} is not {self.name}, which studies compare with: "
                f"give it a name too, as strategy.name=taxonomy_{other}"
            )

    async def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield an answer per leaf each turn (for two widths: 1 + W1 + W1·W2 calls in turn 1, then W1·W2)."""
        leaves, missing = await self._grow(domain, ask)
        pool: Sequence[Point] = ()
        for turn in count(1):
            answers = await ask([_mine(domain, leaf, branch, pool, turn) for branch, leaf in leaves.items()])
            pool = yield Turn(answers, missing)
            missing = 0

    def calls(self, turn: int) -> Calls:
        """What turn `turn` asks for: at least the one node that is left when no child is named."""
        nodes = [prod(self.widths[:depth]) for depth in range(len(self.widths))]
        leaves = prod(self.widths)
        mined = Calls(
            least=1,
            asked=leaves,
            most=leaves,
            answers=leaves,
            shown=leaves * (turn - 1),
            names=leaves * 2 * len(self.widths),
        )
        if turn > 1:
            return mined
        return Calls(
            least=min(3, leaves + sum(nodes)),  # a lone child that is named needs no second ask
            asked=leaves + sum(nodes),
            most=leaves + 2 * sum(nodes),
            answers=leaves,
            names=mined.names + 2 * sum(nodes) * (2 * len(self.widths) + max(self.widths)),
        )

    async def _grow(self, domain: Domain, ask: Ask) -> tuple[dict[str, Path], int]:
        """Build the tree level by level; returns the leaves by branch and the children asked for in vain.

        A node without any child is mined as a leaf itself, so that nothing the model offered is lost.
        """
        level: dict[str, Path] = {"": ()}
        missing = 0
        for depth, width in enumerate(self.widths):
            grown = [path for path in level.values() if len(path) == depth]  # a shorter one had no children
            wanted = [_wanted(domain, path, width) for path in grown]
            found = await ask_names(wanted, ask, _names, first="taxonomy.children", missing="taxonomy.missing")
            children = dict(zip(grown, found, strict=True))
            missing += shortfall(wanted, found)
            below: dict[str, Path] = {}
            for branch, path in level.items():  # in tree order, which is the order of branches everywhere
                names = children.get(path, ())
                for i, name in enumerate(names, start=1):
                    below[f"{branch} > {i} {name}".removeprefix(" > ")] = (*path, name)
                if not names:
                    below[branch] = path
            level = below
        return level, missing


def _mine(domain: Domain, leaf: Path, branch: str, pool: Sequence[Point], turn: int) -> Request:
    own = tuple(point.text for point in pool if point.branch == branch)
    values = {"query": domain.query, "path": leaf, "turn": turn}
    if not own:
        return Request("taxonomy.mine", values, branch)
    return Request("taxonomy.mine_more", {**values, "points": own}, branch)


def _wanted(domain: Domain, path: Path, width: int) -> Wanted:
    """Children of a node; its own name or that of what it belongs to is none."""
    return Wanted({"query": domain.query, "path": path}, width, not_these=(domain.query, *path))


def _names(answer: Answer) -> Names:
    text = strip_reasoning(answer.completion.text)
    return parse_names(text, truncated=answer.completion.state == "truncated")
