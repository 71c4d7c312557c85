from itertools import pairwise

import pytest

from src.saturation import Saturation, efficiency, growth

PAPER = Saturation(novelty=0.92, growth=0.01, efficiency=0.10, points=3, patience=0)


def test_growth_and_efficiency_where_there_is_nothing_to_divide_by() -> None:
    assert growth(5, 0) == 1.0
    assert growth(5, 100) == 0.05
    assert efficiency(0, 0) == 0.0
    assert efficiency(3, 12) == 0.25


@pytest.mark.parametrize(
    ("raw", "novel", "pool", "stale"),
    [
        (30, 30, 0, False),
        (20, 3, 100, False),  # growth .03, efficiency .15, 3 points
        (20, 2, 100, True),  # fewer than three points
        (31, 3, 100, True),  # efficiency below .10
        (30, 3, 100, False),  # efficiency exactly .10 is not below
        (30, 3, 300, False),  # growth exactly .01 is not below
        (30, 3, 301, True),
        (0, 0, 0, True),  # an empty first turn
    ],
)
def test_a_turn_is_stale_below_any_of_the_three_thresholds(raw: int, novel: int, pool: int, stale: bool) -> None:
    assert PAPER.stale(raw=raw, novel=novel, pool=pool) is stale


def test_patience_counts_stale_turns_in_a_row() -> None:
    turns = [False, True, False, True, True]
    stops = {
        patience: next(
            (t for t in range(1, len(turns) + 1) if Saturation(0.92, 0.01, 0.1, 3, patience).saturated(turns[:t])),
            None,
        )
        for patience in (0, 1, 2)
    }
    assert stops == {0: 2, 1: 5, 2: None}
    assert all(a < b for a, b in pairwise([stops[0], stops[1]]))


def test_no_turn_is_not_saturated() -> None:
    assert not PAPER.saturated([])


@pytest.mark.parametrize(
    ("growth", "efficiency", "points", "patience", "turns"),
    [
        (0.01, 0.1, 3, 0, 1),
        (0.01, 0.1, 3, 1, 2),
        (0.01, 0, 0, 0, 2),
        (0.01, 0, 0, 2, 4),
        (1.1, 0, 0, 0, 1),
        (0, 0, 0, 0, 9),
    ],
)
def test_the_earliest_end_is_one_that_can_happen(
    growth: float, efficiency: float, points: int, patience: int, turns: int
) -> None:
    limits = Saturation(novelty=0.92, growth=growth, efficiency=efficiency, points=points, patience=patience)
    assert limits.earliest(9) == turns
    assert limits.earliest(1) == 1
    # The barest run there is: nothing is ever listed, or one point in turn 1 alone.
    ends = []
    for novels in ([0] * 9, [1] + [0] * 8):
        stale = [
            limits.stale(raw=max(novel, 0 if sum(novels) == 0 else 1), novel=novel, pool=sum(novels[:turn]))
            for turn, novel in enumerate(novels)
        ]
        ends.append(next((turn for turn in range(1, 10) if limits.saturated(stale[:turn])), 9))
    assert min(ends) == turns
