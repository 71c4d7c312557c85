"""Runs of simulated models through everything that a real run goes through: prompts, text, parser, encoder, judge."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from src.dedup.rethreshold import dedup_of
from src.errors import ConfigError
from src.interfaces import Report
from src.knower.wording import read
from src.lab.build import ROOT
from src.lab.config import Cell, read_cell
from src.lab.measure import measure
from src.lab.roles import build_lab
from src.lab.union import make_union, read_unions
from src.ledger import Ledger
from src.oracle import same
from src.records import Metrics, Progress, Tables
from src.studies.linkages import compare_linkages
from src.studies.validation.setting import OWN, SIBLING, Errors, Setting
from src.studies.validation.ways import NUMBERS

DOMAIN = "simulated_inside"
NAMES = ("simulated_smaller", "simulated_own", "simulated_larger")


def text_way(
    setting: Setting, seeds: int, embedder: str, report: Report
) -> tuple[str, list[dict[str, float]], pl.DataFrame]:
    """Run the models of a setting through text, in as many universes as there are seeds.

    Args:
        setting: what universes and models are like; its judge does not err.
        seeds: how many.
        embedder: option of the encoder.
        report: is told of every run.

    Returns:
        How prompts call the domain; the numbers of each seed, by the names of NUMBERS; linkages compared on what `own`
        said in the first universe.

    Raises:
        ConfigError: the judge errs, or no strategy has the widths of the setting.
    """
    if setting.judge != Errors(false_valid=0, false_invalid=0):
        raise ConfigError(
            "second_way.judge errs, and would err about other statements either way: leave its rates at 0"
        )
    numbers: list[dict[str, float]] = []
    linkages = pl.DataFrame()
    query = ""
    with TemporaryDirectory() as place, _composing():
        for seed in range(seeds):
            folder = Path(place) / str(seed)
            own: Metrics = {}
            for model in range(SIBLING):
                cell = read_cell(_configured(setting, seed, model, embedder, folder))
                query = str(cell.config["domain"]["query"])
                extracted, metrics = _measured(cell)
                if model == OWN:
                    own = metrics
                    if not seed:
                        linkages = asyncio.run(_linked(cell, extracted))
                report(Progress("through text", seed * SIBLING + model + 1, seeds * SIBLING))
            shared = compose("union", [f"cells={folder / 'cells'}", f"ledger.path={folder / 'ledger.db'}",
                                       "judge=oracle", f"embedder={embedder}"])  # fmt: skip
            (plan,) = read_unions(shared)
            own["recall_match"] = make_union(plan, lambda _: None)[f"recall_match_{NAMES[OWN]}"]
            named = {name: name for name in NUMBERS} | {
                "unique, read perfectly": "truth_unique",
                "valid, read perfectly": "truth_valid",
            }
            numbers.append({name: _number(own[key]) for name, key in named.items()})
    return query, numbers, linkages


def _number(value: float | int | str | None) -> float:
    return math.nan if value is None else float(value)


@contextmanager
def _composing() -> Iterator[None]:
    """Where configurations can be composed: inside a command they can already."""
    if GlobalHydra.instance().is_initialized():
        yield
        return
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        yield


def _configured(setting: Setting, seed: int, model: int, embedder: str, folder: Path) -> DictConfig:
    """The configuration of a run that takes all turns of the setting, whatever they bring."""
    strategy = f"taxonomy_l{'w'.join(map(str, setting.widths))}"
    if not (ROOT / "conf" / "strategy" / f"{strategy}.yaml").is_file():
        raise ConfigError(f"second_way.widths={list(setting.widths)}: there is no strategy={strategy} to run them with")
    cfg = compose(
        "config",
        [
            *("model=simulated", f"model.name={NAMES[model]}", "judge=oracle", f"domain={DOMAIN}"),
            *(f"strategy={strategy}", f"embedder={embedder}", f"max_turns={setting.turns}"),
            *(f"repeats={setting.draws if model == OWN else 1}", f"ledger.path={folder / 'ledger.db'}"),
            *("saturation.growth=0", "saturation.efficiency=0", "saturation.points=0"),
            f"run_dir={folder / 'cells' / 'boundary' / DOMAIN / NAMES[model]}",
        ],
    )
    OmegaConf.update(cfg, "model.world", asdict(setting.world) | {"seed": seed}, merge=False, force_add=True)
    OmegaConf.update(cfg, "model.knower", asdict(setting.lineup[model]), merge=False, force_add=True)
    return cfg


def _measured(cell: Cell) -> tuple[Tables, Metrics]:
    """The extraction of a cell and its metrics; nothing is shown in MLflow."""
    place = cell.operation.ledger
    with Ledger(ROOT / place.path, place.mode, cell.operation.budget) as ledger:
        extracted, _, metrics = asyncio.run(measure(cell, ledger, lambda _: None, {}))
    return extracted, metrics


async def _linked(cell: Cell, extracted: Tables) -> pl.DataFrame:
    """The linkages compared on the points of a cell, whose meanings are known."""
    texts: Sequence[str] = extracted["atoms"].sort("atom_id")["text"].to_list()
    meanings = [repr(read(text) or text) for text in texts]
    place = cell.operation.ledger
    with Ledger(ROOT / place.path, place.mode, cell.operation.budget) as ledger:
        async with build_lab(cell, ledger, lambda _: None, {}) as lab:
            vectors = (await lab.encoder.encode(texts)).vectors
    return compare_linkages(texts, meanings, vectors, same, dedup_of(cell.config), seed=0)
