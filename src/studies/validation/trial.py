"""One trial of every estimator: a new universe, new models, new runs, and what is true of them; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from src.calibration.sample import level
from src.knower.drawing import Flags, chances, meaning_chances, valid
from src.knower.runs import Incidences, Run, runs
from src.knower.world import Numbers, stream
from src.stats.branches import Origins
from src.stats.intervals import Interval, wilson, wilson_leaf
from src.stats.recall import Counts
from src.stats.richness import Incidence, chao2, coverage, ice
from src.stats.trends import crossing, decline
from src.studies.comparison import compare
from src.studies.raters import compare as compare_raters
from src.studies.validation.population import Truth
from src.studies.validation.setting import LARGER, OWN, SIBLING, Bench, Setting, bench

FRESH = 30
"""Further runs of each model in a universe, from which the chance that a run finds a statement is known."""
RICHNESS = {"chao2": chao2, "ice": ice}


class Trial(NamedTuple):
    """What an estimator said in one universe, and what is true.

    Attributes:
        estimator: its name in the catalogue.
        value, low, high: estimate and interval; NaN where there is none, infinite where it is open.
        truth: of this universe, or of all.
        reason: why there is no estimate or no interval; "" where there is.
    """

    estimator: str
    value: float
    low: float
    high: float
    truth: float
    reason: str = ""


@dataclass(frozen=True)
class Inside:
    """What is true inside a universe, from fresh runs of its models.

    Attributes:
        recall: expected valid statements of each model over those of the union of all, shape (models,).
        accuracy: of `own`, valid statements over judged ones.
    """

    recall: Numbers
    accuracy: float


def trials(setting: Setting, seed: int, population: Mapping[str, Truth]) -> list[Trial]:
    """Try every estimator in the universe of a seed.

    Args:
        setting: what universes and models are like.
        seed: which of them.
        population: what is true over all universes, as of :func:`src.studies.validation.population.truths`.
    """
    place = bench(setting, seed, setting.lineup)
    *drawn, sibling = (place.run(model, "trial").first() for model in range(len(place.held)))
    inside = _inside(place)
    return [
        *_accuracy(place, drawn[OWN], population["accuracy"].value, inside.accuracy),
        *_recall(place, drawn, inside.recall),
        *_trends(place, drawn[OWN], sibling, population),
        *_unseen(place),
        *_corrected(place, drawn),
    ]


def _inside(place: Bench) -> Inside:
    chance, right, judged = np.zeros((SIBLING, len(place.accepts))), 0, 0
    for model, held in enumerate(place.held[:SIBLING]):
        rng = stream("fresh", place.seed, model)
        for run in runs(held, place.setting.scopes, place.setting.turns, FRESH, rng):
            said = np.unique(run.meaning)
            chance[model, said] += 1 / FRESH
            if model == OWN:
                right, judged = right + int(place.accepts[said].sum()), judged + len(said)
    chance *= place.accepts
    union = (1 - np.prod(1 - chance, axis=0)).sum()
    return Inside(chance.sum(axis=1) / union, right / judged)


def _accuracy(place: Bench, run: Run, everywhere: float, here: float) -> list[Trial]:
    seen = place.judged(run)
    share = float(seen.valid.mean())
    plain = wilson(int(seen.valid.sum()), len(seen.valid))
    leaf = wilson_leaf(seen.valid.tolist(), [str(branch) for branch in seen.branch])
    return [
        _trial("accuracy_plain", share, plain, everywhere),
        _trial("accuracy_leaf", share, leaf, everywhere),
        _trial("accuracy_here_plain", share, plain, here),
        _trial("accuracy_here_leaf", share, leaf, here),
    ]


def _recall(place: Bench, drawn: Sequence[Run], truth: Numbers) -> list[Trial]:
    counts, origins = united(drawn, place.accepts)
    compared = compare([counts], place.seed, [origins])
    share, draws = compared.drawn.functional(np.eye(len(drawn))[OWN])
    number = next(at for at, pair in enumerate(compared.pairs) if (pair.one, pair.other) == (OWN, LARGER))
    gap = compared.pairs[number]
    recall, difference = float(truth[OWN]), float(truth[OWN] - truth[LARGER])
    return [
        _trial("recall_wilson", *compared.recall[OWN], recall),
        _trial("recall_draws", share, draws, recall),
        _trial("gap_draws", gap.difference, gap.interval, difference),
        _trial("gap_branches", gap.difference, compared.by_branch[number], difference),
    ]


def united(drawn: Sequence[Run], accepts: Flags) -> tuple[Counts, Origins]:
    """The union of what was accepted of several models, and where it came from; perfect merging.

    Args:
        drawn: a run of each model, each meaning once.
        accepts: whether the judge accepts each meaning.
    """
    kept = [accepts[run.meaning] for run in drawn]
    meaning = np.concatenate([run.meaning[keep] for run, keep in zip(drawn, kept, strict=True)])
    branch = np.concatenate([run.branch[keep] for run, keep in zip(drawn, kept, strict=True)])
    model = np.repeat(np.arange(len(drawn)), [int(keep.sum()) for keep in kept])
    known, cluster = np.unique(meaning, return_inverse=True)
    counts = np.zeros((len(known), len(drawn)), dtype=np.int64)
    counts[cluster, model] = 1
    return counts, Origins(cluster, model, branch)


def _trends(place: Bench, run: Run, sibling: Run, population: Mapping[str, Truth]) -> list[Trial]:
    turns, seen = place.setting.turns, place.judged(run)
    falls = decline(seen, turns)
    meets = crossing(place.judged(sibling), seen, turns)
    return [
        _trial("decline_rate", falls.value, falls.interval, population["decline_rate"].value),
        _trial("crossover", meets.turn, meets.interval, population["crossover"].value),
    ]


def _unseen(place: Bench) -> list[Trial]:
    """What the repeats of turn 1 say about what they did not show: of what the judge accepts, be it true or not."""
    rng = stream("repeats", place.seed)
    chance, true = _accepted(place)
    drawn = Incidences(rng.binomial(place.setting.draws, chance), place.setting.draws, chance)
    seen = incidence(drawn, rng)
    again = [incidence(replace(drawn, counts=rng.binomial(drawn.draws, chance)), rng) for _ in range(FRESH)]
    expected = {name: float(np.nanmean([of(each).value for each in again])) for name, of in RICHNESS.items()}
    covered, least, richness = coverage(seen), chao2(seen), ice(seen)
    reachable, truly = float(drawn.reachable), float((chance[:, true] > 0).sum())
    known = replace(drawn, counts=drawn.counts[:, true], chance=chance[:, true])
    bound = least.interval
    return [
        _trial("coverage", covered.value, covered.interval, drawn.coverage),
        _trial("coverage_true", covered.value, covered.interval, known.coverage),
        _trial("chao2", least.value, least.interval, expected["chao2"]),
        Trial("chao2_bound", least.value, bound.low, math.inf, reachable, bound.reason),
        Trial("chao2_bound_true", least.value, bound.low, math.inf, truly, bound.reason),
        _trial("ice", richness.value, richness.interval, expected["ice"]),
        _trial("ice_reachable", richness.value, richness.interval, reachable),
    ]


def _accepted(place: Bench) -> tuple[Numbers, Flags]:
    """Chances that one draw of a branch brings each statement that the judge accepts, and which of them are true.

    Returns:
        Shapes (branches, accepted statements) and (accepted statements,).
    """
    held, n = place.held[OWN], len(place.held[OWN].facts)
    nothing = np.zeros((1, n), dtype=bool)
    rows = [meaning_chances(held, chances(held, scope, 1, nothing))[0] for scope in place.setting.scopes]
    accepted = np.flatnonzero(place.accepts)
    return np.array(rows)[:, accepted], valid(accepted, n)


def incidence(drawn: Incidences, rng: np.random.Generator) -> Incidence:
    """What was seen in which draw; given in how many, all ways are as likely."""
    branch, fact = np.nonzero(drawn.counts)
    times = drawn.counts[branch, fact]
    order = rng.random((len(times), drawn.draws)).argsort(axis=1)
    return Incidence(branch.astype(str).tolist(), order < times[:, None])


def _corrected(place: Bench, drawn: Sequence[Run]) -> list[Trial]:
    """The share of valid statements after people checked a sample that is balanced by verdict."""
    rng = stream("sheet", place.seed)
    right = [valid(run.meaning, run.n) for run in drawn]
    verdict = [place.accepts[run.meaning] for run in drawn]
    strata = pl.DataFrame(
        [
            {"stratum": 2 * model + side, "verdict": bool(side), "population": int((verdict[model] == side).sum())}
            for model in range(len(drawn))
            for side in (0, 1)
        ]
    )
    sizes, accepted = strata["population"].to_numpy(), strata["verdict"].to_numpy()
    halves = level(np.array([sizes[~accepted].sum(), sizes[accepted].sum()]), place.setting.sheet, rng)
    rows = []
    for side in (0, 1):
        asked = level(sizes[accepted == side], int(halves[side]), rng)
        for model, run in enumerate(drawn):
            chosen = np.sort(rng.choice(np.flatnonzero(verdict[model] == side), int(asked[model]), replace=False))
            rows += [(2 * model + side, str(run.meaning[at]), bool(side), bool(right[model][at])) for at in chosen]
    rated = pl.DataFrame(rows, schema=["stratum", "item", "verdict", "people"], orient="row")
    corrected = compare_raters(rated, strata, "verdict", "people", place.seed).population["prevalence"]
    truth = float(np.concatenate(right).mean())
    none = "the judge's own share claims nothing about the truth"
    return [
        Trial("valid_judged", float(np.concatenate(verdict).mean()), math.nan, math.nan, truth, none),
        Trial("valid_corrected", corrected.value, corrected.low, corrected.high, truth, corrected.reason),
    ]


def _trial(name: str, value: float, interval: Interval, truth: float) -> Trial:
    return Trial(name, value, interval.low, interval.high, truth, interval.reason)
