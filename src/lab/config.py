"""A composed configuration as a cell: resolved, checked, its classes built; what is wrong is one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from src.errors import ConfigError, FrontierError
from src.figures.captions import Title
from src.figures.drawings import Drawings
from src.identity import Identity, identity
from src.interfaces import Probe
from src.records import Metrics, Tables
from src.store import run_folder, slug_of

ROOT = Path(__file__).resolve().parents[2]
PHASES = ("extract", "process")
ROOT_KEYS = {
    "seed",
    "phases",
    "run_dir",
    "debug",
    "ledger",
    "budget",
    "probe",
    "model",
    "endpoint",
    "judge",
    "embedder",
}
"""Root values that the lab reads; the others are the probe's."""


class DrawnProbe(Probe, Protocol):
    """A probe whose cells can be looked at."""

    def draw(self, extracted: Tables, processed: Tables, metrics: Metrics, title: Title) -> Drawings:
        """Figures, pages and curves of a cell."""
        ...


@dataclass(frozen=True)
class Cell:
    """One cell as configured: what it is, where it lies, what is to be done."""

    config: dict[str, Any]
    identity: Identity
    folder: Path
    phases: tuple[str, ...]
    probe: DrawnProbe


def read_cell(cfg: DictConfig) -> Cell:
    """Resolve and check a composed configuration.

    Raises:
        ConfigError: a value is missing, unknown, of the wrong kind or out of range.
    """
    try:
        config = cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        raise ConfigError(f"the configuration cannot be resolved: {_first_line(error)}") from error
    phases = tuple(config["phases"] or ())
    if not phases or not set(phases) <= set(PHASES):
        raise ConfigError(f"phases={list(phases)} is not allowed: choose [extract], [process] or [extract,process]")
    if unknown := sorted(config.keys() - ROOT_KEYS - _knobs(cfg)):
        raise ConfigError(
            f"{', '.join(unknown)}: no such value at the root; probe={config['probe']['name']} reads none"
        )
    if not isinstance(config["seed"], int) or config["seed"] < 0:
        raise ConfigError(f"seed={config['seed']!r} is not allowed: choose a whole number from 0 on")
    for role in ("model", "judge"):
        config[role]["name"] = config[role].get("name") or slug_of(str(config[role].get("id")))
    names = identity(config)
    folder = (
        Path(config["run_dir"])
        if config["run_dir"]
        else run_folder(
            ROOT,
            probe=config["probe"]["name"],
            topic=config["domain"]["name"],
            model=config["model"]["name"],
            strategy=config["strategy"]["name"],
            seed=config["seed"],
            cell_key=names.cell_key,
        )
    )
    return Cell(config, names, folder, phases, build(config["probe"], "probe"))


def build(node: Mapping[str, Any], what: str) -> Any:
    """Instantiate a configuration node; a bad value is one sentence.

    Raises:
        ConfigError: the node does not fit its class.
    """
    try:
        return instantiate(dict(node), _convert_="all")
    except InstantiationException as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ValidationError | FrontierError):
            cause = cause.__cause__
        if isinstance(cause, FrontierError):
            raise cause from None
        if isinstance(cause, ValidationError):
            raise ConfigError(_fields(cause, what)) from None
        raise ConfigError(f"{what} cannot be built: {_first_line(error)}") from error


def _knobs(cfg: DictConfig) -> set[str]:
    """Root values that the chosen probe reads, by the interpolations in its node."""
    node = OmegaConf.to_container(cfg.probe, resolve=False)
    return set(re.findall(r"\$\{(\w+)\}", str(node)))


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


def without(node: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A configuration node without some of its fields."""
    return {key: value for key, value in node.items() if key not in names}


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]


def _fields(error: ValidationError, what: str) -> str:
    """The faults of a configuration node: where, what is allowed, and the value unless it might be a secret."""
    faults = []
    for fault in error.errors():
        where = ".".join((what, *map(str, fault["loc"])))
        value = f"={fault['input']!r}" if isinstance(fault["input"], str | int | float) and _harmless(fault) else ""
        faults.append(f"{where}{value}: {fault['msg'].removeprefix('Value error, ')}")
    return "; ".join(faults)


def _harmless(fault: ErrorDetails) -> bool:
    """Whether a refused value can be shown: not that of an unknown field, a key or an address."""
    unknown = fault["type"] in ("unexpected_keyword_argument", "extra_forbidden")
    return not unknown and not any(word in str(part) for part in fault["loc"] for word in ("key", "url"))
