"""Trials of estimators: the same seed gives the same trial, truths are what direct sums say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from src.knower.drawing import valid
from src.knower.knowledge import Knower
from src.knower.world import World
from src.saturation import Saturation
from src.stats.trends import Judged, crossing
from src.studies.validation.catalogue import ESTIMATORS
from src.studies.validation.planted import TUNINGS, outcomes
from src.studies.validation.population import counted, line, truths
from src.studies.validation.setting import OWN, SIBLING, Errors, Setting, bench
from src.studies.validation.stopping import stops
from src.studies.validation.trial import incidence, trials, united

TINY = Setting(why="quick", world=World(facts=120, topics=(2, 2)), widths=(2, 2), turns=3, sheet=40)
RULE = Saturation(novelty=0.92, growth=0.01, efficiency=0.1, points=3, patience=0)


@pytest.fixture(scope="module")
def population():
    return truths([counted(TINY, number) for number in range(40)])


def test_a_trial_tries_every_estimator_and_is_the_same_again(population):
    first, again, other = (trials(TINY, seed, population) for seed in (3, 3, 4))
    assert [trial.estimator for trial in first] == list(dict.fromkeys(trial.estimator for trial in first))
    assert {trial.estimator for trial in first} == set(ESTIMATORS)
    assert repr(first) == repr(again)
    assert repr(first) != repr(other)
    for trial in first:
        assert math.isfinite(trial.truth)
        assert trial.reason or trial.low <= trial.value <= trial.high


def test_recall_of_models_in_their_universe_is_that_of_many_runs(population):
    """The truth of a trial against runs of other purposes: means of single runs, not chances."""
    place = bench(TINY, 5, TINY.lineup)
    truth = next(trial.truth for trial in trials(TINY, 5, population) if trial.estimator == "recall_wilson")
    found = []
    for again in range(25):
        counts, _ = united([place.run(model, f"again {again}").first() for model in range(SIBLING)], place.accepts)
        found.append((counts[:, OWN].sum(), len(counts)))
    own, union = np.mean(found, axis=0)
    assert truth == pytest.approx(own / union, abs=0.04)


def test_the_union_counts_what_the_judge_accepts_and_tells_where_it_came_from():
    place = bench(TINY, 1, TINY.lineup)
    runs = [place.run(model, "trial").first() for model in range(SIBLING)]
    counts, origins = united(runs, place.accepts)
    assert counts.sum(axis=0).tolist() == [int(place.accepts[run.meaning].sum()) for run in runs]
    assert (counts.sum(axis=1) > 0).all()
    assert len(origins.cluster) == counts.sum()
    assert set(origins.branch.tolist()) <= set(range(4))


def test_a_judge_errs_as_often_as_it_is_told_and_always_the_same_way():
    setting = Setting(why="quick", world=World(facts=8_000), judge=Errors(false_valid=0.25, false_invalid=0.15))
    one, again = (bench(setting, 7, setting.lineup[:1]) for _ in range(2))
    assert (one.accepts == again.accepts).all()
    true = valid(np.arange(len(one.accepts)), 8_000)
    assert one.accepts[~true].mean() == pytest.approx(0.25, abs=0.02)
    assert one.accepts[true].mean() == pytest.approx(0.85, abs=0.02)


def test_what_is_true_over_all_universes_is_what_the_regression_of_the_project_says(population):
    counts = np.sum([counted(TINY, number) for number in range(40)], axis=0)
    sides = []
    for judged, good in counts:
        turn = np.repeat(np.arange(1, TINY.turns + 1), judged)
        flags = np.concatenate([np.arange(n) < k for n, k in zip(judged, good, strict=True)])
        sides.append(Judged(flags, turn, np.arange(len(turn)) % 4))
    own, sibling = sides
    gap = line(counts[1, 1] * 1.0, counts[1, 0] * 1.0) - line(counts[0, 1] * 1.0, counts[0, 0] * 1.0)
    found = crossing(sibling, own, TINY.turns)
    assert found.lead.value == pytest.approx(gap.sum(), abs=1e-8)
    assert population["crossover"].value == pytest.approx(-gap[0] / gap[1])
    assert population["accuracy"].error > 0


def test_units_are_seen_in_as_many_draws_as_they_were():
    class Drawn:
        counts = np.array([[0, 1, 3], [2, 0, 0]])
        draws = 3

    seen = incidence(Drawn(), np.random.default_rng(0))
    assert seen.observed == 3
    assert seen.counts.tolist() == [0, 1, 1, 1]
    assert (seen.f1, seen.f2, seen.total) == (1, 1, 6)


def test_patience_never_stops_earlier_and_what_is_lost_comes_after_the_stop():
    quiet = Knower(errs=0.01, errs_per_turn=0, errs_uneven=0, misbelieves=0)
    setting = Setting(why="quick", world=World(facts=60, topics=(2, 2)), model=quiet, widths=(2, 2))
    for seed in range(3):
        none, one = stops(setting, seed, RULE, 12)
        assert (none.patience, one.patience) == (0, 1)
        assert none.saturated
        assert 1 <= none.turn < one.turn <= 12
        assert 0 <= one.lost <= none.lost < 1
        assert 0 < one.saved < none.saved < 1 or not one.saturated
    everything = stops(setting, 0, RULE, 1)
    assert [(stop.turn, stop.saturated, stop.lost, stop.saved) for stop in everything] == [(1, False, 0, 0)] * 2


def test_studies_are_tried_with_an_effect_and_without():
    found = outcomes(TINY, 0)
    assert {(each.study, each.planted in TUNINGS) for each in found} == {
        (study, there) for study in ("scaling", "specialisation") for there in (True, False)
    }
    assert {each.claim for each in found if each.real} == {
        "larger ones know more", "every pair separated", "crossover inside", "collapse outside",
    }  # fmt: skip
    assert len({each[:3] for each in found}) == len(found)
