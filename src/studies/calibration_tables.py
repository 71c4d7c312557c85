"""The tables and metrics of a calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from src.calibration.questions import Question
from src.calibration.sample import Sample
from src.records import Metrics
from src.stats import flat
from src.stats.agreement import Estimate
from src.studies.raters import Compared, compare, people
from src.text.formulas import neutralised

MEASURES = ("agreement", "kappa", "pabak", "ac1", "prevalence", "precision", "missed")
CELL = ("domain", "strategy", "model")
ONE_ALONE = "one annotator alone"


def agreement_rows(raters: str, parts: Sequence[tuple[str, str, Compared]]) -> pl.DataFrame:
    """Every measure of two raters, over everything, every domain and every model; as drawn and weighted.

    Args:
        raters: who is compared.
        parts: kind of a part (`all`, `domain`, `model`), its name, and the comparison.
    """
    rows = [
        {
            "raters": raters,
            "part": kind,
            "name": name,
            "weighting": weighting,
            "judged": each.size,
            "n": measures["agreement"].n,
            "judgements": each.judgements,
            **{key: value for measure in MEASURES for key, value in columns(measure, measures[measure]).items()},
            "first_share": None if measures["first_share"].reason else measures["first_share"].value,
            "first_share_reason": measures["first_share"].reason,
        }
        for kind, name, each in parts
        for weighting, measures in (("as drawn", each.sample), ("weighted", each.population))
    ]
    schema = {name: pl.Float64 for measure in (*MEASURES, "first_share") for name in _names(measure)[:3]}
    return pl.DataFrame(rows, schema_overrides={name: schema[name] for name in rows[0] if name in schema})


def cell_rows(sample: Sample, rated: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Every cell: what the judge accepts, the share as corrected, and how far the two agree inside it."""
    rows = []
    for key, compared in by_cell(sample, rated, first, second).items():
        strata = sample.strata.filter(cell_key=key)
        yes = compared.population["first_share"]
        rows.append(
            {
                **strata.select(CELL).row(0, named=True),
                "judged": compared.size,
                "unparsed": strata["unparsed"][0],
                "n": compared.sample["agreement"].n,
                "judgements": compared.judgements,
                "judge_share": None if yes.reason else yes.value,
                "judge_share_reason": yes.reason,
                **columns("corrected_share", compared.population["prevalence"]),
                **columns("agreement", compared.sample["agreement"]),
                **columns("kappa", compared.sample["kappa"]),
                **columns("ac1", compared.sample["ac1"]),
            }
        )
    names = ("corrected_share", "agreement", "kappa", "ac1")
    schema = {"judge_share": pl.Float64} | {name: pl.Float64 for each in names for name in _names(each)[:3]}
    return pl.DataFrame(rows, schema_overrides=schema).sort(CELL)


def stratum_rows(sample: Sample, rated: pl.DataFrame, second: str) -> pl.DataFrame:
    """Every stratum: how many judgements, drawn, answered and accepted by whoever counts as right."""
    answered = rated.group_by("stratum").agg(
        answered=pl.col(second).is_not_null().sum().cast(pl.Int64), accepted=pl.col(second).sum().cast(pl.Int64)
    )
    total = int(sample.strata["population"].sum())
    return (
        sample.strata.join(answered, on="stratum", how="left")
        .select(
            *CELL,
            pl.when("verdict").then(pl.lit("accepted")).otherwise(pl.lit("turned down")).alias("verdict"),
            "population",
            (pl.col("population") / total).alias("share"),
            "sampled",
            pl.col("answered", "accepted").fill_null(0),
        )
        .sort(*CELL, "verdict")
    )


def disagreement_rows(rated: pl.DataFrame, question: Question, second: str) -> pl.DataFrame:
    """What the judge and whoever counts as right see differently; texts that look like formulas are made harmless."""
    found = rated.filter(pl.col("verdict") != pl.col(second)).unique(["item", "verdict"]).sort("item")
    texts = [
        pl.col(column).map_elements(neutralised, return_dtype=pl.String).alias(heading.replace(" ", "_"))
        for column, heading in zip(("first", "second_text"), question.texts, strict=False)
    ]
    return found.select(
        "item",
        pl.col("query").map_elements(neutralised, return_dtype=pl.String).alias("domain"),
        *texts,
        pl.when("verdict").then(pl.lit(question.accepted)).otherwise(pl.lit(f"not {question.accepted}")).alias("judge"),
        pl.col("said").map_elements(neutralised, return_dtype=pl.String).alias("people"),
    )


def label_rows(labels: pl.DataFrame, rated: pl.DataFrame, question: Question) -> pl.DataFrame:
    """How often each annotator gave each label, by the judge's verdict; a label that was not given counts 0."""
    verdicts = rated.group_by("item").agg(judge=pl.col("verdict").max())
    given = labels.join(verdicts, on="item", how="left")
    rows = [
        {
            "annotator": name,
            "label": label.name,
            "judge_accepts": given.filter(annotator=name, label=label.name, judge=True).height,
            "judge_turns_down": given.filter(annotator=name, label=label.name, judge=False).height,
        }
        for name in sorted(set(labels["annotator"]))
        for label in question.labels
    ]
    return pl.DataFrame(rows).with_columns(pl.col("annotator").map_elements(neutralised, return_dtype=pl.String))


def annotator_rows(pairs: Sequence[tuple[str, str, dict[str, Estimate]]]) -> pl.DataFrame:
    """Every two annotators."""
    rows = [
        {
            "annotator": neutralised(one),
            "other": neutralised(other),
            "n": both["agreement"].n,
            **columns("agreement", both["agreement"]),
            **columns("kappa", both["kappa"]),
            **columns("ac1", both["ac1"]),
        }
        for one, other, both in pairs
    ]
    schema = {name: pl.Float64 for each in ("agreement", "kappa", "ac1") for name in _names(each)[:3]}
    return pl.DataFrame(rows, schema_overrides=schema)


def by_cell(sample: Sample, rated: pl.DataFrame, first: str, second: str) -> dict[str, Compared]:
    """The comparison inside every cell, by cell_key, in the order of the strata."""
    cells = sample.strata.partition_by("cell_key", maintain_order=True, as_dict=True)
    points = rated.partition_by("cell_key", as_dict=True)
    return {
        str(key[0]): compare(points.get(key, rated.clear()), strata, first, second, sample.seed)
        for key, strata in cells.items()
    }


def metrics_of(
    parts: Sequence[tuple[str, str, Compared]], wrong: Compared | None, sample: Sample, items: int
) -> Metrics:
    """The numbers of a calibration, flat: over everything, then what the judge misses in every domain."""
    whole = parts[0][2]
    metrics: Metrics = {
        "judged": whole.size,
        "judge_unparsed": int(sample.strata.unique("cell_key")["unparsed"].sum()),
        "sampled": sample.units.height,
        "items": items,
        "n": whole.sample["agreement"].n,
        "judgements": whole.judgements,
        "uncovered": whole.uncovered,
    }
    for name in MEASURES:
        put(metrics, name, whole.sample[name])
    for name, measure in (("agreement_weighted", "agreement"), ("kappa_weighted", "kappa"), ("ac1_weighted", "ac1")):
        put(metrics, name, whole.population[measure])
    yes = whole.population["first_share"]
    flat.put(metrics, "judge_share", None if yes.reason else yes.value, yes.reason)
    put(metrics, "corrected_share", whole.population["prevalence"])
    if wrong is not None:
        put(metrics, "factually_wrong", wrong.population["prevalence"])
        put(metrics, "factually_wrong_accepted", wrong.population["precision"])
    for kind, name, each in parts:
        if kind == "domain":
            put(metrics, f"missed_{name}", each.sample["missed"])
            put(metrics, f"corrected_share_{name}", each.population["prevalence"])
    return metrics


def people_metrics(
    labels: pl.DataFrame, question: Question, pairs: Sequence[tuple[str, str, dict[str, Estimate]]]
) -> Metrics:
    """Who labelled how much, and κ between annotators: of the two, or the mean over all pairs of them."""
    counted = people(labels, question)
    metrics: Metrics = {
        "annotators": len(set(labels["annotator"])),
        "labelled": counted.height,
        "undecided": int(counted["people"].null_count()),
        "tied": int(counted["tied"].sum()),
    }
    if len(pairs) == 1:
        put(metrics, "inter_annotator_kappa", pairs[0][2]["kappa"])
        return metrics
    known = [each["kappa"].value for *_, each in pairs if not each["kappa"].reason]
    reason = pairs[0][2]["kappa"].reason if pairs else ONE_ALONE
    flat.put(metrics, "inter_annotator_kappa", sum(known) / len(known) if known else None, reason)
    return metrics


def run_metrics(cell: Compared, whole: Compared) -> Metrics:
    """What the run of a cell is told: its own numbers, and beside them those of the whole sample."""
    metrics: Metrics = {"n": cell.sample["agreement"].n, "sample_n": whole.sample["agreement"].n}
    for name in ("agreement", "kappa", "pabak", "ac1", "precision", "missed"):
        put(metrics, name, cell.sample[name])
    put(metrics, "corrected_share", cell.population["prevalence"])
    for name in ("agreement", "kappa", "ac1"):
        put(metrics, f"sample_{name}", whole.sample[name])
    put(metrics, "sample_kappa_weighted", whole.population["kappa"])
    return metrics


def put(metrics: Metrics, name: str, estimate: Estimate) -> None:
    """Write a number with its bounds, or None and why beside each."""
    for key, value in zip(_names(name), (estimate.value, estimate.low, estimate.high), strict=False):
        flat.put(metrics, key, value, estimate.reason)


def columns(name: str, estimate: Estimate) -> Mapping[str, float | str | None]:
    """A number as columns of a table: itself, its bounds, and why there is none."""
    values = [flat.number(value) for value in (estimate.value, estimate.low, estimate.high)]
    return dict(zip(_names(name), (*values, estimate.reason), strict=True))


def _names(name: str) -> tuple[str, str, str, str]:
    return name, f"{name}_low", f"{name}_high", f"{name}_reason"
