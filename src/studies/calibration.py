"""Calibration: how far the verdicts of a judge hold when people look at a blind sample (after arXiv 2602.00959)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from src.calibration.questions import Question
from src.calibration.sample import Sample
from src.calibration.sheet import SHOWN, sheet_items
from src.figures.calibration import agreement_figure, corrected_figure, rated_words
from src.figures.captions import judge_label, judge_sentence, plural
from src.figures.finding import Finding, Source
from src.records import Metrics
from src.stats.agreement import FEWEST, METHOD, Estimate
from src.stats.intervals import wilson
from src.studies import calibration_tables as tables
from src.studies import calibration_words as words
from src.studies.raters import Compared, annotator_pairs, compare, people, scopes

REFERENCE = "Cohen 1960; Byrt et al. 1993 (PABAK); Gwet 2008 (AC1); labels after arXiv 2602.00959"
JUDGE, PEOPLE, SECOND = "verdict", "people", "second"
SHORT = {JUDGE: "judge", PEOPLE: "people", SECOND: "second judge"}


@dataclass(frozen=True)
class Second:
    """A second judge and its answers.

    Attributes:
        name: of the judge.
        kind: `llm`, `rules`, `rehearsed` …
        answers: schema ANSWERS of :mod:`src.calibration.second`.
    """

    name: str
    kind: str
    answers: pl.DataFrame


@dataclass(frozen=True)
class Calibrated:
    """What came of it: the finding, and for every cell_key the numbers of that cell, for its run."""

    finding: Finding
    cells: dict[str, Metrics]


def calibrate(name: str, sample: Sample, labels: pl.DataFrame | None, second: Second | None) -> Calibrated:
    """Compare a judge with people, with a second judge, or with both; pure.

    Args:
        name: of the calibration.
        sample: the key.
        labels: of people, schema LABELS; None if there are none.
        second: a second judge; None if there is none.

    Raises:
        ValueError: there is neither.
    """
    question, seed = sample.question, sample.seed
    raters = [column for column, there in ((PEOPLE, labels), (SECOND, second)) if there is not None]
    if not raters:
        raise ValueError("labels of people or the answers of a second judge are needed")
    items = sheet_items(sample.units, seed)
    rated = _rated(sample, items, labels, second)
    sides = [(JUDGE, rater) for rater in raters] + ([(SECOND, PEOPLE)] if len(raters) == 2 else [])
    parts = list(scopes(sample))
    compared = {
        side: [(kind, part, compare(rated, strata, *side, seed)) for kind, part, strata in parts] for side in sides
    }
    main, right = compared[sides[0]], raters[0]
    whole = main[0][2]
    wrong = None
    if question.what == "audit" and labels is not None:
        wrong = compare(rated, sample.strata, JUDGE, "wrong", seed)
    who = {JUDGE: f"the judge {sample.judge}", PEOPLE: "people", SECOND: ""}
    if second is not None:
        who[SECOND] = f"the second judge {second.name}"
    metrics = tables.metrics_of(main, wrong, sample, items.height)
    verdict = [words.agree(who[JUDGE], who[right], whole, question), *words.judged(who[right], whole, question)]
    verdict += [words.wrong(wrong)] if wrong else []
    made = {
        "agreement": pl.concat(
            [tables.agreement_rows(f"{SHORT[one]} – {SHORT[other]}", compared[one, other]) for one, other in sides]
        ),
        "cells": tables.cell_rows(sample, rated, *sides[0]),
        "strata": tables.stratum_rows(sample, rated, right),
        "disagreements": tables.disagreement_rows(rated, question, right),
    }
    if labels is not None:
        pairs = annotator_pairs(labels, question, seed)
        metrics |= tables.people_metrics(labels, question, pairs)
        verdict += [words.labelled(labels, question, items.height), *words.annotators(pairs)]
        made["labels"] = tables.label_rows(labels, rated, question)
        made |= {"annotators": tables.annotator_rows(pairs)} if pairs else {}
    verdict += [words.agree(who[one], who[other], compared[one, other][0][2], question) for one, other in sides[1:]]
    if second is not None:
        verdict += _second(second, who[SECOND], question, metrics)
    caveat = f"judge {sample.judge}: {judge_label(str(sample.strata['judge'][0]))}"
    if second is not None and right == SECOND:
        caveat += f" · second judge {second.name}: {judge_label(second.kind)}"
    shown = made["agreement"].filter(pl.col("raters") == made["agreement"]["raters"][0])
    finding = Finding(
        name=name,
        question=f"How far do verdicts of the judge {sample.judge} hold? Asked: {question.ask}",
        reference=REFERENCE,
        verdict=tuple(verdict),
        metrics=metrics,
        tables=made,
        figures={
            "agreement": agreement_figure(shown, question.unit, question.accepted, SHORT[right], caveat),
            "corrected": corrected_figure(shown, question.unit, question.accepted, SHORT[right], caveat),
        },
        captions=_captions(question, SHORT[right], whole),
        definitions=_definitions(question, SHORT[right]),
        missing=tuple(_missing(sample, items.height, labels, right)),
        sources=_sources(sample),
    )
    own = tables.by_cell(sample, rated, *sides[0])
    return Calibrated(finding, {key: tables.run_metrics(each, whole) for key, each in own.items()})


def _rated(sample: Sample, items: pl.DataFrame, labels: pl.DataFrame | None, second: Second | None) -> pl.DataFrame:
    """A row per drawn judgement: its stratum, item, texts, the verdict, and what people and a second judge say."""
    strata = sample.strata.select("stratum", "verdict", "cell_key")
    rated = sample.units.join(items, on=SHOWN, how="left").join(strata, on="stratum", how="left")
    rated = rated.rename({"second": "second_text"})
    none = pl.lit(None, dtype=pl.Boolean)
    if labels is None:
        rated = rated.with_columns(none.alias(PEOPLE), none.alias("wrong"), pl.lit("").alias("said"))
    else:
        counted = people(labels, sample.question).select("item", PEOPLE, "wrong", "said")
        rated = rated.join(counted, on="item", how="left")
    if second is None:
        return rated.with_columns(none.alias(SECOND))
    return rated.join(second.answers.select("item", pl.col("accepted").alias(SECOND)), on="item", how="left")


def _second(second: Second, who: str, question: Question, metrics: Metrics) -> list[str]:
    """What the second judge left open, and how often the order of a pair changed its answer; adds to the metrics."""
    unparsed = int(second.answers["accepted"].null_count())
    metrics["second_unparsed"] = unparsed
    said = [f"Of {who}: {judge_sentence(second.kind)}"]
    said += [f"{plural(unparsed, 'item')} got no readable label from {who}."] if unparsed else []
    if question.what == "pairs":
        both = second.answers.drop_nulls()
        flips, n = int((both["accepted"] != both["turned"]).sum()), both.height
        interval = wilson(flips, n)
        reason = "" if n else "no pair has a readable label in both orders"
        flip = Estimate(flips / n if n else math.nan, interval.low, interval.high, n, reason)
        tables.put(metrics, "flip_rate", flip)
        said.append(
            f"Shown in the other order, {words.share(flip)} of {plural(n, 'pair')} get another answer from {who} "
            "(interval: Wilson, unit pair)."
        )
    return said


def _missing(sample: Sample, items: int, labels: pl.DataFrame | None, right: str) -> list[str]:
    missing = []
    if labels is None:
        missing.append("labels of people: a second judge may err where the first does")
    elif without := items - labels["item"].n_unique():
        missing.append(f"labels of {without:,} of {plural(items, 'item')} of the sheet")
    if unparsed := int(sample.strata.unique("cell_key")["unparsed"].sum()):
        missing.append(
            f"{plural(unparsed, sample.question.unit)} without a readable verdict of the judge: in no share given here"
        )
    return missing


def _sources(sample: Sample) -> tuple[Source, ...]:
    names = ("model", "strategy", "domain", "judge", "subject", "stop_reason", "cell_key", "folder")
    cells = sample.strata.unique("cell_key").sort("domain", "strategy", "model")
    return tuple(Source(*row) for row in cells.select(names).iter_rows())


def _captions(question: Question, right: str, whole: Compared) -> dict[str, str]:
    n = rated_words(whole.sample["agreement"].n, whole.judgements, question.unit)
    return {
        "agreement": f"Judge against {right}, {n} as drawn. Precision: of what the judge accepts, the share that "
        f"is {question.accepted} for {right}; missed: of what it turns down, the share that is; for everything, every "
        f"domain and every model. Lines: {METHOD}; unit: {question.unit}.",
        "corrected": f"Share of {question.accepted} {question.unit}s as the judge counts them (hollow, all "
        f"{whole.size:,} of them) and as corrected by {right} (filled, from {n}). Lines: {METHOD}, weighted.",
    }


def _definitions(question: Question, right: str) -> dict[str, str]:
    unit, accepted = question.unit, question.accepted
    definitions = {
        "as drawn": f"on the sampled {unit}s, half of which the judge accepted if there were as many",
        "weighted": f"every sampled {unit} stands for its share of the judged {unit}s of its verdict, domain, strategy "
        "and model",
        "corrected share": f"sum over strata of the share of all judged {unit}s in it, times the share of its sampled "
        f"{unit}s that {right} call {accepted}",
        "κ": "Cohen's kappa: agreement beyond what the two would reach by chance with their own rates of yes",
        "PABAK, AC1": "agreement beyond chance that does not collapse where nearly everything has one label",
        "precision": f"of the {unit}s that the judge calls {accepted}, the share that {right} call {accepted}",
        "missed": f"of the {unit}s that the judge turns down, the share that {right} call {accepted}",
        "n, judgements": f"n counts {unit}s; one that several cells have in the same words was answered once, and is "
        "drawn again with all of its judgements of one verdict or not at all",
        "interval": f"{METHOD}; unit: {unit}; half an imagined {unit} of every outcome is added per verdict; none from "
        f"fewer than {FEWEST} {unit}s",
    }
    if question.what == "audit":
        definitions["people"] = (
            "what most annotators who decided say: valid, or niche but plausible, against invalid by form or factually "
            "wrong; unsure decides nothing, and a tie leaves the point out"
        )
        definitions["factually wrong"] = "more than half of the annotators who decided call it factually wrong"
    else:
        definitions["people"] = (
            "what most annotators who decided say; unsure decides nothing, a tie leaves the pair out"
        )
        definitions["judged pair"] = (
            "a pair of texts of one cell that the judge was asked about and answered; pairs merged by their cosine "
            "alone are not among them"
        )
    return definitions
