"""Study `scaling`: do larger models know more, and does each step bring less (arXiv 2602.00959, scaling law)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.cells import source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.scaling import scaling
from src.figures.versus import DIFFERENCES, versus
from src.records import Metrics
from src.stats.compare import Vector
from src.stats.flat import put, put_interval
from src.stats.intervals import Number
from src.studies.block import Block, by_strategy, find_block
from src.studies.comparison import Comparison
from src.studies.known import Known
from src.studies.pairing import (
    PAIRED,
    best_sentence,
    compared_metrics,
    domains_table,
    models_table,
    pairs_table,
    truth_sentences,
)
from src.studies.sizes import Scaled, Step, scaling_decision
from src.studies.wording import columns, judged, listed, points, share

DEFINITIONS = {
    **PAIRED,
    "slope per decade": "least squares of the models' numbers on log10 of their parameters: gain for ten times the "
    "size; its interval is that of the measurement of these models, not of the choice of models",
    "gain per decade of a step": "difference between neighbouring sizes over the difference of log10 of their "
    "parameters; models of one size are averaged",
    "diminishing returns": "the gain per decade falls with the size: the curvature of the least-squares parabola is "
    "below 0 with its whole interval; needs three sizes",
}


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
    probe: ClassVar[str] = "boundary"

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
        compared = block.compared(known.seed)
        accuracy = [block.accuracy(model) for model in block.models]
        scaled = scaling_decision(size, compared, accuracy)
        return self._finding(block, size, compared, accuracy, scaled, unsized)

    def _finding(
        self,
        block: Block,
        size: Vector,
        compared: Comparison,
        accuracy: Sequence[Number],
        scaled: Scaled,
        unsized: Sequence[str],
    ) -> Finding:
        """What was decided, as tables, figures and sentences."""
        rows = models_table(block, compared, accuracy).with_columns(parameters_billion=10.0 ** pl.Series(size))
        rows = rows.select("model", "parameters_billion", *rows.columns[1:-1]).sort("parameters_billion", "model")
        table = pairs_table(block.models, compared)
        best = [block.models[place] for place in compared.best]
        figures = {"scaling": scaling(rows, block.strategy, compared.domains, compared.drawn.clusters, block.caveat)}
        if table.height:
            figures["differences"] = versus(table, best, block.caveat)
        missing = [*block.missing, *unsized]
        if not scaled.steps:
            missing.append("models of another size: slope and differences need at least two sizes")
        elif len(scaled.steps) == 1:
            missing.append("a third size: diminishing returns need three")
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, knowledge scaling law",
            verdict=(*_verdict(block.models, size, compared, accuracy, scaled), *truth_sentences(block, compared)),
            metrics=_metrics(block.models, compared, accuracy, scaled),
            tables={
                "models": rows,
                "steps": _steps_table(block.models, scaled),
                "pairs": table,
                "domains": domains_table(block, compared),
            },
            figures=figures,
            captions={
                "scaling": "Left: recall_match with 95 % intervals (unit: union cluster) and recall_count as "
                f"published, mean over {plural(compared.domains, 'domain')}; the line is least squares on log10 "
                "of the parameters. Right: accuracy with 95 % intervals (unit: branch where there are three or more, "
                "else point). Recall, filled: not separable from the best (Holm over all pairs).",
                "differences": DIFFERENCES,
            },
            definitions=DEFINITIONS,
            missing=tuple(missing),
            sources=tuple(source(cell) for _, cell in sorted(block.cells.items())),
        )


def _steps_table(names: Sequence[str], scaled: Scaled) -> pl.DataFrame:
    """Gain per decade between neighbouring sizes."""
    rows = [
        {
            "from_billion": 10**step.low,
            "to_billion": 10**step.high,
            "from": ", ".join(names[place] for place in step.smaller),
            "to": ", ".join(names[place] for place in step.larger),
            **columns("gain_per_decade", *step.gain),
            "clusters": step.gain[1].n,
            "unit": step.gain[1].unit,
        }
        for step in scaled.steps
    ]
    schema = {
        "from_billion": pl.Float64, "to_billion": pl.Float64, "from": pl.String, "to": pl.String,
        "gain_per_decade": pl.Float64, "gain_per_decade_low": pl.Float64, "gain_per_decade_high": pl.Float64,
        "gain_per_decade_reason": pl.String, "clusters": pl.Int64, "unit": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _verdict(
    names: Sequence[str], size: Vector, compared: Comparison, accuracy: Sequence[Number], scaled: Scaled
) -> tuple[str, ...]:
    recall = compared.recall
    domains = plural(compared.domains, "domain")
    if len(names) == 1:
        return (
            f"{names[0]} is the only model, so nothing can be said about size: accuracy {share(*accuracy[0])}, "
            f"{judged(accuracy[0][1])} of {domains}; its recall of its own union is 100 % by definition.",
        )
    where = f"{domains}, n = {plural(compared.clusters, 'union cluster')}"
    order = [int(place) for place in np.argsort(size, kind="stable")]
    shown = order if len(order) <= 6 else [order[0], order[-1]]
    said = "; ".join(f"{names[place]} {share(*recall[place])}" for place in shown)
    if not scaled.steps:
        lines = [f"All models are of one size, so there is no slope: recall_match {said} ({where})."]
    else:
        against = _against(names, scaled)
        rise = "cannot be said to know more or less than the smaller"
        if scaled.trend:
            rise = f"know {scaled.trend}{' on the whole' if against else ''}"
        lines = [
            f"Among these models, the larger ones {rise}: recall_match {points(*scaled.recall_slope)} per ten times "
            f"the parameters ({where}, {len(names)} models; "
            f"{'smallest and largest: ' if len(shown) < len(order) else ''}{said}){against}."
        ]
    lines.append(best_sentence(names, compared))
    bend, interval = scaled.recall_curvature
    if interval.reason:
        lines.append(f"Diminishing returns cannot be judged: {interval.reason}.")
    else:
        few = [_step(names, step) for step in scaled.steps]
        detail = f"; per step: {'; '.join(few)}" if len(few) <= 4 else ""
        lines.append(
            f"Returns are {scaled.returns or 'not told from constant'}: the gain per decade changes by "
            f"{points(bend, interval)} per further decade{detail}."
        )
    trend = scaled.accuracy_slope
    if not math.isnan(trend[0]):
        lines.append(
            f"Accuracy changes by {points(*trend)} per ten times the parameters ({judged(trend[1])}; unit: "
            f"{trend[1].unit})."
        )
    return tuple(lines)


def _against(names: Sequence[str], scaled: Scaled) -> str:
    """A clause on the steps that go against the slope with their whole interval; "" if none does."""
    steps = scaled.against
    if not steps:
        return ""
    of = f"{len(steps)} of {plural(len(scaled.steps), 'step')} between neighbouring sizes"
    most = "most: " if len(steps) > 1 else ""
    return f"; but against it, with the whole interval, {of}: {most}{_step(names, steps[0])}"


def _step(names: Sequence[str], step: Step) -> str:
    """A step in words."""
    smaller, larger = (", ".join(names[place] for place in side) for side in (step.smaller, step.larger))
    return f"{smaller} to {larger} {points(*step.gain)}"


def _metrics(names: Sequence[str], compared: Comparison, accuracy: Sequence[Number], scaled: Scaled) -> Metrics:
    metrics = compared_metrics(names, compared, accuracy)
    for name in ("recall_slope", "accuracy_slope", "recall_curvature"):
        put_interval(metrics, f"{name}_per_decade", *getattr(scaled, name))
    for place, model in enumerate(names):
        put(metrics, f"recall_count_{model}", float(compared.drawn.count[place]))
    return metrics
