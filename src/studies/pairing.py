"""Tables of models side by side: what each knows and is right about, pair by pair, domain by domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import rankdata

from src.stats.compare import Pair, Repeats, pairs, recall_interval, repeats, tied
from src.stats.intervals import Interval
from src.stats.recall import recall_count
from src.studies.block import Block, accuracy_of, recall_part
from src.studies.wording import columns

PAIRED = {
    "union": "clusters of valid points that at least one of the compared models has; one domain, one strategy",
    "recall_match": "share of the union's clusters that hold a valid point of the model, mean over domains, each domain "
    "with the same weight; interval: Wilson per domain (unit: union cluster), square-and-add over domains",
    "recall_count": "valid points of the model per cluster of the union, as published; several points of one cluster "
    "all count; interval: 2,000 multinomial draws, unit union cluster",
    "accuracy": "valid of valid and invalid clusters, mean over domains; interval: Wilson on n/deff (unit: branch), with "
    "fewer than three branches plain Wilson (unit: point), square-and-add over domains",
    "difference": "recall_match of two models on the same clusters; interval: 2,000 multinomial draws over the patterns "
    "of membership, each domain drawn on its own",
    "p": "of the difference over its standard error if both found equally much; Holm: corrected over all pairs; mid-p: "
    "McNemar's on the clusters that one of the two alone has",
    "not separable": "Holm's p of 5 % or more against the model with the highest recall_match",
}

Number = tuple[float, Interval]


def recalls(block: Block, drawn: Repeats) -> list[Number]:
    """recall_match of every model, mean over the domains, with its interval."""
    counts = block.counts
    return [(float(drawn.match[place]), recall_interval(counts, place)) for place in range(len(block.models))]


def models_table(
    block: Block, drawn: Repeats, recall: Sequence[Number], accuracy: Sequence[Number], best: Sequence[int]
) -> pl.DataFrame:
    """One row for each model, means over the domains; sorted by name."""
    rows: list[dict[str, Any]] = []
    for place, model in enumerate(block.models):
        counted = drawn.interval(drawn.count_draws[:, place])
        rows.append(
            {
                "model": model,
                "domains": len(block.domains),
                **columns("recall_match", *recall[place]),
                **columns("recall_count", float(drawn.count[place]), counted),
                "clusters": recall[place][1].n,
                **columns("accuracy", *accuracy[place]),
                "judged": accuracy[place][1].n,
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
            "p_midp": pair.p_midp,
        }
        for pair in compared
    ]
    numbers = ("difference", "difference_low", "difference_high", "p", "p_holm", "p_midp")
    whole = ("only_model", "only_other", "clusters")
    order = ["model", "other", *columns("difference", 0, recall_part(np.ones((1, 1), dtype=np.int64), 0)[1]), *whole, *numbers[3:]]
    schema = {name: pl.Float64 if name in numbers else pl.Int64 if name in whole else pl.String for name in order}
    return pl.DataFrame(rows, schema=schema, orient="row")


def domains_table(block: Block, seed: int) -> pl.DataFrame:
    """One row for each domain and model: recall, its rank, who is tied with the best there (Holm in the domain)."""
    rows: list[dict[str, Any]] = []
    for domain in block.domains:
        counts = block.unions[domain]
        drawn = repeats([counts], seed)
        best = tied(drawn.match, pairs([counts], drawn))
        ranks = rankdata(-drawn.match)
        for place, model in enumerate(block.models):
            value, interval = accuracy_of(block.cells[model, domain])
            rows.append(
                {
                    "domain": domain,
                    "model": model,
                    **columns("recall_match", *recall_part(counts, place)),
                    "rank": float(ranks[place]),
                    "recall_count": float(recall_count(counts)[place]),
                    "clusters": len(counts),
                    **columns("accuracy", value, interval),
                    "judged": interval.n,
                    "accuracy_unit": interval.unit,
                    "tied_with_best": place in best,
                }
            )
    return _table(rows)


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table; a column of which every value is none stays a column of numbers."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64) for name, kind in table.schema.items() if kind == pl.Null)
