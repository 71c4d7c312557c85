"""Models that are compared over domains: the part of what was asked for in which every model meets every domain.

A union holds what its models know, so recalls of different domains can be averaged only over the same models.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from src.cells import MeasuredCell
from src.errors import ConfigError
from src.merge import Union
from src.stats.branches import Origins
from src.stats.combining import averaged
from src.stats.intervals import Interval, Number, wilson
from src.stats.recall import Counts
from src.studies.comparison import Comparison, compare
from src.studies.known import Known
from src.studies.truths import Truths, truths

LEAF = "Wilson on n/deff with t"


@dataclass(frozen=True)
class Block:
    """What is compared.

    Attributes:
        strategy: how all of them were asked.
        models: sorted names; domains: sorted names.
        cells: (model, domain) → its cell, for every pair.
        unions: domain → points of each model in each cluster, shape (clusters, models).
        origins: domain → where these points came from.
        missing: what was asked for and is not there or had to be left out, one clause each.
        caveat: what must be known before the numbers, in a few words.
        truths: model → what is true of it; empty unless all models are simulated.
    """

    strategy: str
    models: tuple[str, ...]
    domains: tuple[str, ...]
    cells: Mapping[tuple[str, str], MeasuredCell]
    unions: Mapping[str, Counts]
    origins: Mapping[str, Origins]
    missing: tuple[str, ...]
    caveat: str
    truths: Mapping[str, Truths]

    @property
    def counts(self) -> list[Counts]:
        """The unions in the order of the domains."""
        return [self.unions[domain] for domain in self.domains]

    def compared(self, seed: int) -> Comparison:
        """The models on their unions, drawn from a seed."""
        return compare(self.counts, seed, [self.origins[domain] for domain in self.domains])

    def accuracy(self, model: str) -> Number:
        """Accuracy of a model, mean over the domains, with its interval."""
        parts = [self.accuracy_in(model, domain) for domain in self.domains]
        return averaged([value for value, _ in parts], [interval for _, interval in parts])

    def accuracy_in(self, model: str, domain: str) -> Number:
        """Accuracy of a model in a domain, with its interval."""
        return accuracy_of(self.cells[model, domain])


def by_strategy(known: Known, strategy: str, study: str) -> list[MeasuredCell]:
    """The cells of a strategy.

    Raises:
        ConfigError: there is none.
    """
    cells = [cell for cell in known.cells if cell.strategy == strategy]
    if not cells:
        there = ", ".join(sorted({cell.strategy for cell in known.cells}))
        raise ConfigError(
            f"study {study}: no cell is by {strategy}; there are {there}: set study.strategy to one of them"
        )
    return cells


def find_block(
    known: Known, strategy: str, models: Sequence[str] | None, domains: Sequence[str] | None, study: str
) -> Block:
    """Find what can be compared.

    Args:
        known: what was measured.
        strategy: how the models were asked.
        models: wanted; None: all found.
        domains: wanted; None: all found.
        study: its name, for messages.

    Raises:
        ConfigError: no model has a cell and a union in any domain.
    """
    cells = {(cell.model, cell.domain): cell for cell in by_strategy(known, strategy, study)}
    wanted = sorted(set(models) if models is not None else {model for model, _ in cells})
    asked = sorted(set(domains) if domains is not None else {domain for model, domain in cells if model in wanted})
    missing = absent(cells, wanted, asked, strategy)
    united: dict[str, Collection[str]] = {}
    for domain in asked:
        union = known.union(domain, strategy)
        united[domain] = union.models if union else ()
        if union is None and any((model, domain) in cells for model in wanted):
            missing.append(
                f"no union of {domain} by {strategy}: run `python -m src.union domain={domain} strategy={strategy}`"
            )
    there = {(model, domain) for model, domain in cells if model in wanted and model in united.get(domain, ())}
    kept, over, dropped = _complete(there)
    unions: dict[str, Counts] = {}
    origins: dict[str, Origins] = {}
    for domain in over:
        union = known.union(domain, strategy)
        counts = union.counts(kept) if union else None
        if union and counts is not None and len(counts):
            unions[domain] = counts
            origins[domain] = union.origins(kept)
        else:
            dropped.append(f"{domain}: none of these models has a valid point there")
    if not unions:
        found = ", ".join(sorted({model for model, _ in cells}))
        why = "; ".join([*missing, *dropped]) or "no domain was asked for"
        raise ConfigError(f"study {study} has nothing to compare by {strategy}: {why}; models that have cells: {found}")
    missing += [f"left out, so that every model meets every domain: {clause}" for clause in dropped]
    pairs = {(model, domain): cells[model, domain] for model in kept for domain in sorted(unions)}
    merged = [union for union in known.unions if union.strategy == strategy and union.domain in unions]
    caveat = caveat_of(list(pairs.values()), merged)
    planted = truths(kept, pairs, merged)
    return Block(strategy, kept, tuple(sorted(unions)), pairs, unions, origins, tuple(missing), caveat, planted)


def absent(
    cells: Collection[tuple[str, str]], models: Sequence[str], domains: Sequence[str], strategy: str
) -> list[str]:
    """Cells (model, domain) that were asked for and are not there, a clause for each model."""
    clauses = []
    for model in models:
        if not any(found == model for found, _ in cells):
            clauses.append(f"no cell of {model} by {strategy}")
        elif lacks := [domain for domain in domains if (model, domain) not in cells]:
            clauses.append(f"no cell of {model} by {strategy} for {', '.join(lacks)}")
    return clauses


def caveat_of(cells: Sequence[MeasuredCell], unions: Sequence[Union]) -> str:
    """What must be known before numbers from these cells and unions: simulated or not, and who judged."""
    said = sorted({cell.title.caveat for cell in cells})
    others = sorted({union.judge for union in unions} - {cell.title.judge for cell in cells})
    return "; ".join([*said, *(f"points of different models merged by judge {judge}" for judge in others)])


def accuracy_of(cell: MeasuredCell) -> Number:
    """Accuracy of a cell with its interval: over branches, or over points where there are fewer than three branches."""
    valid, invalid = (int(cell.metrics.get(name) or 0) for name in ("valid", "invalid"))
    n = valid + invalid
    low, high = (cell.metrics.get(f"accuracy_leaf_{end}") for end in ("low", "high"))
    value = valid / n if n else float("nan")
    audited = cell.processed["atoms"].filter(pl.col("unique") & pl.col("valid").is_not_null())
    branches = (
        cell.extracted["atoms"].filter(pl.col("atom_id").is_in(audited["atom_id"].to_list()))["branch"].n_unique()
    )
    if low is None or high is None:
        return value, replace(wilson(valid, n), branches=branches)
    return value, Interval(float(low), float(high), n, "branch", LEAF, branches=branches)


def _complete(there: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Models and domains of which every pair is there, and what was left out: whatever has the largest share of gaps.

    Where a model and a domain lack equally much, the domain goes; among equals the later name.
    """
    models, domains = ({pair[side] for pair in there} for side in (0, 1))
    dropped: list[str] = []
    while True:
        gaps = [
            (sum((model, domain) not in there for model in models) / len(models), 1, domain) for domain in domains
        ] + [(sum((model, domain) not in there for domain in domains) / len(domains), 0, model) for model in models]
        if not gaps or max(gaps)[0] == 0:
            return tuple(sorted(models)), tuple(sorted(domains)), dropped
        share, is_domain, name = max(gaps)
        whole = len(models) if is_domain else len(domains)
        lacks = f"{round(share * whole)} of {whole} {'models' if is_domain else 'domains'} lacking"
        (domains if is_domain else models).discard(name)
        dropped.append(f"{name} ({lacks})")
