"""Cells and unions under the nine settings of the sweep, from stored evidence: counts, accuracy, recall, order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from src.audited import swept
from src.cells import MeasuredCell
from src.dedup.rethreshold import dedup_of
from src.dedup.settings import SWEEP
from src.errors import ConfigError
from src.merge import Union
from src.stats.compare import pairs, repeats
from src.stats.recall import Counts, recall_match

CELLS = pl.Schema(
    {
        **dict.fromkeys(("model", "strategy", "domain"), pl.String),
        **dict.fromkeys(("strict", "fuzzy"), pl.Float64),
        "own": pl.Boolean,
        **dict.fromkeys(("unique", "valid"), pl.Int64),
        **dict.fromkeys(("dedup_rate", "accuracy", "accuracy_low", "accuracy_high"), pl.Float64),
        **dict.fromkeys(("accuracy_leaf_low", "accuracy_leaf_high"), pl.Float64),
        "reason": pl.String,
    }
)
RECALLS = pl.Schema(
    {
        **dict.fromkeys(("domain", "strategy", "model"), pl.String),
        **dict.fromkeys(("strict", "fuzzy"), pl.Float64),
        "own": pl.Boolean,
        "recall_match": pl.Float64,
        "clusters": pl.Int64,
        "reason": pl.String,
    }
)
REVERSALS = pl.Schema(
    {
        **dict.fromkeys(("domain", "strategy", "ahead", "behind"), pl.String),
        **dict.fromkeys(("difference", "difference_low", "difference_high", "p_holm"), pl.Float64),
        "tied": pl.Boolean,
        "reversed_in": pl.Int64,
        "level_in": pl.Int64,
        "known_in": pl.Int64,
        "settings": pl.String,
        "reason": pl.String,
    }
)


def cells_table(cells: Sequence[MeasuredCell]) -> pl.DataFrame:
    """Every cell under every setting of the nine, schema CELLS."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        own = dedup_of(cell.config)
        for (strict, fuzzy), metrics in swept(cell.extracted, cell.processed, own).items():
            place = {"model": cell.model, "strategy": cell.strategy, "domain": cell.domain}
            mine = (strict, fuzzy) == (own.strict, own.fuzzy)
            reason = metrics.get("unique_reason") or metrics.get("accuracy_reason") or ""
            numbers = {name: metrics.get(name) for name in CELLS if name not in place}
            rows.append({**place, **numbers, "strict": strict, "fuzzy": fuzzy, "own": mine, "reason": reason})
    table = pl.DataFrame(rows, schema=CELLS) if rows else CELLS.to_frame()
    return table.sort("domain", "strategy", "model", "strict", "fuzzy")


def recalls_table(unions: Sequence[Union], models: Sequence[str]) -> pl.DataFrame:
    """recall_match of the chosen models in every union of at least two of them, under every setting; schema RECALLS."""
    rows: list[tuple[Any, ...]] = []
    for union in unions:
        chosen = [model for model in union.models if model in models]
        if len(chosen) < 2:
            continue
        for setting in SWEEP:
            counts, reason = _counts(union, chosen, setting)
            shares = [None] * len(chosen) if reason else recall_match(counts).tolist()
            if not reason and not len(counts):
                shares, reason = [None] * len(chosen), "no model has a valid point"
            own = setting == (union.own.strict, union.own.fuzzy)
            n = None if reason else len(counts)
            for model, share in zip(chosen, shares, strict=True):
                rows.append((union.domain, union.strategy, model, *setting, own, share, n, reason))
    return pl.DataFrame(rows, schema=RECALLS, orient="row").sort("domain", "strategy", "model", "strict", "fuzzy")


def reversals_table(unions: Sequence[Union], recalls: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Pairs of models whose order by recall_match is not the same in all settings that have one, schema REVERSALS.

    `ahead` is the model with the higher recall under the union's own setting; `tied` says whether the two could not be
    told apart there anyway: Holm's p over all pairs of the union is 5 % or more.
    """
    rows: list[tuple[Any, ...]] = []
    for union in unions:
        found = recalls.filter(pl.col("recall_match").is_not_null(), domain=union.domain, strategy=union.strategy)
        chosen = found["model"].unique().sort().to_list()
        if len(chosen) < 2:
            continue
        settings = found.select("strict", "fuzzy").unique().sort("strict", "fuzzy").rows()
        by_setting = found.sort("strict", "fuzzy", "model")["recall_match"].to_numpy().reshape(len(settings), -1)
        own = union.counts(chosen)
        gaps = by_setting[:, :, None] - by_setting[:, None, :]
        changing = {(i, j) for i, j in np.argwhere((gaps > 0).any(axis=0) & (gaps < 0).any(axis=0)).tolist() if i < j}
        if not changing or not len(own):
            continue
        for pair in pairs(repeats([own], seed)):
            if (pair.one, pair.other) not in changing:
                continue
            sign = 1.0 if pair.difference >= 0 else -1.0
            first, second = (pair.one, pair.other) if sign > 0 else (pair.other, pair.one)
            over = gaps[:, first, second]
            turned = [f"{s:.2f}/{f:.2f}" for (s, f), gap in zip(settings, over.tolist(), strict=True) if gap < 0]
            bounds: list[float | None] = sorted((sign * pair.interval.low, sign * pair.interval.high))  # type: ignore[assignment]
            if pair.interval.reason:
                bounds = [None, None]
            rows.append(
                (
                    union.domain, union.strategy, chosen[first], chosen[second], abs(pair.difference), *bounds,
                    pair.p_holm, pair.p_holm >= 0.05, len(turned), int((over == 0).sum()), len(settings),
                    ", ".join(turned), pair.interval.reason,
                )
            )  # fmt: skip
    return pl.DataFrame(rows, schema=REVERSALS, orient="row").sort("domain", "strategy", "ahead", "behind")


def spread_table(table: pl.DataFrame, keys: Sequence[str], value: str) -> pl.DataFrame:
    """How far a value moves over the settings: own, low, high, half of their distance, settings it is known for."""
    return (
        table.group_by(keys)
        .agg(
            pl.col(value).filter(pl.col("own")).first().alias("own"),
            pl.col(value).min().alias("lowest"),
            pl.col(value).max().alias("highest"),
            ((pl.col(value).max() - pl.col(value).min()) / 2).alias("half_range"),
            pl.col(value).count().cast(pl.Int64).alias("settings"),
        )
        .sort(keys)
    )


def _counts(union: Union, models: Sequence[str], setting: tuple[float, float]) -> tuple[Counts, str]:
    """Points of each model in each cluster under a setting; or why it was not computed."""
    try:
        return union.counts(models, setting), ""
    except ConfigError as error:
        return np.zeros((0, len(models)), dtype=np.int64), str(error)
