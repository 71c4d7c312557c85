"""Thresholds of one encoder from labelled pairs: where merging unasked is safe, and where asking may stop.

`fuzzy` is the largest threshold that keeps at least `kept` of the pairs that people call the same, by the lower bound.
`strict` is the smallest threshold from there on above which, of the pairs that no guard holds back, the share that
people call distinct is at most `wrong`, by its upper bound; `novelty` is the same of all pairs, since there are no
guards in the loop. Bounds: Wilson 95 %, pairs taken as independent. That a threshold is searched for on the pairs that
prove it costs little: of 2,000 simulated samples in each of six settings at most 1.3 % gave a `strict` that is not
safe, where a threshold fixed beforehand may be unsafe in 2.5 %.

Pairs that are the same show no fault, however low a threshold is. So as many distinct ones are needed as would show by
themselves, if none merged, that at most `wrong` of them do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl

from src.errors import ConfigError
from src.figures.captions import percent, plural
from src.stats.intervals import wilson

STEP = 0.005
CURVE = pl.Schema(
    {
        "threshold": pl.Float64,
        "merged": pl.Int64,
        "wrong": pl.Int64,
        "wrong_share": pl.Float64,
        "wrong_low": pl.Float64,
        "wrong_high": pl.Float64,
        "above": pl.Int64,
        "lost": pl.Int64,
        "lost_share": pl.Float64,
        "lost_low": pl.Float64,
        "lost_high": pl.Float64,
        "same": pl.Int64,
        "kept": pl.Int64,
        "kept_share": pl.Float64,
        "kept_low": pl.Float64,
        "kept_high": pl.Float64,
    }
)
"""Per threshold: pairs above it that no guard holds back, those of them that are distinct; all pairs above it, those of
them that are distinct; pairs that are the same, those of them at or above it. Shares are null without a pair."""


@dataclass(frozen=True)
class Thresholds:
    """What labelled pairs say about an encoder.

    Attributes:
        wrong, kept: the limits that were asked for.
        strict, fuzzy: the thresholds, `fuzzy` at most `strict`.
        novelty: that of the loop; None if no threshold is safe without guards.
        curve: both shares at every threshold of the grid, schema CURVE.
    """

    wrong: float
    kept: float
    strict: float
    fuzzy: float
    novelty: float | None
    curve: pl.DataFrame

    def at(self, threshold: float) -> dict[str, float]:
        """The row of the curve at a threshold."""
        return self.curve.row(by_predicate=pl.col("threshold") == threshold, named=True)


def choose_thresholds(pairs: pl.DataFrame, wrong: float, kept: float) -> Thresholds:
    """Find the thresholds.

    Args:
        pairs: columns same (null: undecided, not counted), cosine, guard ("" if none objects).
        wrong: largest share of distinct pairs among those merged unasked.
        kept: smallest share of same pairs that are merged or asked about.

    Raises:
        ConfigError: there are too few pairs to prove one of them, or no threshold will do.
    """
    decided = pairs.drop_nulls("same")
    curve = _curve(decided)
    same, needed = int(curve["same"][0]), fewest(1 - kept)
    keeps = curve.filter(pl.col("kept_low") >= kept)
    if keeps.is_empty():
        raise ConfigError(
            f"dedup.fuzzy cannot be proven: {plural(same, 'pair')} labelled same, and even if every one lay above it, "
            f"{needed} are needed to show that {percent(kept)} are kept; label more pairs, or lower kept={kept:g}"
        )
    if (distinct := decided.height - same) < fewest(wrong):
        raise ConfigError(
            f"dedup.strict cannot be proven: {plural(distinct, 'pair')} labelled distinct, and even if none lay above "
            f"it, {fewest(wrong)} are needed to show that at most {percent(wrong)} of them merge; label more distinct "
            f"pairs, or raise wrong={wrong:g}"
        )
    fuzzy = float(keeps["threshold"][-1])
    useful = curve.filter(pl.col("threshold") >= fuzzy)
    strict, novelty = (useful.filter(pl.col(f"{part}_high") <= wrong)["threshold"] for part in ("wrong", "lost"))
    if strict.is_empty():
        raise ConfigError(_unproven(useful, wrong))
    return Thresholds(wrong, kept, float(strict[0]), fuzzy, None if novelty.is_empty() else float(novelty[0]), curve)


def fewest(share: float) -> int:
    """How many pairs without a fault it takes to show by Wilson's bound that at most this share is at fault."""
    return next(n for n in itertools.count(1) if wilson(0, n).high <= share)


def _curve(pairs: pl.DataFrame) -> pl.DataFrame:
    cosine, same = pairs["cosine"].to_numpy(), pairs["same"].to_numpy().astype(bool)
    free = (pairs["guard"] == "").to_numpy()
    rows = []
    for step in range(1, round(1 / STEP)):
        threshold = round(step * STEP, 3)
        above = cosine > threshold
        merged = above & free
        rows.append(
            {
                "threshold": threshold,
                **_share("merged", "wrong", int(merged.sum()), int((merged & ~same).sum())),
                **_share("above", "lost", int(above.sum()), int((above & ~same).sum())),
                **_share("same", "kept", int(same.sum()), int((same & (cosine >= threshold)).sum())),
            }
        )
    return pl.DataFrame(rows, schema=CURVE)


def _share(whole: str, part: str, n: int, count: int) -> dict[str, float | None]:
    interval = wilson(count, n)
    values = (count / n, interval.low, interval.high) if n else (None, None, None)
    return {whole: n, part: count, **dict(zip((f"{part}_share", f"{part}_low", f"{part}_high"), values, strict=True))}


def _unproven(curve: pl.DataFrame, wrong: float) -> str:
    """Why no threshold of the curve is safe: the one that comes nearest, and how many pairs it would take."""
    counted = curve.drop_nulls("wrong_high")
    nearest = f"no pair that is free of guards lies above {curve['threshold'][0]:g}"
    if not counted.is_empty():
        best = counted.row(int(np.argmin(counted["wrong_high"].to_numpy())), named=True)
        nearest = (
            f"nearest is {best['threshold']:g}, where {best['wrong']} of {plural(best['merged'], 'pair')} that no "
            f"guard holds back are distinct (at most {percent(best['wrong_high'])})"
        )
    return (
        f"dedup.strict cannot be proven: above no threshold at most {percent(wrong)} of the pairs are distinct; "
        f"{nearest}, and it takes at least {fewest(wrong)} without a fault; label more pairs of high cosine, or raise "
        f"wrong={wrong:g}"
    )
