"""From a configuration to a measured cell: build the lab, extract, process, store, track.

This module and the commands are the only ones that know Hydra and start an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from src.embed import EndpointEncoder
from src.entries import Results, TrackedCell
from src.errors import ConfigError, FrontierError
from src.figures.captions import Title
from src.figures.summary import note
from src.identity import Identity, identity
from src.interfaces import Encoder, Judge, Lab, Probe, Report
from src.judge import LLMJudge
from src.ledger import Ledger, Spend
from src.llm.client import ChatClient
from src.llm.limits import Budget
from src.records import Metrics, Role, Tables
from src.store import read_phase, run_folder, slug_of, write_phase, write_spend
from src.tracking import tracked

ROOT = Path(__file__).resolve().parents[1]
PHASES = ("extract", "process")


@dataclass(frozen=True)
class Cell:
    """One cell as configured: what it is, where it lies, what is to be done."""

    config: dict[str, Any]
    identity: Identity
    folder: Path
    phases: tuple[str, ...]
    probe: Probe


@dataclass(frozen=True)
class Outcome:
    """What a run left; `failure` says why it was cut short by an error, "" otherwise."""

    cell: Cell
    metrics: Metrics | None
    spend: dict[str, Any]
    failure: str


def read_cell(cfg: DictConfig) -> Cell:
    """Resolve and check a composed configuration.

    Raises:
        ConfigError: a value is missing, unknown, of the wrong kind or out of range.
    """
    try:
        config = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"the configuration cannot be resolved: {_first_line(error)}") from error
    assert isinstance(config, dict)
    phases = tuple(config["phases"] or ())
    if not phases or not set(phases) <= set(PHASES):
        raise ConfigError(f"phases={list(phases)} is not allowed: choose [extract], [process] or [extract,process]")
    for role in ("model", "judge"):
        config[role]["name"] = config[role].get("name") or slug_of(str(config[role].get("id")))
    names = identity(config)
    folder = Path(config["run_dir"]) if config["run_dir"] else run_folder(
        ROOT,
        probe=config["probe"]["name"],
        topic=config["domain"]["name"],
        model=config["model"]["name"],
        strategy=config["strategy"]["name"],
        seed=config["seed"],
        cell_key=names.cell_key,
    )
    return Cell(config, names, folder, phases, build(config["probe"], "probe"))


def build(node: Mapping[str, Any], what: str, **extra: Any) -> Any:
    """Instantiate a configuration node; a bad value is one sentence.

    Raises:
        ConfigError: the node does not fit its class.
    """
    try:
        return instantiate(dict(node), **extra, _convert_="all")
    except InstantiationException as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ValidationError | FrontierError):
            cause = cause.__cause__
        if isinstance(cause, FrontierError):
            raise cause from None
        if isinstance(cause, ValidationError):
            raise ConfigError(_fields(cause, what)) from None
        raise ConfigError(f"{what} cannot be built: {_first_line(error)}") from error


@asynccontextmanager
async def build_lab(cell: Cell, ledger: Ledger, report: Report) -> AsyncIterator[Lab]:
    """Build the roles of a cell once; connections close and the embedded server stops on leaving."""
    config = cell.config
    budget = build({"_target_": "src.llm.limits.Budget", **config["budget"]}, "budget")
    async with AsyncExitStack() as stack:
        subject = await stack.enter_async_context(
            _client(cell, config["model"], config["endpoint"], "subject", ledger, budget)
        )
        judge: Judge
        if config["judge"]["kind"] == "llm":
            client = _client(cell, config["judge"], config["judge"]["endpoint"], "judge", ledger, budget)
            judge = LLMJudge(await stack.enter_async_context(client))
        else:
            judge = build(_without(config["judge"], "kind", "name"), "judge")
        model = build(config["embedder"], "embedder")
        encoder: Encoder = model.encoder(ledger=ledger, budget=budget, cell_key=cell.identity.cell_key)
        if isinstance(encoder, EndpointEncoder):
            await stack.enter_async_context(encoder)
        yield Lab(subject, judge, None, encoder, np.random.default_rng(config["seed"]), report)


async def measure(cell: Cell, ledger: Ledger, report: Report) -> tuple[Tables, Tables | None, Metrics | None]:
    """Run the phases of a cell and write each as soon as it is whole."""
    async with build_lab(cell, ledger, report) as lab:
        if "extract" in cell.phases:
            extracted = await cell.probe.extract(lab)
            write_phase(cell.folder, "extract", cell.identity.extract, extracted)
        else:
            extracted = _stored_extract(cell)
        if "process" not in cell.phases:
            return extracted, None, None
        processed = await cell.probe.process(lab, extracted)
        metrics = cell.probe.summarise(extracted, processed)
        write_phase(cell.folder, "process", cell.identity.process, processed, metrics)
        return extracted, processed, metrics


def run_cell(cell: Cell, report: Report) -> Outcome:
    """Measure one cell, keep what it cost, and show it in MLflow.

    Raises:
        FrontierError: what stopped it before there was a result; all answers obtained are in the ledger.
    """
    config, names = cell.config, cell.identity
    tracked_cell = TrackedCell(
        probe=config["probe"]["name"],
        question=config["probe"]["question"],
        cell_key=names.cell_key,
        extract_key=names.extract_key,
        title=title(cell),
        config=names.process,
    )
    with (
        Ledger(_path(config["ledger"]["path"]), config["ledger"]["mode"]) as ledger,
        tracked(tracked_cell, ROOT) as run,
    ):
        extracted, processed, metrics = asyncio.run(measure(cell, ledger, report))
        spend = _spend(ledger.spend(names.cell_key), ledger)
        write_spend(cell.folder, spend)
        if processed is not None and metrics is not None:
            words = title(cell)
            drawings = cell.probe.draw(extracted, processed, metrics, words)
            results = Results(
                metrics=metrics,
                spend=_without(spend, "roles"),
                hit_rate=ledger.replayed / ledger.asked if ledger.asked else None,
                curves=drawings.curves,
                note=note(words, metrics, spend),
                figures=drawings.figures,
                pages=drawings.pages,
                folder=cell.folder,
            )
            run.log(results)
    stop = extracted["stop"].row(0, named=True)
    return Outcome(cell, metrics, spend, stop["detail"] if stop["reason"] == "error" else "")


def title(cell: Cell) -> Title:
    """What the cell is about, for people."""
    config = cell.config
    return Title(
        model=config["model"]["name"],
        strategy=config["strategy"]["name"],
        domain=config["domain"]["name"],
        query=config["domain"]["query"],
        judge=config["judge"]["kind"],
    )


def _client(
    cell: Cell, model: Mapping[str, Any], endpoint: Mapping[str, Any], role: Role, ledger: Ledger, budget: Budget
) -> ChatClient:
    key = "model" if role == "subject" else role
    return ChatClient(
        build(_without(model, "kind", "name", "endpoint"), key),
        build(endpoint, "endpoint" if role == "subject" else f"{role}.endpoint"),
        ledger=ledger,
        budget=budget,
        role=role,
        seed=cell.config["seed"],
        cell_key=cell.identity.cell_key,
    )


def _stored_extract(cell: Cell) -> Tables:
    """The extraction that lies in the cell folder, if it is this cell's."""
    config, tables = read_phase(cell.folder, "extract")
    if config != cell.identity.extract:
        changed = sorted(
            key for key in config.keys() | cell.identity.extract.keys() if config.get(key) != cell.identity.extract.get(key)
        )
        raise ConfigError(
            f"{cell.folder} holds an extraction with another configuration of {', '.join(changed)}: "
            "run phases=[extract,process], or give the values it was extracted with"
        )
    return tables


def _spend(roles: Mapping[str, Spend], ledger: Ledger) -> dict[str, Any]:
    """What the cell cost over all its processes, in sum and by role; unknown parts make a sum null."""
    parts = {role: asdict(spend) for role, spend in sorted(roles.items())}
    tokens = [part[name] for part in parts.values() for name in ("tokens_in", "tokens_out")]
    costs = [part["cost_usd"] for role, part in parts.items()]
    return {
        "tokens_spent": None if None in tokens else sum(tokens),
        "cost_usd": None if None in costs else sum(costs),
        "attempts": sum(part["attempts"] for part in parts.values()),
        "latency_s": round(sum(part["latency_s"] for part in parts.values()), 3),
        "replayed": ledger.replayed,
        "roles": parts,
    }


def _path(path: str) -> Path:
    """A path of the configuration; relative ones start at the repository root."""
    return ROOT / path


def _without(node: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in names}


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]


def _fields(error: ValidationError, what: str) -> str:
    """The faults of a configuration node as one sentence each; no value is repeated, it might be a key."""
    return "; ".join(
        f"{'.'.join((what, *map(str, fault['loc'])))}: {fault['msg'].removeprefix('Value error, ')}"
        for fault in error.errors()
    )
