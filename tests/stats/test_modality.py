import numpy as np
import pytest

from src.stats.modality import modality, one_mode

EDGES = np.round(np.arange(-50, 51) / 50, 2)


def test_two_kinds_have_two_modes() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0.4, 0.08, 400), rng.normal(0.85, 0.04, 300)])
    found = modality(np.clip(values, -1, 1), EDGES, 0)
    assert found.bimodal is True
    assert found.sarle > 5 / 9
    assert 0.55 < found.valley < 0.78
    assert found.remains < 0.1
    assert found.p < 0.001


@pytest.mark.parametrize("n", [40, 400, 4000])
def test_one_kind_seldom_shows_a_second_mode(n: int) -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(20):
        values = np.clip(rng.normal(0.5, 0.15, n), -1, 1)
        alarms += bool(modality(values, EDGES, 0).bimodal)
    assert alarms <= 3


def test_a_shallow_valley_parts_nothing() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0.45, 0.1, 30_000), rng.normal(0.72, 0.1, 30_000)])
    found = modality(np.clip(values, -1, 1), EDGES, 0)
    assert found.p < 0.05
    assert found.remains > 0.5
    assert found.bimodal is False


def test_a_histogram_without_valley_says_so() -> None:
    values = np.repeat(EDGES[60:70] + 0.01, np.arange(1, 11))
    found = modality(values, EDGES, 0)
    assert (found.depth, found.remains, found.p) == (0, 1, 1)
    assert np.isnan(found.valley)
    assert found.bimodal is False


@pytest.mark.parametrize("values", [[], [0.5] * 29, [0.5] * 500])
def test_nothing_is_said_about_too_few_or_equal_values(values: list[float]) -> None:
    found = modality(values, EDGES, 0)
    assert found.bimodal is None
    assert np.isnan(found.sarle)
    assert found.reason


def test_sarle_of_a_uniform_distribution_is_five_ninths() -> None:
    values = np.linspace(-1, 1, 20_001)
    assert modality(values, EDGES, 0).sarle == pytest.approx(5 / 9, abs=1e-3)


def test_one_mode_keeps_the_total_and_rises_then_falls() -> None:
    counts = np.random.default_rng(2).integers(0, 30, 40).astype(float)
    fitted = one_mode(counts)
    assert fitted.sum() == pytest.approx(counts.sum())
    top = int(fitted.argmax())
    assert (np.diff(fitted[: top + 1]) >= 0).all()
    assert (np.diff(fitted[top:]) <= 0).all()
    assert one_mode(np.array([1.0, 4.0, 2.0])).tolist() == [1, 4, 2]
