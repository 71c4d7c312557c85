"""`python -m src.calibrate thresholds` for real: pairs on disk, an option and a finding out."""

import json
from pathlib import Path

import pytest
import yaml
from conftest import Compose
from hydra import compose
from hydra.utils import instantiate

from src import calibrate
from src.dedup.settings import Dedup
from src.errors import ConfigError
from src.saturation import Saturation


def facts(n: int, label: bool) -> list[dict[str, object]]:
    """Pairs that are the same but for the case of a word, or that share nothing."""
    things = ["".join(chr(97 + i // 26**k % 26) for k in range(3)) * 2 for i in range(2 * n)]
    return [
        {"first": f"the {one} exists", "second": f"The {one} exists" if label else f"a wholly other thing is {other}",
         "same": label}
        for one, other in zip(things[:n], things[n:], strict=True)
    ]  # fmt: skip


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*facts(90, True), *facts(90, False)]), encoding="utf-8")
    return path


def command(tmp_path: Path, *overrides: str) -> None:
    places = (f"options={tmp_path / 'options'}", f"reports={tmp_path / 'reports'}", f"ledger.path={tmp_path / 'l.db'}")
    calibrate.run(compose("calibrate", ["verb=thresholds", "embedder=hashing", *places, *overrides]))


def test_an_option_is_written_that_says_what_it_rests_on_and_can_be_chosen(
    composed: Compose, store: str, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(tmp_path, f"pairs={pairs}", "name=ours")
    path = tmp_path / "options" / "ours.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# @package _global_\n# Calibrated for hashing on 180 labelled pairs: at most 5.0 % of what")
    assert "dedup.strict" in text
    assert "python -m src.run thresholds=ours" in capsys.readouterr().out
    values, like = yaml.safe_load(text), composed()
    assert {name: list(block) for name, block in values.items()} == {
        name: list(like[name]) for name in ("saturation", "dedup")
    }, "all values, since dvc.yaml reads the file without defaults"
    dedup = instantiate(values["dedup"])
    assert isinstance(dedup, Dedup)
    assert isinstance(instantiate(values["saturation"]), Saturation)
    metrics = json.loads((tmp_path / "reports/calibration/thresholds-ours/metrics.json").read_text())
    assert (dedup.strict, dedup.fuzzy, metrics["pairs"]) == (metrics["strict"], metrics["fuzzy"], 180)
    assert {"thresholds.png", "curve.csv", "guards.csv"} <= {
        file.name for file in (tmp_path / "reports/calibration/thresholds-ours").iterdir()
    }
    command(tmp_path, f"pairs={pairs}", "name=ours", "ledger.mode=replay")
    assert path.read_text(encoding="utf-8") == text, "the same command, the same bytes; vectors come from the ledger"
    path.write_text(text.replace("# Written by", "# By hand, after"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"ours.yaml is there and was not written by this command: choose another"):
        command(tmp_path, f"pairs={pairs}", "name=ours")


def test_what_is_missing_or_wrong_is_one_sentence_and_nothing_is_written(
    composed: Compose, pairs: Path, tmp_path: Path
) -> None:
    for wrong, said in [
        ((f"pairs={pairs}",), "give pairs=FILE name=NAME"),
        (("name=ours",), "give pairs=FILE name=NAME"),
        ((f"pairs={pairs}", "name=../x"), "name '../x' cannot name an option"),
        ((f"pairs={pairs}", "name=ours", "wrong=0"), "wrong=0"),
        ((f"pairs={pairs}", "name=ours", "kept=0.99"), "label more pairs, or lower kept=0.99"),
    ]:
        with pytest.raises(ConfigError, match=said):
            command(tmp_path, *wrong)
    assert not (tmp_path / "options").exists()
    assert not (tmp_path / "reports").exists()
