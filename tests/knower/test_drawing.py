"""What a simulated model holds and says: planted shares, exact chances, obedience."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from src.knower.drawing import Scope, chances, inclusion, of_fact, said, valid
from src.knower.knowledge import MOST_INVALID, Knower, Tuning, knowledge
from src.knower.world import World, facts

WORLD = World(facts=400)
QUERY = "an invented field"


def nothing(runs: int) -> np.ndarray:
    return np.zeros((runs, WORLD.facts), dtype=bool)


def test_a_universe_is_the_same_for_whoever_asks_and_another_one_by_seed() -> None:
    one, again, other = facts(WORLD, QUERY), facts(World(facts=400), QUERY), facts(World(facts=400, seed=1), QUERY)
    assert (one.place == again.place).all()
    assert not (one.common == other.common).all()
    assert len(one) == 400
    assert (np.floor(one.place * WORLD.leaves) == one.topic).all()
    assert one.popularity.mean() == pytest.approx(1)
    assert not (one.sibling[1:] & one.sibling[:-1]).any()


def test_as_much_is_known_as_was_planted_and_popular_facts_rather() -> None:
    held = knowledge(WORLD, Knower(knows=0.4, misbelieves=0.1), QUERY)
    assert (held.known.sum(), held.misbelieved.sum()) == (160, 40)
    assert not (held.known & held.misbelieved).any()
    popularity = held.facts.popularity
    assert np.log(popularity[held.known]).mean() > np.log(popularity[~held.held]).mean() + 0.3


def test_models_that_share_more_overlap_more() -> None:
    def overlap(shared: float) -> float:
        one, other = (knowledge(WORLD, Knower(seed=seed, shared=shared, fame=0), QUERY).known for seed in (1, 2))
        return float((one & other).sum() / (one | other).sum())

    assert overlap(1.0) > overlap(0.6) > overlap(0.0)
    assert overlap(0.0) == pytest.approx(1 / 3, abs=0.08)


def test_a_larger_model_of_one_seed_knows_what_the_smaller_one_knows() -> None:
    small, large = (knowledge(WORLD, Knower(knows=share), QUERY).known for share in (0.3, 0.6))
    assert (large | ~small).all()


def test_tuning_counts_in_its_domain_alone() -> None:
    tuned = Knower(tuned={QUERY: Tuning(knows=0.2, errs=-1.0, errs_per_turn=0.5)})
    there, plain = knowledge(WORLD, tuned, QUERY), knowledge(WORLD, Knower(), QUERY)
    assert there.known.sum() - plain.known.sum() == 80
    assert there.errs - plain.errs == pytest.approx(np.full(25, -1.0))
    assert there.rise - plain.rise == pytest.approx(0.5)
    elsewhere = knowledge(WORLD, tuned, "another field"), knowledge(WORLD, Knower(), "another field")
    assert (elsewhere[0].known == elsewhere[1].known).all()


def test_chances_add_up_to_what_is_expected() -> None:
    rng = np.random.default_rng(0)
    weights = rng.pareto(1.0, (50, 80)) * (rng.random((50, 80)) < 0.7)
    expected = rng.uniform(0, 0.98, 50) * (weights > 0).sum(axis=1)
    found = inclusion(weights, expected)
    assert found.sum(axis=1) == pytest.approx(expected, abs=1e-6)
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[weights == 0] == 0).all()
    assert (inclusion(np.zeros((2, 3)), np.zeros(2)) == 0).all()


def test_answers_hold_facts_as_often_as_their_chances_say() -> None:
    """Chi-square over the facts of one leaf in 4,000 answers."""
    held = knowledge(WORLD, Knower(), QUERY)
    runs = 4_000
    drawn = chances(held, Scope(0.2, 0.4), 1, nothing(runs))
    counts = np.zeros(2 * WORLD.facts)
    for meanings in said(held, drawn, np.random.default_rng(1)):
        stated = meanings[meanings < 2 * WORLD.facts]
        assert len(np.unique(stated)) == len(stated)
        counts[stated] += 1
    chance = drawn.facts[0]
    seen = counts[: WORLD.facts] + counts[WORLD.facts :]
    assert (counts[: WORLD.facts][held.misbelieved] == 0).all()
    assert (seen[~held.held] == 0).all()
    usual = (chance * runs > 20) & (chance < 0.99)
    seen, chance = seen[usual], chance[usual]
    score = ((seen - runs * chance) ** 2 / (runs * chance * (1 - chance))).sum()
    assert score < chi2.ppf(0.999, usual.sum())


def test_the_share_of_invalid_points_is_the_planted_one_and_rises() -> None:
    held = knowledge(WORLD, Knower(errs=0.2, errs_per_turn=0.3, errs_uneven=0, misbelieves=0), QUERY)
    for turn in (1, 4):
        drawn = chances(held, Scope(), turn, nothing(3_000))
        answers = np.concatenate(said(held, drawn, np.random.default_rng(turn)))
        planted = 1 / (1 + np.exp(-(np.log(0.25) + 0.3 * (turn - 1))))
        assert drawn.error == pytest.approx(planted)
        assert 1 - valid(answers, WORLD.facts).mean() == pytest.approx(planted, abs=0.012)


@pytest.mark.parametrize("obeys", [1.0, 0.5])
def test_what_is_shown_is_said_again_as_seldom_as_the_model_obeys(obeys: float) -> None:
    held = knowledge(WORLD, Knower(obeys=obeys, leaks=0), QUERY)
    scope = Scope(0, 0.2)
    shown = nothing(1)
    shown[0, np.flatnonzero(held.known & (held.facts.place < 0.2))[::2]] = True
    before, after = (chances(held, scope, 1, pool).facts[0] for pool in (nothing(1), shown))
    if obeys == 1:
        assert (after[shown[0]] == 0).all()
    else:
        assert (after[shown[0]] > 0).all()
        assert after[shown[0]].sum() < before[shown[0]].sum()
    others = held.known & (held.facts.place < 0.2) & ~shown[0]
    assert after[others].sum() > before[others].sum()


def test_a_leaf_brings_its_own_and_at_most_the_edge_of_its_neighbours() -> None:
    held = knowledge(WORLD, Knower(leaks=0.1), QUERY)
    chance = chances(held, Scope(0.2, 0.4), 1, nothing(1)).facts[0]
    place = held.facts.place
    inside = (place >= 0.2) & (place < 0.4)
    assert chance[~inside].sum() / chance.sum() == pytest.approx(0.1, abs=0.03)
    assert (chance[(place < 0.18) | (place >= 0.42)] == 0).all()


def test_experts_lean_differently_and_give_what_they_are_asked_for() -> None:
    held = knowledge(WORLD, Knower(points=40), QUERY)
    one, other = (chances(held, Scope(count=5, expert=name), 1, nothing(1)).facts[0] for name in ("a", "b"))
    assert one.sum() == pytest.approx(5, abs=0.1)
    assert np.corrcoef(one, other)[0, 1] < 0.9


def test_meanings_tell_facts_from_inventions() -> None:
    meanings = np.array([0, 399, 400, 799, 800, 6_000])
    assert valid(meanings, 400).tolist() == [True, True, False, False, False, False]
    assert of_fact(meanings, 400).tolist() == [0, 399, 0, 399, -1, -1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"knows": 0.9, "misbelieves": 0.2}, "more than all facts"),
        ({"errs": 0.0}, "no log odds"),
        ({"ways": (0.5, 0.5, 0.5, 0.0)}, "add up to 1"),
        ({"errs": 0.95}, r"errs\n.*less than or equal to 0\.9"),
        ({"errs": 0.9, "points": 400.0}, "points=400 and errs=0.9 are 3,600 invalid points"),
        ({"errs_per_turn": 5.1}, r"errs_per_turn\n.*less than or equal to 5"),
        ({"strays": 1_000.0}, r"strays\n.*less than or equal to 4"),
        ({"fame": 1e9}, r"fame\n.*less than or equal to 10"),
    ],
)
def test_a_model_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(Knower(), **change)  # type: ignore[arg-type]


def test_a_universe_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="are 10,000 topics; a domain has at most 4,096"):
        World(topics=(100, 100))
    with pytest.raises(ValueError, match=r"zipf\n.*less than or equal to 4"):
        World(zipf=50)


@pytest.mark.parametrize("points", [0.1, 12, 200])
def test_invalid_points_have_an_end_and_at_the_bounds_nothing_overflows(points: float) -> None:
    tuned = {QUERY: Tuning(errs=10, errs_per_turn=5)}
    extreme = Knower(points=points, errs=0.9, errs_per_turn=5, errs_uneven=5, fame=10, uneven=10, strays=4, tuned=tuned)
    for facts_, topics, zipf, scope in ((1, (1,), 0, Scope()), (400, (5, 5), 4, Scope(count=5, expert="a"))):
        held = knowledge(World(facts=facts_, topics=topics, zipf=zipf, crowding=0.01), extreme, QUERY)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            drawn = chances(held, scope, 1_000, np.zeros((2, facts_), dtype=bool))
            (answer, _) = said(held, drawn, np.random.default_rng(0))
        assert (drawn.wrong <= MOST_INVALID * 1.001).all()
        assert len(answer) < 2 * MOST_INVALID


def test_the_end_of_invalid_points_is_far_from_what_models_do() -> None:
    held = knowledge(WORLD, Knower(errs=0.9, errs_uneven=0, errs_per_turn=0), QUERY)
    assert chances(held, Scope(), 1, nothing(1)).error == pytest.approx(0.9)
