"""What patience gives up and what it saves: where a run stops, and what later turns would have found; pure.

Every meaning counts as novel once, as if the encoder saw through every paraphrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from src.saturation import Saturation
from src.studies.patience import PATIENCES
from src.studies.validation.setting import OWN, Setting, bench


class Stop(NamedTuple):
    """Where a run stops with some patience.

    Attributes:
        patience: of the stopping rule.
        turn: the last one.
        saturated: whether that was before the limit of turns.
        lost: share of the valid statements of all turns that were first made after it; 0 if there are none.
        saved: share of the points of all turns that came after it.
    """

    patience: int
    turn: int
    saturated: bool
    lost: float
    saved: float


def stops(setting: Setting, seed: int, rule: Saturation, turns: int) -> list[Stop]:
    """Where a run of `own` stops with each patience.

    Args:
        setting: of the universe.
        seed: which of them.
        rule: of stopping; its patience is not looked at.
        turns: at most.
    """
    place = bench(setting, seed, setting.lineup)
    run = place.run(OWN, "stopping", turns)
    seen = place.judged(run)
    raw = np.bincount(run.turn, minlength=turns + 1)[1:]
    novel = np.bincount(seen.turn, minlength=turns + 1)[1:]
    valid = np.bincount(seen.turn[seen.valid], minlength=turns + 1)[1:]
    pool = np.cumsum(novel) - novel
    stale = [
        rule.stale(raw=int(r), novel=int(n), pool=int(p)) for r, n, p in zip(raw, novel, pool, strict=True)
    ]  # fmt: skip
    return [_stop(stale, replace(rule, patience=patience), raw, valid) for patience in PATIENCES]


def _stop(stale: Sequence[bool], rule: Saturation, raw: np.ndarray, valid: np.ndarray) -> Stop:
    turns = len(stale)
    last = next((turn for turn in range(1, turns + 1) if rule.saturated(stale[:turn])), turns)
    lost = valid[last:].sum() / max(1, valid.sum())
    return Stop(rule.patience, last, last < turns, float(lost), float(raw[last:].sum() / max(1, raw.sum())))
