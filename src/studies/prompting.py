"""The same cell with prompts that say the same in other words, paired by model, strategy and domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.stats.combining import combined
from src.stats.intervals import Interval
from src.studies.block import accuracy_of
from src.studies.losses import judged_clusters

DRAWS = 2_000
FEWEST_PAIRS = 3
METHOD = "2,000 bootstrap draws over pairs"
PROMPTS = pl.Schema(
    {
        **dict.fromkeys(("model", "strategy", "domain", "prompts", "synonyms"), pl.String),
        **dict.fromkeys(("raw", "raw_synonyms", "valid", "valid_synonyms"), pl.Int64),
        **dict.fromkeys(("raw_change", "valid_change", "accuracy_change"), pl.Float64),
        **dict.fromkeys(("accuracy_change_low", "accuracy_change_high"), pl.Float64),
        **dict.fromkeys(("judged", "judged_synonyms", "branches", "branches_synonyms"), pl.Int64),
        "reason": pl.String,
    }
)


def pair_prompts(
    cells: Sequence[MeasuredCell], variants: Sequence[MeasuredCell], synonyms: Mapping[str, str]
) -> tuple[pl.DataFrame, list[str]]:
    """Pair every variant with its base, schema PROMPTS; and say what is missing or does not pair.

    Args:
        cells: those that are compared otherwise.
        variants: those with other prompts.
        synonyms: name of a prompt set → name of the one in other words.
    """
    rows: list[dict[str, Any]] = []
    missing = []
    base = {(cell.model, cell.strategy, cell.domain, cell.value("prompts.name")): cell for cell in cells}
    of = {other: name for name, other in synonyms.items()}
    for variant in variants:
        prompts = str(variant.value("prompts.name"))
        if prompts not in of:
            continue
        cell = base.get((variant.model, variant.strategy, variant.domain, of[prompts]))
        if cell is None:
            missing.append(f"{variant.folder} has prompts {prompts}, but no cell like it has {of[prompts]}")
        elif others := _other_differences(cell, variant):
            missing.append(f"{variant.folder} differs from {cell.folder} in more than its prompts: {', '.join(others)}")
        else:
            rows.append(_paired(cell, variant))
    if not rows:
        kinds = " or ".join(sorted(synonyms.values()))
        missing.append(f"no cell with prompts in other words: run the same cell with prompts={kinds}")
    table = pl.DataFrame(rows, schema=PROMPTS) if rows else PROMPTS.to_frame()
    return table.sort("model", "strategy", "domain", "synonyms"), missing


def change(table: pl.DataFrame, name: str, seed: int) -> tuple[float | None, Interval]:
    """Change of a total over all pairs, as a share of the base's total, with its interval over pairs."""
    base, other = (table[column].to_numpy().astype(float) for column in (name, f"{name}_synonyms"))
    n = len(base)
    if not n or not base.sum():
        reason = f"the bases have no {name} points" if n else "no cell was measured with prompts in other words"
        return None, Interval(np.nan, np.nan, n, "pair of cells", METHOD, reason)
    whole = float(other.sum() / base.sum() - 1)
    if n < FEWEST_PAIRS:
        reason = f"{n} pair{'s' if n > 1 else ''} of cells: their spread needs at least {FEWEST_PAIRS}"
        return whole, Interval(np.nan, np.nan, n, "pair of cells", METHOD, reason)
    chosen = np.random.default_rng(seed).integers(n, size=(DRAWS, n))
    totals = base[chosen].sum(axis=1)
    drawn = other[chosen].sum(axis=1)[totals > 0] / totals[totals > 0] - 1
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return whole, Interval(low, high, n, "pair of cells", METHOD)


def _paired(cell: MeasuredCell, variant: MeasuredCell) -> dict[str, Any]:
    """A row of the table."""
    raw, raw_other, valid, valid_other = (
        int(each.metrics[name] or 0) for name in ("raw", "valid") for each in (cell, variant)
    )
    judged, judged_other = judged_clusters(cell), judged_clusters(variant)
    row: dict[str, Any] = {
        "model": cell.model,
        "strategy": cell.strategy,
        "domain": cell.domain,
        "prompts": str(cell.value("prompts.name")),
        "synonyms": str(variant.value("prompts.name")),
        "raw": raw,
        "raw_synonyms": raw_other,
        "valid": valid,
        "valid_synonyms": valid_other,
        "raw_change": raw_other / raw - 1 if raw else None,
        "valid_change": valid_other / valid - 1 if valid else None,
        "judged": judged.height,
        "judged_synonyms": judged_other.height,
        "branches": judged["branch"].n_unique(),
        "branches_synonyms": judged_other["branch"].n_unique(),
        "reason": "" if raw and valid else "the base has no point",
    }
    if cell.metrics["accuracy"] is None or variant.metrics["accuracy"] is None:
        return {**row, "reason": "no audited clusters"}
    (value, interval), (base, base_interval) = accuracy_of(variant), accuracy_of(cell)
    moved = combined([1.0, -1.0], [value, base], [interval, base_interval])
    row["accuracy_change"] = value - base
    if not moved.reason:
        row |= {"accuracy_change_low": moved.low, "accuracy_change_high": moved.high}
    return {**row, "reason": row["reason"] or moved.reason}


def _other_differences(one: MeasuredCell, other: MeasuredCell) -> list[str]:
    """Sections of the configuration, besides the prompts, in which two cells differ."""
    names = sorted((one.config.keys() | other.config.keys()) - {"prompts"})
    return [name for name in names if one.config.get(name) != other.config.get(name)]
