"""Yields of cells against their cost, turn by turn and at the end of each run (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.figures.boundary import cumulated
from src.stats.frontier import Numbers, pareto_optimal, ratio_interval
from src.studies.losses import judged_clusters

Interval = tuple[float, float, float]
"""Estimate, lower bound, upper bound."""


@dataclass(frozen=True)
class Run:
    """One cell on its way.

    Attributes:
        cell: the cell.
        valid: int64, shape (turns,): valid points up to each turn.
        tokens: float64, shape (turns,): nominal tokens up to each turn, NaN from the first turn that is unknown on.
        base: valid points of the baseline at its end with their bounds; None without a baseline.
        reason: why there is no yield; "" if there is one.
    """

    cell: MeasuredCell
    valid: Numbers
    tokens: Numbers
    base: Interval | None
    reason: str

    @property
    def ratios(self) -> Numbers | None:
        """Yield up to each turn; None if there is none."""
        return None if self.reason or self.base is None else self.valid / self.base[0]

    @property
    def cost(self) -> float | None:
        """Nominal tokens of the whole run, None if unknown."""
        return float(self.tokens[-1]) if self.tokens.size and np.isfinite(self.tokens[-1]) else None

    @property
    def placed(self) -> bool:
        """Whether it has both a yield and a cost."""
        return self.ratios is not None and bool(self.cost)


def follow(cells: Sequence[MeasuredCell], baseline: str) -> list[Run]:
    """Follow every cell from turn to turn and measure it against the baseline of its model and domain."""
    bases = {(cell.model, cell.domain): _valid_interval(cell) for cell in cells if cell.strategy == baseline}
    found = []
    for cell in cells:
        so_far = cumulated(cell.extracted["turns"], cell.extracted["atoms"], cell.processed["atoms"]).slice(1)
        base = bases.get((cell.model, cell.domain))
        reason = ""
        if base is None:
            reason = f"no cell of {cell.model} by {baseline} for {cell.domain}"
        elif base[0] == 0:
            reason = f"{baseline} found no valid point"
        elif so_far.is_empty():
            reason = "no turn was finished"
        valid, tokens = (so_far[name].cast(pl.Float64).to_numpy() for name in ("valid", "tokens"))
        found.append(Run(cell, valid, tokens, base, reason))
    return found


def turns_table(followed: Sequence[Run]) -> pl.DataFrame:
    """Yield and cost turn by turn: model, strategy, domain, turn, tokens, valid, yield."""
    rows = []
    for run in followed:
        ratios = run.ratios
        for turn, (valid, tokens) in enumerate(zip(run.valid.tolist(), run.tokens.tolist(), strict=True)):
            known = int(tokens) if np.isfinite(tokens) else None
            ratio = None if ratios is None else float(ratios[turn])
            rows.append((*_place(run.cell), turn + 1, known, int(valid), ratio))
    schema = {
        "model": pl.String, "strategy": pl.String, "domain": pl.String, "turn": pl.Int64, "tokens": pl.Int64,
        "valid": pl.Int64, "yield": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row").sort("model", "strategy", "domain", "turn")


def runs_table(followed: Sequence[Run], baseline: str) -> pl.DataFrame:
    """The end of every run: what it found, what it cost, its yield with an interval, and whether it is beaten there."""
    rows: list[dict[str, Any]] = []
    for run in followed:
        cell, ratios = run.cell, run.ratios
        one = _valid_interval(cell)
        judged = judged_clusters(cell)
        low: float | None = None
        high: float | None = None
        why = run.reason
        if ratios is not None and run.base is not None:
            if cell.strategy == baseline:
                why = "the baseline is the unit"
            else:
                low, high = ratio_interval(one, run.base)
                why = "" if low is not None else "the baseline's valid points may be none"
        rows.append(
            {
                **dict(zip(("model", "strategy", "domain"), _place(cell), strict=True)),
                "turns": len(run.valid),
                "stop_reason": str(cell.metrics.get("stop_reason")),
                "tokens": None if run.cost is None else int(run.cost),
                "tokens_reason": "" if run.cost is not None else no_tokens(cell),
                "valid": int(one[0]),
                "valid_low": one[1],
                "valid_high": one[2],
                "unit": _unit(cell),
                "judged": judged.height,
                "branches": judged["branch"].n_unique(),
                "yield": None if ratios is None else float(ratios[-1]),
                "yield_low": low,
                "yield_high": high,
                "yield_reason": run.reason,
                "interval_reason": why,
            }
        )
    kinds = {"tokens": pl.Int64, "yield": pl.Float64, "yield_low": pl.Float64, "yield_high": pl.Float64}
    table = pl.DataFrame(rows, schema_overrides=kinds)
    flags = [
        place.with_columns(pareto_optimal=pl.Series(pareto_optimal(place["tokens"], place["yield"]), dtype=pl.Boolean))
        for place in table.drop_nulls(["tokens", "yield"]).partition_by("model", "domain", maintain_order=True)
    ]
    if flags:
        keys = ["model", "strategy", "domain"]
        table = table.join(pl.concat(flags).select(*keys, "pareto_optimal"), on=keys, how="left")
    else:
        table = table.with_columns(pareto_optimal=pl.lit(None, dtype=pl.Boolean))
    return table.sort("model", "strategy", "domain")


def _valid_interval(cell: MeasuredCell) -> Interval:
    """Valid points of a cell and their bounds: judged clusters times the interval of accuracy."""
    valid, invalid = (float(cell.metrics.get(name) or 0) for name in ("valid", "invalid"))
    stem = "accuracy" if _unit(cell) == "point" else "accuracy_leaf"
    low, high = (cell.metrics.get(f"{stem}_{end}") for end in ("low", "high"))
    if low is None or high is None:
        return valid, valid, valid
    return valid, float(low) * (valid + invalid), float(high) * (valid + invalid)


def _unit(cell: MeasuredCell) -> str:
    return "point" if cell.metrics.get("accuracy_leaf_low") is None else "branch"


def no_tokens(cell: MeasuredCell) -> str:
    """Why the cost of a cell is unknown."""
    return str(cell.metrics.get("tokens_nominal_reason") or "no turn was finished")


def _place(cell: MeasuredCell) -> tuple[str, str, str]:
    return cell.model, cell.strategy, cell.domain
