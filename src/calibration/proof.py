"""Calibrated thresholds as a finding: what they are, from how many pairs, and which pairs they get wrong."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from matplotlib.figure import Figure

from src.calibration.thresholds import Thresholds
from src.figures.captions import percent, plural
from src.figures.finding import Finding
from src.figures.thresholds import thresholds_figure
from src.records import Metrics

METHOD = "Wilson 95 %, pairs taken as independent"
REFERENCE = "Probing the Knowledge Boundary (arXiv 2602.00959), which sets .92 and .70 for one encoder"


def proof(name: str, encoder: str, pairs: pl.DataFrame, found: Thresholds) -> Finding:
    """What labelled pairs say about thresholds.

    Args:
        name: of the finding.
        encoder: whose cosines they are.
        pairs: columns first, second, same, cosine, guard, sorted.
        found: the thresholds.
    """
    decided = pairs.drop_nulls("same")
    above = decided.filter(pl.col("cosine") > found.strict)
    same = decided.filter("same")
    counted = (
        f"{plural(pairs.height, 'labelled pair')}: {same.height:,} same, {decided.height - same.height:,} distinct"
    )
    if unsure := pairs.height - decided.height:
        counted += f", {unsure:,} unsure and left out"
    texts = ("first", "second", "cosine")
    untried = decided.filter(~pl.col("same"), pl.col("cosine") >= found.fuzzy).is_empty()
    return Finding(
        name=name,
        question=f"Above which cosine of {encoder} may points merge unasked, and below which need nobody be asked?",
        reference=REFERENCE,
        verdict=tuple(_verdict(found, above)),
        metrics=_metrics(found, decided, pairs.height),
        tables={
            "curve": found.curve,
            "guards": _guards(above),
            "merged_wrongly": above.filter(~pl.col("same"), guard="").select(texts),
            "missed": same.filter(pl.col("cosine") < found.fuzzy).select(texts),
        },
        figures={"thresholds": _figure(found, encoder, counted)},
        captions={
            "thresholds": f"{counted}. Left: of the pairs above a threshold that no guard holds back, the share that "
            f"is the same. Right: of the pairs that are the same, the share at or above it. Bands: {METHOD}."
        },
        definitions={
            "same, distinct": "what people said of two texts; unsure decides nothing",
            "dedup.strict": "the smallest threshold on a grid of .005, from dedup.fuzzy on, above which, of the pairs "
            f"that no guard holds back, at most {percent(found.wrong)} are distinct, by the upper bound",
            "saturation.novelty": "the same of all pairs above it, since the loop has no guards",
            "dedup.fuzzy": f"the largest threshold at or above which at least {percent(found.kept)} of the same pairs "
            "lie, by the lower bound",
            "interval": f"{METHOD}; pairs that share a text are less than that",
        },
        said_first=(
            f"Holds for pairs drawn as these were, with cosines from {_first(pairs, 'min')} to {_first(pairs, 'max')}: "
            "pairs that were picked by their cosine prove nothing beyond it.",
            *["No distinct pair lies at or above dedup.fuzzy: were alike ones among those labelled?"] * untried,
        ),
    )


def _figure(found: Thresholds, encoder: str, counted: str) -> Figure:
    chosen = (found.strict, found.fuzzy)
    return thresholds_figure(found.curve, chosen, (1 - found.wrong, found.kept), encoder, counted)


def _verdict(found: Thresholds, above: pl.DataFrame) -> list[str]:
    strict, fuzzy = found.at(found.strict), found.at(found.fuzzy)
    alarms = above.filter("same")
    loop = found.at(found.strict if found.novelty is None else found.novelty)
    stays = "saturation.novelty is left as it is, since no threshold is safe without guards" * (found.novelty is None)
    return [
        f"dedup.strict {found.strict:g}: of {plural(int(strict['merged']), 'pair')} above it that no guard holds back, "
        f"{_share(strict, 'wrong')} are distinct; the limit is {percent(found.wrong)}.",
        f"dedup.fuzzy {found.fuzzy:g}: of {plural(int(fuzzy['same']), 'pair')} that are the same, "
        f"{_share(fuzzy, 'kept')} lie at or above it; the limit is {percent(found.kept)}.",
        f"{stays or f'saturation.novelty {found.novelty:g}'}: of {plural(int(loop['above']), 'pair')} above "
        f"{loop['threshold']:g}, guarded or not, {_share(loop, 'lost')} are distinct.",
        f"Guards send {alarms.filter(pl.col('guard') != '').height:,} of {plural(alarms.height, 'pair')} above "
        "dedup.strict that are the same to the judge: a false alarm costs one judgement.",
    ]


def _share(row: Mapping[str, float], part: str) -> str:
    share, low, high = (percent(row[f"{part}_{end}"]) for end in ("share", "low", "high"))
    return f"{share} [{low}, {high}]"


def _first(pairs: pl.DataFrame, which: str) -> str:
    return f"{pairs['cosine'].sort(descending=which == 'max')[0]:.2f}"


def _metrics(found: Thresholds, decided: pl.DataFrame, pairs: int) -> Metrics:
    strict, fuzzy = found.at(found.strict), found.at(found.fuzzy)
    same = decided.filter("same").height
    metrics: Metrics = {
        "pairs": pairs,
        "pairs_same": same,
        "pairs_distinct": decided.height - same,
        "strict": found.strict,
        "fuzzy": found.fuzzy,
        "novelty": found.novelty,
        "merged": strict["merged"],
        **{f"wrong{end}": strict[f"wrong{end or '_share'}"] for end in ("", "_low", "_high")},
        **{f"kept{end}": fuzzy[f"kept{end or '_share'}"] for end in ("", "_low", "_high")},
    }
    if found.novelty is None:
        metrics["novelty_reason"] = "no threshold is safe without guards"
    return metrics


def _guards(above: pl.DataFrame) -> pl.DataFrame:
    """Per guard how many pairs above the strict threshold it holds back, right and wrong; "" is no guard."""
    distinct, same = (~pl.col("same")).sum(), pl.col("same").sum()
    counts = above.group_by("guard").agg(distinct=distinct.cast(pl.Int64), same=same.cast(pl.Int64))
    return counts.sort("guard")
