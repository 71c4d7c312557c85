import math

import numpy as np
import pytest
import statsmodels.api as sm

from src.stats.trends import Judged, crossing, decline, difference


def judged(*rows: tuple[bool, int, int]) -> Judged:
    valid, turn, branch = zip(*rows, strict=True)
    return Judged(np.array(valid, dtype=bool), np.array(turn), np.array(branch))


def planted(
    rng: np.random.Generator, level: float, slope: float, *, branches: int = 25, turns: int = 8, per: int = 6
) -> Judged:
    """Points whose log odds are level + slope·(turn − 1) and that resemble each other inside a branch."""
    branch, turn, _ = (axis.ravel() for axis in np.indices((branches, turns, per)))
    odds = level + slope * turn + rng.normal(0, 0.4, branches)[branch]
    return Judged(rng.random(odds.size) < 1 / (1 + np.exp(-odds)), turn + 1, branch)


def test_decline_by_hand() -> None:
    points = judged(
        *((True, 1, branch) for branch in range(4)),
        *((branch != 0, 2, branch) for branch in range(4)),
        *((branch > 1, 3, branch) for branch in range(4)),
    )
    trend = decline(points, 3)
    assert trend.value == pytest.approx((1 - 9 / 12) / 2)
    assert decline(points, 2).value == pytest.approx(1 - 7 / 8)
    assert trend.interval.low < trend.value < trend.interval.high
    assert (trend.interval.n, trend.interval.unit, trend.freedom) == (12, "branch", 3)


@pytest.mark.parametrize(
    ("points", "last", "said"),
    [
        (judged((True, 1, 0), (False, 1, 1), (True, 1, 2)), 1, "one turn"),
        (judged((True, 1, 0), (False, 2, 0), (True, 2, 1)), 2, "2 branches"),
        (judged((True, 1, 0), (True, 2, 1), (True, 2, 2)), 2, "same verdict"),
        (judged((True, 2, 0), (False, 2, 1), (True, 2, 2)), 2, "no point of turn 1"),
    ],
)
def test_a_decline_without_interval_says_why(points: Judged, last: int, said: str) -> None:
    trend = decline(points, last)
    assert said in trend.interval.reason
    assert math.isnan(trend.interval.low)
    assert math.isnan(trend.p)
    assert said in difference(trend, decline(planted(np.random.default_rng(0), 1, 0), 2)).interval.reason


def test_a_decline_from_hardly_any_invalid_point_is_not_sure_of_itself() -> None:
    """100 valid points in turn 1 and 99 of 100 later: as unsure as with one more of each verdict."""
    points = judged(
        *((True, 1, number % 10) for number in range(100)), *((number > 0, 2, number % 10) for number in range(100))
    )
    shares = 1 / 102, 2 / 102
    floor = math.sqrt(sum(share * (1 - share) / 102 for share in shares)) / 2
    assert decline(points, 2).error == pytest.approx(floor)


def test_decline_intervals_cover() -> None:
    # Odds fall by .3 a turn from 2; the truth by a cell so large that its error does not matter.
    truth = decline(planted(np.random.default_rng(0), 2.0, -0.3, branches=20_000, turns=5, per=2), 5).value
    rng = np.random.default_rng(1)
    for branches in (4, 25):
        trends = [decline(planted(rng, 2.0, -0.3, branches=branches, turns=5), 5) for _ in range(200)]
        covered = sum(trend.interval.low <= truth <= trend.interval.high for trend in trends)
        assert covered >= 184


def test_crossing_is_that_of_the_regression_with_an_interaction() -> None:
    rng = np.random.default_rng(4)
    one, other = planted(rng, 2.5, -0.45), planted(rng, 1.0, 0.0)
    valid, turn = np.concatenate([one.valid, other.valid]), np.concatenate([one.turn, other.turn])
    model = np.repeat([1.0, 0.0], [len(one.valid), len(other.valid)])
    design = np.column_stack([np.ones(len(turn)), model, turn, model * turn])
    branch = np.concatenate([one.branch, 100 + other.branch])
    fit = sm.GLM(valid.astype(float), design, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": branch}
    )
    found = crossing(one, other, 8)
    assert found.turn == pytest.approx(-fit.params[1] / fit.params[3], rel=1e-6)
    assert found.slopes.value == pytest.approx(fit.params[3], rel=1e-6)
    # Leaving each branch's pull out makes the error larger than the plain sandwich, by a few percent with 25 branches.
    assert 1.0 < found.slopes.error / fit.bse[3] < 1.2


def test_no_standard_error_is_below_that_of_independent_points() -> None:
    # Branches fan out from turn 1, where exactly half of each one's points are valid: slopes vary, the level does not.
    branch, turn, place = (axis.ravel() for axis in np.indices((12, 5, 20)))
    points = Judged(place < 10 + 2 * turn * (-1) ** branch, turn + 1, branch)
    rest = planted(np.random.default_rng(2), 1, 0, branches=400, turns=5)
    found = crossing(points, rest, 5)
    design = np.column_stack([np.ones(len(turn)), turn])
    independent = sm.GLM(points.valid.astype(float), design, family=sm.families.Binomial()).fit()
    assert found.slopes.error >= independent.bse[1]
    assert found.lead.error >= independent.bse[0]


def test_the_lead_in_turn_one_has_an_interval_that_covers() -> None:
    rng = np.random.default_rng(6)
    leads = [crossing(planted(rng, 1.5, -0.2), planted(rng, 1.0, 0.0), 8).lead for _ in range(60)]
    assert sum(lead.interval.low <= 0.5 <= lead.interval.high for lead in leads) >= 54
    assert {lead.interval.branches for lead in leads} == {50}


def test_fieller_recovers_a_planted_crossover() -> None:
    rng = np.random.default_rng(7)
    found = [crossing(planted(rng, 2.5, -0.5), planted(rng, 1.0, 0.0), 8) for _ in range(60)]
    shown = [each for each in found if not each.interval.reason]
    assert len(shown) >= 57
    assert sum(each.interval.low <= 4.0 <= each.interval.high for each in shown) >= 0.9 * len(shown)
    assert np.median([each.turn for each in shown]) == pytest.approx(4.0, abs=0.25)


@pytest.mark.parametrize("branches", [4, 25])
def test_no_crossover_is_found_where_none_is_planted(branches: int) -> None:
    rng = np.random.default_rng(8)
    pairs_of = ((planted(rng, 1, 0, branches=branches), planted(rng, 1, 0, branches=branches)) for _ in range(60))
    shown = [crossing(one, other, 8) for one, other in pairs_of]
    assert sum(not each.interval.reason for each in shown) <= 7


def test_lines_that_cross_beyond_the_last_turn_do_not_count() -> None:
    rng = np.random.default_rng(9)
    found = crossing(planted(rng, 5.5, -0.4, per=30), planted(rng, 1.0, 0.0, per=30), 8)
    assert math.isnan(found.turn)
    assert "outside 1 to 8" in found.interval.reason
    assert found.slopes.p < 0.001


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (judged(*((True, turn, branch) for turn in (1, 2) for branch in range(4))), "same verdict"),
        (judged(*((turn < 2, turn, branch) for turn in (1, 2, 3) for branch in range(4))), "separates"),
        (judged(*((turn < 3 or branch > 1, turn, branch) for turn in (1, 2, 3) for branch in range(4))), "separates"),
        (judged((True, 1, 0), (False, 2, 0), (True, 2, 1), (False, 1, 1)), "2 branches"),
    ],
)
def test_points_without_a_line_say_why_and_warn_of_nothing(points: Judged, said: str) -> None:
    fine = planted(np.random.default_rng(0), 1, 0)
    for found, place in ((crossing(points, fine, 3), "first"), (crossing(fine, points, 3), "second")):
        assert said in found.interval.reason
        assert place in found.interval.reason
        assert math.isnan(found.turn)
        assert math.isnan(found.slopes.p)


def test_one_turn_has_no_crossing() -> None:
    points = planted(np.random.default_rng(0), 1, 0)
    assert "one turn" in crossing(points, points, 1).interval.reason
