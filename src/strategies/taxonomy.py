"""A tree of sub-fields, built once, whose leaves are mined in parallel every turn (arXiv 2602.00959)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.errors import ConfigError
from src.interfaces import Ask
from src.records import Answer, Domain, Point, Request, Turn
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
        leaves, shortfall = await self._grow(domain, ask)
        pool: Sequence[Point] = ()
        while True:
            answers = await ask([_mine(domain, leaf, branch, pool) for branch, leaf in leaves.items()])
            pool = yield Turn(answers, shortfall)
            shortfall = 0

    async def _grow(self, domain: Domain, ask: Ask) -> tuple[dict[str, Path], int]:
        """Build the tree level by level; returns the leaves by branch and the children asked for in vain.

        A node without any child is mined as a leaf itself, so that nothing the model offered is lost.
        """
        level: dict[str, Path] = {"": ()}
        shortfall = 0
        for depth, width in enumerate(self.widths):
            grown = [path for path in level.values() if len(path) == depth]  # a shorter one had no children
            children = dict(zip(grown, await _children(domain, grown, width, ask), strict=True))
            shortfall += sum(width - len(names) for names in children.values())
            below: dict[str, Path] = {}
            for branch, path in level.items():  # in tree order, which is the order of branches everywhere
                names = children.get(path, ())
                for i, name in enumerate(names, start=1):
                    below[f"{branch} > {i} {name}".removeprefix(" > ")] = (*path, name)
                if not names:
                    below[branch] = path
            level = below
        return level, shortfall


def _mine(domain: Domain, leaf: Path, branch: str, pool: Sequence[Point]) -> Request:
    own = tuple(point.text for point in pool if point.branch == branch)
    values = {"query": domain.query, "path": leaf}
    if not own:
        return Request("taxonomy.mine", values, branch)
    return Request("taxonomy.mine_more", {**values, "points": own}, branch)


async def _children(domain: Domain, paths: Sequence[Path], width: int, ask: Ask) -> list[tuple[str, ...]]:
    """Ask for the children of every node, and once more where some are missing; at most `width` each."""
    first = await ask(
        [Request("taxonomy.children", {"query": domain.query, "path": path, "count": width}) for path in paths]
    )
    names = [_names(answer, domain, path)[:width] for answer, path in zip(first, paths, strict=True)]
    short = [i for i, found in enumerate(names) if len(found) < width]
    again = await ask(
        [
            Request(
                "taxonomy.missing",
                {"query": domain.query, "path": paths[i], "count": width - len(names[i]), "have": names[i]},
            )
            for i in short
        ]
    )
    for i, answer in zip(short, again, strict=True):
        known = {name.casefold() for name in names[i]}
        new = tuple(name for name in _names(answer, domain, paths[i]) if name.casefold() not in known)
        names[i] = (names[i] + new)[:width]
    return names


def _names(answer: Answer, domain: Domain, path: Path) -> tuple[str, ...]:
    """Names in answer order; a node's own name or that of what it belongs to is not a child."""
    above = {name.casefold() for name in (domain.query, *path)}
    text = strip_reasoning(answer.completion.text)
    names = parse_names(text, truncated=answer.completion.state == "truncated")
    return tuple(name for name in names if name.casefold() not in above)
