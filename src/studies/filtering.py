"""Study `filtering`: what becomes of raw points, stage by stage and model by model (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import MeasuredCell, source
from src.errors import ConfigError
from src.figures.captions import percent, plural
from src.figures.filtering import stages
from src.figures.finding import Finding
from src.records import Metrics
from src.stats.flat import put
from src.studies.known import Known
from src.studies.losses import ANSWERS, POINTS, Losses, lost, pooled, shares, shares_by

DEFINITIONS = {
    "dedup_rate": "raw points that do not stand for a cluster / raw points",
    "repeated": "raw points that repeat an earlier one word for word / raw points; they are part of dedup_rate",
    "audit_rejection": "invalid clusters / judged clusters; clusters whose audit was unreadable are in neither",
    "valid_of_raw": "valid clusters / raw points: what remains of all that was said",
    "judge_unparsed": "pairs without a readable verdict / pairs that the judge was asked about, for the run and the "
    "nine settings of the sweep; they stay apart",
    "unlisted, truncated, cut, empty, refused": "answers that say something and list nothing; that ran into the token "
    "limit; whose last item was set aside; that are empty; that refuse; each / all answers of the subject, names of "
    "sub-fields and experts included",
    "low, high": "95 % Wilson, units taken as independent",
    "leaf_low, leaf_high": "95 % Wilson on n/deff with t, unit: branch of a cell; needs at least 3 branches",
}


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Filtering:
    """Rates of every stage of the filter.

    Attributes:
        name, question: of the study.
        models, strategies, domains: those counted; None: all that are found.
    """

    name: str
    question: str
    models: tuple[str, ...] | None
    strategies: tuple[str, ...] | None
    domains: tuple[str, ...] | None
    probe: ClassVar[str] = "boundary"

    def run(self, known: Known) -> Finding:
        """Count.

        Raises:
            ConfigError: no cell is asked for.
        """
        cells = self._cells(known)
        counted = [lost(cell) for cell in cells]
        by_model = _grouped(cells, counted, ("model",))
        by_pair = _grouped(cells, counted, ("model", "strategy"))
        by_cell = _grouped(cells, counted, ("model", "strategy", "domain"))
        of_models = shares_by(by_model.items(), ("model",))
        of_pairs = shares_by(by_pair.items(), ("model", "strategy"))
        whole = shares(pooled(counted))
        points = _points(by_cell)
        caveat = "; ".join(sorted({cell.title.caveat for cell in cells}))
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, share of points merged and rejected",
            verdict=tuple(_verdict(whole, of_models, cells)),
            metrics=_metrics(whole, of_models),
            tables={
                "models": of_models,
                "strategies": of_pairs,
                "points": points,
            },
            figures={"stages": stages(points, of_pairs, of_models, caveat)},
            captions={
                "stages": f"Left: what becomes of all raw points; n = {points['raw'].sum():,} raw points in "
                f"{plural(len(cells), 'cell')}. Right: merged of the raw points and rejected of the judged clusters of "
                "the same row, with 95 % intervals (Wilson on n/deff, unit branch; dotted where there are fewer than "
                "3 branches: plain Wilson, unit point or cluster)."
            },
            definitions=DEFINITIONS,
            missing=tuple(self._absent(known)),
            sources=tuple(source(cell) for cell in cells),
        )

    def _cells(self, known: Known) -> list[MeasuredCell]:
        wanted = {"model": self.models, "strategy": self.strategies, "domain": self.domains}
        cells = [
            cell
            for cell in known.cells
            if all(names is None or getattr(cell, of) in names for of, names in wanted.items())
        ]
        if not cells:
            asked = ", ".join(f"study.{of}s={list(names)}" for of, names in wanted.items() if names is not None)
            raise ConfigError(f"study {self.name} has none of {len(known.cells)} cells to count by {asked}")
        return cells

    def _absent(self, known: Known) -> list[str]:
        there = {"model": self.models, "strategy": self.strategies, "domain": self.domains}
        return [
            f"no cell of {of} {name}"
            for of, names in there.items()
            for name in names or ()
            if all(getattr(cell, of) != name for cell in known.cells)
        ]


def _grouped(
    cells: Sequence[MeasuredCell], counted: Sequence[Losses], by: tuple[str, ...]
) -> dict[tuple[str, ...], Losses]:
    """The cells pooled by some of their names, sorted."""
    groups: dict[tuple[str, ...], list[Losses]] = {}
    for cell, losses in zip(cells, counted, strict=True):
        groups.setdefault(tuple(str(getattr(cell, of)) for of in by), []).append(losses)
    return {key: pooled(groups[key]) for key in sorted(groups)}


def _points(by_cell: dict[tuple[str, ...], Losses]) -> pl.DataFrame:
    """Counts per cell."""
    names = (*POINTS, "judged_pairs", "judge_unparsed", "answers", *ANSWERS)
    rows = [(*key, *(losses.counts[name] for name in names)) for key, losses in by_cell.items()]
    kinds = {**dict.fromkeys(("model", "strategy", "domain"), pl.String), **dict.fromkeys(names, pl.Int64)}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _verdict(whole: pl.DataFrame, of_models: pl.DataFrame, cells: Sequence[MeasuredCell]) -> list[str]:
    n = plural(len(cells), "cell")
    if not whole.filter(stage="dedup_rate")["n"][0]:
        return [f"Over {n} there is no raw point, so there is nothing to filter."]
    merged, rejected, left = (_told(whole, stage) for stage in ("dedup_rate", "audit_rejection", "valid_of_raw"))
    lines = [
        f"Over {n} {merged} were merged and {rejected} rejected by the audit; valid clusters are {left}. Points are "
        "raw ones. Intervals are 95 %, their unit is the branch where branches are counted, else the point or cluster "
        "itself."
    ]
    if of_models["model"].n_unique() > 1:
        for stage, words in (("dedup_rate", "merged"), ("audit_rejection", "rejected")):
            ranked = of_models.filter(pl.col("stage") == stage, pl.col("share").is_not_null()).sort("share", "model")
            if ranked.height > 1:
                low, high = (
                    f"{row['model']} ({percent(row['share'])} {_bounds(row)}, n = {_n(row)})"
                    for row in (ranked.row(0, named=True), ranked.row(-1, named=True))
                )
                of = plural(ranked.height, "model")
                if ranked["share"][0] == ranked["share"][-1]:
                    lines.append(f"Share {words}: {percent(ranked['share'][0])} of all {of}.")
                else:
                    lines.append(f"Share {words}, {of}: from {low} to {high}.")
    unread = [
        _told(whole, name, name) for name in (*ANSWERS, "judge_unparsed", "audit_unparsed") if _count(whole, name)
    ]
    lines.append(f"Not readable: {'; '.join(unread)}." if unread else "Every answer and every verdict could be read.")
    return lines


def _count(table: pl.DataFrame, stage: str) -> int:
    return int(table.filter(stage=stage)["count"][0])


def _told(table: pl.DataFrame, stage: str, name: str = "") -> str:
    """`12.3 % [10.1, 14.9] of 4,321 points in 16 branches`; with a name in front of it if given."""
    row = table.filter(stage=stage).row(0, named=True)
    front = f"{name} " if name else ""
    if row["share"] is None:
        return f"{front}{row['count']:,} of none"
    return f"{front}{percent(row['share'])} {_bounds(row)} of {_n(row)}"


def _n(row: dict[str, Any]) -> str:
    """What an interval rests on: `4,321 points in 16 branches`; without branches where they are not its unit."""
    return plural(row["n"], row["unit"]) + (f" in {row['branches']} branches" if row["leaf_low"] is not None else "")


def _bounds(row: dict[str, float]) -> str:
    low, high = (row["leaf_low"], row["leaf_high"]) if row["leaf_low"] is not None else (row["low"], row["high"])
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _metrics(whole: pl.DataFrame, of_models: pl.DataFrame) -> Metrics:
    metrics: Metrics = {}
    for row in whole.iter_rows(named=True):
        _put_share(metrics, row["stage"], row)
    for row in of_models.iter_rows(named=True):
        if row["stage"] in ("dedup_rate", "audit_rejection", "valid_of_raw"):
            _put_share(metrics, f"{row['stage']}_{row['model']}", row)
    return metrics


def _put_share(metrics: Metrics, name: str, row: dict[str, float | str | None]) -> None:
    """A share with its bounds: by branch where there are any."""
    stem = "leaf_" if row["leaf_low"] is not None else ""
    put(metrics, name, row["share"], str(row["reason"]))  # type: ignore[arg-type]
    for end in ("low", "high"):
        put(metrics, f"{name}_{end}", row[f"{stem}{end}"], str(row["reason"]))  # type: ignore[arg-type]
