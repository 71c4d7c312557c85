"""Four ways to make clusters of pairs that were merged automatically or confirmed by a judge. Pure and call-free.

`greedy` follows the order of arrival: the first kept wins (arXiv 2602.00959). The other three read only the graph of
confirmed pairs and break ties by text hash, so the order of the input cannot matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from src.dedup.pairs import Pairs
from src.dedup.settings import Dedup

Flags = npt.NDArray[np.bool_]
Confirm = Callable[[int], bool]
"""Whether the judge confirmed the pair with this number; raises if it was never asked."""


@dataclass(frozen=True)
class Graph:
    """Pairs under one setting.

    Attributes:
        size: number of nodes.
        pairs: pairs of nodes in canonical order; node numbers are the order of arrival.
        automatic: bool, shape (m,): merged without asking.
        candidate: bool, shape (m,): a question to the judge.
    """

    size: int
    pairs: Pairs
    automatic: Flags
    candidate: Flags

    @classmethod
    def of(cls, size: int, pairs: Pairs, guarded: Flags, setting: Dedup) -> Graph:
        """Apply thresholds and guards; `guarded` says for which pairs a guard objects."""
        automatic = pairs.cosine > setting.strict
        if setting.guards:
            automatic &= ~guarded
        return cls(size, pairs, automatic, (pairs.cosine >= setting.fuzzy) & ~automatic)

    def by_arrival(self, which: Flags) -> list[tuple[int, int, int]]:
        """(earlier node, later node, pair) of the chosen pairs: by later node, most similar first, then earliest."""
        chosen = np.flatnonzero(which)
        a, b, cosine = (column[chosen] for column in self.pairs)
        order = np.lexsort((a, -cosine, b))
        return list(zip(a[order].tolist(), b[order].tolist(), chosen[order].tolist(), strict=True))


def merge_strict(graph: Graph) -> dict[int, int]:
    """First stage of greedy: every node joins the most similar earlier survivor that it is merged with unasked."""
    parents: dict[int, int] = {}
    for earlier, later, _ in graph.by_arrival(graph.automatic):
        if earlier not in parents and later not in parents:
            parents[later] = earlier
    return parents


def open_questions(graph: Graph, merged: dict[int, int]) -> dict[int, list[tuple[int, int]]]:
    """Second stage of greedy: per survivor its candidates (earlier survivor of the first stage, pair) in walk order."""
    questions: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for earlier, later, pair in graph.by_arrival(graph.candidate):
        if earlier not in merged and later not in merged:
            questions[later].append((earlier, pair))
    return dict(questions)


def greedy(graph: Graph, confirm: Confirm, *, nearest_only: bool) -> list[int]:
    """Representative of every node, first kept wins.

    A survivor of the strict stage walks through the survivors before it, most similar first, and joins the first one
    the judge confirms; with `nearest_only` it asks about the nearest survivor and no other.
    """
    parents = merge_strict(graph)
    for later, candidates in open_questions(graph, parents).items():
        for earlier, pair in candidates:
            if earlier in parents:
                continue
            if confirm(pair):
                parents[later] = earlier
                break
            if nearest_only:
                break
    representative: list[int] = []
    for node in range(graph.size):
        representative.append(representative[parents[node]] if node in parents else node)
    return representative


Neighbours = Sequence[dict[int, float]]
"""Per node the nodes it is confirmed with and the cosines."""


def confirmed(graph: Graph, confirm: Confirm) -> list[dict[int, float]]:
    """The graph that the order-free linkages read: automatic merges and confirmed candidates."""
    neighbours: list[dict[int, float]] = [{} for _ in range(graph.size)]
    columns = (graph.pairs.a, graph.pairs.b, graph.pairs.cosine, graph.automatic, graph.candidate)
    for pair, (a, b, cosine, automatic, candidate) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if automatic or (candidate and confirm(pair)):
            neighbours[a][b] = neighbours[b][a] = cosine
    return neighbours


def _by_rank(neighbours: Neighbours, hashes: Sequence[str]) -> list[int]:
    """Nodes by degree, highest first, then text hash: who comes first represents."""
    return sorted(range(len(neighbours)), key=lambda node: (-len(neighbours[node]), hashes[node]))


def representative(neighbours: Neighbours, hashes: Sequence[str]) -> list[int]:
    """Centres by degree, then text hash; every other node joins the nearest centre it was confirmed against."""
    centres: set[int] = set()
    for node in _by_rank(neighbours, hashes):
        if centres.isdisjoint(neighbours[node]):
            centres.add(node)
    return [
        node
        if node in centres
        else min((other for other in near if other in centres), key=lambda centre: (-near[centre], hashes[centre]))
        for node, near in enumerate(neighbours)
    ]


def components(neighbours: Neighbours, hashes: Sequence[str]) -> list[int]:
    """Connected components; the representative has the highest degree, then the first text hash."""
    chosen: dict[int, int] = {}
    for node in _by_rank(neighbours, hashes):
        if node in chosen:
            continue
        chosen[node] = node
        stack = [node]
        while stack:
            for other in neighbours[stack.pop()]:
                if other not in chosen:
                    chosen[other] = node
                    stack.append(other)
    return [chosen[node] for node in range(len(neighbours))]


def complete(neighbours: Neighbours, hashes: Sequence[str]) -> list[int]:
    """Clusters in which every pair is confirmed; representatives as in :func:`components`.

    Pairs are taken most similar first, then by text hashes; two clusters become one if that confirms every pair.
    """
    edges = [(a, b, cosine) for a, near in enumerate(neighbours) for b, cosine in near.items() if a < b]
    edges.sort(key=lambda edge: (-edge[2], sorted((hashes[edge[0]], hashes[edge[1]]))))
    members = [{node} for node in range(len(neighbours))]
    shared = [set(near) for near in neighbours]  # nodes confirmed with every member of the cluster
    for a, b, _ in edges:
        one, other = members[a], members[b]
        if one is other or not other <= shared[a]:
            continue
        one |= other
        common = shared[a] & shared[b]
        for node in one:
            members[node], shared[node] = one, common
    chosen: dict[int, int] = {}
    for node in _by_rank(neighbours, hashes):
        if node not in chosen:
            chosen.update(dict.fromkeys(members[node], node))
    return [chosen[node] for node in range(len(neighbours))]


ORDER_FREE = {"representative": representative, "components": components, "complete": complete}
