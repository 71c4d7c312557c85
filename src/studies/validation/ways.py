"""Two ways to one number: runs through prompts, text, parser, encoder and judge, and runs drawn straight; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from scipy.stats import t

from src.figures.captions import plural
from src.knower.runs import repeated
from src.knower.world import stream
from src.stats.flat import number
from src.stats.intervals import LEVEL
from src.stats.recall import recall_match
from src.stats.richness import chao2, coverage
from src.studies.validation.setting import OWN, SIBLING, Setting, bench
from src.studies.validation.trial import FRESH, incidence, united

NUMBERS = {
    "unique": ("unique", "count"),
    "valid": ("valid", "count"),
    "unique, read perfectly": ("unique", "count"),
    "valid, read perfectly": ("valid", "count"),
    "chao2": ("chao2", "count"),
    "accuracy": ("accuracy", "share"),
    "recall_match": ("recall_match", "share"),
    "coverage": ("coverage", "share"),
}
"""Number of the text way → number of the direct way that it is held against, and its unit."""
WAYS = pl.Schema(
    {
        "number": pl.String,
        "unit": pl.String,
        "seeds": pl.Int64,
        **dict.fromkeys(
            ("text", "direct", "difference", "difference_low", "difference_high", "relative"), pl.Float64
        ),
        "difference_reason": pl.String,
    }
)  # fmt: skip


def direct(setting: Setting, seed: int, query: str) -> dict[str, float]:
    """What runs drawn straight from the models of a universe bring on average; the judge must not err."""
    place = bench(setting, seed, setting.lineup[:SIBLING], query)
    rng = stream("ways", seed)
    repeats = repeated(place.held[OWN], setting.scopes, setting.draws, rng)
    rows = []
    for again in range(FRESH):
        drawn = [place.run(model, f"direct {again}").first() for model in range(SIBLING)]
        seen = place.judged(drawn[OWN])
        counts, _ = united(drawn, place.accepts)
        found = incidence(replace(repeats, counts=rng.binomial(repeats.draws, repeats.chance)), rng)
        rows.append(
            {
                "unique": float(len(seen.valid)),
                "valid": float(seen.valid.sum()),
                "accuracy": float(seen.valid.mean()),
                "recall_match": float(recall_match(counts)[OWN]),
                "coverage": coverage(found).value,
                "chao2": chao2(found).value,
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def ways_table(texts: Sequence[Mapping[str, float]], directs: Sequence[Mapping[str, float]]) -> pl.DataFrame:
    """Paired differences over seeds, schema WAYS; interval: Student's t, unit seed.

    Args:
        texts: numbers of each seed by the names of NUMBERS; NaN where there was none.
        directs: numbers of each seed as of :func:`direct`.
    """
    rows = []
    for name, (other, unit) in NUMBERS.items() if texts else ():
        both = np.array([(text[name], straight[other]) for text, straight in zip(texts, directs, strict=True)])
        both = both[~np.isnan(both).any(axis=1)]
        gap, n = both[:, 0] - both[:, 1], len(both)
        mean, text, straight = (float(values.mean()) if n else math.nan for values in (gap, *both.T))
        reach = float(t.ppf((1 + LEVEL) / 2, n - 1) * gap.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
        rows.append(
            {
                **{"number": name, "unit": unit, "seeds": n, "text": number(text), "direct": number(straight)},
                **{"difference": number(mean), "difference_low": number(mean - reach)},
                **{"difference_high": number(mean + reach), "relative": number(mean / straight)},
                "difference_reason": "" if n > 1 else f"{plural(n, 'seed')} with this number: a spread needs two",
            }
        )
    return pl.DataFrame(rows, schema=WAYS)
