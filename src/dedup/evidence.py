"""Everything that clusters are made of, kept so that thresholds can be changed without a call.

Cosines are stored as full float64 numbers: rounding them would move pairs across a threshold, and a setting applied
to the stored table would then disagree with the run that wrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from src.dedup.link import ORDER_FREE, Graph, confirmed, greedy
from src.dedup.nodes import Nodes, distinct
from src.dedup.pairs import Pairs, Vectors, exact_cosines, unit_rows
from src.dedup.settings import Dedup, computed
from src.errors import ConfigError
from src.schemas import PAIRS

UNPARSED = "unparsed"


@dataclass(frozen=True)
class Evidence:
    """Pairs of distinct texts with what guards and judge said about them.

    Attributes:
        own: the run's own setting; it and the nine of the sweep are computed.
        nodes: the distinct texts, n of them.
        pairs: every pair of nodes with a cosine of at least the smallest `fuzzy` computed, m of them.
        guards: per pair the guard that objects, "" if none does, None if no computed setting needs to know.
        verdicts: per pair YES, NO or `unparsed`, None if the judge was not asked.
    """

    own: Dedup
    nodes: Nodes
    pairs: Pairs
    guards: tuple[str | None, ...]
    verdicts: tuple[str | None, ...]

    def graph(self, setting: Dedup) -> Graph:
        """The pairs under a setting.

        Raises:
            ConfigError: the setting asks for pairs or guards that were not computed.
        """
        known = np.array([guard is not None for guard in self.guards], dtype=bool)
        unknown = setting.guards & (self.pairs.cosine > setting.strict) & ~known
        if setting.fuzzy < min(each.fuzzy for each in computed(self.own)) or unknown.any():
            raise self.not_computed(setting)
        guarded = np.array([bool(guard) for guard in self.guards], dtype=bool)
        return Graph.of(len(self.nodes), self.pairs, guarded, setting)

    def not_computed(self, setting: Dedup) -> ConfigError:
        """The error to raise for a setting that lacks evidence."""
        return ConfigError(
            f"dedup {setting} was not computed: known are {self.own} and, with its guards, candidates and linkage, "
            "strict 0.90, 0.92, 0.94 with fuzzy 0.65, 0.70, 0.75; run the cell with the dedup.* values you want, "
            "its extraction is replayed"
        )

    def table(self) -> pl.DataFrame:
        """The pairs as a table of schema PAIRS: atom ids of first occurrences, stage under the run's own setting."""
        graph = self.graph(self.own)
        above = self.pairs.cosine > self.own.strict
        stage = np.select(
            [graph.automatic, graph.candidate & above, graph.candidate],
            ["strict", "guarded", "ambiguous"],
            default="below",
        )
        first = np.array(self.nodes.first, dtype=np.int64)
        return pl.DataFrame(
            {
                "a": first[self.pairs.a],
                "b": first[self.pairs.b],
                "cosine": self.pairs.cosine,
                "stage": stage.tolist(),
                "guard": self.guards,
                "verdict": self.verdicts,
            },
            schema=PAIRS,
        )


def restricted(evidence: Evidence, keep: Sequence[int]) -> Evidence:
    """The evidence about some of the nodes, which are numbered anew in the order of `keep`."""
    number = np.full(len(evidence.nodes), -1, dtype=np.int64)
    number[np.asarray(keep, dtype=np.int64)] = np.arange(len(keep))
    a, b = number[evidence.pairs.a], number[evidence.pairs.b]
    inside = np.flatnonzero((a >= 0) & (b >= 0))
    low, high = np.minimum(a[inside], b[inside]), np.maximum(a[inside], b[inside])
    order = np.lexsort((high, low))
    rows = inside[order].tolist()
    nodes = distinct((evidence.nodes.first[node] for node in keep), (evidence.nodes.texts[node] for node in keep))
    return Evidence(
        evidence.own,
        nodes,
        Pairs(low[order], high[order], evidence.pairs.cosine[inside][order]),
        tuple(evidence.guards[row] for row in rows),
        tuple(evidence.verdicts[row] for row in rows),
    )


def from_table(pairs: pl.DataFrame, nodes: Nodes, own: Dedup) -> Evidence:
    """Rebuild the evidence of a cell from its stored `pairs`, its distinct texts and its own setting."""
    number = {atom_id: node for node, atom_id in enumerate(nodes.first)}
    a = np.array([number[atom_id] for atom_id in pairs["a"]], dtype=np.int64)
    b = np.array([number[atom_id] for atom_id in pairs["b"]], dtype=np.int64)
    order = np.lexsort((b, a))
    guards, verdicts = pairs["guard"].to_list(), pairs["verdict"].to_list()
    return Evidence(
        own,
        nodes,
        Pairs(a[order], b[order], pairs["cosine"].to_numpy()[order]),
        tuple(guards[i] for i in order),
        tuple(verdicts[i] for i in order),
    )


@dataclass(frozen=True)
class Clusters:
    """Clusters of distinct texts under one setting.

    Attributes:
        setting: the setting.
        nodes: the distinct texts.
        representative: per node the node that stands for its cluster.
        judged: pairs whose verdict this clustering used,
        unparsed: those of them without a readable verdict; they count as NO.
        chained: pairs inside a cluster whose cosine is below `fuzzy`.
    """

    setting: Dedup
    nodes: Nodes
    representative: tuple[int, ...]
    judged: int
    unparsed: int
    chained: int

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(set(self.representative))

    @property
    def largest(self) -> int:
        """Distinct texts in the largest cluster, 0 if there is none."""
        return max(Counter(self.representative).values(), default=0)

    @property
    def chain_alarm(self) -> bool:
        """Whether connected components hold texts together that are not alike."""
        return self.setting.linkage == "components" and self.chained > 0

    def smallest_cosine(self, vectors: Vectors) -> float | None:
        """The smallest cosine inside any cluster, None if each has one text; `vectors` has one row per node."""
        unit = unit_rows(vectors, rows=len(self.nodes))
        members: dict[int, list[int]] = {}
        for node, centre in enumerate(self.representative):
            members.setdefault(centre, []).append(node)
        a, b = [], []  # per node the one before it in its cluster that is least like it
        for nodes in members.values():
            rows = unit[nodes]
            for place in range(1, len(nodes)):
                a.append(nodes[int((rows[:place] @ rows[place]).argmin())])
                b.append(nodes[place])
        cosines = exact_cosines(unit, np.array(a, dtype=np.int64), np.array(b, dtype=np.int64))
        return float(cosines.min()) if a else None

    def table(self) -> pl.DataFrame:
        """Every atom with `cluster_id` (by first arrival), `representative` (an atom id) and `unique` (it is one)."""
        numbers: dict[int, int] = {}
        rows = []
        for atom_id, node in zip(self.nodes.atom_ids, self.nodes.node_of, strict=True):
            centre = self.representative[node]
            head = self.nodes.first[centre]
            rows.append((atom_id, numbers.setdefault(centre, len(numbers)), head, atom_id == head))
        schema = {"atom_id": pl.Int64, "cluster_id": pl.Int64, "representative": pl.Int64, "unique": pl.Boolean}
        return pl.DataFrame(rows, schema=schema, orient="row")


def cluster(evidence: Evidence, setting: Dedup) -> Clusters:
    """Cluster under a setting; pure, no call.

    Raises:
        ConfigError: the setting was not computed, and a cosine, guard or verdict that it needs is missing.
    """
    used: dict[int, str] = {}

    def confirm(pair: int) -> bool:
        verdict = evidence.verdicts[pair]
        if verdict is None:
            raise evidence.not_computed(setting)
        used[pair] = verdict
        return verdict == "YES"

    graph = evidence.graph(setting)
    if setting.linkage == "greedy":
        centres = greedy(graph, confirm, nearest_only=setting.candidates == 1)
    else:
        centres = ORDER_FREE[setting.linkage](confirmed(graph, confirm), evidence.nodes.hashes)
    sizes = np.array(list(Counter(centres).values()), dtype=np.int64)
    centre = np.array(centres, dtype=np.int64)
    alike = (centre[graph.pairs.a] == centre[graph.pairs.b]) & (graph.pairs.cosine >= setting.fuzzy)
    return Clusters(
        setting,
        evidence.nodes,
        tuple(centres),
        judged=len(used),
        unparsed=sum(verdict == UNPARSED for verdict in used.values()),
        chained=int((sizes * (sizes - 1) // 2).sum() - alike.sum()),
    )
