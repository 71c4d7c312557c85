"""Sweeps: a grid of cells by one command, in one process or several."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from endpoint import ScriptedEndpoint, slow
from mlflow import MlflowClient
from rich.console import Console

from src.console import show_sweep
from src.errors import ConfigError
from src.figures.sweeps import SweptCell, csv, headline, labels, note, numbers
from src.lab.sweep import keep, read_sweep, records

ROOT = Path(__file__).resolve().parents[1]
NOW = datetime(2026, 11, 30, 12, 0, 0)
JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


@pytest.fixture
def domain() -> Iterator[str]:
    """A domain of the test's own: cells of a sweep lie in data/runs."""
    name = f"sweep_test_{uuid.uuid4().hex[:8]}"
    yield name
    shutil.rmtree(ROOT / "data" / "runs" / "boundary" / name, ignore_errors=True)


def command(server: ScriptedEndpoint, domain: str, folder: Path, *arguments: str) -> list[str]:
    return [
        *(sys.executable, "-m", "src.run", "-m", f"domain.name={domain}", "model=openai", "embedder=hashing"),
        *(f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null", f"ledger.path={folder / 'ledger.db'}"),
        *(f"hydra.sweep.dir={folder / 'sweep'}", *arguments),
    ]


def sweep(line: list[str], store: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MLFLOW_TRACKING_URI": store}
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def client_of(store: str) -> MlflowClient:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of MLflow's own code, when it loads its store
        return MlflowClient(store, store)


def statuses(store: str, domain: str) -> list[str]:
    client = client_of(store)
    experiment = client.get_experiment_by_name("boundary")
    runs = client.search_runs([experiment.experiment_id], f"tags.domain = '{domain}'")
    return [run.info.status for run in runs]


def test_of_twelve_cells_two_fail_and_only_these_run_again(domain: str, tmp_path: Path, store: str) -> None:
    known = {f"m{number}" for number in range(5)}
    with ScriptedEndpoint(models=known) as server:
        grid = ("model.id=m0,m1,m2,m3,m4,m5", "strategy=sequential,taxonomy_l2w2", "max_turns=1")
        line = command(server, domain, tmp_path, *grid, *JOBLIB)
        first = sweep(line, store)
        assert first.returncode == 1, first.stderr
        assert "12 cells, 10 ok, 2 failed" in first.stdout
        assert first.stdout.count("has no model 'm5'") == 2
        assert "Traceback" not in first.stderr
        assert len([row for row in statuses(store, domain) if row == "FINISHED"]) == 10
        asked = server.count()
        known.add("m5")
        second = sweep(line, store)
        assert second.returncode == 0, second.stderr
        assert "12 cells, 2 ok, 10 kept" in second.stdout
        assert server.count() - asked == 1 + 7
    assert statuses(store, domain) == ["FINISHED"] * 12
    name = re.findall(r"^(sweep-\w+): 12 cells", first.stdout, re.MULTILINE)[0]
    client = client_of(store)
    (summary,) = client.search_runs([client.get_experiment_by_name("sweeps").experiment_id], f"tags.sweep = '{name}'")
    assert (summary.data.metrics["cells"], summary.data.metrics["cells_kept"]) == (12, 10)
    assert summary.data.metrics["cells_failed"] == 0
    boundary = client.get_experiment_by_name("boundary").experiment_id
    assert len(client.search_runs([boundary], f"tags.sweep = '{name}'")) == 12


@pytest.mark.parametrize(
    ("number", "code", "launcher"), [(signal.SIGTERM, 143, JOBLIB), (signal.SIGINT, 130, ())], ids=["joblib", "alone"]
)
def test_a_signal_leaves_no_run_that_claims_to_run(
    number: signal.Signals, code: int, launcher: tuple[str, ...], domain: str, tmp_path: Path, store: str
) -> None:
    with ScriptedEndpoint(faults=lambda number, body: slow(0.5)) as server:
        line = command(server, domain, tmp_path, "model.id=m0,m1,m2", "strategy=sequential", *launcher)
        environment = {**os.environ, "MLFLOW_TRACKING_URI": store}
        with subprocess.Popen(
            line, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            until = time.monotonic() + 180
            while server.count() < 3:
                assert time.monotonic() < until
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(number)
            out, err = process.communicate(timeout=180)
        assert process.returncode == code, err
        assert "stopped" in out
        found = statuses(store, domain)
        assert found
        assert set(found) <= {"KILLED", "SCHEDULED"}


def test_a_dry_sweep_plans_and_leaves_no_trace_in_mlflow(domain: str, tmp_path: Path, store: str) -> None:
    with ScriptedEndpoint() as server:
        dry = "max_turns=2", "sweep=dry_test", "dry=true", "endpoint=openai"
        done = sweep(command(server, domain, tmp_path, "strategy=sequential,taxonomy_l2w2", *dry), store)
        assert (done.returncode, server.count()) == (0, 0), done.stderr
        less = sweep(command(server, domain, tmp_path, "budget.calls=-1,9", *dry), store)
        assert (less.returncode, server.count()) == (1, 0), less.stderr
    assert "plan of the 2 of 2 cells that are not done: nothing was asked" in done.stdout
    assert "plan of the 1 of 2 cells that are not done, without 1 that cannot be planned: nothing" in less.stdout
    assert "\nerror: budget.calls=-1: " in less.stderr
    assert not (tmp_path / "ledger.db").exists()
    sweeps = client_of(store).get_experiment_by_name("sweeps")
    if sweeps:
        assert not client_of(store).search_runs([sweeps.experiment_id], "tags.sweep = 'dry_test'")


def test_cells_that_a_budget_cut_are_told_from_whole_ones(domain: str, tmp_path: Path, store: str) -> None:
    with ScriptedEndpoint() as server:
        grid = ("strategy=sequential,taxonomy_l2w2", "max_turns=1", "budget.sweep.calls=3")
        done = sweep(command(server, domain, tmp_path, *grid), store)
        assert server.count() == 3
    assert "2 cells, 1 ok, 1 cut" in done.stdout
    assert "cut short by a budget: raise it to go on" in done.stdout
    assert done.returncode == 0


def test_the_id_of_a_sweep_is_that_of_its_grid() -> None:
    def name(*arguments: str) -> str:
        sweep = read_sweep(["-m", *arguments], NOW, Path("data"))
        assert sweep is not None
        return sweep.name

    assert name("seed=1,2", "model=a") == name("model=a", "seed=1,2", "budget.calls=3", "hydra/launcher=joblib")
    assert name("seed=1,2") != name("seed=1,3")
    assert name("seed=1,2", "sweep=mine") == "mine"
    assert read_sweep(["seed=1,2"], NOW, Path("data")) is None
    with pytest.raises(ConfigError, match="cannot name a folder"):
        name("sweep=../x")


def test_a_sweep_completes_its_arguments() -> None:
    stamp = f"20261130-120000-{os.getpid()}"
    for given in ("sweep=mine", "+sweep=mine", "++sweep='mine'"):
        sweep = read_sweep(["--multi", "seed=1,2", given], NOW, Path("a b"))
        assert sweep is not None
        assert (sweep.name, sweep.folder) == ("mine", Path("a b") / "mine" / stamp)
        assert sweep.arguments == ("--multi", "seed=1,2", "sweep='mine'", f"hydra.sweep.dir='{sweep.folder}'")
    plain, null = (read_sweep(["-m", "seed=1,2", *more], NOW, Path("x")) for more in ([], ["sweep=null"]))
    assert plain is not None
    assert plain == null
    placed = read_sweep(["-m", "seed=1,2", "hydra.sweep.dir=there"], NOW, Path("x"))
    assert placed is not None
    assert (
        placed.folder == Path("there") / stamp
    )  # of this command alone: no record of another one is taken for its own


def test_records_are_read_in_the_order_of_the_grid(tmp_path: Path) -> None:
    cells = [
        SweptCell(10, ("model=b", "seed=1"), "failed", "no key | for\nb"),
        SweptCell(2, ("model=a", "seed=1"), "ok", metrics={"accuracy": None, "raw": 3}, spend={"cost_usd": 0.5}),
        SweptCell(3, ("model=c", "seed=1"), "running", spend={"cost_usd": None}, caveat="rehearsed · judge rules"),
    ]
    for cell in cells:
        keep(tmp_path, SweptCell(cell.number, cell.overrides, "running"))
        keep(tmp_path, cell)
    found = records(tmp_path)
    assert [cell.number for cell in found] == [2, 3, 10]
    assert found[0] == cells[1]
    assert labels(found) == ["model=a", "model=c", "model=b"]
    assert headline("x", found) == "x: 3 cells, 1 ok, 1 failed, 1 stopped"
    assert numbers(found)["cost_usd"] is None
    assert "no key \\| for b" in note("x", found)
    assert "**rehearsed · judge rules (1 cell)**" in note("x", found)
    assert csv(found).splitlines()[0] == "cell,status,why,caveat,accuracy,raw,cost_usd"
    assert "| cell | status | raw | accuracy |" in note("x", found)
    assert "95 % intervals" not in note("x", found)  # there is none


def test_a_sweep_of_questions_shows_their_number_their_score_and_how_its_intervals_are_made() -> None:
    bounds = {"accuracy_low": 0.2, "accuracy_high": 0.4, "category_score_low": 2.5, "category_score_high": 3.5}
    tokens = {"tokens_generation_in": 1000, "tokens_generation_out": 234}
    metrics = {"questions": 98, "incomplete": 2, "accuracy": 0.3, "category_score": 3.0, **bounds, **tokens}
    cells = [
        SweptCell(0, ("knowledge=internal",), "ok", metrics=metrics),
        SweptCell(1, ("knowledge=external",), "failed", "no key"),
    ]
    said = note("x", cells)
    assert "| cell | status | questions | incomplete | accuracy | 95 % | score | stop | calls | tokens | USD |" in said
    assert "| knowledge=internal | ok | 98 | 2 | 30.0 % | 20.0–40.0 | 3.00 [2.50, 3.50] |  |  | 1,234 |" in said
    assert (
        "95 % intervals of accuracy over questions: Clopper–Pearson; of score: Bayesian bootstrap over questions"
        in said
    )
    assert "Wilson" not in said
    few = [
        SweptCell(0, ("samples=2",), "ok", metrics={"questions": 2, "category_score": 4.0, "category_score_low": None})
    ]
    assert "| 2 |  |  | 4.00 |" in note("x", few)
    assert "intervals" not in note("x", few)
    out = io.StringIO()
    show_sweep("x", cells, Console(file=out, width=120))
    assert "98" in out.getvalue()
    assert "3.00 [2.50, 3.50]" in out.getvalue()
    assert "unique" not in out.getvalue()
    assert "95 % intervals of accuracy over questions: Clopper–Pearson" in out.getvalue()


def test_a_sweep_of_points_and_questions_says_both_and_fits() -> None:
    bounds = {"accuracy": 0.3, "accuracy_low": 0.2, "accuracy_high": 0.4}
    score = {"category_score": 3.0, "category_score_low": 2.5, "category_score_high": 3.5}
    given = "model=deepseek_r1_7b", "knowledge=external", "reasoning=direct"
    points = {"raw": 12_345, "unique": 2_345, "valid": 2_000, "stop_reason": "saturated", "calls": 1_400, **bounds}
    questions = {"questions": 1_000, "incomplete": 2, "stop_reason": "finished", "calls": 7_000, **bounds, **score}
    cells = [
        SweptCell(0, ("probe=boundary", *given), "ok", metrics=points),
        SweptCell(1, ("probe=categories", *given), "ok", metrics=questions),
    ]
    assert "of points: Wilson, points taken as independent; of accuracy over questions" in note("x", cells)
    cells = [SweptCell(at, (*given[:2], f"seed={at}"), "ok", metrics=questions) for at in range(2)]
    out = io.StringIO()
    show_sweep("x", [*cells, SweptCell(2, ("model=qwen7b", "knowledge=internal"), "ok")], Console(file=out, width=80))
    assert "deepseek_r1_7b  external   0" in out.getvalue()  # on one line
