"""What people said about a sample, put together; and two raters compared over all of it or a part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from src.calibration.questions import WRONG, Question
from src.calibration.sample import Sample
from src.stats.agreement import Estimate, agreement, stands_for, without

SCOPES = ("domain", "model")


def people(labels: pl.DataFrame, question: Question) -> pl.DataFrame:
    """One answer per item: what most of those who decided say.

    Args:
        labels: schema LABELS.
        question: what was asked.

    Returns:
        Columns item; annotators; people (whether they accept it; null if none decided or as many as not do); wrong
        (whether more than half of those who decided call it factually wrong; null where people is); tied; said (all
        labels and comments, for people to read).
    """
    verdicts = {label.name: label.verdict for label in question.labels}
    said = labels.with_columns(verdict=pl.col("label").replace_strict(verdicts, return_dtype=pl.Boolean))
    votes = pl.col("verdict").cast(pl.Int64)
    decided = pl.col("verdict").is_not_null().sum()
    comment = pl.when(pl.col("comment") == "").then(pl.lit("")).otherwise(pl.format(" ({})", pl.col("comment")))
    counted = said.group_by("item").agg(
        annotators=pl.len().cast(pl.Int64),
        decided=decided.cast(pl.Int64),
        yes=votes.sum(),
        wrong=(pl.col("label") == WRONG).sum().cast(pl.Int64),
        said=pl.format("{}: {}{}", pl.col("annotator"), pl.col("label"), comment).sort_by("annotator").str.join("; "),
    )
    clear = 2 * pl.col("yes") != pl.col("decided")
    return counted.select(
        "item",
        "annotators",
        people=pl.when(clear).then(2 * pl.col("yes") > pl.col("decided")),
        wrong=pl.when(clear).then(2 * pl.col("wrong") > pl.col("decided")),
        tied=~clear & (pl.col("decided") > 0),
        said="said",
    ).sort("item")


def annotator_pairs(labels: pl.DataFrame, question: Question, seed: int) -> list[tuple[str, str, dict[str, Estimate]]]:
    """Every two annotators, compared over the items that both decided."""
    verdicts = {label.name: label.verdict for label in question.labels}
    said = labels.with_columns(verdict=pl.col("label").replace_strict(verdicts, return_dtype=pl.Boolean)).drop_nulls(
        "verdict"
    )
    compared = []
    for one, other in combinations(sorted(set(labels["annotator"])), 2):
        both = said.filter(annotator=one).join(said.filter(annotator=other), on="item").sort("item")
        compared.append((one, other, agreement(both["verdict"], both["verdict_right"], seed=seed)))
    return compared


@dataclass(frozen=True)
class Compared:
    """Two raters over a part of the sample.

    The unit is the item: what several cells said in the same words, people answered once.

    Attributes:
        sample: the measures of the points as drawn, which is balanced by verdict; n of items.
        population: those of the judgements that the points stand for.
        judgements: how many drawn judgements have both answers; an item may stand for several.
        uncovered: share of these in strata of which no point has both answers.
        size: how many judgements they stand for.
    """

    sample: Mapping[str, Estimate]
    population: Mapping[str, Estimate]
    judgements: int
    uncovered: float
    size: int


def compare(rated: pl.DataFrame, strata: pl.DataFrame, first: str, second: str, seed: int) -> Compared:
    """Compare two columns of answers over the points that have both.

    Args:
        rated: a row per drawn judgement: stratum, item, verdict and the columns of answers, null where there is none.
        strata: those that the points were drawn from; others are left out of both.
        first: the column that is checked.
        second: the column that counts as right.
        seed: of the bootstraps.
    """
    place = {number: row for row, number in enumerate(strata["stratum"])}
    both = rated.filter(pl.col("stratum").is_in(list(place))).drop_nulls([first, second])
    size = int(strata["population"].sum())
    numbers = [place[number] for number in both["stratum"]]
    weights, uncovered, reason = stands_for(numbers, strata["population"].to_list(), strata["verdict"].to_list())
    # Judgements of one item under one verdict have the same answers: they are drawn again together or not at all.
    items = (
        both.with_columns(share=pl.Series(weights if weights.size else [0.0] * both.height, dtype=pl.Float64))
        .sort("item", "verdict", "stratum")
        .group_by("item", *dict.fromkeys(("verdict", first, second)), maintain_order=True)
        .agg(pl.len().alias("judgements"), pl.col("share").sum())
    )

    def weighted(weight: str) -> dict[str, Estimate]:
        return agreement(items[first], items[second], drawn_by=items["verdict"], weight=items[weight], seed=seed)

    sample = weighted("judgements")
    if reason or both.is_empty():
        return Compared(sample, without(reason or sample["agreement"].reason, items.height), both.height, 1.0, size)
    return Compared(sample, weighted("share"), both.height, uncovered, size)


def scopes(sample: Sample) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The whole sample, then every domain and every model, with their strata; what there is only one of is left out."""
    yield "all", "", sample.strata
    for column in SCOPES:
        names = sorted(set(sample.strata[column]))
        for name in names if len(names) > 1 else []:
            yield column, name, sample.strata.filter(pl.col(column) == name)
