"""Study `pareto`: which strategies buy the most valid points for their tokens (arXiv 2602.00959, yield ratio)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import MeasuredCell, source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.frontier import LONGEST, frontier
from src.records import Metrics
from src.stats.flat import put
from src.studies.averages import curves_table, strategies_table
from src.studies.known import Known
from src.studies.yields import follow, runs_table, turns_table

DEFINITIONS = {
    "valid points": "clusters whose representative the audit accepts; a cluster counts from the turn of its earliest "
    "member",
    "yield": "valid points up to a turn / valid points of the baseline at its end, same model and domain; the baseline "
    "ends at exactly 1.0",
    "cost": "nominal tokens up to a turn, as if nothing were replayed: generation in and out, and embedding; judge and "
    "audit are not counted",
    "Pareto-optimal": "no other strategy costs as little and yields as much, one of them strictly; judged by the means "
    "over the domains that all strategies of the model share",
    "± (sd)": "standard deviation over domains (n - 1), not an interval; unit: domain",
    "[low, high]": "95 % interval of one run's yield: judged clusters times the interval of accuracy (Wilson on "
    "n/deff, unit branch; with fewer than 3 branches plain Wilson, unit point), ratio by MOVER; it takes the points "
    "that were proposed as given: a fresh run would vary more; n: its judged clusters, and the branches they lie in",
    "area": "area under the yield over log10 of the tokens, 100 points from the model's cheapest first turn to its "
    "dearest end, 0 before a first turn, flat after an end; in yield times decades",
}


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Pareto:
    """Yield against tokens, strategy by strategy.

    Attributes:
        name, question: of the study.
        model: None: every model found.
        strategies: those compared.
        domains: None: every domain found.
        baseline: the strategy whose yield is 1.0.
    """

    name: str
    question: str
    model: str | None
    strategies: tuple[str, ...]
    domains: tuple[str, ...] | None
    baseline: str
    probe: ClassVar[str] = "boundary"

    def run(self, known: Known) -> Finding:
        """Compare what there is.

        Raises:
            ConfigError: no model has a cell of the baseline.
        """
        cells = self._cells(known)
        followed = follow(cells, self.baseline)
        rows = runs_table(followed, self.baseline)
        averaged = strategies_table(followed, rows)
        curves = curves_table(followed, averaged)
        tables = {"strategies": averaged, "runs": rows, "turns": turns_table(followed), "curves": curves}
        models = averaged["model"].unique(maintain_order=True).to_list()
        caveat = "; ".join(sorted({cell.title.caveat for cell in cells}))
        drawn = frontier(curves, averaged, rows, caveat, self.baseline)
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, yield ratio and cost-performance frontier of the strategies",
            verdict=tuple(
                _verdict(averaged.filter(model=model), rows.filter(model=model), self.baseline)
                for model in models[:LONGEST]
            )
            + ((f"{len(models) - LONGEST} more models are in the table.",) if len(models) > LONGEST else ()),
            metrics=_metrics(averaged),
            tables=tables,
            figures={"frontier": drawn},
            captions={
                "frontier": f"Yield (1 = what {self.baseline} found at its end) against nominal tokens, both axes "
                "logarithmic; n = {n}. Lines: mean over domains at 100 costs that the domains have in common, band ± 1 "
                "sd over domains. Marks: ends of runs, mean over domains with ± 1 sd both ways, or of one domain with "
                "the 95 % interval of its yield; filled and bold: Pareto-optimal. Dashed: the best yield that is to be "
                "had for the tokens or fewer.".replace("{n}", plural(rows.height, "run"))
            },
            definitions=DEFINITIONS,
            missing=(*self._absent(known, cells), *_unusable(rows)),
            sources=tuple(source(cell) for cell in cells),
        )

    def _cells(self, known: Known) -> list[MeasuredCell]:
        cells = [
            cell
            for cell in known.cells
            if cell.strategy in self.strategies
            and self.model in (None, cell.model)
            and (self.domains is None or cell.domain in self.domains)
        ]
        if not any(cell.strategy == self.baseline for cell in cells):
            there = sorted({f"{cell.model}/{cell.strategy}/{cell.domain}" for cell in known.cells})
            raise ConfigError(
                f"study {self.name} measures yields against {self.baseline}"
                f"{f' of {self.model}' if self.model else ''}, and no cell of it is there: run "
                f"strategy={self.baseline}, or set study.baseline, study.model or study.domains; there are "
                f"{', '.join(there[:10])}{', …' if len(there) > 10 else ''}"
            )
        return cells

    def _absent(self, known: Known, cells: Sequence[MeasuredCell]) -> list[str]:
        """Cells that the study asks for and nobody has measured, gathered by model."""
        domains = self.domains or sorted({cell.domain for cell in cells})
        there = {(cell.model, cell.strategy, cell.domain) for cell in known.cells}
        clauses = []
        for model in sorted({cell.model for cell in cells}):
            without: dict[str, list[str]] = {}
            for strategy in self.strategies:
                lacks = ", ".join(domain for domain in domains if (model, strategy, domain) not in there)
                if lacks:
                    without.setdefault(lacks, []).append(strategy)
            clauses += [f"no cell of {model} by {', '.join(names)} for {lacks}" for lacks, names in without.items()]
        return clauses


def _unusable(rows: pl.DataFrame) -> list[str]:
    """Cells that have no yield or no cost, with the reason."""
    clauses = []
    for row in rows.iter_rows(named=True):
        place = f"{row['model']}/{row['strategy']}/{row['domain']}"
        if row["yield"] is None:
            clauses.append(f"{place} has no yield: {row['yield_reason']}")
        elif row["tokens"] is None:
            clauses.append(f"{place} has a yield but no place on the axis of costs: {row['tokens_reason']}")
    return clauses


def _verdict(averaged: pl.DataFrame, rows: pl.DataFrame, baseline: str) -> str:
    """Who is Pareto-optimal and who is beaten by whom, for one model, with the numbers."""
    model = averaged["model"][0]
    said = {row["strategy"]: _numbers(row, rows, baseline) for row in averaged.iter_rows(named=True)}
    placed = averaged.filter(pl.col("pareto_optimal").is_not_null())
    if placed.is_empty():
        return f"{model}: no strategy can be placed ({averaged['pareto_reason'][0]}); " + "; ".join(said.values()) + "."
    where = plural(int(placed["domains"][0]), "domain")
    optimal, beaten = (placed.filter(pl.col("pareto_optimal") == side) for side in (True, False))
    if placed.height == 1:
        return (
            f"{model}, {where}: only {said[placed['strategy'][0]]} can be placed; there is nothing to compare it with."
        )
    losers = [f"{said[row['strategy']]}, by {row['beaten_by']}" for row in beaten.iter_rows(named=True)]
    return (
        f"{model}, {where}: Pareto-optimal {'is' if optimal.height == 1 else 'are'} "
        f"{'; '.join(said[name] for name in optimal['strategy'])}. "
        + (f"Beaten {'is' if len(losers) == 1 else 'are'} {'; '.join(losers)}." if losers else "None is beaten.")
    )


def _numbers(row: dict[str, Any], rows: pl.DataFrame, baseline: str) -> str:
    """`personas_n3 (yield 0.73 ± 0.08, 12,300 tokens, area 0.41)`; of one domain with its interval and n."""
    if row["yield_mean"] is None:
        return f"{row['strategy']} (no yield)"
    spread = ""
    if row["strategy"] == baseline:
        pass  # its yield is 1 by definition
    elif row["yield_sd"] is not None:
        spread = f" ± {row['yield_sd']:.2f}"
    else:  # one domain, which `over` names
        run = rows.row(
            by_predicate=(pl.col("strategy") == row["strategy"]) & (pl.col("domain") == row["over"]), named=True
        )
        if run["yield_low"] is not None:
            n = plural(run["judged"], "point") + (f" in {run['branches']} branches" if run["unit"] == "branch" else "")
            spread = f" [{run['yield_low']:.2f}, {run['yield_high']:.2f}], n = {n}"
    cost = "tokens unknown" if row["tokens_mean"] is None else f"{row['tokens_mean']:,.0f} tokens"
    area = "" if row["area_mean"] is None else f", area {row['area_mean']:.2f}"
    return f"{row['strategy']} (yield {row['yield_mean']:.2f}{spread}, {cost}{area})"


def _metrics(averaged: pl.DataFrame) -> Metrics:
    metrics: Metrics = {"models": averaged["model"].n_unique(), "strategies": averaged["strategy"].n_unique()}
    for row in averaged.iter_rows(named=True):
        of = f"{row['model']}_{row['strategy']}"
        for name, reason in (
            ("yield_mean", "yield_reason"),
            ("yield_sd", "sd_reason"),
            ("tokens_mean", "tokens_reason"),
            ("area_mean", "tokens_reason"),
            ("pareto_optimal", "pareto_reason"),
        ):
            value = row[name]
            put(metrics, f"{name}_{of}", None if value is None else float(value), row[reason] or "")
    return metrics
