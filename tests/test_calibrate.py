"""Calibration for real: cells on disk, sheets out, labels and a second judge in, findings and runs."""

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import Compose, Measure
from endpoint import ScriptedEndpoint
from hydra import compose
from mlflow import MlflowClient
from unions import fact

from src import calibrate
from src.calibration.sheet import sheet_items
from src.errors import ConfigError, DataMissing, LedgerMiss
from src.store.calibrations import read_calibration
from src.tracking.store import runs_with

TEXTS = [*(fact(number) for number in range(24)), "An overview", "The important points are:", "Some of the"]


def command(tmp_path: Path, verb: str, *overrides: str) -> None:
    places = [f"{name}={tmp_path / name}" for name in ("cells", "calibrations", "reports")]
    calibrate.run(compose("calibrate", [f"verb={verb}", *places, f"ledger.path={tmp_path / 'ledger.db'}", *overrides]))


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def label(tmp_path: Path, name: str, annotator: str) -> Path:
    """A labels file: valid is what the judge calls valid, but for the first item."""
    about, key = read_calibration(tmp_path / "calibrations" / name)
    items = sheet_items(key["units"], about["seed"])
    verdict = items.join(key["units"], on=("query", "first", "second")).join(key["strata"], on="stratum")
    said = {
        item: "valid" if valid else "invalid by form" for item, valid in verdict.select("item", "verdict").iter_rows()
    }
    said[items["item"][0]] = "factually wrong"
    path = tmp_path / f"{annotator}.csv"
    path.write_text("item,label\n" + "".join(f"{item},{said[item]}\n" for item in items["item"]), encoding="utf-8")
    return path


def finding(tmp_path: Path, name: str) -> tuple[dict, dict]:
    folder = tmp_path / "reports" / "calibration" / name
    return json.loads((folder / "finding.json").read_text()), json.loads((folder / "metrics.json").read_text())


def test_a_sample_is_labelled_scored_and_logged_on_the_runs_it_calibrates(
    measure: Measure, tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    measure("a", TEXTS, shown=True)
    measure("b", TEXTS[5:], shown=True)
    command(tmp_path, "export", "n=20")
    folder = tmp_path / "calibrations" / "audit"
    exported = files(folder)
    assert set(exported) == {
        "key/about.json", "key/strata.parquet", "key/units.parquet", "sheet/sheet.csv", "sheet/sheet.html"
    }  # fmt: skip
    command(tmp_path, "export", "n=20")
    assert files(folder) == exported, "the same command leaves the same files"
    labels = [label(tmp_path, "audit", name) for name in ("ann", "bob")]
    labels[1].write_text(labels[1].read_text().replace("factually wrong", "unsure"), encoding="utf-8")
    command(tmp_path, "score", f"labels=[{labels[0]},{labels[1]}]")
    assert "logged on 2 runs of 2 calibrated cells" in capsys.readouterr().out
    facts, metrics = finding(tmp_path, "audit")
    published = files(tmp_path / "reports" / "calibration" / "audit")
    assert {"agreement.png", "corrected.svg", "cells.csv", "strata.csv", "disagreements.csv"} <= set(published)
    assert any("form checked, not truth" in line for line in facts["cautions"])
    assert metrics["annotators"] == 2
    assert metrics["agreement"] < 1
    client = MlflowClient(store)
    experiment = client.get_experiment_by_name("boundary").experiment_id
    for source in facts["sources"]:
        (run,) = runs_with(client, experiment, "cell_key", source["cell_key"])
        assert run.data.metrics["calibration/audit/sample_kappa"] == metrics["kappa"]
        assert run.data.metrics["calibration/audit/n"] > 0
        assert run.data.tags["calibration.audit"] == facts["verdict"][0]
    measure("a", TEXTS, shown=True)  # a run that is asked for again keeps what people said about it
    (run,) = runs_with(client, experiment, "cell_key", facts["sources"][0]["cell_key"])
    assert "calibration/audit/kappa" in run.data.metrics or "calibration.audit.kappa_reason" in run.data.tags


def test_another_sample_never_replaces_one_whose_labels_may_be_under_way(measure: Measure, tmp_path: Path) -> None:
    measure("a", TEXTS)
    command(tmp_path, "export", "n=10")
    before = files(tmp_path / "calibrations")
    with pytest.raises(ConfigError, match="holds another sample, whose labels may be under way: choose another name"):
        command(tmp_path, "export", "n=12")
    assert files(tmp_path / "calibrations") == before
    command(tmp_path, "export", "n=12", "name=other")
    with pytest.raises(ConfigError, match="is not on this sheet"):
        command(tmp_path, "score", "name=other", f"labels={label(tmp_path, 'audit', 'ann')}")
    assert not (tmp_path / "reports").exists()


def test_what_is_missing_is_one_sentence(measure: Measure, tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="holds no finished cell"):
        command(tmp_path, "export")
    measure("a", TEXTS)
    with pytest.raises(
        DataMissing, match=r"there is no sample audit .* run `python -m src.calibrate export name=audit`"
    ):
        command(tmp_path, "score", "labels=[x.csv]")
    command(tmp_path, "export", "n=5")
    with pytest.raises(ConfigError, match="nothing to compare with: give labels="):
        command(tmp_path, "score")
    with pytest.raises(ConfigError, match=r"name '../x' cannot name a folder"):
        command(tmp_path, "export", "name=../x")
    with pytest.raises(ConfigError, match="n=0"):
        command(tmp_path, "export", "n=0")


def test_a_second_judge_answers_pairs_in_both_orders_and_is_paid_once(
    measure: Measure, tmp_path: Path, server: ScriptedEndpoint
) -> None:
    measure("a", TEXTS)
    command(tmp_path, "export", "what=pairs", "n=12")
    pairs = pl.read_parquet(tmp_path / "calibrations" / "pairs" / "key" / "units.parquet").height
    assert pairs > 3
    second = ("what=pairs", "judge@judge2=openai", f"judge2.endpoint.base_url={server.base_url}",
              "judge2.endpoint.api_key_env=null")  # fmt: skip
    with pytest.raises(LedgerMiss):
        command(tmp_path, "score", *second, "ledger.mode=replay")
    command(tmp_path, "score", *second)
    asked = len(server.requests)
    assert asked >= 2 * pairs
    facts, metrics = finding(tmp_path, "pairs")
    assert 0 <= metrics["flip_rate"] <= 1 or metrics["second_unparsed"]
    assert any("second judge gpt-4o-mini" in line for line in facts["verdict"])
    command(tmp_path, "score", *second)
    command(tmp_path, "score", *second, "ledger.mode=replay")
    assert len(server.requests) == asked
    with pytest.raises(ConfigError, match=r"judge2\.price is null"):
        command(tmp_path, "score", *second, "budget.usd=1")


def test_judge2_on_the_command_line_is_the_group_judge() -> None:
    said = ["score", "judge2=openai", "judge2.id=x", "name=judge2=1"]
    assert calibrate.in_group(said) == ["score", "judge@judge2=openai", "judge2.id=x", "name=judge2=1"]


def test_every_judge_can_be_the_second(composed: Compose) -> None:
    for option in ("rules", "openai", "deepseek_v31"):
        options, second = calibrate.read_options(compose("calibrate", ["verb=score", f"judge@judge2={option}"]))
        assert second is not None
        assert (options.what, options.name) == ("audit", "audit")
