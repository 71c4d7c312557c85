"""Tables of models side by side: what each knows and is right about, pair by pair, domain by domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from scipy.stats import rankdata

from src.stats.combining import averaged
from src.stats.compare import SEVERAL, Pair, Repeats, recall_interval, tied
from src.stats.intervals import Interval
from src.stats.recall import recall_match
from src.studies.block import Block, accuracy_of
from src.studies.wording import columns, number

PAIRED = {
    "union": "clusters of valid points that at least one of the compared models has; one domain, one strategy",
    "recall_match": "share of the union's clusters that hold a valid point of the model, mean over domains, each "
    "with the same weight; interval: Wilson per domain (unit: union cluster), square-and-add over domains",
    "recall_count": "valid points of the model per cluster of the union, as published; several points of one "
    "cluster all count; interval: 2,000 multinomial draws, unit union cluster",
    "accuracy": "valid of valid and invalid clusters, mean over domains; interval: Wilson on n/deff (unit: branch), "
    "with fewer than three branches plain Wilson (unit: point), square-and-add over domains",
    "difference": "recall_match of two models on the same clusters; interval: 2,000 multinomial draws over the "
    "patterns of membership, each domain drawn on its own; none where fewer than 10 clusters are unlike the rest",
    "p": "of the difference over its standard error if both found equally much, counted exactly in domains where fewer "
    "than 10 clusters tell the two apart; Holm: corrected over all pairs; mid-p: McNemar's, only with one domain",
    "only_model, only_other": "clusters that hold a point of only one of the two, summed over domains; the difference "
    "gives each domain the same weight, so the two need not point the same way",
    "not separable": "Holm's p of 5 % or more against the model with the highest recall_match",
}

PAIRS = pl.Schema(
    {
        "model": pl.String,
        "other": pl.String,
        "difference": pl.Float64,
        "difference_low": pl.Float64,
        "difference_high": pl.Float64,
        "difference_reason": pl.String,
        "only_model": pl.Int64,
        "only_other": pl.Int64,
        "clusters": pl.Int64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "p_midp": pl.Float64,
        "p_midp_reason": pl.String,
    }
)

Number = tuple[float, Interval]


def recalls(block: Block, drawn: Repeats) -> list[Number]:
    """recall_match of every model, mean over the domains, with its interval."""
    by_domain = [recall_match(counts).tolist() for counts in drawn.unions]
    return [
        averaged([shares[place] for shares in by_domain], [recall_interval(counts, place) for counts in drawn.unions])
        for place in range(len(block.models))
    ]


def models_table(
    block: Block, drawn: Repeats, recall: Sequence[Number], accuracy: Sequence[Number], best: Sequence[int]
) -> pl.DataFrame:
    """One row for each model, means over the domains; sorted by name."""
    rows: list[dict[str, Any]] = []
    for place, model in enumerate(block.models):
        rows.append(
            {
                "model": model,
                "domains": len(block.domains),
                **columns("recall_match", *recall[place]),
                **columns("recall_count", *drawn.count_of(place)),
                "clusters": recall[place][1].n,
                **columns("accuracy", *accuracy[place]),
                "judged": accuracy[place][1].n,
                "branches": accuracy[place][1].branches,
                "accuracy_unit": accuracy[place][1].unit,
                "tied_with_best": place in best,
            }
        )
    return _table(rows)


def pairs_table(models: Sequence[str], compared: Sequence[Pair]) -> pl.DataFrame:
    """One row for each pair of models; sorted by their names."""
    rows = [
        {
            "model": models[pair.one],
            "other": models[pair.other],
            **columns("difference", pair.difference, pair.interval),
            "only_model": pair.only_one,
            "only_other": pair.only_other,
            "clusters": pair.interval.n,
            "p": pair.p,
            "p_holm": pair.p_holm,
            "p_midp": number(pair.p_midp),
            "p_midp_reason": SEVERAL if math.isnan(pair.p_midp) else "",
        }
        for pair in compared
    ]
    return pl.DataFrame(rows, schema=PAIRS)


def domains_table(block: Block, drawn: Repeats, by_domain: Sequence[Sequence[Pair]]) -> pl.DataFrame:
    """One row for each domain and model: recall, its rank, who is tied with the best there (Holm in the domain).

    Args:
        block: what is compared.
        drawn: its repeats.
        by_domain: the pairs of each domain alone.
    """
    rows: list[dict[str, Any]] = []
    for at, domain in enumerate(block.domains):
        here, counts = drawn.of_domain(at), block.unions[domain]
        match, counted = here.match, here.count
        best = tied(match, by_domain[at])
        ranks = rankdata(-match)
        for place, model in enumerate(block.models):
            value, interval = accuracy_of(block.cells[model, domain])
            rows.append(
                {
                    "domain": domain,
                    "model": model,
                    **columns("recall_match", float(match[place]), recall_interval(counts, place)),
                    "rank": float(ranks[place]),
                    "recall_count": float(counted[place]),
                    "clusters": len(counts),
                    **columns("accuracy", value, interval),
                    "judged": interval.n,
                    "branches": interval.branches,
                    "accuracy_unit": interval.unit,
                    "tied_with_best": place in best,
                }
            )
    return _table(rows)


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table; a column of which every value is none stays a column of numbers."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64) for name, kind in table.schema.items() if kind == pl.Null)
