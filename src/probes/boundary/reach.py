"""What turn 1 can reach, seen or not: points of repeated draws to clusters per branch to estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from src.asking import call_row, call_table
from src.dedup.evidence import cluster
from src.dedup.gather import gather_verdicts
from src.dedup.nodes import distinct
from src.dedup.settings import Dedup
from src.interfaces import Lab
from src.probes.boundary.metrics import UNKNOWN, total
from src.probes.boundary.process import audit
from src.records import Domain, Metrics, Progress, Rubric, Tables, Verdict
from src.schemas import REPEATED_CLUSTERS
from src.settle import settle
from src.stats.flat import put, put_interval
from src.stats.richness import Incidence, chao2, coverage, ice

JUDGED = "repeats."
"""Before the name of a rubric: a call that only the repeats needed."""
COUNTS = ("reach_observed", "reach_f1", "reach_f2")
ESTIMATES = {"chao2": chao2, "ice": ice, "coverage": coverage}
ONCE = "repeats=1: each prompt of turn 1 was asked once; repeats=3 or more (5 is a good start) gives an estimate"
ALIKE = "all draws are alike word for word, so they are no sample; at temperature 0 there is nothing to estimate"


async def judge_repeats(
    lab: Lab, extracted: Tables, processed: Tables, *, domain: Domain, dedup: Dedup, rubrics: Mapping[str, Rubric]
) -> Tables:
    """Cluster and audit the points of all draws, branch by branch; adds the table repeats, and calls to calls.

    The linkage is one that no order can change, so that no draw is favoured. Only the cell's own thresholds are judged
    for. What the cell has judged already is in the ledger.

    Args:
        lab: its judge and encoder are used.
        extracted: the tables of the extraction.
        processed: the tables of the processing so far.
        domain: what was asked about.
        dedup: the cell's own thresholds and guards.
        rubrics: the questions `duplicate` and `audit`.
    """
    draws = extracted["draws"].row(0, named=True)
    points = extracted["repeats"]
    if draws["reason"] or points.is_empty():
        return {**processed, "repeats": REPEATED_CLUSTERS.to_frame()}
    own = replace(dedup, linkage="representative")
    nodes = distinct(points["atom_id"], points["text"])
    vectors = (await lab.encoder.encode(nodes.texts)).vectors
    branches = points.partition_by("branch", maintain_order=True)
    done = 0

    async def linked(branch: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Verdict, ...]]:
        nonlocal done
        inside = distinct(branch["atom_id"], branch["text"])
        rows = vectors[[nodes.node_of[atom_id] for atom_id in inside.first]]
        evidence, verdicts = await gather_verdicts(
            inside, rows, own, lab.judge, rubrics["duplicate"], lambda _: None, swept=False
        )
        done += 1
        lab.progress(Progress("pairs of repeats", done, len(branches)))
        return cluster(evidence, own).table(), verdicts

    found = await settle(linked(branch) for branch in branches)
    audits = await audit(lab, nodes.texts, domain, rubrics["audit"])
    judged = [("duplicate", verdict) for _, verdicts in found for verdict in verdicts]
    judged += [("audit", verdict) for verdict in audits]
    seen = set(processed["calls"]["key"])
    calls = []
    for rubric, verdict in judged:
        for completion in verdict.completions:
            if completion.key not in seen:
                seen.add(completion.key)
                calls.append(call_row("judge", JUDGED + rubric, completion))
    valid = [audits[node].accepted for node in nodes.node_of]
    clusters = [_counted(table, points, valid, draws["whole"]) for table, _ in found]
    return {
        **processed,
        "repeats": pl.concat(clusters).sort("branch", "cluster"),
        "calls": pl.concat([processed["calls"], call_table(calls)]),
    }


def _counted(table: pl.DataFrame, points: pl.DataFrame, valid: list[bool | None], draws: int) -> pl.DataFrame:
    """In which draws each cluster of a branch was seen; schema REPEATED_CLUSTERS."""
    rows = []
    for (cluster_id,), members in table.group_by("cluster_id", maintain_order=True):
        head = int(members["representative"][0])
        found = set(points["draw"].gather(members["atom_id"]))
        pattern = "".join("1" if draw in found else "0" for draw in range(draws))
        rows.append((points["branch"][head], cluster_id, points["text"][head], len(found), pattern, valid[head]))
    return pl.DataFrame(rows, schema=REPEATED_CLUSTERS, orient="row")


def reach(extracted: Tables, processed: Tables | None) -> Metrics:
    """The numbers of repeats: what they cost, and, once they are judged, estimates with 95 % intervals.

    `repeats` is the number of draws; None, with the reason, if some are missing. The unit of the estimates is a valid
    cluster of a branch, and a sample is one draw of every branch.
    """
    draws = extracted["draws"].row(0, named=True)
    missing, whole = draws["reason"], draws["whole"]
    calls = extracted["calls"].filter(pl.col("turn").is_null())
    metrics: Metrics = {"calls_repeats": int(calls["requests"].sum())}
    for end in ("in", "out"):
        put(metrics, f"tokens_repeats_{end}", total(calls[f"tokens_{end}"]), UNKNOWN)
    put(metrics, "repeats", None if missing else whole, missing)
    if processed is None:
        return metrics
    judged = processed["calls"].filter(pl.col("prompt").str.starts_with(JUDGED))
    metrics["calls_repeats_judge"] = int(judged["requests"].sum())
    put(metrics, "tokens_repeats_judge", total(judged["tokens_in"] + judged["tokens_out"]), UNKNOWN)
    missing = missing or (ONCE if whole == 1 else ALIKE if _alike(extracted["repeats"], whole) else "")
    if missing:
        for name in (*COUNTS, *(name + bound for name in ESTIMATES for bound in ("", "_low", "_high"))):
            put(metrics, name, None, missing)
        return metrics
    units = processed["repeats"].filter("valid")
    seen = np.array([[mark == "1" for mark in pattern] for pattern in units["seen"]], dtype=bool)
    incidence = Incidence(units["branch"].to_list(), seen.reshape(units.height, whole))
    metrics |= dict(zip(COUNTS, (incidence.observed, incidence.f1, incidence.f2), strict=True))
    for name, estimator in ESTIMATES.items():
        estimate = estimator(incidence)
        put_interval(metrics, name, estimate.value, estimate.interval)
    return metrics


def _alike(points: pl.DataFrame, draws: int) -> bool:
    """Whether every draw brought the same texts in the same places, as at temperature 0."""
    said = [part.select("branch", "text").rows() for part in points.partition_by("draw")]
    return len(said) == draws and all(each == said[0] for each in said)
