import pytest
from pydantic import ValidationError

from src.dedup.settings import SWEEP, Dedup, computed, sweep
from src.errors import ConfigError


@pytest.mark.parametrize(
    ("strict", "fuzzy"), [(0.7, 0.92), (1.01, 0.7), (0.92, 0.0), (0.92, -0.1), (float("nan"), 0.7), (0.9, float("nan"))]
)
def test_thresholds_out_of_order_are_refused_in_one_sentence(strict: float, fuzzy: float) -> None:
    with pytest.raises(ConfigError, match=r"0 < dedup\.fuzzy <= dedup\.strict <= 1"):
        Dedup(strict=strict, fuzzy=fuzzy)


def test_equal_thresholds_and_one_are_allowed() -> None:
    assert Dedup(strict=1, fuzzy=1).fuzzy == 1


@pytest.mark.parametrize("wrong", [{"candidates": 2}, {"linkage": "single"}, {"tau": 0.5}, {"strict": "high"}])
def test_unknown_values_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Dedup(**wrong)  # type: ignore[arg-type]


def test_sweep_keeps_what_is_not_a_threshold() -> None:
    own = Dedup(strict=0.92, fuzzy=0.70, guards=False, candidates=1, linkage="complete")
    assert len(sweep(own)) == 9
    assert {(setting.strict, setting.fuzzy) for setting in sweep(own)} == set(SWEEP)
    assert {(s.guards, s.candidates, s.linkage) for s in sweep(own)} == {(False, 1, "complete")}


def test_own_setting_is_computed_once() -> None:
    assert len(computed(Dedup())) == 9
    assert len(computed(Dedup(strict=0.91))) == 10
    assert computed(Dedup(strict=0.91))[0].strict == 0.91
