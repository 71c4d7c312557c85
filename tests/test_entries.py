import math

import polars as pl
import pytest

from src.entries import LONGEST_TAG, curves, facts, params, safe_name, safe_text


def test_params_are_flat_and_readable() -> None:
    config = {"model": {"name": "m", "temperature": 0.7, "stop": None}, "widths": [2, 2], "guards": True, "empty": {}}
    assert params(config) == {
        "model.name": "m",
        "model.temperature": "0.7",
        "model.stop": "null",
        "widths": "[2, 2]",
        "guards": "true",
        "empty": "{}",
    }


def test_params_keep_every_name_apart() -> None:
    flat = params({"a[0]=x|y": 1, "a(0)=x|y": 2, "..": 3, "苯": 4, "a/b": 5, "n" * 400: 6})
    assert sorted(flat.values()) == ["1", "2", "3", "4", "5", "6"]
    assert "a_0__x_y" in flat
    assert max(map(len, flat)) <= 250


def test_long_params_become_their_hash() -> None:
    first, second = params({"p": "x" * 7000})["p"], params({"p": "x" * 6999 + "y"})["p"]
    assert first != second
    assert first.startswith("sha256:")
    assert "7,000 characters" in first
    assert params({"p": "x" * 500})["p"] == "x" * 500


def test_facts_drop_no_metric_silently() -> None:
    numbers, texts = facts(
        {
            "raw": 3,
            "accuracy": None,
            "accuracy_reason": "no audited clusters",
            "ratio": math.nan,
            "gap": -math.inf,
            "cost": None,
            "stop_reason": "saturated",
        }
    )
    assert numbers == {"raw": 3.0}
    assert texts == {
        "accuracy_reason": "no audited clusters",
        "ratio_reason": "not a finite number: nan",
        "gap_reason": "not a finite number: -inf",
        "cost_reason": "unknown",
        "stop_reason": "saturated",
    }


def test_curves_skip_what_is_not_a_number() -> None:
    turns = pl.DataFrame({"turn": [1, 2], "growth": [1.0, None], "stale": [False, True], "x": [math.nan, 2.0]})
    assert curves(turns) == [("growth", 1.0, 1), ("stale", 0.0, 1), ("stale", 1.0, 2), ("x", 2.0, 2)]


@pytest.mark.parametrize(
    ("name", "safe"),
    [("a[0]=x|y", "a_0__x_y"), ("accuracy_low", "accuracy_low"), ("..", "_"), ("", "_"), ("a b/c", "a_b_c")],
)
def test_safe_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_safe_text_can_be_stored() -> None:
    assert safe_text("苯, \ud800 \0").encode() == "苯, ? �".encode()
    assert len(safe_text("x" * 9000)) == LONGEST_TAG
