"""Knowledge of several models merged: one domain, one strategy, the valid points of every model (arXiv 2602.00959).

The merge is free of order: distinct texts are sorted by their hashes, and the linkages used read the graph of confirmed
pairs only, so neither the order of the models nor that of their points can matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from src.cells import MeasuredCell
from src.dedup.evidence import Clusters, Evidence, cluster, from_table, restricted
from src.dedup.nodes import Nodes, distinct
from src.dedup.rethreshold import dedup_of, rethreshold, stored_evidence
from src.dedup.settings import SWEEP, Dedup
from src.records import Metrics, Tables
from src.schemas import UNION_NODES, UNION_POINTS
from src.stats.branches import Origins
from src.stats.recall import expected_recall
from src.store import read_union, union_folders

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Union:
    """The merged knowledge of all models of a domain and a strategy.

    Attributes:
        domain, strategy: what was asked about, and how.
        judge: kind of judge that decided which points of different models say the same.
        keys: model → cell_key of the cell it brought, sorted by model.
        contents: model → digest of what that cell held then.
        own: the setting under which `clusters` were made.
        points: schema UNION_POINTS: every point that is a valid representative in its own cell, under the cell's own
            setting (bit 0 of `settings`) or under one of the nine of the sweep (bits 1 to 9, in the order of SWEEP);
            `cluster` is that of the union under `own`, null where bit 0 is not set.
        nodes: schema UNION_NODES: the distinct texts.
        pairs: schema PAIRS; a and b are nodes.
        calls: schema CALLS: what the judge was asked for it.
        metrics: as computed by :func:`src.stats.recall.union_metrics`.
        chances: how likely a run of each model finds each fact, a column for each; None unless all are simulated.
    """

    domain: str
    strategy: str
    judge: str
    keys: Mapping[str, str]
    contents: Mapping[str, str]
    own: Dedup
    points: pl.DataFrame
    nodes: pl.DataFrame
    pairs: pl.DataFrame
    calls: pl.DataFrame
    metrics: Metrics
    chances: pl.DataFrame | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, sorted."""
        return tuple(self.keys)

    def counts(self, models: Sequence[str] | None = None, setting: tuple[float, float] | None = None) -> Counts:
        """Points of each model in each cluster, shape (clusters, models), int64; every row holds at least one point.

        Args:
            models: whose clusters; those that none of them touches are left out. None: all models.
            setting: (strict, fuzzy) of the sweep, applied to the cells and to the union; None: as the cells and the
                union were made.
        """
        chosen = self.models if models is None else tuple(models)
        its = self.origins(chosen, setting)
        counts = np.zeros((len(set(its.cluster.tolist())), len(chosen)), dtype=np.int64)
        np.add.at(counts, (its.cluster, its.model), 1)
        return counts

    def origins(self, models: Sequence[str], setting: tuple[float, float] | None = None) -> Origins:
        """Where the points of models came from: cluster (row of :meth:`counts`), place of the model, branch.

        A point is a cluster of its own cell; its branch is that of the representative.

        Args:
            models: whose clusters.
            setting: as of :meth:`counts`.
        """
        points = self.points if setting is None else self._under(setting)
        points = points.filter(pl.col("model").is_in(models) & pl.col("cluster").is_not_null())
        column = {model: place for place, model in enumerate(models)}
        return Origins(
            np.unique(points["cluster"].to_numpy(), return_inverse=True)[1].astype(np.int64),
            np.array([column[model] for model in points["model"]], dtype=np.int64),
            np.unique(points["branch"].to_numpy(), return_inverse=True)[1].astype(np.int64),
        )

    def recall_truth(self, models: Sequence[str]) -> dict[str, float]:
        """What recall_match of each of these models would be if no chance were in it; nothing unless simulated."""
        if self.chances is None:
            return {}
        return dict(zip(models, expected_recall(self.chances.select(models).to_numpy().T).tolist(), strict=True))

    def _under(self, setting: tuple[float, float]) -> pl.DataFrame:
        """The points under a setting of the sweep, with their clusters in `cluster`."""
        strict, fuzzy = setting
        nodes = nodes_of(self.nodes["text"])
        evidence = from_table(self.pairs, nodes, self.own)
        bit = 1 << (1 + SWEEP.index(setting))
        return linked(self.points, evidence, replace(self.own, strict=strict, fuzzy=fuzzy), bit)[0]


def union_of(config: Mapping[str, Any], tables: Tables, metrics: Metrics) -> Union:
    """A union from what its folder holds."""
    return Union(
        domain=config["domain"],
        strategy=config["strategy"],
        judge=config["judged"],
        keys=dict(sorted(config["cells"].items())),
        contents=config["contents"],
        own=Dedup(**config["dedup"]),
        points=tables["points"],
        nodes=tables["nodes"],
        pairs=tables["pairs"],
        calls=tables["calls"],
        metrics=metrics,
        chances=tables.get("chances"),
    )


def find_unions(cells: Path) -> list[Union]:
    """Every union of a collection of cells."""
    return [union_of(*read_union(folder)) for folder in union_folders(cells)]


def gather_points(cells: Sequence[MeasuredCell]) -> tuple[pl.DataFrame, Nodes]:
    """The valid points of all cells, and their distinct texts.

    Args:
        cells: one per model.

    Returns:
        A table of schema UNION_POINTS without `cluster`, sorted by model and atom; the nodes that it refers to.
    """
    parts = [_valid_points(cell) for cell in cells]
    texts = sorted({text for part in parts for text in part["text"]})
    by_hash = distinct(range(len(texts)), texts)
    order = sorted(range(len(by_hash)), key=lambda node: by_hash.hashes[node])
    nodes = nodes_of([by_hash.texts[node] for node in order])
    place = {node: number for number, node in enumerate(order)}
    number_of = {text: place[by_hash.node_of[i]] for i, text in enumerate(texts)}
    points = pl.concat(parts).sort("model", "atom_id") if parts else pl.DataFrame()
    numbers = pl.Series("node", [number_of[text] for text in points["text"]], dtype=pl.Int64)
    return points.with_columns(numbers).drop("text"), nodes


def linked(
    points: pl.DataFrame, evidence: Evidence, setting: Dedup, bit: int
) -> tuple[pl.DataFrame, Clusters, tuple[int, ...]]:
    """Cluster the points that are representatives under a setting.

    Args:
        points: as of :func:`gather_points`.
        evidence: about all their nodes.
        setting: of the union.
        bit: of `settings`: which points take part.

    Returns:
        The points with `cluster`, numbered in the order of nodes, null for those that take no part; the clusters; the
        nodes that take part, which the clusters number anew.
    """
    takes_part = (points["settings"].to_numpy() & bit) > 0
    keep = tuple(sorted(set(points["node"].to_numpy()[takes_part].tolist())))
    clusters = cluster(restricted(evidence, keep), setting)
    number: dict[int, int] = {}
    of_node = {
        node: number.setdefault(centre, len(number)) for node, centre in zip(keep, clusters.representative, strict=True)
    }
    ids = [of_node[node] if part else None for node, part in zip(points["node"], takes_part.tolist(), strict=True)]
    return points.with_columns(pl.Series("cluster", ids, dtype=pl.Int64)).select(UNION_POINTS.names()), clusters, keep


def union_tables(
    points: pl.DataFrame, evidence: Evidence, clusters: Clusters, keep: Sequence[int], models: Sequence[str]
) -> Tables:
    """What a union stores: points, nodes, pairs, and per cluster its text and how many points each model has in it."""
    nodes = evidence.nodes
    centres = {number: keep[centre] for number, centre in enumerate(dict.fromkeys(clusters.representative))}
    counted = points.drop_nulls("cluster").group_by("cluster", "model").len()
    table = pl.DataFrame(
        {"cluster": list(centres), "text": [nodes.texts[node] for node in centres.values()]},
        schema={"cluster": pl.Int64, "text": pl.String},
    )
    for model in models:
        column = counted.filter(pl.col("model") == model).select("cluster", pl.col("len").cast(pl.Int64))
        table = table.join(column, on="cluster", how="left").rename({"len": f"points_{model}"})
    table = table.with_columns(pl.col(f"points_{model}").fill_null(0) for model in models).sort("cluster")
    return {
        "points": points,
        "nodes": pl.DataFrame({"node": range(len(nodes)), "text": nodes.texts}, schema=UNION_NODES),
        "pairs": evidence.table(),
        "clusters": table,
    }


def nodes_of(texts: Sequence[str] | pl.Series) -> Nodes:
    """Distinct texts in order of their hashes as nodes."""
    return distinct(range(len(texts)), texts)


def _valid_points(cell: MeasuredCell) -> pl.DataFrame:
    """Atoms that stand for a valid cluster under the cell's own setting or one of the nine, with bits for which."""
    own = dedup_of(cell.config)
    evidence = stored_evidence(cell.extracted, cell.processed, own)
    audited = cell.processed["atoms"]
    bits: dict[int, int] = {}
    for place, setting in enumerate((own, *(replace(own, strict=strict, fuzzy=fuzzy) for strict, fuzzy in SWEEP))):
        judged = audited if setting == own else rethreshold(evidence, audited, setting)
        for atom in judged.filter(pl.col("unique") & pl.col("valid").fill_null(False))["atom_id"]:
            bits[atom] = bits.get(atom, 0) | 1 << place
    atoms = cell.extracted["atoms"].filter(pl.col("atom_id").is_in(list(bits)))
    return atoms.select(
        pl.lit(cell.model).alias("model"),
        "atom_id",
        "text",
        "turn",
        "branch",
        pl.Series("settings", [bits[atom] for atom in atoms["atom_id"]], dtype=pl.Int64),
    )
