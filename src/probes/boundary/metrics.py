"""The numbers of one boundary cell from its tables (arXiv 2602.00959); pure."""

from __future__ import annotations

import polars as pl

from src.audited import audited, decline_metrics
from src.records import Metrics, Tables
from src.stats.flat import put
from src.text.fences import looks_like_instruction

TOKENS = ("tokens_generation_in", "tokens_generation_out", "tokens_embedding")
UNKNOWN = "the endpoint did not say how many tokens it used"
RECORDED = "recorded answers carry no token counts"


def summarise(extracted: Tables, processed: Tables | None) -> Metrics:
    """Flat metrics: name → number or null; each null has a `<name>_reason`.

    Args:
        extracted: the tables of the extraction.
        processed: those of the processing; None gives the metrics of the extraction alone.
    """
    metrics = _extraction(extracted)
    if processed is not None:
        metrics |= _processing(extracted["atoms"], processed)
        metrics |= decline_metrics(extracted["atoms"], processed["atoms"], extracted["turns"])
    return metrics


def _extraction(extracted: Tables) -> Metrics:
    """What was asked and listed; tokens as if nothing were replayed, generation plus embedding being the cost axis."""
    atoms, turns = extracted["atoms"], extracted["turns"]
    metrics: Metrics = {
        "raw": atoms.height,
        "turns": turns.height,
        "stop_reason": extracted["stop"]["reason"][0],
        "taxonomy_shortfall": int(turns["shortfall"].sum()),
        "calls": int(turns["calls"].sum()),
        "injection_attempts": sum(map(looks_like_instruction, atoms["text"].unique())),
    }
    for name in ("unlisted", "truncated", "cut", "empty", "refused"):
        metrics[name] = int(turns[name].sum())
    unknown = RECORDED if metrics["stop_reason"] == "recorded" else UNKNOWN
    for name in TOKENS:
        put(metrics, name, total(turns[name]), UNKNOWN if name == "tokens_embedding" else unknown)
    known = [part for part in (metrics[name] for name in TOKENS) if isinstance(part, int)]
    put(metrics, "tokens_nominal", sum(known) if len(known) == len(TOKENS) else None, unknown)
    return metrics


def _processing(atoms: pl.DataFrame, processed: Tables) -> Metrics:
    """What remained and what it is worth; the unit is a cluster, judged by its representative."""
    linkage = processed["linkage"].row(0, named=True)
    metrics: Metrics = {
        **audited(atoms, processed["atoms"]),
        "judge_unparsed": int(linkage["judge_unparsed"]),
        "largest_cluster": int(linkage["largest_cluster"]),
        "chain_alarm": int(linkage["chain_alarm"]),
    }
    put(metrics, "smallest_cosine", linkage["smallest_cosine"], "no cluster holds two distinct texts")
    calls = processed["calls"].filter(pl.col("prompt").is_in(["duplicate", "audit"]))  # of the repeats: apart
    calls = calls.with_columns(tokens=pl.col("tokens_in") + pl.col("tokens_out"))
    metrics["calls_judge"] = int(calls["requests"].sum())
    for name, rubric in (("tokens_judge", "duplicate"), ("tokens_audit", "audit")):
        put(metrics, name, total(calls.filter(prompt=rubric)["tokens"]), UNKNOWN)
    return metrics


def total(column: pl.Series) -> int | None:
    """Sum of counts; None if one is unknown, because unknown is not zero."""
    return None if column.null_count() else int(column.sum())
