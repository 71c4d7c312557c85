import math

import pytest

from src.errors import ConfigError
from src.records import Metrics
from src.stats.flat import put, put_interval
from src.stats.intervals import Interval


def test_a_number_stands_alone_and_none_with_its_reason() -> None:
    metrics: Metrics = {}
    put(metrics, "a", 0.0)
    put(metrics, "b", math.nan, "no point")
    put_interval(metrics, "c", 0.5, Interval(math.nan, math.nan, 2, "branch", "Wilson", "2 branches"))
    assert metrics == {
        "a": 0.0, "b": None, "b_reason": "no point", "c": 0.5, "c_low": None, "c_low_reason": "2 branches",
        "c_high": None, "c_high_reason": "2 branches",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["recall", "recall_low", "recall_high_reason"])
def test_a_name_that_is_taken_is_refused_and_nothing_is_overwritten(name: str) -> None:
    metrics: Metrics = {}
    put_interval(metrics, "recall", 0.5, Interval(0.4, math.nan, 9, "cluster", "Wilson", "half"))
    before = dict(metrics)
    with pytest.raises(ConfigError, match=f"two numbers would be called {name}: a model, strategy or domain"):
        put(metrics, name, 0.1)
    assert metrics == before
