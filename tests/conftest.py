"""What end-to-end tests share: a composed configuration that writes into a folder of the test."""

import asyncio
import gc
import json
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from endpoint import ScriptedEndpoint
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from unions import Measure

from src.console import silent
from src.lab.config import read_cell
from src.lab.measure import measure as measured
from src.lab.measure import run_cell
from src.ledger import Ledger

CONF = Path(__file__).resolve().parents[1] / "conf"

Compose = Callable[..., DictConfig]


def pytest_sessionstart() -> None:
    """Collect garbage more rarely: among all that is imported here, looking for it takes a tenth of the time."""
    gc.set_threshold(10_000)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an MLflow store without a run, to be copied: making one takes seconds."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of MLflow's own code, when it loads its store
        from mlflow import MlflowClient

        MlflowClient(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def store(empty_store: Path) -> str:
    """One MLflow store for all."""
    return f"sqlite:///{shutil.copyfile(empty_store, empty_store.with_name('mlflow.db'))}"


@pytest.fixture
def composed(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compose]:
    """`composed("max_turns=2", ...)`: the configuration with its run folder and ledger in tmp_path."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setattr("src.figures.canvas.DPI", 40)  # hundreds of runs draw; how fine is not what they test
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):

        def make(*overrides: str) -> DictConfig:
            places = (f"run_dir={tmp_path / 'cell'}", f"ledger.path={tmp_path / 'ledger.db'}")
            return compose("config", [*places, *overrides])

        yield make


@pytest.fixture
def server() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as running:
        yield running


@pytest.fixture
def remote(composed: Compose, server: ScriptedEndpoint) -> Compose:
    """As `composed`, with the scripted server as subject's endpoint and an instant encoder."""

    def make(*overrides: str) -> DictConfig:
        return composed(
            "model=openai",
            "model.id=scripted",
            f"endpoint.base_url={server.base_url}",
            "endpoint.api_key_env=null",
            "embedder=hashing",
            *overrides,
        )

    return make


@pytest.fixture
def measure(composed: Compose, tmp_path: Path) -> Measure:
    """`measure("model", texts)`: a finished cell of a recorded model; returns the collection of cells.

    It gets figures and a run in MLflow only if `shown`: they take three times as long as the cell itself.
    """

    def make(model: str, texts: Iterable[str], *overrides: str, name: str = "", shown: bool = False) -> Path:
        path = tmp_path / f"{model}.jsonl"
        path.write_text("".join(json.dumps({"domain": "deep_learning", "atom": text}) + "\n" for text in texts))
        cell = read_cell(
            composed(
                "model=recorded",
                "strategy=recorded",
                f"recorded.path={path}",
                "embedder=hashing",
                f"run_dir={tmp_path / 'cells' / 'boundary' / 'deep_learning' / (name or model)}",
                *overrides,
            )
        )
        if shown:
            run_cell(cell, silent)
        else:
            with Ledger(Path(cell.operation.ledger.path)) as ledger:
                asyncio.run(measured(cell, ledger, silent, {}))
        return tmp_path / "cells"

    return make
