import math

import numpy as np
import pytest

from src.stats.branches import Origins, redraw
from src.stats.compare import pairs, repeats


def origins(runs: list[np.ndarray]) -> Origins:
    """Of runs of several models, which branch found which fact, each of shape (branches, facts)."""
    rows = [(fact, model, branch) for model, run in enumerate(runs) for branch, fact in np.argwhere(run).tolist()]
    fact, model, branch = np.array(rows).T
    return Origins(np.unique(fact, return_inverse=True)[1], model, branch)


def a_run(rng: np.random.Generator, strength: float, branches: int = 20) -> np.ndarray:
    """Every branch falls on one of 30 topics and finds some of its 20 facts, popular ones more often, and a stray."""
    found = np.zeros((branches, 600), dtype=bool)
    chances = np.minimum(1, strength * np.arange(1, 21) ** -0.7)
    for branch, topic in enumerate(rng.integers(30, size=branches).tolist()):
        found[branch, 20 * topic : 20 * topic + 20] = rng.random(20) < chances * rng.gamma(4, 0.25)
        found[branch, rng.integers(600)] = True
    return found


def matched(runs: list[np.ndarray]) -> np.ndarray:
    has = np.array([run.any(axis=0) for run in runs])
    return has.sum(axis=1) / has.any(axis=0).sum()


def test_the_interval_covers_the_target_when_branches_are_the_unit() -> None:
    rng = np.random.default_rng(4)
    strengths = (0.9, 0.7, 0.4)
    known, union = np.zeros(3), 0
    for _ in range(200):
        has = np.array([a_run(rng, strength).any(axis=0) for strength in strengths])
        known, union = known + has.sum(axis=1), union + int(has.any(axis=0).sum())
    target, covered, times = known / union, 0, 40
    for seed in range(times):
        found = redraw([origins([a_run(rng, strength) for strength in strengths])], 3, seed).pairs()
        covered += found[1].low <= target[0] - target[2] <= found[1].high
    assert covered / times >= 0.9


def test_pairs_come_in_their_order_and_around_their_difference() -> None:
    rng = np.random.default_rng(1)
    runs = [a_run(rng, strength) for strength in (0.9, 0.5, 0.7)]
    its, recall = origins(runs), matched(runs)
    counts = np.zeros((its.cluster.max() + 1, 3), dtype=np.int64)
    np.add.at(counts, (its.cluster, its.model), 1)
    for pair, interval in zip(pairs(repeats([counts], 0)), redraw([its], 3, 0).pairs(), strict=True):
        assert pair.difference == pytest.approx(recall[pair.one] - recall[pair.other])
        assert interval.low < pair.difference < interval.high
        assert (interval.unit, interval.branches) == ("branch of a model", 40)


def test_few_branches_have_no_interval_and_the_others_keep_theirs() -> None:
    rng = np.random.default_rng(2)
    runs = [a_run(rng, 0.6), a_run(rng, 0.6, 2), a_run(rng, 0.6)]
    first, second, third = redraw([origins(runs)], 3, 0).pairs()
    for lacking in (first, third):
        assert lacking.reason.startswith("a model has points of 2 branches")
        assert math.isnan(lacking.low)
    assert second.low < second.high
    mute = redraw([origins([runs[0], np.zeros((1, 600), dtype=bool), runs[2]])], 3, 0).pairs()
    assert "points of 0 branches" in mute[0].reason
    assert redraw([origins(runs[:1])], 1, 0).pairs() == []


def test_branches_that_weigh_the_same_do_not_move_a_draw() -> None:
    even = np.eye(5, dtype=bool)
    (interval,) = redraw([origins([even, np.roll(even, 1, axis=1)])], 2, 0).pairs()
    assert "as much as every other" in interval.reason


def test_the_order_of_the_points_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    its = origins([a_run(rng, 0.6), a_run(rng, 0.8)])
    turned = Origins(*(part[::-1] for part in its))
    twice = Origins(*(np.concatenate([part, part]) for part in its))
    assert redraw([its], 2, 7).pairs() == redraw([turned], 2, 7).pairs() == redraw([twice], 2, 7).pairs()
    assert redraw([its], 2, 7).pairs() != redraw([its], 2, 8).pairs()
