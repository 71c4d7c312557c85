import math
from collections.abc import Callable

import numpy as np
import pytest

from src.stats.richness import UNIT, Estimate, Incidence, chao2, coverage, ice

ESTIMATORS: tuple[Callable[[Incidence], Estimate], ...] = (chao2, ice, coverage)


def from_counts(draws: int, counts: dict[int, int], branches: int = 4) -> Incidence:
    """Units seen in so many draws, dealt evenly over draws and branches."""
    times = [times for times, units in sorted(counts.items()) for _ in range(units)]
    seen = [[(unit + draw) % draws < times[unit] for draw in range(draws)] for unit in range(len(times))]
    branch = [f"b{unit // draws % branches}" for unit in range(len(times))]
    return Incidence(branch, np.array(seen).reshape(len(times), draws))


def drawn(rng: np.random.Generator, chances: np.ndarray, draws: int) -> Incidence:
    """Every unit seen in each draw with its own chance, independently; `chances` has shape (branches, units)."""
    seen = rng.random((*chances.shape, draws)) < chances[..., None]
    branch = np.broadcast_to(np.arange(len(chances))[:, None].astype(str), chances.shape)
    found = seen.any(axis=-1)
    return Incidence(branch[found].tolist(), seen[found])


def test_counts_are_summed_over_branches_and_a_text_in_two_branches_is_two_units() -> None:
    incidence = Incidence(["a", "a", "b"], [[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    assert (incidence.observed, incidence.draws, incidence.branches, incidence.total) == (3, 3, 2, 4)
    assert (incidence.f1, incidence.f2) == (2, 1)


@pytest.mark.parametrize(
    ("draws", "counts", "value"),
    [
        (5, {1: 20, 2: 10, 5: 30}, 60 + 0.8 * 20**2 / 20),
        (5, {1: 20, 5: 30}, 50 + 0.8 * 20 * 19 / 2),
        (3, {1: 1, 3: 9}, 10.0),
        (4, {2: 7, 4: 3}, 10.0),
        (3, {1: 6}, 6 + 2 / 3 * 15),
    ],
)
def test_chao2_by_hand(draws: int, counts: dict[int, int], value: float) -> None:
    estimate = chao2(from_counts(draws, counts))
    assert estimate.value == pytest.approx(value)
    assert sum(counts.values()) <= estimate.interval.low <= value


def test_ice_by_hand() -> None:
    # N = 20 + 20 + 150 sightings, covered C = 1 - 20/190, 60/C·5/4·(2·10 + 20·30)/190² - 1 > 0.
    covered = 1 - 20 / 190
    variation = 60 / covered * 5 / 4 * 620 / 190**2 - 1
    assert ice(from_counts(5, {1: 20, 2: 10, 5: 30})).value == pytest.approx(60 / covered + 20 / covered * variation)


def test_ice_leaves_units_out_that_were_seen_in_more_than_ten_draws() -> None:
    assert ice(from_counts(12, {1: 4, 2: 6, 12: 50})).value == pytest.approx(
        50 + ice(from_counts(12, {1: 4, 2: 6})).value
    )


@pytest.mark.parametrize("counts", [{11: 40}, {1: 7, 12: 40}, {1: 1, 11: 1}, {1: 9, 11: 3, 12: 5}])
def test_without_a_unit_in_two_to_ten_draws_there_is_no_ice(counts: dict[int, int]) -> None:
    estimate = ice(from_counts(12, counts))
    assert math.isnan(estimate.value)
    assert estimate.interval.reason == "no unit was seen in 2 to 10 draws: ICE rests on those"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_whatever_was_seen_gives_a_finite_number_or_a_reason(estimator: Callable[[Incidence], Estimate]) -> None:
    rng = np.random.default_rng(8)
    for _ in range(400):
        draws, units, rate = int(rng.integers(1, 25)), int(rng.integers(0, 30)), rng.beta(0.4, 0.4)
        seen = rng.random((units, draws)) < rng.choice([rate, 1 - rate, 0.01, 1], units)[:, None]
        seen = seen[seen.any(axis=1)]
        estimate = estimator(Incidence(rng.choice(["a", "b", "c"], len(seen)).tolist(), seen))
        numbers = (estimate.value, estimate.interval.low, estimate.interval.high)
        assert not any(map(math.isinf, numbers))
        assert any(map(math.isnan, numbers)) == bool(estimate.interval.reason)


@pytest.mark.parametrize(
    ("draws", "counts", "value"),
    [
        (5, {1: 20, 2: 10, 5: 30}, 1 - 20 / 190 * 80 / 100),
        (5, {1: 20, 5: 30}, 1 - 20 / 170 * 4 * 19 / (4 * 19 + 2)),
        (4, {2: 7, 4: 3}, 1.0),
        (3, {1: 6}, 1 - 2 * 5 / (2 * 5 + 2)),
        (3, {1: 1, 3: 9}, 1.0),
    ],
)
def test_coverage_by_hand(draws: int, counts: dict[int, int], value: float) -> None:
    estimate = coverage(from_counts(draws, counts))
    assert estimate.value == pytest.approx(value)
    assert 0 <= estimate.interval.low < estimate.interval.high <= 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "counts", [{1: 1}, {1: 40}, {2: 40}, {3: 40}, {1: 1, 3: 500}, {1: 500, 2: 1}, {1: 3, 2: 200}, {1: 1, 2: 1}]
)
def test_every_number_is_finite_or_has_a_reason_and_lies_inside_its_interval(
    estimator: Callable[[Incidence], Estimate], counts: dict[int, int]
) -> None:
    estimate = estimator(from_counts(3, counts, branches=1 if sum(counts.values()) == 1 else 2))
    interval = estimate.interval
    assert (interval.n, interval.unit) == (sum(counts.values()), UNIT)
    assert interval.method
    if math.isnan(estimate.value) or math.isnan(interval.low) or math.isnan(interval.high):
        assert interval.reason
    else:
        assert not interval.reason
        assert interval.low <= estimate.value <= interval.high


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("draws", [1, 2])
def test_fewer_than_three_draws_give_no_estimate(estimator: Callable[[Incidence], Estimate], draws: int) -> None:
    estimate = estimator(Incidence(["a", "b"], np.ones((2, draws))))
    assert math.isnan(estimate.value)
    assert estimate.interval.reason.startswith(f"{draws} draw")
    assert "at least 3" in estimate.interval.reason


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nothing_seen_gives_no_estimate(estimator: Callable[[Incidence], Estimate]) -> None:
    estimate = estimator(Incidence([], np.zeros((0, 5))))
    assert math.isnan(estimate.value)
    assert "nothing was seen" in estimate.interval.reason


def test_everything_seen_once_only_gives_no_ice_and_no_upper_limit() -> None:
    incidence = from_counts(3, {1: 60})
    assert "no unit was seen in 2 to 10 draws" in ice(incidence).interval.reason
    interval = chao2(incidence).interval
    assert interval.low >= 60
    assert math.isnan(interval.high)
    assert "no upper limit" in interval.reason


def test_three_draws_of_one_branch_give_an_estimate_without_interval_five_give_both() -> None:
    few, enough = (chao2(from_counts(draws, {1: 8, 2: 4, 3: 9}, branches=1)) for draws in (3, 5))
    assert few.value > 21
    assert math.isnan(few.interval.low)
    assert "needs at least 5 draws" in few.interval.reason
    assert enough.interval.low <= enough.value <= enough.interval.high


def test_draws_that_dwell_on_a_topic_widen_the_intervals() -> None:
    even = from_counts(3, {1: 24, 2: 24, 3: 12})
    # The same counts, but in each branch all units that were seen once come from the first draw.
    branch = [f"b{unit // 3 % 4}" for unit in range(60)]
    once = [[True, False, False]] * 24
    clumped = Incidence(branch, np.concatenate([once, even.seen[24:]]))
    assert (even.counts == clumped.counts).all()
    assert even.clumping == 1 < clumped.clumping
    for estimator in ESTIMATORS:
        narrow, wide = estimator(even), estimator(clumped)
        assert narrow.value == wide.value
        assert narrow.interval.high - narrow.interval.low < wide.interval.high - wide.interval.low


@pytest.mark.parametrize("chance", [0.3, 0.95])
def test_intervals_hold_the_truth_where_all_units_are_alike(chance: float) -> None:
    # Equal chances make the lower bound sharp: 40 of 4 branches; nearly all of them seen at .95.
    rng = np.random.default_rng(5)
    chances = np.full((4, 10), chance)
    inside = {"chao2": 0, "coverage": 0}
    for _ in range(100):
        incidence = drawn(rng, chances, 3)
        bounds = chao2(incidence).interval
        inside["chao2"] += bounds.low <= 40 and not bounds.high < 40
        bounds = coverage(incidence).interval
        inside["coverage"] += bounds.low <= incidence.observed / 40 <= bounds.high
    assert inside["chao2"] >= 90
    assert inside["coverage"] >= 90


def test_more_draws_of_a_known_universe_bring_the_bound_to_the_truth() -> None:
    chances = np.random.default_rng(1).beta(0.8, 2, (25, 40))
    widths = []
    for draws in (3, 12):
        estimate = chao2(drawn(np.random.default_rng(2), chances, draws))
        assert estimate.interval.low <= 1000
        widths.append(estimate.interval.high - estimate.interval.low)
    assert 850 < estimate.value < 1000
    assert widths[1] < widths[0]


@pytest.mark.parametrize(
    ("branch", "seen", "message"),
    [
        (["a"], [[1, 0, 0], [0, 1, 0]], "1 branches for a table of shape"),
        (["a"], [[0, 0, 0]], "unit 0 was seen in no draw"),
        (["a"], [1], "expected"),
        ([], np.zeros((0, 0)), "expected"),
    ],
)
def test_incidence_refuses_tables_that_do_not_fit(branch: list[str], seen: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Incidence(branch, np.asarray(seen))
