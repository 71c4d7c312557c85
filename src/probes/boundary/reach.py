"""What turn 1 can reach, seen or not: points of repeated draws to clusters per branch to estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from src.asking import CENSORED, call_row, call_table
from src.dedup.evidence import cluster
from src.dedup.gather import gather_verdicts
from src.dedup.nodes import distinct
from src.dedup.settings import Dedup
from src.errors import FrontierError
from src.interfaces import Lab
from src.probes.boundary.metrics import UNKNOWN, total
from src.probes.boundary.process import audit
from src.records import Domain, Metrics, Progress, Rubric, Tables, Verdict
from src.schemas import CALLS, REPEATED_CLUSTERS
from src.settle import settle
from src.stats.flat import put, put_interval
from src.stats.richness import Incidence, chao2, coverage

JUDGED = "repeats."
"""Before the name of a rubric: a call that only the repeats needed."""
COUNTS = ("reach_observed", "reach_f1", "reach_f2")
ESTIMATES = {"chao2": chao2, "coverage": coverage}
ONCE = "repeats=1: each prompt of turn 1 was asked once; repeats=3 or more (5 is a good start) gives an estimate"
ALIKE = "all draws are alike word for word, as at temperature 0 or at the rehearsal server, so they are no sample"
WITHDRAWN = "withdrawn: on simulated models it misses what is reachable (docs/validation.md)"
CUT = "the judging of the repeats was cut short"


async def judge_repeats(
    lab: Lab, extracted: Tables, processed: Tables, *, domain: Domain, dedup: Dedup, rubrics: Mapping[str, Rubric]
) -> Tables:
    """Judge the points of all draws; adds the tables repeats and draws, and calls to calls.

    The cell is whole before, and stays so: what ends the judging here, such as a limit, leaves repeats empty and stands
    as the reason in draws. What the cell has judged already is in the ledger.

    Args:
        lab: its judge and encoder are used.
        extracted: the tables of the extraction.
        processed: the tables of the processing so far.
        domain: what was asked about.
        dedup: the cell's own thresholds and guards.
        rubrics: the questions `duplicate` and `audit`.
    """
    draws, points = extracted["draws"], extracted["repeats"]
    clusters, calls = REPEATED_CLUSTERS.to_frame(), CALLS.to_frame()
    if not draws["reason"][0] and not points.is_empty():
        try:
            clusters, verdicts = await _judge(lab, points, draws["whole"][0], domain, dedup, rubrics)
        except FrontierError as failure:
            ended = CENSORED.get(type(failure), "error")
            draws = draws.with_columns(reason=pl.lit(f"only the main run was judged, then {ended}: {failure}"))
        else:
            calls = _new_calls(verdicts, set(processed["calls"]["key"]))
    return {**processed, "repeats": clusters, "draws": draws, "calls": pl.concat([processed["calls"], calls])}


async def _judge(
    lab: Lab, points: pl.DataFrame, draws: int, domain: Domain, dedup: Dedup, rubrics: Mapping[str, Rubric]
) -> tuple[pl.DataFrame, list[tuple[str, Verdict]]]:
    """Cluster the points of all draws branch by branch and audit them: the table repeats, and verdicts by rubric.

    The linkage is one that no order can change, so that no draw is favoured. Only the cell's own thresholds are judged
    for.
    """
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
    valid = [audits[node].accepted for node in nodes.node_of]
    clusters = [_counted(table, points, valid, draws) for table, _ in found]
    return pl.concat(clusters).sort("branch", "cluster"), judged


def _new_calls(judged: list[tuple[str, Verdict]], seen: set[str]) -> pl.DataFrame:
    """The calls behind verdicts, but for those whose keys were seen, each once; schema CALLS."""
    calls = []
    for rubric, verdict in judged:
        for completion in verdict.completions:
            if completion.key not in seen:
                seen.add(completion.key)
                calls.append(call_row("judge", JUDGED + rubric, completion))
    return call_table(calls)


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

    `repeats` is the number of draws; None, with the reason, if some are missing or were not judged. The unit of the
    estimates is a valid cluster of a branch, and a sample is one draw of every branch.
    """
    draws = (extracted if processed is None else processed)["draws"].row(0, named=True)
    missing, whole = draws["reason"], draws["whole"]
    calls = extracted["calls"].filter(pl.col("turn").is_null())
    metrics: Metrics = {"calls_repeats": int(calls["requests"].sum())}
    for end in ("in", "out"):
        put(metrics, f"tokens_repeats_{end}", total(calls[f"tokens_{end}"]), UNKNOWN)
    put(metrics, "repeats", None if missing else whole, missing)
    if processed is None:
        return metrics
    judged = processed["calls"].filter(pl.col("prompt").str.starts_with(JUDGED))
    cut = missing != extracted["draws"]["reason"][0]  # then some was paid for, which the spend tells
    put(metrics, "calls_repeats_judge", None if cut else int(judged["requests"].sum()), CUT)
    tokens = None if cut else total(judged["tokens_in"] + judged["tokens_out"])
    put(metrics, "tokens_repeats_judge", tokens, CUT if cut else UNKNOWN)
    put(metrics, "ice", None, WITHDRAWN)
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
