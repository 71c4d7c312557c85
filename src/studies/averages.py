"""Yields of strategies over their domains: means, areas, curves, and which strategy no other one beats (2602.00959)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from src.stats.frontier import Numbers, area, common_range, gained, log_grid, pareto_optimal
from src.studies.yields import Run, no_tokens

STRATEGIES = pl.Schema(
    {
        "model": pl.String,
        "strategy": pl.String,
        "domains": pl.Int64,
        "over": pl.String,
        "tokens_mean": pl.Float64,
        "tokens_sd": pl.Float64,
        "tokens_reason": pl.String,
        "yield_mean": pl.Float64,
        "yield_sd": pl.Float64,
        "yield_reason": pl.String,
        "area_mean": pl.Float64,
        "area_sd": pl.Float64,
        "sd_reason": pl.String,
        "pareto_optimal": pl.Boolean,
        "pareto_reason": pl.String,
        "beaten_by": pl.String,
        "domains_optimal": pl.Int64,
    }
)
CURVES = pl.Schema(
    {
        "model": pl.String,
        "strategy": pl.String,
        "tokens": pl.Float64,
        "yield_mean": pl.Float64,
        "yield_sd": pl.Float64,
        "domains": pl.Int64,
    }
)


def strategies_table(followed: Sequence[Run], ends: pl.DataFrame) -> pl.DataFrame:
    """Each strategy of each model over its domains: means, sd, area, whether no other strategy beats it.

    Means are over the domains that all strategies of the model share, since domains differ in what they cost; where
    they share none, over those that each has, and then nobody is compared.
    """
    rows: list[dict[str, Any]] = []
    for model in sorted({run.cell.model for run in followed}):
        mine = [run for run in followed if run.cell.model == model]
        names = sorted({run.cell.strategy for run in mine})
        placed = {
            name: {run.cell.domain: run for run in mine if run.cell.strategy == name and run.placed} for name in names
        }
        those = [name for name in names if placed[name]]
        shared = set.intersection(*(set(placed[name]) for name in those)) if those else set()
        grid = _grid([run for name in those for run in placed[name].values()])
        averaged = [_averaged(model, name, mine, placed[name], shared, grid) for name in names]
        _compare([row for row in averaged if row["strategy"] in those], shared)
        rows.extend(averaged)
    table = pl.DataFrame(rows, schema={name: kind for name, kind in STRATEGIES.items() if name != "domains_optimal"})
    optimal = ends.group_by("model", "strategy").agg(domains_optimal=pl.col("pareto_optimal").sum().cast(pl.Int64))
    joined = table.join(optimal, on=["model", "strategy"], how="left")
    return joined.select(STRATEGIES.names()).sort("model", "strategy")


def curves_table(followed: Sequence[Run], averaged: pl.DataFrame) -> pl.DataFrame:
    """Mean yield ± sd over domains at 100 costs that the domains of a strategy have in common."""
    parts = [CURVES.to_frame()]
    for row in averaged.iter_rows(named=True):
        over = set(row["over"].split(", "))
        mine = [
            run
            for run in followed
            if run.placed and (run.cell.model, run.cell.strategy) == (row["model"], row["strategy"])
            and run.cell.domain in over
        ]  # fmt: skip
        span = common_range([run.tokens[run.tokens > 0].tolist() or [np.inf] for run in mine]) if mine else None
        if span is None or not np.isfinite(span).all():
            continue
        grid = log_grid(*span)
        at = np.array([gained(grid, run.tokens, run.ratios) for run in mine])  # type: ignore[arg-type]
        parts.append(
            pl.DataFrame(
                {
                    "model": [row["model"]] * len(grid),
                    "strategy": [row["strategy"]] * len(grid),
                    "tokens": grid,
                    "yield_mean": at.mean(axis=0),
                    "yield_sd": at.std(axis=0, ddof=1).tolist() if len(mine) > 1 else [None] * len(grid),
                    "domains": [len(mine)] * len(grid),
                },
                schema=CURVES,
            )
        )
    # A curve is for drawing; its runs are in full in the table of turns.
    return pl.concat(parts).with_columns(pl.col("tokens").round(1), pl.col("yield_mean", "yield_sd").round(6))


def _averaged(
    model: str, strategy: str, mine: Sequence[Run], placed: dict[str, Run], shared: set[str], grid: Numbers | None
) -> dict[str, Any]:
    """A row of the table of strategies, not yet compared."""
    with_yield = {run.cell.domain: run for run in mine if run.cell.strategy == strategy and run.ratios is not None}
    those = shared & set(placed) or set(placed) or set(with_yield)
    runs = [with_yield[domain] for domain in sorted(those)]
    ratios = [float(run.ratios[-1]) for run in runs if run.ratios is not None]
    costs = [run.cost for run in runs if run.cost is not None]
    areas = [
        area(grid, gained(grid, run.tokens, run.ratios))
        for run in runs
        if grid is not None and run.cost and run.ratios is not None
    ]
    own = next(run for run in mine if run.cell.strategy == strategy)
    known = bool(placed)
    return {
        "model": model,
        "strategy": strategy,
        "domains": len(runs),
        "over": ", ".join(sorted(those)),
        "tokens_mean": float(np.mean(costs)) if known else None,
        "tokens_sd": float(np.std(costs, ddof=1)) if known and len(costs) > 1 else None,
        "tokens_reason": "" if known else own.reason or no_tokens(own.cell),
        "yield_mean": float(np.mean(ratios)) if ratios else None,
        "yield_sd": float(np.std(ratios, ddof=1)) if len(ratios) > 1 else None,
        "yield_reason": "" if ratios else own.reason,
        "area_mean": float(np.mean(areas)) if known else None,
        "area_sd": float(np.std(areas, ddof=1)) if known and len(areas) > 1 else None,
        "sd_reason": "" if len(ratios) > 1 else "one domain has no spread" if ratios else own.reason,
        "pareto_optimal": None,
        "pareto_reason": "" if known else own.reason or no_tokens(own.cell),
        "beaten_by": None,
    }


def _compare(rows: list[dict[str, Any]], shared: set[str]) -> None:
    """Write into the rows of one model who is Pareto-optimal, and who beats those that are not."""
    if not shared:
        for row in rows:
            row["pareto_reason"] = "the strategies of this model share no domain"
        return
    cost, gain = ([row[name] for row in rows] for name in ("tokens_mean", "yield_mean"))
    optimal = pareto_optimal(cost, gain).tolist()
    best = [row for row, is_one in zip(rows, optimal, strict=True) if is_one]
    for row, is_one in zip(rows, optimal, strict=True):
        row["pareto_optimal"] = is_one
        if not is_one:
            row["beaten_by"] = ", ".join(other["strategy"] for other in best if _beats(other, row))


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether it costs no more and yields no less; equal ends are both optimal, so this is asked of others only."""
    return bool(one["tokens_mean"] <= other["tokens_mean"] and one["yield_mean"] >= other["yield_mean"])


def _grid(runs: Sequence[Run]) -> Numbers | None:
    """The one grid of costs of a model: from its cheapest first turn to its dearest end."""
    paid = [run.tokens[run.tokens > 0] for run in runs]
    if not paid:
        return None
    low, high = min(float(costs[0]) for costs in paid), max(float(costs[-1]) for costs in paid)
    return log_grid(low, high)
