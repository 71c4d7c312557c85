"""Study `series`: is the order of models the same in every domain, how far does accuracy vary (arXiv 2602.00959)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import source
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.series import series
from src.figures.versus import versus
from src.records import Metrics
from src.stats.combining import spread
from src.stats.compare import DRAWS, Pair, Repeats, pairs, repeats, tied
from src.stats.concordance import Concordance, concordance
from src.stats.intervals import Interval
from src.stats.recall import recall_match
from src.studies.block import Block, find_block
from src.studies.known import Known
from src.studies.pairing import PAIRED, Number, domains_table, models_table, pairs_table, recalls
from src.studies.wording import judged, listed, number, p_words, points, put, share

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

    def run(self, known: Known) -> Finding:
        """Compare what there is.

        Raises:
            ConfigError: there is nothing to compare.
        """
        block = find_block(known, self.strategy, self.models, self.domains, self.name)
        drawn = repeats(block.counts, known.seed)
        compared = pairs(drawn)
        best = tied(drawn.match, compared)
        recall = recalls(block, drawn)
        accuracy = [block.accuracy(model) for model in block.models]
        agreed = concordance(np.array([recall_match(counts) for counts in drawn.unions]), drawn.matches, known.seed)
        by_domain = [pairs(drawn.of_domain(place)) for place in range(len(block.domains))]
        models = _with_spread(models_table(block, drawn, recall, accuracy, best), block)
        domains = domains_table(block, drawn, by_domain)
        table = pairs_table(block.models, compared).with_columns(
            pl.Series("domains_ahead", _separated(by_domain, 1), dtype=pl.Int64),
            pl.Series("domains_behind", _separated(by_domain, -1), dtype=pl.Int64),
        )
        reversed_pairs = table.filter((pl.col("domains_ahead") > 0) & (pl.col("domains_behind") > 0))
        missing = list(block.missing)
        if len(block.models) == 1:
            missing.append("a second model: there is no order to compare")
        if len(block.domains) == 1:
            missing.append("a second domain: whether an order is stable needs two")
        figures = {"series": series(models, domains, block.strategy, block.caveat)}
        if len(block.models) > 1:
            figures["differences"] = versus(table, [block.models[place] for place in best], block.caveat)
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, knowledge profiles of model families",
            verdict=_verdict(block, drawn, recall, accuracy, best, agreed, reversed_pairs, domains),
            metrics=_metrics(block, drawn, recall, accuracy, best, agreed, reversed_pairs.height),
            tables={"models": models, "domains": domains, "pairs": table},
            figures=figures,
            captions={
                "series": "Recall_match (top) and accuracy (bottom) of every model, mean over the domains and in each, "
                "with 95 % intervals (recall: Wilson, unit union cluster; accuracy: unit branch where there are three "
                "or more, else point). Recall, filled: not separable from the best (Holm over all pairs of the "
                "panel). Models in the order of their mean recall.",
                "differences": "Recall_match of the best model less that of every other, in percentage points, mean "
                "over domains, with 95 % intervals (unit: union cluster, 2,000 multinomial draws). Filled: not "
                "separable.",
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


def _separated(by_domain: Sequence[Sequence[Pair]], sign: int) -> list[int]:
    """For each pair the domains in which the first model is ahead (sign 1) or behind (-1), separated by Holm's p."""
    pairs_of = zip(*by_domain, strict=True)
    return [sum(pair.p_holm < 0.05 and sign * pair.difference > 0 for pair in places) for places in pairs_of]


def _verdict(
    block: Block,
    drawn: Repeats,
    recall: Sequence[Number],
    accuracy: Sequence[Number],
    best: Sequence[int],
    agreed: Concordance,
    reversed_pairs: pl.DataFrame,
    domains: pl.DataFrame,
) -> tuple[str, ...]:
    names = block.models
    where = f"{plural(len(block.domains), 'domain')}, n = {plural(sum(drawn.clusters), 'union cluster')}"
    if len(names) == 1:
        return (
            f"{names[0]} is the only model, so there is no order: accuracy {share(*accuracy[0])} of "
            f"{judged(accuracy[0][1])} ({where}).",
        )
    turned = [f"{row['model']} and {row['other']}" for row in reversed_pairs.iter_rows(named=True)]
    if agreed.reason:
        stable = f"Whether the order is stable cannot be said: {agreed.reason}"
    else:
        least = 1 / math.factorial(min(len(names), 20)) ** (len(block.domains) - 1)
        few = f", {least:.3f} being the least that so few can reach" if least >= 0.05 else ""
        stable = (
            f"The order of {len(names)} models by recall_match {_told(agreed, turned)}: Kendall's W {agreed.w:.2f} "
            f"({p_words(agreed.p)} by {DRAWS:,} permutations{few}; {agreed.low:.2f} to {agreed.high:.2f} in 95 % of "
            f"draws; {where})"
        )
    if len(block.domains) > 1:
        found = f"{len(turned)} of {plural(math.comb(len(names), 2), 'pair')} reversed beyond noise: {listed(turned)}"
        stable += f"; {found if turned else 'no reversal beyond noise'}"
    order = np.argsort(-drawn.match, kind="stable").tolist()
    shown = order if len(order) <= 6 else [order[0], order[-1]]
    said = "; ".join(f"{names[place]} {share(*recall[place])}" for place in shown)
    tied_in = []
    for domain in block.domains[:4]:
        part = domains.filter((pl.col("domain") == domain) & pl.col("tied_with_best")).sort("rank")
        whom = listed(part["model"].to_list()) if len(names) <= 6 else f"{part.height} of {len(names)} models"
        tied_in.append(f"{domain}: {whom}")
    more = f"; {len(block.domains) - 4} more domains in the table" if len(block.domains) > 4 else ""
    return (
        f"{stable}.",
        f"Mean recall_match: {'highest and lowest: ' if len(shown) < len(order) else ''}{said}. Best, with those not "
        f"separable from it: {listed([names[place] for place in best])}; {'; '.join(tied_in)}{more}.",
        _accuracy_sentence(names, accuracy),
    )


def _told(agreed: Concordance, turned: Sequence[str]) -> str:
    """What may be said of the order; a small p refutes random orders and no more."""
    if agreed.p >= 0.05:
        return "cannot be told from chance over domains"
    if turned:
        return "agrees in part over domains"
    return "is the same in every domain" if agreed.w > 1 - 1e-9 else "agrees over domains more than random orders would"


def _accuracy_sentence(names: Sequence[str], accuracy: Sequence[Number]) -> str:
    known = [(value, interval, name) for (value, interval), name in zip(accuracy, names, strict=True)
             if not interval.reason]  # fmt: skip
    if len(known) < 2:
        return "How far accuracy varies cannot be said: fewer than two models have an accuracy with an interval."
    gap, interval = spread([value for value, *_ in known], [each for _, each, _ in known])
    top, bottom = max(known, key=lambda row: row[0]), min(known, key=lambda row: row[0])
    deviation = float(np.std([value for value, *_ in known], ddof=1))
    return (
        f"Mean accuracy varies by {points(gap, interval)} between models (sd {100 * deviation:.1f} percentage points): "
        f"highest {top[2]} {share(top[0], top[1])}, lowest {bottom[2]} {share(bottom[0], bottom[1])} "
        f"({judged(interval)}; unit: {interval.unit})."
    )


def _metrics(
    block: Block,
    drawn: Repeats,
    recall: Sequence[Number],
    accuracy: Sequence[Number],
    best: Sequence[int],
    agreed: Concordance,
    reversals: int,
) -> Metrics:
    metrics: Metrics = {
        "models": len(block.models),
        "domains": len(block.domains),
        "clusters": sum(drawn.clusters),
        "tied_with_best": len(best),
        "reversals": reversals,
    }
    for name, value in (("kendall_w", agreed.w), ("kendall_w_p", agreed.p), ("kendall_w_draws_low", agreed.low),
                        ("kendall_w_draws_high", agreed.high)):  # fmt: skip
        metrics[name] = number(value)
        if metrics[name] is None:
            metrics[f"{name}_reason"] = agreed.reason
    known = [(value, interval) for value, interval in accuracy if not interval.reason]
    reason = "fewer than two models have an accuracy with an interval"
    nothing = Interval(math.nan, math.nan, 0, "branch", "square-and-add", reason)
    gap = spread([value for value, _ in known], [each for _, each in known]) if len(known) > 1 else (math.nan, nothing)
    put(metrics, "accuracy_spread", *gap)
    for place, model in enumerate(block.models):
        put(metrics, f"recall_match_{model}", *recall[place])
        put(metrics, f"accuracy_{model}", *accuracy[place])
    return metrics
