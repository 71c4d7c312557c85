"""What the trials say, as sentences, numbers and tables; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from src.figures.finding import Finding
from src.figures.validation import coverage_figure
from src.records import Metrics
from src.stats.flat import put
from src.studies.validation.catalogue import BOUND, CAREFUL, ESTIMATORS, HOLDS, NOTHING, whole
from src.studies.validation.planted import BILLIONS, EFFECT, TUNINGS, WEAKER
from src.studies.validation.sentences import of_intervals, of_stops, of_studies, of_ways, tries
from src.studies.validation.setting import STEP, TUNED, Setting
from src.studies.validation.summary import ALARMED, ALARMS, FEWEST, FOUND
from src.studies.validation.trial import FRESH
from src.studies.wording import listed

NAME = "estimators"
SIMULATED = "Simulated: no language model was asked; the numbers describe our estimators, on models that were made up."


@dataclass(frozen=True)
class Tried:
    """Everything that was tried.

    Attributes:
        settings: name → setting.
        universes: how many say what is true over all universes.
        turns: of the runs that show what stopping early loses.
        studied: the setting in which effects were planted; "" if none were.
        estimates, studies, stops: tables of :mod:`src.studies.validation.summary`.
        ways: schema WAYS of :mod:`src.studies.validation.ways`; empty if runs went one way only.
        linkages: schema COMPARED of :mod:`src.studies.linkages` with the seed before it; the same.
    """

    settings: Mapping[str, Setting]
    universes: int
    turns: int
    studied: str
    estimates: pl.DataFrame
    studies: pl.DataFrame
    stops: pl.DataFrame
    ways: pl.DataFrame
    linkages: pl.DataFrame


def finding(tried: Tried) -> Finding:
    """What came of it."""
    tables = {
        "coverage": pivoted(tried.estimates),
        **_by_unit("estimates", tried.estimates),
        "studies": tried.studies,
        "patience": tried.stops,
        **_by_unit("ways", tried.ways),
        "linkages": tried.linkages,
        "settings": _settings(tried.settings),
    }
    seeds = tries(tried.estimates)
    return Finding(
        name=NAME,
        question="Are the numbers of this project right where the truth is known, and do their intervals hold it?",
        reference="models of planted knowledge (src/knower); what is measured after arXiv 2602.00959",
        verdict=(
            *of_intervals(tried.estimates),
            *of_studies(tried.studies),
            *of_stops(tried.stops),
            *of_ways(tried.ways),
        ),
        metrics=_metrics(tried),
        tables={name: table for name, table in tables.items() if table.height},
        figures={
            "coverage": coverage_figure(tried.estimates, {name: each.title for name, each in ESTIMATORS.items()}, seeds)
        },
        captions={
            "coverage": f"How often intervals of nominal 95 % held the truth: a mark for each setting, n = {seeds} "
            "universes each (fewer where some gave no interval). Lines: 90, 95 and 98 %. Orange: below 90 %, with the "
            "setting; triangle: below 70 %. Hollow: nobody claims 95 % for this truth; shown to tell how far off it is."
        },
        definitions=_definitions(tried),
        missing=_missing(tried),
        said_first=(SIMULATED,),
    )


def pivoted(estimates: pl.DataFrame) -> pl.DataFrame:
    """A row for each estimator, a column for each setting: coverage, and what it says if that is not `holds`."""
    settings = estimates["setting"].unique(maintain_order=True).to_list()
    said = {(row["estimator"], row["setting"]): _cell(row) for row in estimates.iter_rows(named=True)}
    claims = dict(estimates.select("estimator", "claims").iter_rows())
    return pl.DataFrame(
        [
            {"estimator": each.title, "claims": claims[name]} | {where: said[name, where] for where in settings}
            for name, each in ESTIMATORS.items()
        ]
    )


def _by_unit(name: str, table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A table for each unit, so that shares and counts do not share a column."""
    units = table["unit"].unique(maintain_order=True)
    return {f"{name}_of_{unit}s": table.filter(pl.col("unit") == unit).drop("unit") for unit in units}


def _cell(row: Mapping[str, Any]) -> str:
    if not row["intervals"]:
        return "no interval"
    verdict = "" if row["verdict"] == "holds" else f" {row['verdict']}"
    return f"{row['coverage']:.3f}{verdict}"


def _metrics(tried: Tried) -> Metrics:
    metrics: Metrics = {
        "settings": len(tried.settings),
        "seeds": tries(tried.estimates),
        "failing": tried.estimates.filter((pl.col("claims") != NOTHING) & (pl.col("verdict") == "fails")).height,
        "failing_studies": tried.studies.filter(pl.col("verdict") == "fails").height,
    }
    for row in tried.estimates.iter_rows(named=True):
        for name in ("coverage", "bias"):
            put(metrics, f"{name}_{row['estimator']}_{row['setting']}", row[name], row["without"])
    for row in tried.studies.iter_rows(named=True):
        put(metrics, f"said_{_slug(row['study'])}_{_slug(row['planted'])}_{_slug(row['claim'])}", row["share"])
    for row in tried.stops.iter_rows(named=True):
        put(metrics, f"lost_patience_{row['patience']}_{row['setting']}", row["valid_lost"])
    return metrics


def _slug(words: str) -> str:
    return words.replace(" ", "_")


def _settings(settings: Mapping[str, Setting]) -> pl.DataFrame:
    """What each setting has that the classes do not say by themselves."""
    usual = asdict(Setting(why="as it is"))
    rows = []
    for name, setting in settings.items():
        own = asdict(setting)
        other = [
            f"{part}.{key}={value}"
            for part in ("world", "model", "judge")
            for key, value in own[part].items()
            if value != usual[part][key]
        ] + [f"{key}={own[key]}" for key in ("widths", "turns", "draws", "sheet") if own[key] != usual[key]]
        rows.append({"setting": name, "why": setting.why, "unlike the default": ", ".join(other)})
    return pl.DataFrame(rows)


def _definitions(tried: Tried) -> dict[str, str]:
    return {
        "universe": "facts, topics and models drawn anew for every seed, with runs drawn straight from the chances of "
        "every statement: perfect reading, perfect merging, no text",
        "judge": "accepts or turns down every statement once and for all, with the errors of the setting; `valid` is "
        "what it accepts, and every truth is under this judge but that of the corrected share and those of facts",
        "truth": f"over all universes: from {tried.universes:,} further ones, standard error in truth_error; in one "
        f"universe: from {FRESH} fresh runs of each model, or exact",
        "coverage": "share of the intervals that hold the truth, of those there are; its interval: Wilson, unit "
        "universe",
        "verdict": f"holds: coverage of at least {whole(HOLDS)}; conservative: above {whole(CAREFUL)}; fails: below "
        f"{whole(HOLDS)}; none from fewer than {FEWEST} intervals",
        "claims": f"what this project says of its interval; {BOUND}: that its lower limit lies below the truth; "
        f"{NOTHING}: shown to tell how far it would be off",
        "bias, rmse": "mean of estimate − truth with its standard error (bias_error), root of the mean square; where "
        "there is an estimate",
        "here": "held against fresh runs of the same model on the same branches; without it, against other universes, "
        "whose branches are others",
        "recall difference": f"of two models of which the second knows {whole(STEP)} of all facts more",
        "crossover turn": f"of a sibling whose log odds of an invalid statement are {TUNED.errs:+g} in turn 1 and rise "
        f"{TUNED.errs_per_turn:g} per turn faster; only where both lines can be told from parallel ones",
        **{each.title: f"held against: {each.truth}" for each in ESTIMATORS.values()},
        "planted": f"in the setting {tried.studied or 'none'}",
        "planted in scaling": f"models of {listed([f'{size}B' for size in BILLIONS])}, each of which knows "
        f"{whole(STEP)} of all facts more than the one before, three domains; not planted: models that know "
        "the same, or equally much",
        "planted in specialisation": f"log odds of an invalid statement {_tuned(EFFECT)}; in the weaker effect, "
        f"of which only the power is told, {_tuned(WEAKER)}; two domains "
        "inside, one outside; an effect is found if it is shown in every domain that has it; not planted: two models "
        "of the same parameters",
        "wanted": f"an effect found in at least {whole(FOUND)}, a false alarm in at most {ALARMS} of {ALARMED}",
        "patience": f"runs of {tried.turns} turns; lost: valid statements first made after the stop; saved: points "
        "after it; every meaning is novel once",
    }


def _tuned(planted: str) -> str:
    inside, outside = TUNINGS[planted]["inside"], TUNINGS[planted]["outside"]
    return (
        f"inside {inside.errs:+g} in turn 1 and {inside.errs_per_turn:+g} per turn, outside {outside.errs:+g} and "
        f"{outside.errs_per_turn:+g}"
    )


def _missing(tried: Tried) -> tuple[str, ...]:
    absent: Sequence[tuple[bool, str]] = (
        (tried.studies.is_empty(), "effects planted for the studies (studies=default)"),
        (tried.ways.is_empty(), "the second way, through prompts and text (pipeline=5)"),
    )
    return tuple(words for lacking, words in absent if lacking)
