"""The metrics of a cell of questions; pure."""

from __future__ import annotations

import numpy as np
import polars as pl

from src.records import Metrics, Tables
from src.stats.categories import CLASSES, measures, share
from src.stats.flat import put, put_interval

SEED = 0
"""Of the bootstrap of a cell, whatever the run's own seed: the same answers give the same bounds."""
PARTS = {"": pl.lit(True), "_yes_no": pl.col("yes_no"), "_open": ~pl.col("yes_no")}
"""All questions; those whose answer is yes or no, which a guess gets right half of the time; the others."""
STATES = ("truncated", "empty", "refused", "missing")


def summarise(extracted: Tables, processed: Tables | None) -> Metrics:
    """Shares of the classes, accuracy and category score with their intervals, over questions with all their answers.

    Args:
        extracted: tables of the extraction.
        processed: tables of the processing; None: metrics of the extraction alone.

    Returns:
        `questions` (classified), `incomplete`, `share_HK` … `share_CU`, `accuracy`, `category_score`, each with bounds;
        the same with `_yes_no` and `_open` where there are yes/no questions; `accuracy_raw` and `accuracy_contained`:
        greedy answers that are a gold answer as written, or hold one; answers by state; calls and tokens.
    """
    calls = extracted["calls"]
    stop = extracted["stop"].row(0, named=True)
    metrics: Metrics = {
        "stop_reason": stop["reason"],
        "calls": int(calls["requests"].sum()),
        "tokens_generation_in": _total(calls["tokens_in"]),
        "tokens_generation_out": _total(calls["tokens_out"]),
    }
    for name in ("tokens_generation_in", "tokens_generation_out"):
        if metrics[name] is None:
            metrics[f"{name}_reason"] = "the endpoint did not say how many tokens it read or wrote"
    if processed is None:
        return metrics
    answers, questions = processed["answers"], processed["questions"]
    mixed = questions["yes_no"].any() and not questions["yes_no"].all()
    for suffix, chosen in PARTS.items():
        if not suffix or mixed:
            metrics |= _measured(questions.filter(chosen), suffix)
    whole = questions.filter(state="complete")["question_id"].implode()
    greedy = answers.filter(pl.col("question_id").is_in(whole), draw=0)
    for name, column in (("accuracy_raw", "raw_match"), ("accuracy_contained", "contained")):
        put_interval(metrics, name, *share(int(greedy[column].sum()), greedy.height))
    for state in STATES:
        metrics[state] = answers.filter(state=state).height
    return metrics


def by_kind(questions: pl.DataFrame) -> pl.DataFrame:
    """Accuracy with its interval and the share of each class for every kind of question, sorted by kind.

    Args:
        questions: the table of the processing; only those with all of their answers count.

    Returns:
        Columns `kind`, `questions`, `right`, `accuracy` with `_low` and `_high`, and the classes.
    """
    table = (
        questions.filter(state="complete")
        .group_by("kind")
        .agg(
            pl.len().alias("questions"),
            pl.col("greedy_correct").sum().alias("right"),
            *((pl.col("category") == name).mean().alias(name) for name in CLASSES),
        )
        .sort("kind")
    )
    found = [share(right, n) for right, n in zip(table["right"], table["questions"], strict=True)]
    return table.with_columns(
        pl.Series("accuracy", [value for value, _ in found], pl.Float64),
        pl.Series("accuracy_low", [interval.low for _, interval in found], pl.Float64),
        pl.Series("accuracy_high", [interval.high for _, interval in found], pl.Float64),
    )


def _measured(questions: pl.DataFrame, suffix: str) -> Metrics:
    metrics: Metrics = {}
    whole = questions.filter(state="complete")
    codes = np.array([CLASSES.index(name) for name in whole["category"]], dtype=np.int64)
    put(metrics, f"questions{suffix}", whole.height)
    put(metrics, f"incomplete{suffix}", questions.height - whole.height)
    for name, number in measures(codes, SEED).items():
        put_interval(metrics, f"{name}{suffix}", *number)
    return metrics


def _total(counts: pl.Series) -> int | None:
    """Their sum; None if one is unknown, because unknown is not zero."""
    return None if counts.null_count() else int(counts.sum())
