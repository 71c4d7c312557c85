import math

import numpy as np
import pytest
from scipy.stats import rankdata

from src.stats.concordance import concordance, kendall_w


def test_the_same_order_everywhere_is_one_and_opposite_orders_are_none() -> None:
    same = np.array([[1.0, 2.0, 3.0, 4.0]] * 3)
    assert kendall_w(same[None]).tolist() == pytest.approx([1.0])
    assert kendall_w(np.array([[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]])).tolist() == pytest.approx([0.0])


def test_ties_are_corrected_as_by_the_textbook() -> None:
    ranks = rankdata([[3, 1, 2, 2], [4, 1, 1, 2], [2, 1, 3, 3]], axis=1)
    total = ranks.sum(axis=0)
    ties = sum(
        np.sum(np.unique(row, return_counts=True)[1] ** 3 - np.unique(row, return_counts=True)[1]) for row in ranks
    )
    expected = 12 * ((total - total.mean()) ** 2).sum() / (3**2 * (4**3 - 4) - 3 * ties)
    assert kendall_w(ranks[None])[0] == pytest.approx(expected)


def test_a_stable_order_is_told_from_chance_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    stable = np.linspace(0.2, 0.8, 6) + rng.normal(0, 0.01, (4, 6))
    draws = stable + rng.normal(0, 0.02, (500, 4, 6))
    found = concordance(stable, draws, 0)
    assert found.w == pytest.approx(1.0)
    assert found.p < 0.01
    assert 0.9 < found.low <= found.high <= 1
    noise = [concordance(values, values[None], 0).p for values in rng.random((60, 4, 6))]
    assert sum(p < 0.05 for p in noise) <= 8


@pytest.mark.parametrize(("shape", "said"), [((1, 4), "one domain"), ((3, 1), "one model")])
def test_there_is_no_order_over_one(shape: tuple[int, int], said: str) -> None:
    values = np.full(shape, 0.5)
    found = concordance(values, values[None], 0)
    assert math.isnan(found.w)
    assert said in found.reason


def test_models_that_never_differ_have_no_order() -> None:
    values = np.full((3, 4), 0.5)
    assert "no two models differ" in concordance(values, values[None], 0).reason
