import math

import numpy as np
import pytest

from src.stats.agreement import ALL_ONE, MEASURES, ONE_VERDICT, agreement, stands_for

YES = [True] * 48 + [False] * 48
HUMAN = [True] * 47 + [False] + [True] * 9 + [False] * 39
"""Of the kappa study: 48 points that the judge accepts, 48 that it turns down."""


def two_by_two(true_yes, false_yes, missed, true_no):
    """The answers of two raters behind a table."""
    counts = (true_yes, false_yes, missed, true_no)
    first = np.repeat([True, True, False, False], counts)
    second = np.repeat([True, False, True, False], counts)
    return first, second


def test_the_kappa_study_as_published():
    found = agreement(YES, HUMAN, drawn_by=YES, seed=0)
    assert found["agreement"].value == pytest.approx(0.896, abs=0.0005)
    assert found["kappa"].value == pytest.approx(0.7917, abs=0.00005)
    assert found["precision"].value == pytest.approx(0.979, abs=0.0005)
    assert found["missed"].value == 0.1875
    assert (found["agreement"].n, found["precision"].n, found["missed"].n) == (96, 48, 48)
    for name in MEASURES:
        assert found[name].low <= found[name].value <= found[name].high, name


def test_the_kappa_study_reweighted_to_the_population():
    weights, uncovered, reason = stands_for(YES, [14, 86], [False, True])
    assert (uncovered, reason) == (0.0, "")
    found = agreement(YES, HUMAN, drawn_by=YES, weight=weights, seed=0)
    assert found["prevalence"].value == pytest.approx(0.868, abs=0.0005)
    assert found["kappa"].value == pytest.approx(0.812, abs=0.0005)
    assert found["first_share"].value == pytest.approx(0.86)
    assert found["precision"].value == pytest.approx(47 / 48)
    assert 0.78 < found["prevalence"].low < 0.83
    assert 0.88 < found["prevalence"].high < 0.90


def test_kappa_hides_what_ac1_shows_when_nearly_all_is_valid():
    found = agreement(*two_by_two(85, 5, 5, 5), seed=0)
    assert found["agreement"].value == pytest.approx(0.90)
    assert found["kappa"].value == pytest.approx(0.444, abs=0.0005)
    assert found["ac1"].value == pytest.approx(0.878, abs=0.0005)
    assert found["pabak"].value == pytest.approx(0.80)
    assert found["prevalence"].value == pytest.approx(0.90)


@pytest.mark.parametrize("answer", [True, False])
def test_one_label_for_everything_has_no_kappa_but_an_ac1(answer):
    found = agreement([answer] * 20, [answer] * 20, seed=0)
    assert math.isnan(found["kappa"].value)
    assert found["kappa"].reason == ALL_ONE
    assert (found["ac1"].value, found["ac1"].high) == (1.0, 1.0)
    assert found["ac1"].low < 0.99, "twenty points that agree do not prove that all would"
    lacking = "missed" if answer else "precision"
    assert math.isnan(found[lacking].value)
    assert "none of 20 points" in found[lacking].reason


def test_a_judge_that_accepts_everything_agrees_by_chance_only():
    found = agreement([True] * 10, [True] * 6 + [False] * 4, seed=0)
    assert found["kappa"].value == pytest.approx(0)
    assert found["kappa"].reason == ""


def test_points_of_one_verdict_alone_have_no_kappa():
    found = agreement([True] * 10, [True] * 6 + [False] * 4, drawn_by=[True] * 10, seed=0)
    assert math.isnan(found["kappa"].value)
    assert found["kappa"].reason == ONE_VERDICT
    assert found["agreement"].value == found["precision"].value == 0.6


def test_nothing_rated_is_said():
    assert {each.reason for each in agreement([], [], seed=0).values()} == {"no point has an answer of both"}


def test_two_points_have_no_number():
    found = agreement([True, False], [True, True], drawn_by=[True, False], seed=0)
    assert {each.reason for name, each in found.items() if name not in ("precision", "missed", "first_share")} == {
        "2 points: at least 3 are needed"
    }
    assert math.isnan(found["agreement"].value)
    assert found["missed"].reason == "1 point: at least 3 are needed"
    assert found["first_share"].value == 0.5, "the draw decided it"
    assert agreement([True] * 3, [True] * 3, seed=0)["agreement"].value == 1.0


def test_one_answer_per_point_is_needed():
    with pytest.raises(ValueError, match="got 2, 1, 2 and 2"):
        agreement([True, False], [True], seed=0)


def test_intervals_do_not_depend_on_the_order_of_the_points():
    weights, _, _ = stands_for(YES, [14, 86], [False, True])
    order = np.random.default_rng(3).permutation(96)
    shuffled = agreement(
        np.array(YES)[order], np.array(HUMAN)[order], drawn_by=np.array(YES)[order], weight=weights[order], seed=7
    )
    straight = agreement(YES, HUMAN, drawn_by=YES, weight=weights, seed=7)
    for name in MEASURES:
        one, other = shuffled[name], straight[name]
        assert (one.low, one.high) == pytest.approx((other.low, other.high)), name
    assert agreement(YES, HUMAN, drawn_by=YES, seed=8)["kappa"].low != straight["kappa"].low


def test_a_stratum_without_answers_is_spread_over_its_verdict():
    # verdict yes: 60 + 20 + 20 points, of which the last was not rated; verdict no: 100 points
    weights, uncovered, reason = stands_for([0, 0, 1, 3], [60, 20, 20, 100], [True, True, True, False])
    assert reason == ""
    assert uncovered == pytest.approx(0.1)
    assert weights == pytest.approx([0.1875, 0.1875, 0.125, 0.5])


def test_a_verdict_without_answers_leaves_the_population_unknown():
    weights, _, reason = stands_for([0], [60, 40], [True, False])
    assert weights.size == 0
    assert reason == "no point that the judge turns down has an answer"
    assert stands_for([0], [60, 0], [True, False])[2] == "", "a verdict that never occurs needs no answer"


def test_the_interval_of_the_corrected_share_covers_in_small_cells():
    """24 cells with one or two points each: 150 samples from a population whose share of valid is known."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(50, 400, size=48)
    verdict = np.repeat([True, False], 24)
    valid = np.clip(np.where(verdict, 0.93, 0.2) + 0.04 * rng.standard_normal(48), 0, 1)
    truth = float(sizes @ valid / sizes.sum())
    stratum = np.repeat(np.arange(48), 2)
    weights, _, _ = stands_for(stratum, sizes, verdict)
    covered = 0
    for seed in range(150):
        answers = rng.random(96) < valid[stratum]
        says = verdict[stratum]
        found = agreement(says, answers, drawn_by=says, weight=weights, seed=seed)["prevalence"]
        covered += found.low <= truth <= found.high
    assert covered >= 135, f"{covered} of 150"
