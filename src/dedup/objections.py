"""What the guards object to, pair by pair; every text is taken apart once, however many pairs it is in."""

from __future__ import annotations

from src.dedup.nodes import Nodes
from src.dedup.pairs import Pairs
from src.text.guards import Facets, compare, facets


def objections(nodes: Nodes, pairs: Pairs, strict: float) -> tuple[str | None, ...]:
    """Per pair the guard that objects to merging it unasked, "" if none does; None at a cosine of at most `strict`."""
    taken: dict[int, Facets] = {}

    def apart(node: int) -> Facets:
        if node not in taken:
            taken[node] = facets(nodes.texts[node])
        return taken[node]

    return tuple(
        compare(apart(a), apart(b)) if cosine > strict else None
        for a, b, cosine in zip(*(column.tolist() for column in pairs), strict=True)
    )
