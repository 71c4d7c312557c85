"""The schemas of the tables that are stored in cell folders."""

from __future__ import annotations

import polars as pl

ATOMS = pl.Schema(
    {
        "atom_id": pl.Int64,
        "text": pl.String,
        "context": pl.String,
        "turn": pl.Int64,
        "branch": pl.String,
        "position": pl.Int64,
        "draw": pl.Int64,
        "call_key": pl.String,
        "nearest_id": pl.Int64,
        "nearest_cosine": pl.Float64,
        "novel": pl.Boolean,
    }
)
TURNS = pl.Schema(
    {
        "turn": pl.Int64,
        "raw": pl.Int64,
        "novel": pl.Int64,
        "growth": pl.Float64,
        "efficiency": pl.Float64,
        "stale": pl.Boolean,
        "unlisted": pl.Int64,
        "truncated": pl.Int64,
        "cut": pl.Int64,
        "empty": pl.Int64,
        "refused": pl.Int64,
        "shortfall": pl.Int64,
        "calls": pl.Int64,
        "tokens_generation_in": pl.Int64,
        "tokens_generation_out": pl.Int64,
        "tokens_embedding": pl.Int64,
    }
)
STOP = pl.Schema({"reason": pl.String, "detail": pl.String})
REPEATS = pl.Schema(
    {
        "atom_id": pl.Int64,
        "text": pl.String,
        "branch": pl.String,
        "draw": pl.Int64,
        "call_key": pl.String,
    }
)
QUESTIONS = pl.Schema(
    [
        ("question_id", pl.String()),
        ("question", pl.String()),
        ("golds", pl.List(pl.String())),
        ("kind", pl.String()),
        ("passage", pl.String()),
        ("yes_no", pl.Boolean()),
    ]
)
ANSWERS = pl.Schema(
    {
        "question_id": pl.String,
        "draw": pl.Int64,
        "text": pl.String,
        "state": pl.String,
        "call_key": pl.String,
    }
)
GRADED_ANSWERS = pl.Schema(
    {
        "question_id": pl.String,
        "draw": pl.Int64,
        "answer": pl.String,
        "normal": pl.String,
        "state": pl.String,
        "correct": pl.Boolean,
        "raw_match": pl.Boolean,
        "contained": pl.Boolean,
    }
)
CLASSED_QUESTIONS = pl.Schema(
    {
        "question_id": pl.String,
        "kind": pl.String,
        "yes_no": pl.Boolean,
        "state": pl.String,
        "category": pl.String,
        "greedy_correct": pl.Boolean,
        "samples_correct": pl.Int64,
        "frequency": pl.Int64,
    }
)
DRAWS = pl.Schema({"asked": pl.Int64, "whole": pl.Int64, "reason": pl.String})
CALLS = pl.Schema(
    {
        "key": pl.String,
        "role": pl.String,
        "prompt": pl.String,
        "turn": pl.Int64,
        "branch": pl.String,
        "draw": pl.Int64,
        "state": pl.String,
        "requests": pl.Int64,
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
    }
)
PAIRS = pl.Schema(
    {
        "a": pl.Int64,
        "b": pl.Int64,
        "cosine": pl.Float64,
        "stage": pl.String,
        "guard": pl.String,
        "verdict": pl.String,
    }
)
JUDGED_ATOMS = pl.Schema(
    {
        "atom_id": pl.Int64,
        "cluster_id": pl.Int64,
        "representative": pl.Int64,
        "unique": pl.Boolean,
        "valid": pl.Boolean,
        "kind": pl.String,
        "audit_state": pl.String,
    }
)
LINKAGE = pl.Schema(
    {
        "largest_cluster": pl.Int64,
        "smallest_cosine": pl.Float64,
        "chain_alarm": pl.Boolean,
        "judge_unparsed": pl.Int64,
    }
)
REPEATED_CLUSTERS = pl.Schema(
    {
        "branch": pl.String,
        "cluster": pl.Int64,
        "text": pl.String,
        "draws": pl.Int64,
        "seen": pl.String,
        "valid": pl.Boolean,
    }
)
UNION_NODES = pl.Schema({"node": pl.Int64, "text": pl.String})
UNION_POINTS = pl.Schema(
    {
        "model": pl.String,
        "atom_id": pl.Int64,
        "node": pl.Int64,
        "turn": pl.Int64,
        "branch": pl.String,
        "settings": pl.Int64,
        "cluster": pl.Int64,
    }
)
