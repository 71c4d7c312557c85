import math
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from src.stats.clustering import Scores, adjusted_rand, b_cubed, pairwise

# Amigó et al. 2009 and Manning et al. 2008 (figure 16.4): three clusters of 17 items of three kinds.
MANNING = ("xxxxxoxooooddxxddd", "111111222222333333")


def by_hand(truth: str, found: str) -> tuple[float, float, float, float]:
    """Pairwise and B³ precision and recall, item by item."""
    items = range(len(truth))
    together = [(i, j) for i in items for j in items if i < j and found[i] == found[j]]
    belong = [(i, j) for i in items for j in items if i < j and truth[i] == truth[j]]
    both = len(set(together) & set(belong))
    shared = [sum(truth[i] == truth[j] and found[i] == found[j] for j in items) for i in items]
    precision = [shared[i] / found.count(found[i]) for i in items]
    recall = [shared[i] / truth.count(truth[i]) for i in items]
    return both / len(together), both / len(belong), float(np.mean(precision)), float(np.mean(recall))


@pytest.mark.parametrize(("truth", "found"), [MANNING, ("aabbccdd", "11112345"), ("aaab", "1122")])
def test_scores_are_those_counted_by_hand(truth: str, found: str) -> None:
    a, b = pairwise(list(truth), list(found)), b_cubed(list(truth), list(found))
    assert (a.precision, a.recall, b.precision, b.recall) == pytest.approx(by_hand(truth, found))
    for scores in (a, b):
        assert scores.f1 == pytest.approx(2 / (1 / scores.precision + 1 / scores.recall))
        assert (scores.n, scores.reason) == (len(truth), "")


def test_rand_is_the_reference_whatever_the_labels_are_called() -> None:
    rng = np.random.default_rng(0)
    for sizes in [(2, 2), (3, 30), (40, 40), (1, 5), (200, 3)]:
        one, other = (rng.integers(0, size, 200) for size in sizes)
        other[:50] = one[:50]
        expected = adjusted_rand_score(one, other)
        assert adjusted_rand(one, other) == pytest.approx(expected)
        assert adjusted_rand(other, [f"name {label}" for label in one]) == pytest.approx(expected)


def test_one_cluster_too_many_or_too_few() -> None:
    kinds, alone = list("aabb"), list("1234")
    assert pairwise(kinds, list("1111")).precision == pytest.approx(1 / 3)
    assert pairwise(kinds, list("1111")).recall == 1
    found = pairwise(kinds, alone)
    assert math.isnan(found.precision)
    assert (found.recall, found.f1, found.reason) == (0, 0, "no two of 4 items were put together")
    assert pairwise(alone, kinds).reason == "no two of 4 items belong together"
    neither = pairwise(alone, alone)
    assert math.isnan(neither.precision)
    assert math.isnan(neither.f1)
    assert neither.reason == "no two of 4 items were put together; no two of 4 items belong together"
    assert b_cubed(alone, alone) == Scores(1, 1, 1, 4)
    assert adjusted_rand(alone, alone) == adjusted_rand(["x"] * 4, ["y"] * 4) == 1
    assert adjusted_rand(alone, ["y"] * 4) == 0


@pytest.mark.parametrize("scores", [pairwise, b_cubed])
def test_nothing_to_score_has_a_reason_and_two_lengths_are_refused(scores: Callable[..., Scores]) -> None:
    nothing = scores([], [])
    assert math.isnan(nothing.precision)
    assert nothing.reason
    assert math.isnan(adjusted_rand([], []))
    with pytest.raises(ValueError, match="got 2 and 1"):
        scores([1, 2], [1])
