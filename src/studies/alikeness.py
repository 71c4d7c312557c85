"""How alike raw points are to their nearest earlier ones, and whether there are two kinds of them, by encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.stats.modality import modality

EDGES = np.round(np.arange(-50, 51) / 50, 2)
SAME = 1 - 1e-6
"""Above this a text is the same as the earlier one."""

ALIKE = pl.Schema(
    {
        "embedder": pl.String,
        **dict.fromkeys(("cells", "n", "same_text"), pl.Int64),
        **dict.fromkeys(("sarle", "valley_depth", "valley_at", "valley_p"), pl.Float64),
        "bimodal": pl.Boolean,
        "reason": pl.String,
        "counts": pl.List(pl.Int64),
    }
)


def alikeness(cells: Sequence[MeasuredCell], seed: int) -> pl.DataFrame:
    """A row for each encoder: histogram of its cosines (bins EDGES) and the tests of two modes; schema ALIKE."""
    by_encoder: dict[str, list[MeasuredCell]] = {}
    for cell in cells:
        by_encoder.setdefault(str(cell.value("embedder.name")), []).append(cell)
    rows = []
    for name, its in sorted(by_encoder.items()):
        columns = [cell.extracted["atoms"]["nearest_cosine"].drop_nulls().to_numpy() for cell in its]
        every = np.concatenate(columns)
        values = np.clip(every[every <= SAME], -1, 1)
        found = modality(values, EDGES, seed)
        numbers = [None if np.isnan(x) else x for x in (found.sarle, found.depth, found.valley, found.p)]
        reason = found.reason
        if not reason and found.bimodal is None:
            reason = "the two answers disagree"
        elif not reason and found.depth == 0:
            reason = "there is no valley"
        same = int((every > SAME).sum())
        counts = np.histogram(values, EDGES)[0].tolist()
        rows.append((name, len(its), found.n, same, *numbers, found.bimodal, reason, counts))
    return pl.DataFrame(rows, schema=ALIKE, orient="row")
