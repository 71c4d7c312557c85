"""`dvc repro` for real on a small grid: a copy of the project, the embedded model, a judge over HTTP."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from src.rehearsal import Rehearsal

ROOT = Path(__file__).resolve().parents[1]

GRID = """
thresholds: guarded
embedder: hashing
judge: scripted

cells:
  smollm2_sequential_deep_learning:
    {domain: deep_learning, model: smollm2_135m, strategy: sequential,
     with: "max_turns=1 model.max_tokens=96 endpoint.threads=1"}
  rehearsed_sequential_deep_learning:
    {domain: deep_learning, model: scripted, strategy: sequential, with: "max_turns=2"}

categories:
  rehearsed_world_facts: {dataset: world_facts, model: scripted, with: "questions=5 samples=2"}

unions:
  sequential_deep_learning: {domain: deep_learning, strategy: sequential, with: ""}

studies:
  pareto: {with: "study.baseline=sequential"}
  sensitivity: {with: ""}
  categories: {with: ""}
"""
JUDGE = """
# A judge at a rehearsal server.
defaults:
  - openai
  - override /endpoint@endpoint: rehearsal
  - _self_
name: scripted
id: scripted
endpoint: {base_url: %s}
"""
MODEL = """
# @package _global_
# A model at a rehearsal server.
defaults:
  - openai
  - override /endpoint@_global_.endpoint: rehearsal
  - _self_
model: {name: scripted, id: scripted}
endpoint: {base_url: %s}
"""


class Project:
    """A copy of the project in which DVC is at work."""

    def __init__(self, place: Path) -> None:
        self.place = place
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        quiet = {"DVC_NO_ANALYTICS": "1", "HYDRA_FULL_ERROR": "1", "DO_NOT_TRACK": "1"}
        self.environment = {**os.environ, **quiet, "PATH": path}
        self.environment.pop("MLFLOW_TRACKING_URI", None)

    def repro(self) -> str:
        return self.dvc("repro")

    def dvc(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "dvc", *arguments],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def ran(self, output: str) -> set[str]:
        """Stages that were run, with what stands before the @."""
        lines = [line for line in output.splitlines() if line.startswith("Running stage '")]
        return {line.split("'")[1].partition("@")[0] for line in lines}

    def files(self, *places: str) -> dict[str, bytes]:
        paths = [path for place in places for path in sorted((self.place / place).rglob("*")) if path.is_file()]
        return {path.relative_to(self.place).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def server() -> Iterator[Rehearsal]:
    with Rehearsal() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: Rehearsal) -> Project:
    place = tmp_path / "project"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    (place / "dvc.lock").unlink(missing_ok=True)
    shutil.rmtree(place / "reports" / "studies", ignore_errors=True)
    for name in ("smollm2_135m", "minilm"):
        shutil.copytree(ROOT / "data" / "raw" / name, place / "data" / "raw" / name)
    (place / "params.yaml").write_text(GRID)
    (place / "conf" / "judge" / "scripted.yaml").write_text(JUDGE % server.base_url)
    (place / "conf" / "model" / "scripted.yaml").write_text(MODEL % server.base_url)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return Project(place)


def test_a_grid_is_reproduced_resumed_and_rethresholded(project: Project, server: Rehearsal) -> None:
    output = project.repro()
    assert project.ran(output) == {"fetch", "extract", "process", "categories", "union", "analyze", "report"}
    asked = server.arrived
    assert asked > 0
    reports, extracted = project.files("reports"), project.files("data/cells/boundary")
    assert {"reports/report.md", "reports/report.html", "reports/studies/pareto/metrics.json"} <= reports.keys()
    assert b"Rehearsed" in reports["reports/report.md"]

    assert project.ran(project.repro()) == set()
    assert project.files("reports") == reports
    shown = project.dvc("metrics", "show", "--json")
    assert {Path(path).name for path in json.loads(shown)[""]["data"]} == {
        "deep_learning-rehearsed_sequential_deep_learning.json",
        "deep_learning-smollm2_sequential_deep_learning.json",
        "world_facts-rehearsed_world_facts.json",
    }

    thresholds = project.place / "conf" / "thresholds" / "guarded.yaml"
    content = yaml.safe_load(thresholds.read_text())
    text = thresholds.read_text().replace("strict: 0.92", "strict: 0.94").replace("fuzzy: 0.70", "fuzzy: 0.65")
    assert content["dedup"]["strict"] == 0.92
    thresholds.write_text(text)
    assert project.ran(project.repro()) == {"process", "union", "analyze", "report"}
    assert server.arrived == asked, "another of the nine settings asked the judge or the model"
    changed = project.files("data/cells/boundary")
    assert {name for name in changed if "/extract/" in name and changed[name] != extracted[name]} == set()
    assert any(changed[name] != extracted[name] for name in changed if name.endswith("process/config.yaml"))

    reports = project.files("reports")
    shutil.rmtree(project.place / "reports" / "studies")
    for name in ("report.md", "report.html"):
        (project.place / "reports" / name).unlink()
    assert project.ran(project.repro()) == {"analyze", "report"}
    assert project.files("reports") == reports
    assert server.arrived == asked
