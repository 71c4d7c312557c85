"""From trials to tables: bias, error, and how often the interval held the truth, with their own uncertainty; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from src.stats.flat import number
from src.stats.intervals import wilson
from src.studies.validation.catalogue import ESTIMATORS, verdict, whole
from src.studies.validation.planted import WEAKER, Outcome
from src.studies.validation.population import Truth
from src.studies.validation.stopping import Stop
from src.studies.validation.trial import Trial

FEWEST = 30
"""Intervals that a verdict needs."""
FOUND, ALARMS, ALARMED = 0.95, 16, 200
"""An effect is to be found in this share of trials, a false alarm raised in at most 16 of 200 (5 % and its noise)."""
ESTIMATES = pl.Schema(
    {
        **dict.fromkeys(("estimator", "setting", "unit", "claims", "verdict"), pl.String),
        **dict.fromkeys(("seeds", "intervals"), pl.Int64),
        "without": pl.String,
        **dict.fromkeys(("coverage", "coverage_low", "coverage_high"), pl.Float64),
        **dict.fromkeys(("estimate", "truth", "truth_error", "bias", "bias_error", "rmse", "width"), pl.Float64),
    }
)
STUDIES = pl.Schema(
    {
        **dict.fromkeys(("study", "planted", "claim"), pl.String),
        "planted_claim": pl.Boolean,
        **dict.fromkeys(("wanted", "verdict"), pl.String),
        **dict.fromkeys(("seeds", "said"), pl.Int64),
        **dict.fromkeys(("share", "share_low", "share_high"), pl.Float64),
    }
)
STOPS = pl.Schema(
    {
        "setting": pl.String,
        **dict.fromkeys(("patience", "seeds", "saturated"), pl.Int64),
        **dict.fromkeys(
            ("stop_turn", "valid_lost", "valid_lost_5th", "valid_lost_95th", "points_saved"), pl.Float64
        ),
    }
)  # fmt: skip
OVER_ALL = {"accuracy_plain": "accuracy", "accuracy_leaf": "accuracy", "decline_rate": "decline_rate",
            "crossover": "crossover"}  # fmt: skip
"""Estimator → the truth over all universes that it is held against."""


def estimates_table(
    tried: Mapping[str, Sequence[Sequence[Trial]]], truths: Mapping[str, Mapping[str, Truth]]
) -> pl.DataFrame:
    """A row for each estimator and setting, schema ESTIMATES.

    Args:
        tried: setting → the trials of each seed.
        truths: setting → what is true over all universes.
    """
    rows = []
    for name, estimator in ESTIMATORS.items():
        for setting, seeds in tried.items():
            own = [trial for trials in seeds for trial in trials if trial.estimator == name]
            known = truths[setting].get(OVER_ALL.get(name, ""))
            rows.append(
                {
                    **{"estimator": name, "setting": setting, "unit": estimator.unit},
                    "claims": estimator.claims,
                    "truth_error": known.error if known else None,
                    **_estimated(own, estimator.claims),
                }
            )
    return pl.DataFrame(rows, schema=ESTIMATES)


def _estimated(trials: Sequence[Trial], claims: str) -> dict[str, Any]:
    value, low, high, truth = (np.array([getattr(trial, name) for trial in trials]) for name in Trial._fields[1:5])
    error = value - truth
    whole, known = ~np.isnan(low) & ~np.isnan(high), ~np.isnan(error)
    inside = int(((low <= truth) & (truth <= high))[whole].sum())
    n, count = int(whole.sum()), int(known.sum())
    held = wilson(inside, n)
    reasons = Counter(trial.reason for trial, there in zip(trials, whole.tolist(), strict=True) if not there)
    said = "no interval" if not n else "too few intervals" if n < FEWEST else verdict(inside / n, claims)
    return {
        "verdict": said,
        "seeds": len(trials),
        "intervals": n,
        "without": "; ".join(f"{times}: {reason}" for reason, times in sorted(reasons.items(), key=_most)[:2]),
        "coverage": inside / n if n else None,
        "coverage_low": number(held.low),
        "coverage_high": number(held.high),
        "estimate": _mean(value[known]),
        "truth": number(float(truth.mean())),
        "bias": _mean(error[known]),
        "bias_error": float(np.std(error[known], ddof=1) / math.sqrt(count)) if count > 1 else None,
        "rmse": float(np.sqrt(np.mean(error[known] ** 2))) if count else None,
        "width": _mean((high - low)[whole & ~np.isinf(high)]),
    }


def _most(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def studies_table(tried: Sequence[Sequence[Outcome]]) -> pl.DataFrame:
    """A row for each claim of a study where it was planted and where it was not, schema STUDIES."""
    rows = []
    for at, first in enumerate(tried[0] if tried else []):
        said, n = sum(outcomes[at].said for outcomes in tried), len(tried)
        interval = wilson(said, n)
        kept = said >= FOUND * n if first.real else said * ALARMED <= ALARMS * n
        wanted = f"in at least {whole(FOUND)}" if first.real else f"in at most {ALARMS} of {ALARMED}"
        told = first.real and first.planted == WEAKER
        rows.append(
            {
                **{"study": first.study, "planted": first.planted, "claim": first.claim, "planted_claim": first.real},
                **{
                    "wanted": "told only" if told else wanted,
                    "verdict": "power" if told else "holds" if kept else "fails",
                },
                **{"seeds": n, "said": said},
                **{"share": said / n, "share_low": interval.low, "share_high": interval.high},
            }
        )
    return pl.DataFrame(rows, schema=STUDIES)


def stops_table(tried: Mapping[str, Sequence[Sequence[Stop]]]) -> pl.DataFrame:
    """A row for each setting and patience, schema STOPS."""
    rows = []
    for setting, seeds in tried.items():
        for stops in zip(*seeds, strict=True):
            turn, saturated, lost, saved = (
                np.array([getattr(stop, name) for stop in stops], dtype=np.float64) for name in Stop._fields[1:]
            )
            few, many = np.quantile(lost, (0.05, 0.95)).tolist()
            rows.append(
                {
                    **{"setting": setting, "patience": stops[0].patience, "seeds": len(stops)},
                    **{"saturated": int(saturated.sum()), "stop_turn": float(turn.mean())},
                    **{"valid_lost": float(lost.mean()), "valid_lost_5th": few, "valid_lost_95th": many},
                    "points_saved": float(saved.mean()),
                }
            )
    return pl.DataFrame(rows, schema=STOPS)
