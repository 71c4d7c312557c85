"""The four linkages side by side on texts whose true clusters are known, and what the order of arrival does to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import get_args, get_type_hints

import numpy as np
import numpy.typing as npt
import polars as pl

from src.dedup.evidence import Clusters, Evidence, cluster, restricted
from src.dedup.nodes import distinct
from src.dedup.objections import objections
from src.dedup.pairs import similar_pairs, unit_rows
from src.dedup.settings import Dedup
from src.stats.clustering import Scores, adjusted_rand, b_cubed, pairwise

LINKAGES: tuple[str, ...] = get_args(get_type_hints(Dedup)["linkage"])
PERMUTATIONS = 50
COMPARED = pl.Schema(
    {
        "linkage": pl.String,
        "points": pl.Int64,
        "texts": pl.Int64,
        "true_clusters": pl.Int64,
        "clusters": pl.Int64,
        "pairwise_precision": pl.Float64,
        "pairwise_recall": pl.Float64,
        "pairwise_f1": pl.Float64,
        "pairwise_reason": pl.String,
        "b3_precision": pl.Float64,
        "b3_recall": pl.Float64,
        "b3_f1": pl.Float64,
        "b3_reason": pl.String,
        "largest_cluster": pl.Int64,
        "smallest_cosine": pl.Float64,
        "smallest_cosine_reason": pl.String,
        "chained": pl.Int64,
        "chain_alarm": pl.Boolean,
        "judged": pl.Int64,
        "permutations": pl.Int64,
        "stability_min": pl.Float64,
        "stability_mean": pl.Float64,
        "stability_reason": pl.String,
        "clusters_min": pl.Int64,
        "clusters_max": pl.Int64,
    }
)
"""Columns of the comparison. `chained`: pairs inside a cluster that are less alike than `fuzzy`; `stability`: adjusted
Rand index between the clusters of the order given and those of a random order of arrival, least and mean."""


def compare_linkages(
    texts: Sequence[str],
    truth: npt.ArrayLike,
    vectors: npt.ArrayLike,
    confirms: Callable[[str, str], bool],
    setting: Dedup,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> pl.DataFrame:
    """Cluster the same points by every linkage and compare with the truth.

    Args:
        texts: of the points in order of arrival, n of them; equal texts are one node, as in a run.
        truth: true cluster of every point, shape (n,), any labels.
        vectors: shape (n, d), one row per point.
        confirms: whether the judge says that two texts, given in the order of their hashes, are the same. Asked once
            about every candidate pair under `setting`, none of which is left out, since order-free linkages need all.
        setting: thresholds, guards and candidates; its linkage is not looked at.
        seed: of the permutations.
        permutations: how many random orders of arrival.

    Returns:
        One row per linkage, schema COMPARED. The unit is the point; how the numbers vary from one set of texts to
        another is not in it.

    Raises:
        ValueError: texts and truth differ in number.
        EmbeddingError: as :func:`src.dedup.pairs.unit_rows`.
    """
    evidence, unit = _gathered(texts, vectors, confirms, setting)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(evidence.nodes)) for _ in range(permutations)]
    shuffled = [restricted(evidence, order.tolist()) for order in orders]
    rows = []
    for linkage in LINKAGES:
        own = replace(setting, linkage=linkage)  # type: ignore[arg-type]
        clusters = cluster(evidence, own)
        again = [_as_given(cluster(other, own), order) for other, order in zip(shuffled, orders, strict=True)]
        rows.append(_row(clusters, np.asarray(truth), unit, again))
    return pl.DataFrame(rows, schema=COMPARED)


def _gathered(
    texts: Sequence[str], vectors: npt.ArrayLike, confirms: Callable[[str, str], bool], setting: Dedup
) -> tuple[Evidence, npt.NDArray[np.float32]]:
    """The evidence with the verdict of every candidate pair, and the vectors of its nodes."""
    nodes = distinct(range(len(texts)), texts)
    unit = unit_rows(vectors, rows=len(texts))[list(nodes.first)]
    pairs = similar_pairs(unit, setting.fuzzy)
    named = [nodes.canonical(a, b) for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)]
    guards = objections(nodes, pairs, setting.strict)
    unasked = Evidence(setting, nodes, pairs, guards, (None,) * len(guards))
    candidate = unasked.graph(setting).candidate.tolist()
    verdicts = tuple(
        ("YES" if confirms(*two) else "NO") if asked else None for two, asked in zip(named, candidate, strict=True)
    )
    return replace(unasked, verdicts=verdicts), unit


def _as_given(clusters: Clusters, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The cluster of every node, nodes numbered as they were before they arrived in `order`."""
    found = np.empty(len(order), dtype=np.int64)
    found[order] = clusters.representative
    return found


def _row(
    clusters: Clusters,
    truth: npt.NDArray[np.generic],
    unit: npt.NDArray[np.float32],
    again: Sequence[npt.NDArray[np.int64]],
) -> dict[str, object]:
    found = np.array(clusters.representative, dtype=np.int64)
    points = found[list(clusters.nodes.node_of)]
    stability = [adjusted_rand(found, other) for other in again] if len(found) else []
    counts = [clusters.count, *(len(np.unique(other)) for other in again)]
    smallest = clusters.smallest_cosine(unit)
    return {
        "linkage": clusters.setting.linkage,
        "points": len(points),
        "texts": len(found),
        "true_clusters": len(np.unique(truth)),
        "clusters": clusters.count,
        **_scored("pairwise", pairwise(truth, points)),
        **_scored("b3", b_cubed(truth, points)),
        "largest_cluster": clusters.largest,
        "smallest_cosine": smallest,
        "smallest_cosine_reason": "no two texts are in one cluster" if smallest is None else "",
        "chained": clusters.chained,
        "chain_alarm": clusters.chain_alarm,
        "judged": clusters.judged,
        "permutations": len(again),
        "stability_min": min(stability, default=None),
        "stability_mean": float(np.mean(stability)) if stability else None,
        "stability_reason": "" if stability else "there is nothing to shuffle",
        "clusters_min": min(counts),
        "clusters_max": max(counts),
    }


def _scored(name: str, scores: Scores) -> dict[str, object]:
    numbers = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1}
    return {
        **{f"{name}_{part}": None if math.isnan(value) else value for part, value in numbers.items()},
        f"{name}_reason": scores.reason,
    }
