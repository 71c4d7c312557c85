"""dvc.yaml, the grids, the code and conf fit together."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
STAGES: Mapping[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
GRIDS = ("params.yaml", "params.paper.yaml")

ONLY_SHOWN = {"src/console.py", "src/entries.py", "src/figures", "src/tracking", "src/host.py", "src/errors.py"}
"""Code that decides nothing about outputs: what a person sees, processes and signals, the texts of failures."""
ONLY_OTHERS = {
    "src/lab/plan.py",  # what it would cost
    "src/costs.py",
    "src/lab/sweep.py",  # -m
    "src/command.py",  # arguments
    "src/lab/__init__.py",
    "src/__init__.py",
    "src/rehearsal",
}
ONLY_METRICS = {"src/audited.py", "src/stats"}
"""Code of the metrics, which are an output of `process`."""
STUDIES = [
    study["_target_"].rpartition(".")[0].replace(".", "/") + ".py"
    for study in (yaml.safe_load(path.read_text()) for path in sorted((ROOT / "conf" / "study").glob("*.yaml")))
]
CHOICES = {"extract": "cells", "process": "cells", "union": "unions", "analyze": "studies"}
"""By stage, where a grid lists what it is run for, if it is not called like the stage."""
STARTS = {
    "extract": ("src/run.py", "src/probes/boundary/__init__.py", "src/strategies"),
    "process": ("src/run.py", "src/probes/boundary/__init__.py", "src/strategies"),
    "categories": ("src/run.py", "src/probes/categories/__init__.py"),
    "union": ("src/union.py",),
    "analyze": ("src/analyze.py", *STUDIES),
    "report": ("src/report.py",),
}
"""Where a stage begins: its command, and what it instantiates by name."""


def grid(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / name).read_text())


def deps(stage: str) -> list[str]:
    body = STAGES[stage].get("do", STAGES[stage])
    return [str(dep) for dep in body["deps"]]


def imported(start: str) -> set[str]:
    """Files under src that a file or folder imports, directly or not, packages' `__init__` included."""
    place = ROOT / start
    stack = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    seen: set[Path] = set()
    while stack:
        path = stack.pop()
        if path in seen:
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "src":
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.split(".")[0] == "src"]
            else:
                continue
            for name in names:
                module = ROOT / Path(*name.split("."))
                stack += [file for file in (module.with_suffix(".py"), module / "__init__.py") if file.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in seen}


def within(path: str, places: set[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


@pytest.mark.parametrize("stage", STARTS)
def test_a_stage_lists_the_code_its_outputs_depend_on(stage: str) -> None:
    listed = {dep for dep in deps(stage) if dep.startswith("src/")}
    ours = ONLY_OTHERS | (ONLY_METRICS if stage == "extract" else set())
    shown = ONLY_SHOWN - listed
    needed = {path for start in STARTS[stage] for path in imported(start)}
    missing = sorted(path for path in needed if not within(path, listed | shown | ours))
    assert not missing, f"dvc.yaml, stage {stage}: not among its deps"
    unused = sorted(dep for dep in listed if not any(within(path, {dep}) for path in needed))
    assert not unused, f"dvc.yaml, stage {stage}: among its deps for nothing"


@pytest.mark.parametrize("name", GRIDS)
def test_what_a_grid_names_is_there(name: str) -> None:
    params = grid(name)
    known = params | {"item": None, "key": None}
    for stage in STAGES:
        for dep in deps(stage):
            if dep.startswith(("conf/", "src/")):
                choices = params.get(CHOICES.get(stage, stage), {"": {}})
                for key, item in choices.items():
                    path = dep.replace("${key}", key)
                    for field, value in (item or {}).items():
                        path = path.replace(f"${{item.{field}}}", str(value))
                    for field, value in known.items():
                        path = path.replace(f"${{{field}}}", str(value))
                    assert (ROOT / path).exists(), f"{stage}: {path}"


@pytest.mark.parametrize("name", GRIDS)
def test_every_domain_and_strategy_with_cells_has_a_union_and_names_say_what_they_are(name: str) -> None:
    params = grid(name)
    of_cells = {(cell["domain"], cell["strategy"]) for cell in params["cells"].values()}
    of_unions = [(union["domain"], union["strategy"]) for union in params["unions"].values()]
    assert sorted(of_unions) == sorted(of_cells)
    for name, cell in params["cells"].items():
        assert cell["domain"] in name
        assert cell["strategy"] in name
        assert "-" not in name


def test_the_papers_grid_has_its_39_cells() -> None:
    cells = grid("params.paper.yaml")["cells"].values()
    assert len(cells) == 39
    asked = {(cell["model"], cell["strategy"], cell["domain"]) for cell in cells}
    assert len(asked) == 39
    assert len({strategy for model, strategy, _ in asked if model == "llama70b"}) == 8
    assert {model for model, _, _ in asked} == {
        *("llama8b", "llama70b", "llama405b"),
        *("qwen7b", "qwen7b_coder", "deepseek_r1_7b"),
    }


@pytest.mark.parametrize("name", GRIDS)
def test_every_study_is_in_the_grid(name: str) -> None:
    studies = {path.stem for path in (ROOT / "conf" / "study").glob("*.yaml")}
    assert set(grid(name)["studies"]) == studies


def test_stages_that_analyse_cannot_call_a_model() -> None:
    for stage in ("analyze", "report"):
        assert not [dep for dep in deps(stage) if dep.startswith(("src/llm", "src/ledger", "src/probes", "conf/judge"))]
    assert not [dep for stage in STAGES for dep in deps(stage) if "ledger" in dep and dep.startswith("data")]


def test_a_threshold_of_the_dedup_reruns_no_extraction() -> None:
    sections = {
        stage: {section for entry in STAGES[stage]["do"]["params"] for names in entry.values() for section in names}
        for stage in ("extract", "process", "union")
    }
    assert sections == {"extract": {"saturation"}, "process": {"saturation", "dedup"}, "union": {"dedup"}}
    assert not any("thresholds" in dep for stage in sections for dep in deps(stage))


def test_every_option_of_thresholds_says_what_dvc_reads() -> None:
    for path in (ROOT / "conf" / "thresholds").glob("*.yaml"):
        assert {"saturation", "dedup"} <= yaml.safe_load(path.read_text()).keys(), path.name
    guarded, paper = (
        yaml.safe_load((ROOT / "conf" / "thresholds" / f"{name}.yaml").read_text()) for name in ("guarded", "paper")
    )
    assert {key: guarded["saturation"][key] for key in paper["saturation"]} == paper["saturation"]
