import itertools
import math

import numpy as np
import pytest

from src.stats.frontier import area, common_range, gained, log_grid, pareto_optimal, ratio_interval
from src.stats.intervals import wilson


def test_pareto_optimal_is_what_no_other_point_beats() -> None:
    cost, gain = [1, 2, 2, 3, 4], [1, 3, 2, 3, 5]
    assert pareto_optimal(cost, gain).tolist() == [True, True, False, False, True]


def test_equal_points_do_not_beat_one_another() -> None:
    assert pareto_optimal([1, 1, 2], [2, 2, 2]).tolist() == [True, True, False]
    assert pareto_optimal([], []).tolist() == []


def test_pareto_optimal_as_defined_word_by_word() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        cost, gain = rng.integers(6, size=(2, 7)).tolist()
        for i, flag in enumerate(pareto_optimal(cost, gain).tolist()):
            beaten = any(
                cost[j] <= cost[i] and gain[j] >= gain[i] and (cost[j] < cost[i] or gain[j] > gain[i]) for j in range(7)
            )
            assert flag == (not beaten)


def test_a_budget_buys_the_turns_that_it_pays_for() -> None:
    assert gained([99, 100, 150, 199.9, 200, 1e9], [100, 200], [7, 11]).tolist() == [0, 7, 7, 7, 11, 11]


def test_a_turn_without_cost_counts_at_once() -> None:
    assert gained([100], [100, 100], [7, 9]).tolist() == [9]


def test_the_grid_holds_both_ends() -> None:
    grid = log_grid(7, 12_345)
    assert (len(grid), grid[0], grid[-1]) == (100, 7, 12_345)
    assert np.ptp(np.diff(np.log10(grid))) < 1e-12


def test_the_common_range_goes_from_the_last_start_to_the_first_end() -> None:
    assert common_range([[10, 100], [20, 50, 70], [5, 90]]) == (20, 70)
    assert common_range([[10, 20], [30, 40]]) is None
    assert common_range([[10], [10]]) == (10, 10)


def test_area_of_a_constant_is_its_height_times_the_decades() -> None:
    grid = log_grid(10, 10_000)
    assert area(grid, np.full(100, 0.5)) == pytest.approx(1.5)


def test_area_of_a_line_in_the_logarithm() -> None:
    grid = log_grid(10, 1_000)
    assert area(grid, np.log10(grid)) == pytest.approx((9 - 1) / 2)


def test_ratio_interval_is_that_of_fieller_for_symmetric_intervals() -> None:
    a, b, s, t = 50.0, 100.0, 10.0, 8.0  # both 95 % half widths
    middle, denominator = a * b, b**2 - t**2
    root = math.sqrt(middle**2 - (a**2 - s**2) * denominator)
    assert ratio_interval((a, a - s, a + s), (b, b - t, b + t)) == pytest.approx(
        ((middle - root) / denominator, (middle + root) / denominator)
    )


def test_ratio_interval_holds_the_ratio_and_grows_with_either_interval() -> None:
    narrow = ratio_interval((5, 4, 6), (10, 9, 11))
    for one, other in itertools.product([(5, 4, 6), (5, 2, 8)], [(10, 9, 11), (10, 6, 13)]):
        low, high = ratio_interval(one, other)
        assert low is not None
        assert high is not None
        assert low <= 0.5 <= high
        assert low <= narrow[0]
        assert high >= narrow[1]


def test_ratio_interval_of_nothing_and_by_nothing() -> None:
    assert ratio_interval((0, 0, 4), (10, 5, 12))[0] == 0
    assert ratio_interval((3, 1, 5), (2, 0, 4)) == (None, None)
    assert ratio_interval((3, 3, 3), (3, 3, 3)) == (1, 1)


def test_ratio_interval_with_an_upper_bound_of_twice_the_denominator() -> None:
    for b_high in (3.9999, 4, 4.0001, 7):
        low, high = ratio_interval((3, 1, 5), (2, 1, b_high))
        assert (low, high) == pytest.approx((5 / 12, (6 + math.sqrt(21)) / 3), rel=1e-3) or b_high == 7
        assert low is not None
        assert 0 < low <= 1.5


def test_ratio_interval_covers_the_ratio_of_two_binomials() -> None:
    """Valid points of two runs, their counts of clusters given: 95 % intervals hold the truth about 95 times in 100."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        one, other = int(rng.binomial(60, 0.7)), int(rng.binomial(90, 0.85))
        a, b = wilson(one, 60), wilson(other, 90)
        low, high = ratio_interval((one, 60 * a.low, 60 * a.high), (other, 90 * b.low, 90 * b.high))
        held += low is not None and high is not None and low <= 42 / 76.5 <= high
    assert 0.92 <= held / 400 <= 0.98
