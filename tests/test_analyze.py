"""Studies over finished cells, for real: what they publish, where, and that no byte depends on anything else."""

import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import Compose
from hydra import compose
from mlflow import MlflowClient
from unions import Measure, fact, merged

from src.analyze import analyze
from src.errors import ConfigError, DataMissing
from src.lab.build import ROOT
from src.lab.study import parameters
from src.merge import find_unions


def studied(tmp_path: Path, study: str, *overrides: str) -> dict[str, bytes]:
    places = (f"cells={tmp_path / 'cells'}", f"reports={tmp_path / 'reports'}")
    analyze(compose("analyze", [f"study={study}", *places, *overrides]))
    folder = tmp_path / "reports" / "studies" / study
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


OF_QUESTIONS = {"categories", "layers", "transitions"}
STUDIES = sorted({path.stem for path in (ROOT / "conf" / "study").glob("*.yaml")} - OF_QUESTIONS)


def test_every_study_answers_on_two_models_with_the_same_bytes_twice(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(number) for number in range(30)])
    measure("b", [fact(number) for number in range(20, 60)])
    merged(tmp_path)
    for study in STUDIES:
        _answers_twice(tmp_path, study)


def _answers_twice(tmp_path: Path, study: str) -> None:
    options = {
        "pareto": ("study.strategies=[recorded]", "study.baseline=recorded"),
        "scaling": ("study.strategy=recorded", "study.parameters={a: 1, b: 7.5}"),
        "specialisation": (
            "study.strategy=recorded",
            *("study.general=a", "study.specialised=b", "study.inside=[deep_learning]", "study.outside=[ml_systems]"),
        ),
        "series": ("study.strategy=recorded", "study.models=[a,b]"),
    }.get(study, ())
    first = studied(tmp_path, study, *options)
    assert studied(tmp_path, study, *options) == first
    finding = json.loads(first["finding.json"])
    assert finding["name"] == study
    assert finding["verdict"]
    assert any("recorded" in line.lower() for line in finding["cautions"])
    metrics = json.loads(first["metrics.json"])
    for name, value in metrics.items():
        assert value is not None or metrics[f"{name}_reason"], name
    for name in finding["captions"]:
        assert {f"{name}.png", f"{name}.svg"} <= first.keys()
    assert b"NaN" not in first["finding.json"] + first["metrics.json"]
    for name in (name for name in first if name.endswith(".csv")):
        assert b"NaN" not in first[name], name


def test_one_model_alone_works_and_what_is_missing_is_named(measure: Measure, tmp_path: Path) -> None:
    measure("smollm2_135m", [fact(number) for number in range(12)])
    merged(tmp_path)
    for study in STUDIES:
        _answers_alone(tmp_path, study)


def _answers_alone(tmp_path: Path, study: str) -> None:
    options = {
        "pareto": ("study.strategies=[recorded]", "study.baseline=recorded"),
        "scaling": ("study.strategy=recorded",),
        "specialisation": ("study.strategy=recorded",),
        "series": ("study.strategy=recorded",),
    }.get(study, ())
    finding = json.loads(studied(tmp_path, study, *options)["finding.json"])
    assert finding["verdict"]
    if study in ("scaling", "specialisation", "series"):
        assert finding["missing"]


def test_a_study_is_one_run_in_mlflow_that_replaces_itself(
    measure: Measure,
    tmp_path: Path,
) -> None:
    measure("a", [fact(number) for number in range(9)])
    merged(tmp_path)
    for _ in range(2):
        files = studied(tmp_path, "filtering")
    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    experiment = client.get_experiment_by_name("studies")
    assert experiment
    runs = client.search_runs([experiment.experiment_id], "tags.study = 'filtering'")
    assert len(runs) == 1
    (run,) = runs
    assert run.info.status == "FINISHED"
    numbers = {
        name: value for name, value in json.loads(files["metrics.json"]).items() if isinstance(value, float | int)
    }
    assert run.data.metrics == pytest.approx(numbers)
    assert run.data.tags["subjects"] == "recorded"
    assert run.data.tags["mlflow.note.content"].startswith("**Recorded")
    assert {item.path for item in client.list_artifacts(run.info.run_id)} == {"figures", "tables"}


def test_a_union_of_other_cells_is_not_used_and_named(
    measure: Measure,
    tmp_path: Path,
) -> None:
    measure("a", [fact(1), fact(2)])
    merged(tmp_path)
    measure("b", [fact(2), fact(3)])
    measure("c", [fact(2), fact(3)], "phases=[extract]")
    finding = json.loads(studied(tmp_path, "sensitivity")["finding.json"])
    said = " ".join(finding["missing"])
    assert "python -m src.union domain=deep_learning strategy=recorded" in said
    assert "cells/boundary/deep_learning/c is not finished" in said


def test_a_union_is_stale_once_its_cell_holds_more(measure: Measure, tmp_path: Path) -> None:
    """As when a cell that a budget had cut short goes on: the configuration, and so its key, stays the same."""
    measure("a", [fact(1), fact(2)])
    merged(tmp_path)
    folder = tmp_path / "cells" / "boundary" / "deep_learning" / "a" / "process" / "atoms.parquet"
    pl.read_parquet(folder).with_columns(valid=pl.col("valid") & (pl.col("atom_id") > 0)).write_parquet(folder)
    finding = json.loads(studied(tmp_path, "sensitivity")["finding.json"])
    assert "python -m src.union domain=deep_learning strategy=recorded" in " ".join(finding["missing"])


@pytest.mark.parametrize("damaged", ["process/atoms.parquet", "process/metrics.json", "process/config.yaml"])
def test_a_damaged_cell_is_named_and_the_others_are_used(measure: Measure, tmp_path: Path, damaged: str) -> None:
    measure("a", [fact(1), fact(2)])
    measure("b", [fact(1), fact(2)])
    (tmp_path / "cells" / "boundary" / "deep_learning" / "b" / damaged).write_text("{garbage")
    finding = json.loads(studied(tmp_path, "filtering")["finding.json"])
    assert [source["model"] for source in finding["sources"]] == ["a"]
    assert any("deep_learning/b cannot be read" in line for line in finding["missing"])


def test_what_a_killed_union_left_is_no_union(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1), fact(2)])
    merged(tmp_path)
    made = tmp_path / "cells" / "union" / "deep_learning" / "recorded"
    shutil.copytree(made, made.with_name(".recorded.old"))
    assert len(find_unions(tmp_path / "cells")) == 1
    (made / "points.parquet").write_text("garbage")
    with pytest.raises(DataMissing, match=r"run `python -m src\.union` again"):
        studied(tmp_path, "sensitivity")


def test_two_numbers_of_one_name_are_refused(measure: Measure, tmp_path: Path) -> None:
    for model in ("a", "a_low"):
        measure(model, [fact(1), fact(2)])
    with pytest.raises(ConfigError, match="two numbers would be called recall_match_a_low: a model"):
        merged(tmp_path)


def test_no_cells_is_a_sentence(composed: Compose, tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="holds no finished cell"):
        studied(tmp_path, "filtering")


def test_an_unknown_value_is_refused(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1)])
    with pytest.raises(ConfigError, match="seed"):
        studied(tmp_path, "filtering", "seed=-1")
    with pytest.raises(ConfigError, match="nonsense"):
        studied(tmp_path, "filtering", "+nonsense=1")


def test_parameters_are_those_of_the_models_options() -> None:
    known = parameters(ROOT)
    assert known["llama405b"] > known["llama70b"] > known["llama8b"] > known["smollm2_135m"]
