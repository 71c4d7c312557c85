"""How much of what several models know together each of them knows (arXiv 2602.00959, with a second definition).

Everything is read off one matrix: points of each model in each cluster of a union, shape (clusters, models), int64,
every row with at least one point. The unit is the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from src.records import Metrics
from src.stats.flat import put
from src.stats.intervals import wilson

Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

NO_CLUSTER = "no model has a valid point"
ALONE = "one model alone: all of its union is its own by definition, so there is nothing to compare it with"


def recall_match(counts: Counts) -> Shares:
    """Share of the clusters that hold a point of each model, at most 1; NaN without clusters.

    It estimates Σ_f π_mf / Σ_f π_∪f: π_mf is the probability that a fresh run of the model finds the fact f, π_∪f that
    at least one of the models does.
    """
    return _shares((counts > 0).sum(axis=0), len(counts))


def expected_recall(chances: Shares) -> Shares:
    """What recall_match estimates, Σ_f π_mf / Σ_f π_∪f, where the chances π that a run finds a fact are known.

    Args:
        chances: shape (models, facts); models find facts independently.
    """
    together = 1 - np.prod(1 - chances, axis=0)
    return np.asarray(chances.sum(axis=1) / together.sum())


def recall_count(counts: Counts) -> Shares:
    """Points of each model per cluster of the union, as published: a ratio of counts, above 1 if points merge."""
    return _shares(counts.sum(axis=0), len(counts))


def jaccard(counts: Counts) -> Shares:
    """Clusters that two models share, of those that either has; shape (models, models), NaN if neither has any."""
    has = (counts > 0).astype(np.int64)
    both = has.T @ has
    sizes = has.sum(axis=0)
    either = sizes[:, None] + sizes[None, :] - both
    return _ratio(both, either)


def unique_discoveries(counts: Counts) -> Counts:
    """Clusters that a model alone has."""
    has = counts > 0
    found: Counts = (has & (has.sum(axis=1) == 1)[:, None]).sum(axis=0)
    return found


def leave_one_out(counts: Counts) -> Shares:
    """Share of what the other models know together that a model knows too; NaN where the others know nothing."""
    has = counts > 0
    total = has.sum(axis=1, keepdims=True)
    others = (total - has) > 0
    known = others.sum(axis=0)
    both = (others & has).sum(axis=0)
    return _ratio(both, known)


def union_metrics(counts: Counts, models: Sequence[str]) -> Metrics:
    """The numbers of a union, flat: `<measure>_<model>`; recall_match with its Wilson interval over clusters.

    A model alone knows all of its own union, so its recall has no bounds.
    """
    clusters = len(counts)
    metrics: Metrics = {"models": len(models), "clusters": clusters, "points": int(counts.sum())}
    columns = {
        "recall_match": (recall_match(counts), NO_CLUSTER),
        "recall_count": (recall_count(counts), NO_CLUSTER),
        "leave_one_out": (leave_one_out(counts), ALONE if len(models) == 1 else NO_CLUSTER),
    }
    for name, (shares, reason) in columns.items():
        for model, share in zip(models, shares.tolist(), strict=True):
            put(metrics, f"{name}_{model}", share, reason)
    for model, alone, known in zip(models, unique_discoveries(counts).tolist(), (counts > 0).sum(axis=0), strict=True):
        interval = wilson(int(known), clusters)
        low, high = (interval.low, interval.high) if len(models) > 1 else (math.nan, math.nan)
        reason = ALONE if len(models) == 1 and clusters else NO_CLUSTER
        put(metrics, f"unique_discoveries_{model}", alone)
        put(metrics, f"recall_match_{model}_low", low, reason)
        put(metrics, f"recall_match_{model}_high", high, reason)
    shared = jaccard(counts)
    for i, one in enumerate(models):
        for j in range(i + 1, len(models)):
            put(metrics, f"jaccard_{one}_{models[j]}", float(shared[i, j]), NO_CLUSTER)
    return metrics


def _shares(parts: Counts, whole: int) -> Shares:
    return parts / whole if whole else np.full(len(parts), np.nan)


def _ratio(parts: Counts, wholes: Counts) -> Shares:
    shares = np.full(parts.shape, np.nan)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares
