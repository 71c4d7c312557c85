"""What studies decide, from numbers alone: no cell, no figure."""

import math
from collections.abc import Sequence

import numpy as np

from src.stats.intervals import Interval, Number, wilson
from src.stats.recall import Counts
from src.stats.trends import Judged
from src.studies.comparison import Comparison, compare
from src.studies.duel import Side, accuracy, duel, events
from src.studies.order import order_decision
from src.studies.sizes import scaling_decision

SIZE = np.log10([8.0, 70.0, 405.0])
PREDICTED = {"crossover": ("inside",), "collapse": ("outside",)}


def unions(rng: np.random.Generator, *chances: Sequence[float], facts: int = 300) -> list[Counts]:
    """A union for each row of chances, of models that find each fact with these."""
    found = [rng.random((facts, len(row))) < row for row in chances]
    return [each[each.any(axis=1)].astype(np.int64) for each in found]


def accuracies(*valid: int) -> list[Number]:
    return [(count / 200, wilson(count, 200)) for count in valid]


def compared(rng: np.random.Generator, *chances: Sequence[float], seed: int = 0) -> Comparison:
    return compare(unions(rng, *chances), seed)


def test_a_rise_that_flattens_is_decided_and_a_step_against_it_named() -> None:
    rng = np.random.default_rng(1)
    found = scaling_decision(SIZE, compared(rng, (0.4, 0.7, 0.72), (0.4, 0.7, 0.72)), accuracies(150, 160, 190))
    assert (found.trend, found.returns, found.against) == ("more", "diminishing", [])
    assert found.accuracy_slope[1].low > 0
    humped = scaling_decision(SIZE, compared(rng, (0.2, 0.7, 0.5)), accuracies(150, 150, 150))
    assert [(step.smaller, step.larger) for step in humped.against] == [((1,), (2,))]
    shrinking = scaling_decision(SIZE[::-1].copy(), compared(rng, (0.2, 0.4, 0.7)), accuracies(150, 150, 150))
    assert shrinking.trend == "less"


def test_models_that_are_equal_or_of_one_size_are_not_ordered_by_size() -> None:
    rng = np.random.default_rng(2)
    rises = bends = apart = 0
    for seed in range(30):
        equal = compared(rng, (0.5, 0.5, 0.5), seed=seed)
        found = scaling_decision(SIZE, equal, accuracies(150, 150, 150))
        rises, bends = rises + (found.trend is not None), bends + (found.returns is not None)
        apart += len(equal.best) < 3
    assert max(rises, bends, apart) <= 5
    twins = scaling_decision(np.zeros(2), compared(rng, (0.2, 0.8)), accuracies(150, 150))
    assert (twins.trend, twins.steps, math.isnan(twins.recall_slope[0])) == (None, (), True)
    assert "two sizes" in twins.recall_slope[1].reason
    assert "three sizes" in twins.recall_curvature[1].reason


def test_an_order_is_told_with_its_reversals() -> None:
    rng, steady = np.random.default_rng(3), (0.2, 0.4, 0.6, 0.8)
    same = order_decision(compared(rng, steady, steady, steady), accuracies(150, 160, 170, 180), 0)
    assert (same.told, same.reversals) == ("the same", [])
    assert set(same.behind) == {3}
    turned = order_decision(compared(rng, steady, steady, (0.4, 0.2, 0.6, 0.8)), accuracies(150, 160, 170, 180), 0)
    assert (turned.told, turned.reversals) == ("in part", [0])
    one = order_decision(compared(rng, steady), [(0.5, Interval(math.nan, math.nan, 0, "", "", "none"))] * 4, 0)
    assert (one.told, one.accuracy_spread[1].reason[:20]) == (None, "fewer than two model")


def test_equal_models_have_no_order_and_no_spread() -> None:
    rng = np.random.default_rng(8)
    stable = spread = 0
    for seed in range(15):
        equal = compared(rng, *[(0.5,) * 5] * 3, seed=seed)
        found = order_decision(equal, accuracies(*rng.binomial(200, 0.75, size=5)), seed)
        stable += found.told is not None
        spread += found.accuracy_spread[1].low > 0
    assert max(stable, spread) <= 3


def test_the_spread_of_accuracies_is_at_most_one() -> None:
    rng = np.random.default_rng(4)
    few = [(0.0, wilson(0, 4)), (1.0, wilson(4, 4)), (0.5, wilson(2, 4))]
    value, interval = order_decision(compared(rng, (0.5, 0.5, 0.5)), few, 0).accuracy_spread
    assert (value, interval.high) == (1.0, 1.0)


def test_leaders_are_the_two_that_know_most_whatever_their_places() -> None:
    found = compared(np.random.default_rng(5), (0.8, 0.2, 0.75))
    assert found.leaders is not None
    assert (found.leaders[0].one, found.leaders[0].other) == (0, 2)
    assert found.leaders[1] == found.needed[1]
    assert "branch" in found.by_branch[0].reason
    assert compared(np.random.default_rng(5), (0.8,)).leaders is None


def side(rng: np.random.Generator, name: str, level: float, slope: float, points: int = 400) -> Side:
    """Points of 25 branches and 8 turns, whose log odds of being valid start at a level."""
    turn = rng.integers(1, 9, size=points)
    valid = rng.random(points) < 1 / (1 + np.exp(-(level + slope * (turn - 1))))
    return Side(name, Judged(valid, turn, rng.integers(25, size=points)), 8)


def test_events_are_shown_where_they_are_planted_and_rare_elsewhere() -> None:
    rng = np.random.default_rng(6)
    general = side(rng, "general", 1.0, 0.0, 1_000)
    inside = duel("inside", "a", general, side(rng, "special", 3.0, -0.6, 1_000), None)
    outside = duel("outside", "b", general, side(rng, "special", 0.0, -0.3, 1_000), None)
    found = events([inside, outside], PREDICTED)
    assert [event.outcome for event in found] == ["kept", "not contradicted", "not contradicted", "kept"]
    alarms = 0
    for _ in range(30):
        quiet = duel("inside", "a", side(rng, "general", 1.0, 0.0), side(rng, "special", 1.0, 0.0), None)
        alarms += any(event.shown for event in events([quiet], PREDICTED))
    assert alarms <= 5


def test_accuracy_of_points_has_the_unit_that_they_allow() -> None:
    points = side(np.random.default_rng(7), "general", 1.0, 0.0).points
    value, interval = accuracy(points)
    assert (value, interval.unit, interval.branches) == (points.valid.mean(), "branch", 25)
    value, interval = accuracy(points._replace(branch=points.branch % 2))
    assert (interval.unit, interval.branches, interval.n) == ("point", 2, 400)
    nothing, interval = accuracy(points.until(0))
    assert math.isnan(nothing)
    assert "no point" in interval.reason
    assert interval.n == 0
