"""The numbers of one boundary cell from its tables (arXiv 2602.00959); pure."""

from __future__ import annotations

import polars as pl

from src.records import Metrics, Tables
from src.stats.intervals import wilson, wilson_leaf
from src.text.fences import looks_like_instruction

TOKENS_GENERATION = ("tokens_generation_in", "tokens_generation_out", "tokens_embedding")


def summarise(extracted: Tables, processed: Tables) -> Metrics:
    """Flat metrics: name → number or null; each null has a `<name>_reason`."""
    atoms, turns = extracted["atoms"], extracted["turns"]
    units = processed["atoms"].filter("unique").join(atoms.select("atom_id", "branch"), on="atom_id", how="left")
    linkage = processed["linkage"].row(0, named=True)
    judged = units.filter(pl.col("valid").is_not_null())
    unique, valid, n = units.height, int(judged["valid"].sum()), judged.height
    metrics: Metrics = {
        "raw": atoms.height,
        "unique": unique,
        "valid": valid,
        "invalid": n - valid,
        "audit_unparsed": unique - n,
        "turns": turns.height,
        "stop_reason": extracted["stop"]["reason"][0],
        "taxonomy_shortfall": int(turns["shortfall"].sum()),
        "judge_unparsed": int(linkage["judge_unparsed"]),
        "largest_cluster": int(linkage["largest_cluster"]),
        "chain_alarm": int(linkage["chain_alarm"]),
        "injection_attempts": sum(map(looks_like_instruction, atoms["text"].unique())),
    }
    for name in ("unlisted", "truncated", "cut", "empty", "refused"):
        metrics[name] = int(turns[name].sum())
    empty = "no points were found"
    _put(metrics, "dedup_rate", 1 - unique / atoms.height if atoms.height else None, empty)
    _put(metrics, "accuracy", valid / n if n else None, "no audited clusters")
    _put(metrics, "audit_rejection", (n - valid) / n if n else None, "no audited clusters")
    _put(metrics, "smallest_cosine", linkage["smallest_cosine"], "no cluster holds two distinct texts")
    plain = wilson(valid, n)
    leaf = wilson_leaf(judged["valid"].to_list(), judged["branch"].to_list())
    for name, interval in (("accuracy", plain), ("accuracy_leaf", leaf)):
        _put(metrics, f"{name}_low", None if interval.reason else interval.low, interval.reason)
        _put(metrics, f"{name}_high", None if interval.reason else interval.high, interval.reason)
    _put_tokens(metrics, turns, processed["calls"])
    return metrics


def _put_tokens(metrics: Metrics, turns: pl.DataFrame, judge_calls: pl.DataFrame) -> None:
    """Tokens by role, as if nothing were replayed; the cost axis of curves is generation plus embedding."""
    unknown = "the endpoint did not say how many tokens it used"
    metrics["calls"] = int(turns["calls"].sum())
    metrics["calls_judge"] = int(judge_calls["requests"].sum())
    for name in TOKENS_GENERATION:
        _put(metrics, name, _sum(turns[name]), unknown)
    parts = [metrics[name] for name in TOKENS_GENERATION]
    known = [part for part in parts if isinstance(part, int)]
    _put(metrics, "tokens_nominal", sum(known) if len(known) == len(parts) else None, unknown)
    both = judge_calls.with_columns(tokens=pl.col("tokens_in") + pl.col("tokens_out"))
    for name, rubric in (("tokens_judge", "duplicate"), ("tokens_audit", "audit")):
        _put(metrics, name, _sum(both.filter(prompt=rubric)["tokens"]), unknown)


def _put(metrics: Metrics, name: str, value: float | None, reason: str) -> None:
    metrics[name] = value
    if value is None:
        metrics[f"{name}_reason"] = reason


def _sum(column: pl.Series) -> int | None:
    return None if column.null_count() else int(column.sum())
