"""Patience: where a run would have stopped with less of it, and what it would have lost; only what is known is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from src.cells import MeasuredCell
from src.figures.boundary import cumulated

PATIENCES = (0, 1)
PATIENCE = pl.Schema(
    {
        **dict.fromkeys(("model", "strategy", "domain"), pl.String),
        **dict.fromkeys(("own_patience", "turns"), pl.Int64),
        "stop_reason": pl.String,
        "patience": pl.Int64,
        **dict.fromkeys(("stop_turn", "valid", "valid_lost", "tokens_saved"), pl.Int64),
        "share_lost": pl.Float64,
        "reason": pl.String,
    }
)


def patience_table(cells: Sequence[MeasuredCell]) -> pl.DataFrame:
    """Where every cell stops with patience 0 and with patience 1, schema PATIENCE.

    Numbers are none, with the reason, where the run ended before anybody could know.
    """
    rows: list[tuple[Any, ...]] = []
    for cell in cells:
        turns = cell.extracted["turns"].sort("turn")
        so_far = cumulated(turns, cell.extracted["atoms"], cell.processed["atoms"])
        own, reason = int(cell.value("saturation.patience") or 0), str(cell.metrics["stop_reason"])
        for patience in PATIENCES:
            stop, why = _stop(turns["stale"].to_list(), own, reason, patience, int(cell.value("max_turns")))
            place = (cell.model, cell.strategy, cell.domain, own, turns.height, reason, patience)
            if stop is None:
                rows.append((*place, None, None, None, None, None, why))
                continue
            end, last = so_far.row(stop, named=True), so_far.row(-1, named=True)
            lost = last["valid"] - end["valid"]
            saved = None if last["tokens"] is None else last["tokens"] - end["tokens"]
            share = lost / last["valid"] if last["valid"] else None
            if saved is None or share is None:
                why = "tokens are unknown" if saved is None else "the run found no valid point"
            rows.append((*place, stop, end["valid"], lost, saved, share, why))
    return pl.DataFrame(rows, schema=PATIENCE, orient="row").sort("model", "strategy", "domain", "patience")


def _stop(stale: Sequence[bool], own: int, reason: str, patience: int, max_turns: int) -> tuple[int | None, str]:
    """The turn after which a run stops with another patience; or why nobody knows."""
    if reason == "recorded":
        return None, "recorded answers: no loop decided when to stop"
    streak = 0
    for turn, is_stale in enumerate(stale, start=1):
        streak = streak + 1 if is_stale else 0
        if streak > patience:
            return turn, ""
    if patience == own or reason == "max_turns":
        return len(stale), ""  # as it was: the limit of turns, or what cut it short
    if reason == "saturated" and len(stale) >= max_turns:
        return len(stale), ""  # the limit of turns would have ended it there
    if reason == "saturated":
        return (
            None,
            f"with patience {patience} the run would have gone on after turn {len(stale)}; nobody knows how far",
        )
    return None, f"the run was cut short ({reason}) before that"
