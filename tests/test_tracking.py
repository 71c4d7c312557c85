import hashlib
import importlib
import math
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from mlflow import MlflowClient
from mlflow.entities import Run
from mlflow.store.db.utils import _get_alembic_config
from mlflow.store.tracking.dbmodels.initial_models import Base as InitialBase
from sqlalchemy import create_engine, text

from src.entries import Results, TrackedCell
from src.errors import BudgetReached, ConfigError
from src.figures.boundary import curves, yield_curve
from src.records import Metrics
from src.tracking import tracked
from src.tracking.store import QUIET
from tests.synthetic_cell import RULES, make_cell

ROOT = Path(__file__).resolve().parents[1]
CONFIG = {"model": {"name": "smollm2_135m"}, "max_turns": 3, "a[0]=x|y": "odd", "prompt": "List 8 facts. " * 500}
WORKER = """
import asyncio, hashlib, sys
from pathlib import Path
import polars as pl
from src.entries import Results, TrackedCell
from src.figures.captions import Title
from src.tracking import tracked

name, root, what = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
key = hashlib.sha256(name.encode()).hexdigest()
cell = TrackedCell("boundary", "?", key, key, Title("m", "s", "d", "q", "rules"), {"max_turns": 3})
turns = pl.DataFrame({"turn": [1, 2, 3], "novel": [9, 4, 1]})
with tracked(cell, root) as run:
    async def work():
        print("open", flush=True)
        await asyncio.sleep(120 if what == "sleep" else 0)

    asyncio.run(work())
    run.log(Results({"raw": 3}, {}, None, turns, "", {}, {"atoms.html": "<p>3</p>"}, root / name))
"""
"""A cell in a process of its own."""

EIGHT = """
import os, sys, warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import alembic.command, matplotlib.backends.backend_agg, mlflow.store.tracking.sqlalchemy_store
worker, root = sys.argv[1:]
children = []
for i in range(8):
    if (child := os.fork()) == 0:
        sys.argv[1:] = [f"cell {i // 2}", root, "log"]
        exec(worker)
        sys.exit(0)
    children.append(child)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""
"""Eight cells, every one twice, at the same moment; what takes long to import is imported before they part."""


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Load MLflow's store once: its own code warns of deprecation when it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module("mlflow.store.tracking.sqlalchemy_store")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        yield tmp_path_factory.mktemp("project with space")


def cell_of(name: str) -> TrackedCell:
    key = hashlib.sha256(name.encode()).hexdigest()
    return TrackedCell("boundary", "How much does it know?", key, key[::-1], RULES, CONFIG)


def results_of(folder: Path, metrics: Metrics | None = None) -> Results:
    cell = make_cell(3, 4)
    (folder / "extract").mkdir(parents=True, exist_ok=True)
    cell.atoms.write_parquet(folder / "extract" / "atoms.parquet")
    return Results(
        metrics=cell.metrics if metrics is None else metrics,
        spend={"tokens_spent": 1234.0, "cost_usd": None},
        hit_rate=0.25,
        curves=curves(cell.turns, cell.atoms, cell.judged),
        note="**form checked, not truth** 苯",
        figures={"yield": yield_curve(cell.turns, cell.atoms, cell.judged, RULES, "saturated")},
        pages={"atoms.html": "<p>苯 \ud800</p>"},
        folder=folder,
    )


def store(root: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{root / 'mlflow.db'}")


def runs_of(root: Path, name: str) -> list[Run]:
    client = store(root)
    experiment = client.get_experiment_by_name("boundary")
    return list(client.search_runs([experiment.experiment_id], f"tags.cell_key = '{cell_of(name).cell_key}'"))


def finish(root: Path, name: str, metrics: Metrics | None = None) -> str:
    with tracked(cell_of(name), root) as run:
        run.log(results_of(root / name, metrics))
    return run.run_id


def test_a_finished_run_shows_everything(root: Path) -> None:
    with tracked(cell_of("whole"), root) as run:
        assert [found.info.status for found in runs_of(root, "whole")] == ["RUNNING"]
        run.log(results_of(root / "whole"))
    (found,) = runs_of(root, "whole")
    assert (found.info.status, found.info.run_name) == ("FINISHED", "smollm2_135m/taxonomy_l2w2/deep_learning")
    metrics, cell = found.data.metrics, make_cell(3, 4)
    assert {name: metrics[name] for name in ("raw", "accuracy", "accuracy_leaf_low")} == {
        name: cell.metrics[name] for name in ("raw", "accuracy", "accuracy_leaf_low")
    }
    assert metrics["spend/tokens_spent"] == 1234
    history = store(root).get_metric_history(found.info.run_id, "turn/novel")
    assert [(point.step, point.value) for point in history] == list(cell.turns.select("turn", "novel").iter_rows())
    tags = found.data.tags
    assert tags["mlflow.note.content"] == "**form checked, not truth** 苯"
    assert (tags["judge"], tags["subject"], tags["censored"]) == ("rules", "real", "false")
    assert (tags["stop_reason"], tags["ledger_hit_rate"], tags["spend_cost_usd_reason"]) == (
        "saturated",
        "0.250",
        "unknown",
    )
    assert tags["git_sha"] == "unknown"  # the folder of this test is no repository
    params = found.data.params
    assert (params["model.name"], params["max_turns"], params["a_0__x_y"]) == ("smollm2_135m", "3", "odd")
    assert params["prompt"].startswith("sha256:")
    artifacts = root / "mlartifacts" / "boundary" / found.info.run_id / "artifacts"
    assert "List 8 facts. List 8 facts." in (artifacts / "config.yaml").read_text()
    assert (artifacts / "atoms.html").read_text() == "<p>苯 ?</p>"
    assert (artifacts / "figures" / "yield.png").read_bytes().startswith(b"\x89PNG")
    assert pl.read_parquet(artifacts / "extract" / "atoms.parquet").height == cell.atoms.height


def test_same_metrics_leave_a_run_untouched(root: Path) -> None:
    first = finish(root, "same")
    before = runs_of(root, "same")[0]
    assert finish(root, "same") == first
    (after,) = runs_of(root, "same")
    assert (after.info.end_time, after.data.tags, after.data.metrics) == (
        before.info.end_time, before.data.tags, before.data.metrics,
    )  # fmt: skip


def test_other_metrics_replace_a_run(root: Path) -> None:
    first = finish(root, "other")
    second = finish(root, "other", {**make_cell(3, 4).metrics, "valid": 1})
    assert [run.info.run_id for run in runs_of(root, "other")] == [second]
    assert store(root).get_run(first).info.lifecycle_stage == "deleted"
    third = finish(root, "other", {**make_cell(3, 4).metrics, "valid": 1, "stop_reason": "budget"})
    (run,) = runs_of(root, "other")
    assert (run.info.run_id, run.data.tags["censored"]) == (third, "true")


def test_missing_numbers_are_said_and_not_logged(root: Path) -> None:
    metrics: Metrics = {"raw": 0, "accuracy": None, "accuracy_reason": "no audited clusters", "odd": math.nan}
    first = finish(root, "missing", metrics)
    (run,) = runs_of(root, "missing")
    assert {name for name in run.data.metrics if "/" not in name} == {"raw"}
    assert run.data.tags["accuracy_reason"] == "no audited clusters"
    assert run.data.tags["odd_reason"] == "not a finite number: nan"
    assert finish(root, "missing", metrics) == first


def test_a_failure_is_shown_and_taken_up_again(root: Path) -> None:
    with pytest.raises(BudgetReached), tracked(cell_of("failed"), root):
        raise BudgetReached("budget.tokens=5 is used up")
    (run,) = runs_of(root, "failed")
    assert (run.info.status, run.data.tags["failure"]) == ("FAILED", "BudgetReached: budget.tokens=5 is used up")
    assert "run the same command again" in run.data.tags["mlflow.note.content"]
    assert run.data.params["max_turns"] == "3"
    assert finish(root, "failed") == run.info.run_id
    (after,) = runs_of(root, "failed")
    assert (after.info.status, "failure" in after.data.tags) == ("FINISHED", False)


def test_the_text_of_a_bug_is_not_published(root: Path) -> None:
    with pytest.raises(ValueError, match="sk-123"), tracked(cell_of("bug"), root):
        raise ValueError("sk-123")
    (run,) = runs_of(root, "bug")
    assert run.data.tags["failure"] == "ValueError"
    assert "sk-123" not in str(run.to_dictionary())


def test_extraction_alone_waits_for_processing(root: Path) -> None:
    with tracked(cell_of("extracted"), root):
        pass
    (run,) = runs_of(root, "extracted")
    assert run.info.status == "SCHEDULED"
    assert finish(root, "extracted") == run.info.run_id


def test_a_finished_run_survives_a_failing_rerun(root: Path) -> None:
    first = finish(root, "survives")
    with pytest.raises(BudgetReached), tracked(cell_of("survives"), root):
        raise BudgetReached("later")
    assert [(run.info.run_id, run.info.status) for run in runs_of(root, "survives")] == [(first, "FINISHED")]


def test_a_logging_that_was_cut_leaves_no_half_run(root: Path) -> None:
    def work() -> None:
        with tracked(cell_of("half"), root) as run:
            store(root).log_metric(run.run_id, "raw", 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    second = finish(root, "half")
    assert [found.info.run_id for found in runs_of(root, "half")] == [second]
    assert len(store(root).get_metric_history(second, "raw")) == 1


def test_two_processes_with_one_cell_end_as_one_run(root: Path) -> None:
    with tracked(cell_of("twins"), root) as first, tracked(cell_of("twins"), root) as second:
        first.log(results_of(root / "twins"))
        second.log(results_of(root / "twins"))
    assert [run.info.status for run in runs_of(root, "twins")] == ["FINISHED"]


def test_a_store_of_an_older_mlflow_is_migrated(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'mlflow.db'}")
    config = _get_alembic_config(str(engine.url))
    script = ScriptDirectory.from_config(config)
    InitialBase.metadata.create_all(engine)
    command.upgrade(config, str(script.get_revision(script.get_current_head()).down_revision))
    finish(tmp_path, "new")
    with engine.connect() as connection:
        assert connection.execute(text("select version_num from alembic_version")).scalar() == script.get_current_head()
    engine.dispose()


def test_a_moved_project_is_refused_in_one_sentence(root: Path, tmp_path: Path) -> None:
    finish(root, "moved")
    (tmp_path / "mlflow.db").write_bytes((root / "mlflow.db").read_bytes())
    with pytest.raises(ConfigError, match="move the project back"), tracked(cell_of("moved"), tmp_path):
        pass


def test_another_local_store_keeps_everything_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{elsewhere}/mlflow.db")
    run = finish(project, "elsewhere")
    assert (elsewhere / "mlartifacts" / "boundary" / run / "artifacts" / "atoms.html").is_file()
    assert [path.name for path in project.iterdir()] == ["elsewhere"]  # the cell folder and nothing of MLflow's


def test_a_dead_server_is_one_sentence_without_its_password(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with (
        pytest.raises(ConfigError, match=r"http://127\.0\.0\.1:9 cannot be used") as caught,
        tracked(cell_of("dead"), root),
    ):
        pass
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_sigterm_leaves_a_killed_run_and_no_noise(root: Path) -> None:
    with python(WORKER, "killed", str(root), "sleep") as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "open\n"
        worker.send_signal(signal.SIGTERM)
        assert (worker.communicate()[1], worker.returncode) == ("", 143)
    assert [run.info.status for run in runs_of(root, "killed")] == ["KILLED"]


def test_what_was_killed_without_a_word_is_marked_by_the_next_run(root: Path) -> None:
    with python(WORKER, "lost", str(root), "sleep") as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "open\n"
        finish(root, "beside")
        assert [run.info.status for run in runs_of(root, "lost")] == ["RUNNING"]
        worker.kill()
        worker.wait()
    finish(root, "later")
    assert [run.info.status for run in runs_of(root, "lost")] == ["KILLED"]


def test_eight_processes_start_at_once_without_a_store(tmp_path: Path) -> None:
    with python(EIGHT, WORKER, str(tmp_path), **QUIET) as parent:
        assert (*parent.communicate(), parent.returncode) == ("open\n" * 8, "", 0)
    for i in range(4):
        (run,) = runs_of(tmp_path, f"cell {i}")
        assert (run.info.status, run.data.metrics["raw"], run.data.metrics["turn/novel"]) == ("FINISHED", 3, 1)
        assert len(store(tmp_path).get_metric_history(run.info.run_id, "turn/novel")) == 3


@contextmanager
def python(source: str, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW_")} | variables
    command_line = [sys.executable, "-W", "error", "-c", source, *arguments]
    with subprocess.Popen(
        command_line, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()
