from pathlib import Path

import polars as pl
import pytest

from src.errors import ConfigError, DataMissing
from src.store import read_phase, run_folder, slug, slug_of, write_phase


@pytest.mark.parametrize("name", ["a/b", "../../x", "..", ".hidden", "", "a" * 101, "苯, 甲苯", "a b", "a\n"])
def test_a_name_from_outside_never_becomes_a_path_unchecked(name: str) -> None:
    with pytest.raises(ConfigError, match=r"domain.name .* cannot name a folder"):
        slug(name, "domain.name")


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
        ("vendor/model:free", "model-free"),
        ("../..", "model"),
        ("模型", "model"),
    ],
)
def test_a_model_identifier_becomes_a_slug(identifier: str, expected: str) -> None:
    assert slug(slug_of(identifier), "model.name") == expected


def test_run_folder_has_the_documented_form(tmp_path: Path) -> None:
    folder = run_folder(
        tmp_path, probe="boundary", topic="deep_learning", model="m", strategy="s", seed=3, cell_key="abcdef0123"
    )
    assert folder == tmp_path / "data/runs/boundary/deep_learning/m-s-s3-abcdef01"


def test_a_phase_is_replaced_whole_and_twice_the_same_bytes(tmp_path: Path) -> None:
    first = {"atoms": pl.DataFrame({"text": ["注意力", "b"], "x": [1.5, None]}), "old": pl.DataFrame({"a": [1]})}
    write_phase(tmp_path, "process", {"b": 1, "a": "é"}, first, {"z": None, "a": 1})
    write_phase(tmp_path, "process", {"b": 1, "a": "é"}, {"atoms": first["atoms"]}, {"a": 1, "z": None})
    bytes_once = {path.name: path.read_bytes() for path in (tmp_path / "process").iterdir()}
    write_phase(tmp_path, "process", {"a": "é", "b": 1}, {"atoms": first["atoms"]}, {"z": None, "a": 1})
    assert {path.name: path.read_bytes() for path in (tmp_path / "process").iterdir()} == bytes_once
    assert sorted(bytes_once) == ["atoms.parquet", "config.yaml", "metrics.json"]
    config, tables = read_phase(tmp_path, "process")
    assert config == {"a": "é", "b": 1}
    assert tables["atoms"].equals(first["atoms"])
    assert [path.name for path in tmp_path.iterdir()] == ["process"]


def test_a_missing_phase_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"no finished extract; run phases=\[extract,process\]"):
        read_phase(tmp_path, "extract")


def test_an_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="set run_dir to a folder you may write"):
        write_phase(tmp_path / "file", "extract", {}, {})
