"""Whole runs without text, and the truth about what they find."""

import numpy as np
import pytest

from src.knower.drawing import of_fact
from src.knower.knowledge import Knower, knowledge
from src.knower.runs import SEQUENTIAL, found, personas, repeated, runs, taxonomy
from src.knower.world import World

HELD = knowledge(World(facts=400), Knower(obeys=1.0), "an invented field")


def test_runs_side_by_side_are_independent_runs() -> None:
    together = runs(HELD, taxonomy((3, 3)), 3, 60, np.random.default_rng(0))
    sizes = [len(run.first().meaning) for run in together]
    alone = [
        len(runs(HELD, taxonomy((3, 3)), 3, 1, np.random.default_rng(100 + seed))[0].first().meaning)
        for seed in range(60)
    ]
    error = np.sqrt((np.var(sizes) + np.var(alone)) / 60)
    assert abs(np.mean(sizes) - np.mean(alone)) < 4 * error
    assert np.std(sizes) > 0


def test_an_obedient_leaf_repeats_no_fact_over_its_turns() -> None:
    (run,) = runs(HELD, taxonomy((5, 5)), 5, 1, np.random.default_rng(1))
    assert (np.diff(run.turn) >= 0).all()
    for branch in range(25):
        stated = run.meaning[(run.branch == branch) & (run.meaning < 800)]
        assert len(np.unique(stated)) == len(stated)
    first = run.first()
    assert len(np.unique(first.meaning)) == len(first.meaning) < len(run.meaning)
    assert first.until(2).turn.max() == 2


def test_a_finer_tree_finds_more_than_one_list() -> None:
    def valid(scopes: object, own: bool = True) -> int:
        (run,) = runs(HELD, scopes, 3, 1, np.random.default_rng(2), own=own)  # type: ignore[arg-type]
        return int(run.first().valid.sum())

    assert valid(taxonomy((5, 5))) > valid(taxonomy((2, 2))) > valid(SEQUENTIAL)
    assert valid(personas(10), own=False) > valid(personas(3), own=False)


def test_chances_of_a_run_are_shares_of_runs() -> None:
    drawn = runs(HELD, taxonomy((5, 5)), 2, 80, np.random.default_rng(3))
    chance = found(HELD, drawn)
    assert chance.sum() == pytest.approx(np.mean([run.first().valid.sum() for run in drawn]))
    assert (chance[~HELD.known] == 0).all()


def test_repeats_know_their_own_coverage() -> None:
    taken = repeated(HELD, taxonomy((5, 5)), 5, np.random.default_rng(4))
    assert taken.counts.shape == (25, 400)
    assert taken.counts.max() <= 5
    assert 0.5 < taken.coverage < 1
    assert (taken.counts > 0).sum() < taken.reachable
    many = repeated(HELD, taxonomy((5, 5)), 4_000, np.random.default_rng(5))
    assert many.counts / 4_000 == pytest.approx(many.chance, abs=0.05)


def test_only_the_first_points_of_the_pool_are_shown_and_invalid_ones_take_their_places() -> None:
    knower = Knower(obeys=1.0, errs=0.3, misbelieves=0.2, points=20)
    held = knowledge(World(facts=60, topics=(1,)), knower, "an invented field")
    again = 0
    for run in runs(held, SEQUENTIAL, 5, 40, np.random.default_rng(0), own=False, shown_points=10):
        pool: dict[int, None] = {}
        for turn in range(1, 6):
            said = run.meaning[run.turn == turn]
            shown = of_fact(np.array([*pool][:10], dtype=int), 60)
            assert not {*said[said < 120] % 60} & {*shown[shown >= 0]}
            again += len({*said} & {*[*pool][10:]})
            pool |= dict.fromkeys(said.tolist())
    assert again, "what is not shown is said again"


def test_a_pool_that_is_shown_whole_is_no_limit() -> None:
    whole, most = (
        runs(HELD, personas(3), 3, 2, np.random.default_rng(1), own=False, shown_points=shown)
        for shown in (None, 9_999)
    )
    assert all((one.meaning == other.meaning).all() for one, other in zip(whole, most, strict=True))


def test_answers_are_refused_as_often_as_was_planted() -> None:
    held = knowledge(World(facts=400), Knower(refuses=0.4), "an invented field")
    drawn = runs(held, taxonomy((2, 2)), 3, 60, np.random.default_rng(2))
    given = sum(len(np.unique(run.turn * 10 + run.branch)) for run in drawn)
    assert given == pytest.approx(0.6 * 60 * 12, abs=4 * np.sqrt(0.24 * 720))
    taken = repeated(held, taxonomy((2, 2)), 2_000, np.random.default_rng(3))
    assert taken.counts / 2_000 == pytest.approx(taken.chance, abs=0.06)
    none = repeated(knowledge(World(facts=400), Knower(knows=0), "x"), SEQUENTIAL, 3, np.random.default_rng(3))
    assert np.isnan(none.coverage)
