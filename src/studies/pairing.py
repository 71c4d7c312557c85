"""Tables of models side by side: what each knows and is right about, pair by pair, domain by domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from scipy.stats import rankdata

from src.figures.captions import plural
from src.records import Metrics
from src.stats.compare import SEVERAL, recall_interval, tied
from src.stats.flat import number, put, put_interval
from src.stats.intervals import Interval, Number
from src.stats.recall import ALONE
from src.stats.separation import GAP
from src.studies.block import Block, accuracy_of
from src.studies.comparison import Comparison
from src.studies.truths import TRUTH, truth_sentence
from src.studies.wording import columns, listed

PAIRED = {
    "truth": TRUTH,
    "union": "clusters of valid points that at least one of the compared models has; one domain, one strategy",
    "recall_match": "share of the union's clusters that hold a valid point of the model, mean over domains, each "
    "with the same weight; interval: Wilson per domain (unit: union cluster), square-and-add over domains. It "
    "estimates Σ_f π_mf / Σ_f π_∪f: the facts that a fresh run of the model finds, of those that any of the models "
    "finds, each fact f weighed with the probability π that it is found",
    "recall_count": "valid points of the model per cluster of the union, as published; several points of one "
    "cluster all count; interval: 2,000 multinomial draws, unit union cluster",
    "accuracy": "valid of valid and invalid clusters, mean over domains; interval: Wilson on n/deff (unit: branch), "
    "with fewer than three branches plain Wilson (unit: point), square-and-add over domains",
    "difference": "recall_match of two models on the same clusters; interval: 2,000 multinomial draws over the "
    "patterns of membership, each domain drawn on its own; none where fewer than 10 clusters are unlike the rest",
    "branch_low, branch_high": "the same difference if whole branches of each model are redrawn, 2,000 times: how far "
    "it hangs on which branches there were (unit: branch of a model that has a valid point, the branch of a cluster's "
    "representative); beside the interval over clusters, not in its place",
    "p": "of the difference over its standard error if both found equally much, counted exactly in domains where fewer "
    "than 10 clusters tell the two apart; Holm: corrected over all pairs; mid-p: McNemar's, only with one domain",
    "only_model, only_other": "clusters that hold a point of only one of the two, summed over domains; the difference "
    "gives each domain the same weight, so the two need not point the same way",
    "not separable": "Holm's p of 5 % or more against the model with the highest recall_match",
    "clusters_needed": "union clusters, all domains together in their present proportion, that find a gap of 3 points "
    "of recall_match with 80 % power at two-sided 5 % for this pair alone (McNemar's test, Connor 1987), from the "
    "share of clusters that only one of the two has; bounds: Wilson of that share. clusters_needed_holm: at the level "
    "that the first of all pairs must meet under Holm. Sentences and metrics: the two models with the highest recall",
}

PAIRS = pl.Schema(
    {
        "model": pl.String,
        "other": pl.String,
        "difference": pl.Float64,
        "difference_low": pl.Float64,
        "difference_high": pl.Float64,
        "difference_reason": pl.String,
        "branch_low": pl.Float64,
        "branch_high": pl.Float64,
        "branch_reason": pl.String,
        "branches": pl.Int64,
        "only_model": pl.Int64,
        "only_other": pl.Int64,
        "clusters": pl.Int64,
        "clusters_needed": pl.Int64,
        "clusters_needed_low": pl.Int64,
        "clusters_needed_high": pl.Int64,
        "clusters_needed_holm": pl.Int64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "p_midp": pl.Float64,
        "p_midp_reason": pl.String,
    }
)


def models_table(block: Block, compared: Comparison, accuracy: Sequence[Number]) -> pl.DataFrame:
    """One row for each model, means over the domains; sorted by name."""
    rows: list[dict[str, Any]] = []
    for place, model in enumerate(block.models):
        value, interval = accuracy[place]
        rows.append(
            {
                "model": model,
                "domains": len(block.domains),
                **columns("recall_match", *compared.recall[place]),
                **columns("recall_count", *compared.drawn.count_of(place)),
                "clusters": compared.clusters,
                **_accuracy(value, interval),
                **block.truths.get(model, {}),
                "tied_with_best": place in compared.best,
            }
        )
    return _table(rows)


def pairs_table(models: Sequence[str], compared: Comparison) -> pl.DataFrame:
    """One row for each pair of models; sorted by their names."""
    rows = []
    for pair, needed, branch in zip(compared.pairs, compared.needed, compared.by_branch, strict=True):
        row = {
            "model": models[pair.one],
            "other": models[pair.other],
            **columns("difference", pair.difference, pair.interval),
            "branch_low": number(branch.low),
            "branch_high": number(branch.high),
            "branch_reason": branch.reason,
            "branches": branch.branches,
            "only_model": pair.only_one,
            "only_other": pair.only_other,
            "clusters": pair.interval.n,
            "clusters_needed": needed.clusters,
            "clusters_needed_low": needed.low,
            "clusters_needed_high": needed.high,
            "clusters_needed_holm": needed.holm,
            "p": pair.p,
            "p_holm": pair.p_holm,
            "p_midp": number(pair.p_midp),
            "p_midp_reason": SEVERAL if math.isnan(pair.p_midp) else "",
        }
        rows.append(row)
    return pl.DataFrame(rows, schema=PAIRS)


def domains_table(block: Block, compared: Comparison) -> pl.DataFrame:
    """One row for each domain and model: recall, its rank, who is tied with the best there (Holm in the domain)."""
    rows: list[dict[str, Any]] = []
    for at, domain in enumerate(block.domains):
        here, counts = compared.drawn.of_domain(at), block.unions[domain]
        match = here.match
        best = tied(match, compared.in_domain[at])
        ranks = rankdata(-match)
        for place, model in enumerate(block.models):
            rows.append(
                {
                    "domain": domain,
                    "model": model,
                    **columns("recall_match", float(match[place]), recall_interval(counts, place)),
                    "rank": float(ranks[place]),
                    **columns("recall_count", *here.count_of(place)),
                    "clusters": len(counts),
                    **_accuracy(*accuracy_of(block.cells[model, domain])),
                    "tied_with_best": place in best,
                }
            )
    return _table(rows)


def compared_metrics(names: Sequence[str], compared: Comparison, accuracy: Sequence[Number]) -> Metrics:
    """The numbers that every comparison has; what is needed is that of the two models with the highest recall."""
    metrics: Metrics = {
        "models": len(names),
        "domains": compared.domains,
        "clusters": compared.clusters,
        "tied_with_best": len(compared.best),
    }
    put_needed(metrics, "clusters_needed", compared)
    for place, model in enumerate(names):
        put_interval(metrics, f"recall_match_{model}", *compared.recall[place])
        put_interval(metrics, f"accuracy_{model}", *accuracy[place])
    return metrics


def put_needed(metrics: Metrics, name: str, compared: Comparison) -> None:
    """Write what the two models with the highest recall_match need, or that there is only one model."""
    needed = compared.leaders[1] if compared.leaders else None
    for end, of in (("", "clusters"), ("_low", "low"), ("_high", "high"), ("_holm", "holm")):
        put(metrics, f"{name}{end}", getattr(needed, of, None), ALONE)


def best_sentence(names: Sequence[str], compared: Comparison) -> str:
    """Who knows most, who is tied with it, and what it would take to tell models apart; at least two models."""
    best, apart = compared.best, sum(pair.p_holm < 0.05 for pair in compared.pairs)
    tied_with = f"not separable from it: {listed([names[place] for place in best[1:]])}; " if len(best) > 1 else ""
    return (
        f"{names[best[0]]} has the highest recall_match; {tied_with}{len(names) - len(best)} of {len(names) - 1} "
        f"others are separated from it, and {apart} of {plural(len(compared.pairs), 'pair')} from each other (Holm "
        f"over all pairs, 5 %).{needed_sentence(names, compared)}"
    )


def truth_sentences(block: Block, compared: Comparison) -> list[str]:
    """How the recall found stands to the truth; nothing where nobody knows it."""
    return truth_sentence(block.truths, dict(zip(block.models, compared.recall, strict=True)))


def needed_sentence(names: Sequence[str], compared: Comparison) -> str:
    """A further sentence on what the two models with the highest recall_match need; "" for a model alone."""
    if compared.leaders is None:
        return ""
    pair, needed = compared.leaders
    whom = f" between {names[pair.one]} and {names[pair.other]}" if len(names) > 2 else ""
    return (
        f" A gap of {100 * GAP:.0f} points{whom} would need about {needed.clusters:,} [{needed.low:,}, "
        f"{needed.high:,}] union clusters; there are {needed.there:,}."
    )


def _accuracy(value: float, interval: Interval) -> dict[str, Any]:
    """Columns of an accuracy and of what it rests on."""
    return {
        **columns("accuracy", value, interval),
        "judged": interval.n,
        "branches": interval.branches,
        "accuracy_unit": interval.unit,
    }


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table; a column of which every value is none stays a column of numbers."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64) for name, kind in table.schema.items() if kind == pl.Null)
