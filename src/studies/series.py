"""Study `series`: is the order of models the same in every domain, how far does accuracy vary (arXiv 2602.00959)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import source
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.series import series
from src.figures.versus import DIFFERENCES, versus
from src.records import Metrics
from src.stats.compare import DRAWS
from src.stats.flat import number, put, put_interval
from src.stats.intervals import Number
from src.studies.block import Block, find_block
from src.studies.comparison import Comparison
from src.studies.known import Known
from src.studies.order import Ordered, order_decision
from src.studies.pairing import (
    PAIRED,
    compared_metrics,
    domains_table,
    models_table,
    needed_sentence,
    pairs_table,
    truth_sentences,
)
from src.studies.wording import judged, listed, p_words, points, share

DEFINITIONS = {
    **PAIRED,
    "Kendall's W": "agreement of the domains on the order of the models by recall_match: 1 the same order everywhere, "
    "0 none; ties corrected. p: share of 2,000 random orders in every domain that agree as much; a small one refutes "
    "random orders and says nothing of single pairs. Range: W in 95 % of the multinomial draws, a measure of how much "
    "the measurement shakes it, below the truth where models are close",
    "reversal": "a pair of models of which one is ahead in one domain and the other in another, both separated by "
    "Holm's p over all pairs of the domain",
    "spread of accuracy": "highest less lowest mean accuracy of a model; interval: square-and-add widened by the "
    "studentised range, so that it allows for having picked the two afterwards; sd: over models (n - 1)",
}
TOLD = {
    None: "cannot be told from chance over domains",
    "in part": "agrees in part over domains",
    "the same": "is the same in every domain",
    "more than random": "agrees over domains more than random orders would",
}


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Series:
    """Models of several families, domain by domain.

    Attributes:
        name, question: of the study.
        strategy: by which all models were asked.
        models: None: every model found.
        domains: None: every domain found.
    """

    name: str
    question: str
    strategy: str
    models: tuple[str, ...] | None
    domains: tuple[str, ...] | None
    probe: ClassVar[str] = "boundary"

    def run(self, known: Known) -> Finding:
        """Compare what there is.

        Raises:
            ConfigError: there is nothing to compare.
        """
        block = find_block(known, self.strategy, self.models, self.domains, self.name)
        compared = block.compared(known.seed)
        accuracy = [block.accuracy(model) for model in block.models]
        ordered = order_decision(compared, accuracy, known.seed)
        return self._finding(block, compared, accuracy, ordered)

    def _finding(self, block: Block, compared: Comparison, accuracy: Sequence[Number], ordered: Ordered) -> Finding:
        """What was decided, as tables, figures and sentences."""
        models = _with_spread(models_table(block, compared, accuracy), block)
        domains = domains_table(block, compared)
        table = pairs_table(block.models, compared).with_columns(
            pl.Series("domains_ahead", ordered.ahead, dtype=pl.Int64),
            pl.Series("domains_behind", ordered.behind, dtype=pl.Int64),
        )
        missing = list(block.missing)
        if len(block.models) == 1:
            missing.append("a second model: there is no order to compare")
        if len(block.domains) == 1:
            missing.append("a second domain: whether an order is stable needs two")
        figures = {"series": series(models, domains, block.strategy, block.caveat)}
        if table.height:
            figures["differences"] = versus(table, [block.models[place] for place in compared.best], block.caveat)
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, knowledge profiles of model families",
            verdict=(*_verdict(block, compared, accuracy, ordered, domains), *truth_sentences(block, compared)),
            metrics=_metrics(block.models, compared, accuracy, ordered),
            tables={"models": models, "domains": domains, "pairs": table},
            figures=figures,
            captions={
                "series": "Recall_match (top) and accuracy (bottom) of every model, mean over the domains and in each, "
                "with 95 % intervals (recall: Wilson, unit union cluster; accuracy: unit branch where there are three "
                "or more, else point). Recall, filled: not separable from the best (Holm over all pairs of the "
                "panel). Models in the order of their mean recall.",
                "differences": DIFFERENCES,
            },
            definitions=DEFINITIONS,
            missing=tuple(missing),
            sources=tuple(source(cell) for _, cell in sorted(block.cells.items())),
        )


def _with_spread(models: pl.DataFrame, block: Block) -> pl.DataFrame:
    """The table of models with how each one's accuracy varies over the domains."""
    rows = []
    for model in block.models:
        values = [block.accuracy_in(model, domain)[0] for domain in block.domains]
        known = [value for value in values if not math.isnan(value)]
        deviation = float(np.std(known, ddof=1)) if len(known) > 1 else math.nan
        rows.append((model, *((min(known), max(known)) if known else (None, None)), number(deviation)))
    schema = {
        "model": pl.String, "accuracy_least": pl.Float64, "accuracy_most": pl.Float64,
        "accuracy_sd_over_domains": pl.Float64,
    }  # fmt: skip
    return models.join(pl.DataFrame(rows, schema=schema, orient="row"), on="model", how="left", maintain_order="left")


def _verdict(
    block: Block, compared: Comparison, accuracy: Sequence[Number], ordered: Ordered, domains: pl.DataFrame
) -> tuple[str, ...]:
    names = block.models
    where = f"{plural(len(block.domains), 'domain')}, n = {plural(compared.clusters, 'union cluster')}"
    if len(names) == 1:
        return (
            f"{names[0]} is the only model, so there is no order: accuracy {share(*accuracy[0])} of "
            f"{judged(accuracy[0][1])} ({where}).",
        )
    match = compared.drawn.match
    order = np.argsort(-match, kind="stable").tolist()
    shown = order if len(order) <= 6 else [order[0], order[-1]]
    said = "; ".join(f"{names[place]} {share(*compared.recall[place])}" for place in shown)
    tied_in = []
    for domain in block.domains[:4]:
        part = domains.filter((pl.col("domain") == domain) & pl.col("tied_with_best")).sort("rank")
        whom = listed(part["model"].to_list()) if len(names) <= 6 else f"{part.height} of {len(names)} models"
        tied_in.append(f"{domain}: {whom}")
    more = f"; {len(block.domains) - 4} more domains in the table" if len(block.domains) > 4 else ""
    return (
        _stable(names, compared, ordered, where),
        f"Mean recall_match: {'highest and lowest: ' if len(shown) < len(order) else ''}{said}. Best, with those not "
        f"separable from it: {listed([names[place] for place in compared.best])}; {'; '.join(tied_in)}{more}."
        f"{needed_sentence(names, compared)}",
        _accuracy_sentence(names, accuracy, ordered.accuracy_spread),
    )


def _stable(names: Sequence[str], compared: Comparison, ordered: Ordered, where: str) -> str:
    """Whether the order is the same in every domain."""
    agreed = ordered.agreed
    if agreed.reason:
        stable = f"Whether the order is stable cannot be said: {agreed.reason}"
    else:
        least = 1 / math.factorial(min(len(names), 20)) ** (compared.domains - 1)
        few = f", {least:.3f} being the least that so few can reach" if least >= 0.05 else ""
        stable = (
            f"The order of {len(names)} models by recall_match {TOLD[ordered.told]}: Kendall's W {agreed.w:.2f} "
            f"({p_words(agreed.p)} by {DRAWS:,} permutations{few}; {agreed.low:.2f} to {agreed.high:.2f} in 95 % of "
            f"draws; {where})"
        )
    if compared.domains > 1:
        turned = [compared.pairs[place] for place in ordered.reversals]
        whom = listed([f"{names[pair.one]} and {names[pair.other]}" for pair in turned])
        found = f"{len(turned)} of {plural(len(compared.pairs), 'pair')} reversed beyond noise: {whom}"
        stable += f"; {found if turned else 'no reversal beyond noise'}"
    return f"{stable}."


def _accuracy_sentence(names: Sequence[str], accuracy: Sequence[Number], gap: Number) -> str:
    if gap[1].reason:
        return f"How far accuracy varies cannot be said: {gap[1].reason}."
    known = [(value, interval, name) for (value, interval), name in zip(accuracy, names, strict=True)
             if not interval.reason]  # fmt: skip
    top, bottom = max(known, key=lambda row: row[0]), min(known, key=lambda row: row[0])
    deviation = float(np.std([value for value, *_ in known], ddof=1))
    return (
        f"Mean accuracy varies by {points(*gap)} between models (sd {100 * deviation:.1f} percentage points): "
        f"highest {top[2]} {share(top[0], top[1])}, lowest {bottom[2]} {share(bottom[0], bottom[1])} "
        f"({judged(gap[1])}; unit: {gap[1].unit})."
    )


def _metrics(names: Sequence[str], compared: Comparison, accuracy: Sequence[Number], ordered: Ordered) -> Metrics:
    metrics = compared_metrics(names, compared, accuracy)
    agreed = ordered.agreed
    put(metrics, "reversals", len(ordered.reversals))
    for name, value in (("kendall_w", agreed.w), ("kendall_w_p", agreed.p), ("kendall_w_draws_low", agreed.low),
                        ("kendall_w_draws_high", agreed.high)):  # fmt: skip
        put(metrics, name, value, agreed.reason)
    put_interval(metrics, "accuracy_spread", *ordered.accuracy_spread)
    return metrics
