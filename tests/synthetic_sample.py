"""Cells whose judgements are to be checked, and a sample of them: nothing is asked, nothing is read."""

import polars as pl

from src.calibration.sample import Sample, draw_sample
from src.calibration.sheet import sheet_items
from src.cells import MeasuredCell
from src.figures.captions import title_of
from src.identity import key_of
from src.schemas import ATOMS, JUDGED_ATOMS, PAIRS

RUBRIC = {"name": "audit", "labels": ["YES", "NO"], "accept": ["YES"], "template": "{{ domain }} {{ atom }}"}


def make_checked(
    model, valid, invalid, *, domain="deep_learning", judge="deepseek_v31", kind="llm", unparsed=0, pairs=()
):
    """A cell with so many valid and invalid points; `pairs` are (a, b, verdict)."""
    count = valid + invalid + unparsed
    verdicts = [True] * valid + [False] * invalid + [None] * unparsed
    rows = [{**dict.fromkeys(ATOMS.names()), "atom_id": i, "text": f"{model} says {domain} {i}."} for i in range(count)]
    judged = [
        {**dict.fromkeys(JUDGED_ATOMS.names()), "atom_id": i, "representative": i, "unique": True, "valid": verdict}
        for i, verdict in enumerate(verdicts)
    ]
    table = [{**dict.fromkeys(PAIRS.names()), "a": a, "b": b, "verdict": verdict} for a, b, verdict in pairs]
    config = {
        "probe": "boundary",
        "model": {"_target_": "src.llm.config.Model", "name": model},
        "strategy": {"name": "taxonomy_l2w2"},
        "domain": {"name": domain, "query": domain.replace("_", " ")},
        "judge": {"kind": kind, "name": judge},
        "rubrics": {"audit": RUBRIC, "duplicate": {**RUBRIC, "name": "duplicate"}},
    }
    return MeasuredCell(
        f"data/cells/{domain}/{model}",
        key_of(config),
        key_of(config),
        title_of(config),
        config,
        {"stop_reason": "saturated"},
        {"atoms": pl.DataFrame(rows, schema=ATOMS)},
        {"atoms": pl.DataFrame(judged, schema=JUDGED_ATOMS), "pairs": pl.DataFrame(table, schema=PAIRS)},
    )


def kappa_study() -> Sample:
    """86 % of 1,000 points accepted by the judge, of which 48 + 48 are drawn."""
    return draw_sample([make_checked("llama8b", 860, 140)], "audit", 96, 0)


def answered(sample: Sample, annotator: str, answers: dict[bool, list[str]]) -> pl.DataFrame:
    """Labels of an annotator: by the judge's verdict, one after another in the order of the sheet; "" is none."""
    items = sheet_items(sample.units, sample.seed)
    rated = items.join(sample.units, on=("query", "first", "second"), maintain_order="left").join(
        sample.strata.select("stratum", "verdict"), on="stratum", maintain_order="left"
    )
    left = {verdict: iter(labels) for verdict, labels in answers.items()}
    rows = [(annotator, item, next(left[verdict]), "") for item, verdict in rated.select("item", "verdict").iter_rows()]
    schema = ("annotator", "item", "label", "comment")
    return pl.DataFrame([row for row in rows if row[2]], schema=schema, orient="row")
