"""How alike raw points are to their nearest earlier ones, and whether there are two kinds of them, by encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.stats.modality import modality

EDGES = np.round(np.arange(-50, 51) / 50, 2)
SAME = 1 - 1e-6
"""Above this a text is the same as the earlier one."""

MODES = pl.Schema(
    {
        "embedder": pl.String,
        "cells": pl.Int64,
        "n": pl.Int64,
        "same_text": pl.Int64,
        "sarle": pl.Float64,
        "valley_depth": pl.Float64,
        "valley_at": pl.Float64,
        "valley_remains": pl.Float64,
        "valley_p": pl.Float64,
        "bimodal": pl.Boolean,
        "reason": pl.String,
    }
)


BINS = pl.Schema({"embedder": pl.String, "from": pl.Float64, "to": pl.Float64, "points": pl.Int64})


def alikeness(cells: Sequence[MeasuredCell], seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What was computed about the modes of each encoder's cosines (MODES), and their histograms (BINS)."""
    by_encoder: dict[str, list[MeasuredCell]] = {}
    for cell in cells:
        by_encoder.setdefault(str(cell.value("embedder.name")), []).append(cell)
    rows: list[tuple[Any, ...]] = []
    bins: list[tuple[Any, ...]] = []
    for name, its in sorted(by_encoder.items()):
        every = np.concatenate([cell.extracted["atoms"]["nearest_cosine"].drop_nulls().to_numpy() for cell in its])
        values = np.clip(every[every <= SAME], -1, 1)
        found = modality(values, EDGES, seed)
        numbers = [None if np.isnan(x) else x for x in (found.sarle, found.depth, found.valley, found.remains, found.p)]
        reason = found.reason or ("there is no valley" if found.depth == 0 else "")
        same = int((every > SAME).sum())
        rows.append((name, len(its), found.n, same, *numbers, found.bimodal, reason))
        counts = np.histogram(values, EDGES)[0].tolist()
        bins.extend((name, *bounds) for bounds in zip(EDGES[:-1].tolist(), EDGES[1:].tolist(), counts, strict=True))
    return pl.DataFrame(rows, schema=MODES, orient="row"), pl.DataFrame(bins, schema=BINS, orient="row")
