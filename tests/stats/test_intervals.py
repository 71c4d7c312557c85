import math

import numpy as np
import pytest

from src.stats.intervals import wilson, wilson_leaf


@pytest.mark.parametrize(
    ("successes", "low", "high"),
    [(15, 0.332, 0.668), (21, 0.521, 0.833), (24, 0.627, 0.905), (27, 0.744, 0.965), (30, 0.886, 1.0)],
)
def test_wilson_golden_of_thirty(successes: int, low: float, high: float) -> None:
    interval = wilson(successes, 30)
    assert (round(interval.low, 3), round(interval.high, 3)) == (low, high)
    assert (interval.n, interval.unit, interval.method, interval.reason) == (30, "point", "Wilson", "")


@pytest.mark.parametrize(("successes", "n"), [(38, 38), (0, 77), (1, 1), (0, 1), (10**7, 10**7)])
def test_wilson_stays_inside_zero_and_one(successes: int, n: int) -> None:
    interval = wilson(successes, n)
    assert 0 <= interval.low < interval.high <= 1
    assert interval.low <= successes / n <= interval.high


def test_wilson_of_nothing_has_no_bounds_but_a_reason() -> None:
    interval = wilson(0, 0)
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert interval.n == 0
    assert "no point" in interval.reason


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(successes, n)


def test_leaf_by_hand() -> None:
    # 3 branches of 10: 10, 5 and 0 valid. p = .5, without each branch .25, .5 and .75, between = 2 * .25^2 = 1/8,
    # deff = (1/8) / (.25/30) = 15, so 2 effective points and t(2) = 4.3027.
    interval = wilson_leaf([True] * 10 + [True, False] * 5 + [False] * 10, ["a"] * 10 + ["b"] * 10 + ["c"] * 10)
    n_eff, t = 2.0, 4.302653
    half = t / (1 + t * t / n_eff) * math.sqrt(0.25 / n_eff + t * t / (4 * n_eff**2))
    assert interval.low == pytest.approx(0.5 - half, abs=1e-6)
    assert interval.high == pytest.approx(0.5 + half, abs=1e-6)
    assert interval.method.endswith("3 branches, deff 15.00")
    assert (interval.n, interval.unit) == (30, "branch")


def test_leaf_never_assumes_less_variance_than_independence() -> None:
    balanced = wilson_leaf([True, False] * 20, [str(i // 4) for i in range(40)])
    assert "deff 1.00" in balanced.method
    plain = wilson(20, 40)
    assert balanced.low < plain.low < plain.high < balanced.high


@pytest.mark.parametrize("verdict", [True, False])
def test_leaf_of_one_verdict_only(verdict: bool) -> None:
    interval = wilson_leaf([verdict] * 30, [str(i % 5) for i in range(30)])
    assert "deff 1.00" in interval.method
    assert (interval.low == 0, interval.high == 1) == (not verdict, verdict)


def test_leaf_needs_three_branches() -> None:
    assert "2 branches" in wilson_leaf([True, False, True], ["a", "b", "b"]).reason
    one = wilson_leaf([True, False], ["", ""])
    assert "1 branch:" in one.reason
    assert math.isnan(one.low)
    assert one.n == 2
    assert "no point" in wilson_leaf([], []).reason


def test_leaf_does_not_depend_on_order() -> None:
    rng = np.random.default_rng(1)
    valid = rng.random(60) < 0.6
    branch = np.array([f"b{i % 6}" for i in range(60)])
    order = rng.permutation(60)
    first, second = (wilson_leaf(list(valid[i]), list(branch[i])) for i in (np.arange(60), order))
    assert first.low == pytest.approx(second.low, abs=1e-12)
    assert first.method == second.method


def test_leaf_refuses_uneven_columns() -> None:
    with pytest.raises(ValueError, match="one branch per verdict"):
        wilson_leaf([True], [])


def test_leaf_covers_where_plain_wilson_does_not() -> None:
    # 25 branches of 60 points whose success rates vary so that two points of a branch correlate at .05.
    rng = np.random.default_rng(7)
    truth, correlation, branches, points, runs = 0.8, 0.05, 25, 60, 400
    size = 1 / correlation - 1
    rates = rng.beta(truth * size, (1 - truth) * size, (runs, branches))
    valid = rng.random((runs, branches, points)) < rates[:, :, None]
    labels = [str(i) for i in np.repeat(np.arange(branches), points)]
    leaf = [wilson_leaf(list(run.ravel()), labels) for run in valid]
    plain = [wilson(int(run.sum()), run.size) for run in valid]
    assert np.mean([i.low <= truth <= i.high for i in leaf]) >= 0.90
    assert np.mean([i.low <= truth <= i.high for i in plain]) <= 0.80


def test_an_interval_over_branches_says_how_many_there_are() -> None:
    assert wilson_leaf([True, False, True, True], ["a", "b", "c", "c"]).branches == 3
    assert wilson_leaf([True, False], ["a", "b"]).branches == 2
    assert wilson(3, 4).branches == 0
