"""Study `scaling`: do larger models know more, and does each step bring less (arXiv 2602.00959, scaling law)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.cells import source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.scaling import scaling
from src.figures.versus import versus
from src.records import Metrics
from src.stats.combining import combined
from src.stats.compare import Pair, Repeats, Vector, pairs, repeats, tied
from src.stats.intervals import Interval
from src.studies.block import Block, by_strategy, find_block
from src.studies.known import Known
from src.studies.pairing import PAIRED, domains_table, models_table, pairs_table, recalls
from src.studies.wording import columns, judged, listed, points, put, share

DEFINITIONS = {
    **PAIRED,
    "slope per decade": "least squares of the models' numbers on log10 of their parameters: gain for ten times the "
    "size; its interval is that of the measurement of these models, not of the choice of models",
    "gain per decade of a step": "difference between neighbouring sizes over the difference of log10 of their "
    "parameters; models of one size are averaged",
    "diminishing returns": "the gain per decade falls with the size: the curvature of the least-squares parabola is "
    "below 0 with its whole interval; needs three sizes",
}
NONE = Interval(math.nan, math.nan, 0, "model", "least squares", "slopes need models of at least two sizes")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Scaling:
    """Recall and accuracy against the size of the model.

    Attributes:
        name, question: of the study.
        strategy: by which all models were asked.
        models: None: every model found whose parameters are known.
        domains: None: every domain found.
        parameters: billions by model, for those whose option does not say.
    """

    name: str
    question: str
    strategy: str
    models: tuple[str, ...] | None
    domains: tuple[str, ...] | None
    parameters: Mapping[str, Annotated[float, Field(gt=0)]] | None = None

    def run(self, known: Known) -> Finding:
        """Compare what there is.

        Raises:
            ConfigError: there is no model whose size is known, or nothing to compare.
        """
        cells = by_strategy(known, self.strategy, self.name)
        wanted = self.models or tuple(sorted({cell.model for cell in cells}))
        parameters = {**known.parameters, **(self.parameters or {})}
        sized = [model for model in wanted if model in parameters]
        if not sized:
            raise ConfigError(
                f"study {self.name}: the parameters of {listed(wanted)} are not known; give them in billions, as "
                f"study.parameters='{{{wanted[0]}: 7}}', or write model.parameters into conf/model/<name>.yaml"
            )
        block = find_block(known, self.strategy, sized, self.domains, self.name)
        unsized = [f"{model} is left out: its parameters are not known" for model in wanted if model not in sized]
        size = np.array([math.log10(parameters[model]) for model in block.models])
        drawn = repeats(block.counts, known.seed)
        compared = pairs(drawn)
        by_domain = [pairs(drawn.of_domain(place)) for place in range(len(block.domains))]
        best = tied(drawn.match, compared)
        recall = recalls(block, drawn)
        accuracy = [block.accuracy(model) for model in block.models]
        trends = _trends(size, drawn, accuracy)
        rows = models_table(block, drawn, recall, accuracy, best).with_columns(
            parameters_billion=10.0 ** pl.Series(size)
        )
        rows = rows.select("model", "parameters_billion", *rows.columns[1:-1]).sort("parameters_billion", "model")
        steps = _steps_table(block, size, drawn)
        alone = len(block.models) == 1
        sizes = len(set(size.tolist()))
        missing = (*block.missing, *unsized) + (
            ("models of another size: slope and differences need at least two sizes",) if sizes < 2 else ()
        ) + (("a third size: diminishing returns need three",) if sizes == 2 else ())  # fmt: skip
        names = block.models
        table = pairs_table(names, compared)
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, knowledge scaling law",
            verdict=_verdict(block, size, recall, accuracy, trends, compared, best, steps),
            metrics=_metrics(block, drawn, recall, accuracy, trends, best),
            tables={
                "models": rows,
                "steps": steps,
                "pairs": table,
                "domains": domains_table(block, drawn, by_domain),
            },
            figures={"scaling": scaling(rows, block.strategy, len(block.domains), drawn.clusters, block.caveat)}
            | ({} if alone else {"differences": versus(table, [names[place] for place in best], block.caveat)}),
            captions={
                "scaling": "Left: recall_match with 95 % intervals (unit: union cluster) and recall_count as "
                f"published, mean over {plural(len(block.domains), 'domain')}; the line is least squares on log10 "
                "of the parameters. Right: accuracy with 95 % intervals (unit: branch where there are three or more, "
                "else point). Recall, filled: not separable from the best (Holm over all pairs).",
                "differences": "Recall_match of the best model less that of every other, in percentage points, with "
                "95 % intervals (unit: union cluster, 2,000 multinomial draws). Filled: not separable (Holm over all "
                "pairs).",
            },
            definitions=DEFINITIONS,
            missing=missing,
            sources=tuple(source(cell) for _, cell in sorted(block.cells.items())),
        )


def _trends(
    size: Vector, drawn: Repeats, accuracy: Sequence[tuple[float, Interval]]
) -> dict[str, tuple[float, Interval]]:
    """Slopes of recall and accuracy per decade, and the curvature of recall; with a reason where there is none."""
    sizes = len(set(size.tolist()))
    found = dict.fromkeys(("recall_slope", "accuracy_slope"), (math.nan, NONE))
    curvature = replace(NONE, reason="diminishing returns need models of at least three sizes")
    found["recall_curvature"] = math.nan, curvature
    if sizes >= 2:
        slope = np.linalg.pinv(np.column_stack([np.ones(len(size)), size]))[1]
        found["recall_slope"] = drawn.functional(slope)
        values, intervals = [value for value, _ in accuracy], [interval for _, interval in accuracy]
        found["accuracy_slope"] = float(slope @ values), combined(slope.tolist(), values, intervals)
    if sizes >= 3:
        design = np.column_stack([np.ones(len(size)), size, size**2])
        found["recall_curvature"] = drawn.functional(2 * np.linalg.pinv(design)[2])
    return found


def _steps_table(block: Block, size: Vector, drawn: Repeats) -> pl.DataFrame:
    """Gain per decade between neighbouring sizes."""
    groups: dict[float, list[int]] = {}
    for place in np.argsort(size, kind="stable").tolist():
        groups.setdefault(float(size[place]), []).append(place)
    rows = []
    for (low, smaller), (high, larger) in pairwise(groups.items()):
        weights = np.zeros(len(size))
        weights[larger], weights[smaller] = 1 / len(larger) / (high - low), -1 / len(smaller) / (high - low)
        gain = drawn.functional(weights)
        rows.append(
            {
                "from_billion": 10**low,
                "to_billion": 10**high,
                "from": ", ".join(block.models[place] for place in smaller),
                "to": ", ".join(block.models[place] for place in larger),
                **columns("gain_per_decade", *gain),
                "clusters": gain[1].n,
                "unit": gain[1].unit,
            }
        )
    schema = {
        "from_billion": pl.Float64, "to_billion": pl.Float64, "from": pl.String, "to": pl.String,
        "gain_per_decade": pl.Float64, "gain_per_decade_low": pl.Float64, "gain_per_decade_high": pl.Float64,
        "gain_per_decade_reason": pl.String, "clusters": pl.Int64, "unit": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _verdict(
    block: Block,
    size: Vector,
    recall: Sequence[tuple[float, Interval]],
    accuracy: Sequence[tuple[float, Interval]],
    trends: dict[str, tuple[float, Interval]],
    compared: Sequence[Pair],
    best: Sequence[int],
    steps: pl.DataFrame,
) -> tuple[str, ...]:
    names = block.models
    where = f"{plural(len(block.domains), 'domain')}, n = {plural(recall[0][1].n, 'union cluster')}"
    if len(names) == 1:
        return (
            f"{names[0]} is the only model, so nothing can be said about size: accuracy {share(*accuracy[0])}, "
            f"{judged(accuracy[0][1])} of {plural(len(block.domains), 'domain')}; its recall of its own union is "
            "100 % by definition.",
        )
    order = [int(place) for place in np.argsort(size, kind="stable")]
    shown = order if len(order) <= 6 else [order[0], order[-1]]
    said = "; ".join(f"{names[place]} {share(*recall[place])}" for place in shown)
    slope, reach = trends["recall_slope"]
    if math.isnan(slope):
        lines = [f"All models are of one size, so there is no slope: recall_match {said} ({where})."]
    else:
        rise, against = "cannot be said to know more or less than the smaller", _against(slope, reach, steps)
        if not reach.reason and (reach.low > 0 or reach.high < 0):
            rise = f"know {'more' if slope > 0 else 'less'}{' on the whole' if against else ''}"
        lines = [
            f"Among these models, the larger ones {rise}: recall_match {points(slope, reach)} per ten times the "
            f"parameters ({where}, {len(names)} models; "
            f"{'smallest and largest: ' if len(shown) < len(order) else ''}{said}){against}."
        ]
    apart = len(names) - len(best)
    lines.append(
        f"{names[best[0]]} has the highest recall_match; "
        + (f"not separable from it: {listed([names[p] for p in best[1:]])}; " if len(best) > 1 else "")
        + f"{apart} of {len(names) - 1} others are separated from it, and "
        f"{sum(pair.p_holm < 0.05 for pair in compared)} of {plural(len(compared), 'pair')} from each other "
        "(Holm over all pairs, 5 %)."
    )
    bend, interval = trends["recall_curvature"]
    if interval.reason:
        lines.append(f"Diminishing returns cannot be judged: {interval.reason}.")
    else:
        told = "diminishing" if interval.high < 0 else "growing" if interval.low > 0 else "not told from constant"
        few = [_step(row, interval) for row in steps.iter_rows(named=True)]
        detail = f"; per step: {'; '.join(few)}" if len(few) <= 4 else ""
        lines.append(
            f"Returns are {told}: the gain per decade changes by {points(bend, interval)} per further decade{detail}."
        )
    trend = trends["accuracy_slope"]
    if not math.isnan(trend[0]):
        lines.append(
            f"Accuracy changes by {points(*trend)} per ten times the parameters ({judged(trend[1])}; unit: "
            f"{trend[1].unit})."
        )
    return tuple(lines)


def _against(slope: float, interval: Interval, steps: pl.DataFrame) -> str:
    """A clause on the steps that go against the slope with their whole interval; "" if none does."""
    counter = pl.col("gain_per_decade_high") < 0 if slope >= 0 else pl.col("gain_per_decade_low") > 0
    rows = steps.filter(counter).sort(pl.col("gain_per_decade").abs(), descending=True, maintain_order=True)
    if rows.is_empty():
        return ""
    of = f"{rows.height} of {plural(steps.height, 'step')} between neighbouring sizes"
    most = "most: " if rows.height > 1 else ""
    return f"; but against it, with the whole interval, {of}: {most}{_step(rows.row(0, named=True), interval)}"


def _step(row: Mapping[str, Any], slope: Interval) -> str:
    """A row of the table of steps in words."""
    low, high, reason = (row[f"gain_per_decade_{part}"] for part in ("low", "high", "reason"))
    interval = replace(slope, low=low, high=high, reason=reason)
    return f"{row['from']} to {row['to']} {points(row['gain_per_decade'], interval)}"


def _metrics(
    block: Block,
    drawn: Repeats,
    recall: Sequence[tuple[float, Interval]],
    accuracy: Sequence[tuple[float, Interval]],
    trends: dict[str, tuple[float, Interval]],
    best: Sequence[int],
) -> Metrics:
    metrics: Metrics = {
        "models": len(block.models),
        "domains": len(block.domains),
        "clusters": sum(drawn.clusters),
        "tied_with_best": len(best),
    }
    for name, (value, interval) in trends.items():
        put(metrics, f"{name}_per_decade", value, interval)
    for place, model in enumerate(block.models):
        put(metrics, f"recall_match_{model}", *recall[place])
        metrics[f"recall_count_{model}"] = float(drawn.count[place])
        put(metrics, f"accuracy_{model}", *accuracy[place])
    return metrics
