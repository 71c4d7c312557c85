import hashlib
import importlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from src.dedup.settings import SWEEP, Dedup
from src.entries import Results, TrackedCell
from src.probes.boundary.settings import settings
from src.records import Metrics
from src.tracking import finished, tracked
from tests.synthetic_cell import RULES
from tests.synthetic_known import make_measured

NAMES = [f"strict {strict:.2f} · fuzzy {fuzzy:.2f}" for strict, fuzzy in SWEEP]
MEASURED = make_measured("small", turns=2)
UNDER = settings(MEASURED.extracted, MEASURED.processed, Dedup())


@pytest.fixture(scope="module")
def root(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of MLflow's own code, when its store is loaded
        importlib.import_module("mlflow.store.tracking.sqlalchemy_store")
        patch.setenv("MLFLOW_TRACKING_URI", store)
        yield tmp_path_factory.mktemp("project")


def log(root: Path, name: str, metrics: Metrics, nested: bool = True) -> str:
    key = hashlib.sha256(name.encode()).hexdigest()
    cell = TrackedCell("boundary", "?", key, key, RULES, {"max_turns": 2}, {"sweep": "mine"})
    turns = pl.DataFrame({"turn": [1, 2], "novel": [9, 4]})
    with tracked(cell, root) as run:
        run.log(Results(metrics, {}, None, turns, "", {}, {}, root / name, UNDER if nested else ()))
    return run.run_id


def search(condition: str) -> list[Run]:
    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    return list(client.search_runs([client.get_experiment_by_name("boundary").experiment_id], condition))


def below(parent: str) -> list[Run]:
    return sorted(search(f"tags.`mlflow.parentRunId` = '{parent}'"), key=lambda run: str(run.info.run_name))


def test_the_sweep_is_nine_finished_runs_below_that_of_the_cell(root: Path) -> None:
    runs = below(log(root, "nine", MEASURED.metrics))
    assert [run.info.run_name for run in runs] == sorted(NAMES)
    assert {run.info.status for run in runs} == {"FINISHED"}
    own = next(run for run in runs if run.info.run_name == "strict 0.92 · fuzzy 0.70")
    assert own.data.params == {"strict": "0.92", "fuzzy": "0.70"}
    for name in ("unique", "valid", "accuracy", "accuracy_low", "accuracy_high", "accuracy_leaf_low", "dedup_rate"):
        assert own.data.metrics[name] == MEASURED.metrics[name], name
    assert own.data.tags["of"] == "smollm2_135m/taxonomy_l2w2/deep_learning"
    assert own.data.tags["judge"] == "rules"


def test_no_search_takes_them_for_cells(root: Path) -> None:
    parent = log(root, "search", MEASURED.metrics)
    key = hashlib.sha256(b"search").hexdigest()
    assert [run.info.run_id for run in search(f"tags.cell_key = '{key}'")] == [parent]
    for condition in ("tags.sweep = 'mine'", "tags.domain = 'deep_learning'"):
        assert not {run.info.run_name for run in search(condition)} & set(NAMES)
    assert finished("boundary", key, root, "other")


def test_they_are_replaced_with_the_cell_and_left_with_it(root: Path) -> None:
    first = log(root, "other", MEASURED.metrics)
    before = [run.info.run_id for run in below(first)]
    assert log(root, "other", MEASURED.metrics) == first
    assert [run.info.run_id for run in below(first)] == before
    second = log(root, "other", {**MEASURED.metrics, "valid": 1})
    assert second != first
    assert below(first) == []
    assert len(below(second)) == 9


def test_a_run_of_an_older_version_gets_them(root: Path) -> None:
    first = log(root, "older", MEASURED.metrics, nested=False)
    assert below(first) == []
    assert log(root, "older", MEASURED.metrics) == first
    assert len(below(first)) == 9
