import math

import numpy as np
import pytest

from src.stats.categories import CLASSES, mean, measures
from src.stats.compare import pairs, repeats
from src.stats.transitions import transitions

RNG = np.random.default_rng(0)
BEFORE, AFTER = RNG.integers(0, 6, 300), RNG.choice(6, 300, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])


def places(names: str) -> list[int]:
    return [CLASSES.index(name) for name in names.split()]


def test_by_hand() -> None:
    found = transitions(places("CU UU HK MK WK"), places("HK UU MK MK MU"), 0)
    assert (found.upgrade[0], found.stable[0], found.downgrade[0]) == (0.2, 0.4, 0.4)
    assert found.net[0] == pytest.approx(-0.2)
    assert found.accuracy[0] == pytest.approx(0.2)  # CU → HK alone
    assert found.category_score[0] == pytest.approx((5 + 0 - 1 + 0 - 2) / 5)
    assert found.p_accuracy == pytest.approx(0.5)  # one pair of one: 2·½ − ½
    assert found.matrix.sum() == 5
    assert found.matrix[CLASSES.index("CU"), CLASSES.index("HK")] == 1
    assert found.matrix[CLASSES.index("HK"), CLASSES.index("MK")] == 1
    assert found.row_shares[CLASSES.index("UU")].tolist() == [0, 0, 0, 1, 0, 0]
    assert np.isnan(found.row_shares[CLASSES.index("MU")]).all()


def test_shares_sum_to_one_and_differences_are_those_of_the_runs() -> None:
    found = transitions(BEFORE, AFTER, 1)
    one, other = measures(BEFORE, 1), measures(AFTER, 1)
    assert found.upgrade[0] + found.stable[0] + found.downgrade[0] == pytest.approx(1)
    assert found.net[0] == pytest.approx(found.upgrade[0] - found.downgrade[0])
    for name, (value, interval) in (("accuracy", found.accuracy), ("category_score", found.category_score)):
        assert value == pytest.approx(other[name][0] - one[name][0])
        assert interval.low < value < interval.high
        assert (interval.n, interval.unit) == (300, "question")
    assert found.matrix.sum(axis=1).tolist() == np.bincount(BEFORE, minlength=6).tolist()
    assert found.matrix.sum(axis=0).tolist() == np.bincount(AFTER, minlength=6).tolist()


def test_backwards_is_the_mirror_image() -> None:
    there, back = transitions(BEFORE, AFTER, 1), transitions(AFTER, BEFORE, 1)
    assert (there.matrix == back.matrix.T).all()
    assert (there.upgrade, there.stable, there.p_accuracy) == (back.downgrade, back.stable, back.p_accuracy)
    assert there.category_score[0] == pytest.approx(-back.category_score[0])
    assert there.category_score[1].low == pytest.approx(-back.category_score[1].high, rel=0.1)


def test_the_p_value_is_that_of_compare() -> None:
    known = np.stack([BEFORE < 2, AFTER < 2], axis=1).astype(np.int64)
    (pair,) = pairs(repeats([known[known.any(axis=1)]], 0))
    assert transitions(BEFORE, AFTER, 0).p_accuracy == pytest.approx(pair.p_midp)


def test_pairing_is_sharper_than_two_samples() -> None:
    changed = BEFORE.copy()
    changed[:30] = 0
    paired = transitions(BEFORE, changed, 0).category_score[1]
    apart = [measures(each, 0)["category_score"][1] for each in (BEFORE, changed)]
    assert paired.high - paired.low < 0.6 * math.hypot(*(each.high - each.low for each in apart))


def test_nothing_changed_is_no_proof_that_nothing_can() -> None:
    found = transitions([0] * 60, [0] * 60, 0)
    assert (found.stable[0], found.upgrade[0], found.net[0], found.p_accuracy) == (1, 0, 0, 1)
    assert found.upgrade[1].high > 0.04
    for _, interval in (found.net, found.accuracy, found.category_score):
        assert interval.low < -0.01
        assert interval.high > 0.01


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("moves", [(0.02, 0.98, 0), (0.01, 0.98, 0.01), (0.2, 0.7, 0.1), (0.5, 0, 0.5)])
def test_the_paired_interval_covers_the_truth(moves: tuple[float, ...], n: int) -> None:
    rng, held = np.random.default_rng(2), 0
    for seed in range(100):
        gained = np.repeat([1, 0, -1], rng.multinomial(n, moves))
        _, interval = mean(gained, (-1, 1), seed)
        held += interval.low <= moves[0] - moves[2] <= interval.high
    assert held >= 90


def test_no_shared_question_has_a_reason_everywhere() -> None:
    found = transitions([], [], 0)
    for value, interval in (
        found.upgrade,
        found.stable,
        found.downgrade,
        found.net,
        found.accuracy,
        found.category_score,
    ):
        assert math.isnan(value)
        assert "share no question" in interval.reason
    assert (found.matrix.shape, found.matrix.sum()) == ((6, 6), 0)


def test_runs_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2"):
        transitions([0, 1, 2], [0, 1], 0)
