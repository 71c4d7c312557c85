"""From finished cells to the union of a domain and a strategy: which cells, who judges, and the merge itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from omegaconf import DictConfig, OmegaConf
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.asking import call_row, call_table
from src.cells import MeasuredCell, choose, find_cells
from src.dedup.evidence import Evidence
from src.dedup.gather import gather_verdicts, questions
from src.dedup.nodes import Nodes
from src.dedup.pairs import Vectors
from src.dedup.rethreshold import dedup_of
from src.dedup.settings import Dedup
from src.embed import EndpointModel, HashingModel, SentenceModel
from src.errors import ConfigError
from src.identity import key_of, stable
from src.interfaces import Report
from src.knower.recall import find_chances, measurement
from src.lab.build import ROOT, build, resolved, without
from src.lab.config import AnyJudge, LedgerPlace, build_judge, name_of
from src.lab.roles import check_prices, open_roles
from src.ledger import Budgets, Ledger
from src.llm.config import Endpoint
from src.llm.local import Embedded
from src.llm.simulated import Simulated
from src.merge import gather_points, linked, union_of, union_tables
from src.records import STRICT, Filled, Metrics, Rubric
from src.stats.recall import union_metrics
from src.store import union_folder, write_union
from src.strategies.personas import POINTS


@config_dataclass(frozen=True, config=STRICT)
class UnionOptions:
    """The root of `conf/union.yaml`, but for the parts that have classes of their own."""

    cells: Filled
    where: Mapping[str, Any] | None
    variant_prompts: tuple[str, ...]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    dry: Annotated[bool, Field(strict=True)]
    debug: Annotated[bool, Field(strict=True)]
    ledger: LedgerPlace
    budget: Budgets


@dataclass(frozen=True)
class UnionPlan:
    """One union to be made.

    Attributes:
        domain, strategy: of its cells.
        cells: one per model, sorted by model.
        folder: where it will lie.
        config: what it depends on, as stored.
        dedup, rubric: what counts as the same.
        judge, endpoint, embedder: who decides, and where; whose cosines.
        options: how it is made.
    """

    domain: str
    strategy: str
    cells: tuple[MeasuredCell, ...]
    folder: Path
    config: Mapping[str, Any]
    dedup: Dedup
    rubric: Rubric
    judge: AnyJudge
    endpoint: Endpoint | Embedded | None
    embedder: SentenceModel | HashingModel | EndpointModel
    options: UnionOptions


PARTS = ("judge", "embedder", "dedup", "saturation", "rubric")


def read_unions(cfg: DictConfig) -> list[UnionPlan]:
    """The unions that a configuration asks for.

    Raises:
        ConfigError: a value is wrong, the cells do not go together, or were judged by another judge.
        DataMissing: there are no cells.
    """
    # Only their names are read: an option of a strategy may refer to a model, and a union has many.
    wanted = {name: OmegaConf.select(cfg, f"{name}.name") for name in ("domain", "strategy")}
    config = resolved(OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key not in wanted]))
    others = {name: value for name, value in config.items() if name not in PARTS}
    options: UnionOptions = build({"_target_": f"{__name__}.UnionOptions", **others}, "")
    judge, endpoint = build_judge(config["judge"])
    config["judge"]["name"] = name_of(config["judge"])
    embedder, dedup = build(config["embedder"], "embedder"), build(config["dedup"], "dedup")
    if dedup.linkage == "greedy":
        raise ConfigError(
            "dedup.linkage=greedy depends on the order of the models: a union takes representative, components or "
            "complete"
        )
    rubric = build(config["rubric"], "rubric")
    check_prices(options.budget, {"judge": judge, "embedder": embedder})
    place = ROOT / options.cells
    cells, _ = choose(find_cells(place, ROOT).cells, options.where or {}, options.variant_prompts)
    for name, value in wanted.items():
        if value not in (None, *(getattr(cell, name) for cell in cells)):
            known = ", ".join(sorted({getattr(cell, name) for cell in cells}))
            raise ConfigError(f"no finished cell in {options.cells} has {name}={value}; there are {known}")
        cells = tuple(cell for cell in cells if value in (None, getattr(cell, name)))
    plans = []
    about = stable({"judge": config["judge"], "embedder": config["embedder"]})
    for (domain, strategy), group in groupby(cells, key=lambda cell: (cell.domain, cell.strategy)):
        members = tuple(sorted(group, key=lambda cell: cell.model))
        _one_kind(members)
        for cell in members:
            _fits(cell, about, dedup)
        stored = {
            **about,
            "cells": {cell.model: cell.key for cell in members},
            "contents": {cell.model: cell.content for cell in members},
            "dedup": asdict(dedup),
            "domain": domain,
            "judged": members[0].title.judge,
            "rubric": config["rubric"],
            "strategy": strategy,
        }
        folder = union_folder(place, domain, strategy)
        plans.append(
            UnionPlan(domain, strategy, members, folder, stored, dedup, rubric, judge, endpoint, embedder, options)
        )
    return plans


def count_questions(plan: UnionPlan) -> tuple[int, int]:
    """Distinct texts of a union and how many of their pairs are questions to the judge; nothing is asked.

    Vectors that the ledger lacks are computed, or paid for at an endpoint.
    """

    async def work(ledger: Ledger) -> tuple[int, int]:
        _, nodes = gather_points(plan.cells)
        async with open_roles(ledger, seed=0, cell_key=key_of(plan.config), sweep=None) as roles:
            encoded = await (await roles.encoder(plan.embedder)).encode(nodes.texts)
        return len(nodes), questions(nodes, encoded.vectors, plan.dedup)

    place = plan.options.ledger
    with Ledger(ROOT / place.path, place.mode, plan.options.budget) as ledger:
        return asyncio.run(work(ledger))


def make_union(plan: UnionPlan, report: Report) -> Metrics:
    """Judge what the models share, write the union, return its metrics.

    Raises:
        FrontierError: what stopped it; verdicts obtained are in the ledger.
    """
    place = plan.options.ledger
    points, nodes = gather_points(plan.cells)
    with Ledger(ROOT / place.path, place.mode, plan.options.budget) as ledger:
        evidence, vectors, calls = asyncio.run(_judged(plan, nodes, ledger, report))
    points, clusters, keep = linked(points, evidence, plan.dedup, 1)
    models = tuple(cell.model for cell in plan.cells)
    tables = {**union_tables(points, evidence, clusters, keep, models), "calls": calls}
    if (chances := _find_chances(plan)) is not None:
        tables["chances"] = chances
    union = union_of(plan.config, tables, {})
    metrics = union_metrics(union.counts(), models)
    metrics |= {f"truth_recall_{model}": share for model, share in union.recall_truth(models).items()}
    tokens = calls["tokens_in"] + calls["tokens_out"]
    metrics |= {
        "largest_cluster": clusters.largest,
        "smallest_cosine": clusters.smallest_cosine(vectors[list(keep)]),
        "chain_alarm": int(clusters.chain_alarm),
        "judge_unparsed": clusters.unparsed,
        "calls_judge": int(calls["requests"].sum()),
        "tokens_judge": None if tokens.null_count() else int(tokens.sum()),
    }
    if metrics["smallest_cosine"] is None:
        metrics["smallest_cosine_reason"] = "no cluster holds two distinct texts"
    if metrics["tokens_judge"] is None:
        metrics["tokens_judge_reason"] = "the endpoint did not say how many tokens it used"
    write_union(plan.folder, plan.config, tables, metrics)
    return metrics


def _find_chances(plan: UnionPlan) -> pl.DataFrame | None:
    """How likely a run of each model finds each fact, a column for each; None if a model is not simulated."""
    measured = []
    for cell in plan.cells:
        if cell.title.subject != "simulated":
            return None
        model: Simulated = build(without(cell.config["model"], "name", "revision"), "model")
        shown = cell.config["strategy"].get("shown_points", "all")
        known = model.world, model.knower, cell.extracted["calls"], POINTS
        measured.append(measurement(*known, shown_points=None if shown == "all" else shown))
    chances = find_chances(measured, plan.cells[0].title.query)
    return pl.DataFrame({cell.model: chance for cell, chance in zip(plan.cells, chances, strict=True)})


async def _judged(
    plan: UnionPlan, nodes: Nodes, ledger: Ledger, report: Report
) -> tuple[Evidence, Vectors, pl.DataFrame]:
    """The evidence about the texts of a union, their vectors and the calls it took."""
    key = key_of(plan.config)
    async with open_roles(ledger, seed=plan.options.seed, cell_key=key, sweep=None) as roles:
        judge = await roles.judge(plan.judge, plan.endpoint)
        vectors = (await (await roles.encoder(plan.embedder)).encode(nodes.texts)).vectors
        evidence, verdicts = await gather_verdicts(nodes, vectors, plan.dedup, judge, plan.rubric, report)
    completions = [completion for verdict in verdicts for completion in verdict.completions]
    return evidence, vectors, call_table([call_row("judge", plan.rubric.name, each) for each in completions])


def _one_kind(members: Sequence[MeasuredCell]) -> None:
    """Refuse a union of models that exist and models that do not: what the latter say is invented.

    Raises:
        ConfigError: there are both.
    """
    simulated = [cell for cell in members if cell.title.subject == "simulated"]
    if simulated and len(simulated) < len(members):
        one, other = simulated[0], next(cell for cell in members if cell.title.subject != "simulated")
        raise ConfigError(
            f"{one.folder} is of a simulated model and {other.folder} is not: they share no knowledge; choose, as "
            f"where='{{model.name: [{one.model}]}}', or ask simulated models about a domain of their own"
        )


def _fits(cell: MeasuredCell, about: Mapping[str, Any], dedup: Dedup) -> None:
    """Refuse a union whose judge, encoder or thresholds are not those of the cell.

    Raises:
        ConfigError: they differ.
    """
    for name, mine in about.items():
        theirs = cell.config[name]
        if theirs != mine:
            fields = ", ".join(sorted(key for key in {*theirs, *mine} if theirs.get(key) != mine.get(key)))
            raise ConfigError(
                f"{cell.folder} has {name} {theirs.get('name') or theirs.get('id')}, the union "
                f"{mine.get('name') or mine.get('id')} (they differ in {fields}): give that of the cells, as {name}=…"
            )
    own = dedup_of(cell.config)
    if (own.strict, own.fuzzy, own.guards) != (dedup.strict, dedup.fuzzy, dedup.guards):
        raise ConfigError(
            f"{cell.folder} was merged with dedup {own}, the union would be with {dedup}: give thresholds= and dedup.* "
            "as the cells have them"
        )
