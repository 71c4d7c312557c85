"""What a simulated model says to one mining prompt: which facts, and how many points that are none; pure.

Every fact within reach comes to mind by itself, with chance 1 − exp(−λ·weight); λ makes the expected number of facts
what the answer has room for. So the chance that an answer to a given prompt holds a given fact is known exactly, and
the truth about coverage and reach is a sum and not an estimate. Text is made of these draws, and tables without it too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from src.knower.knowledge import MOST_INVALID, Knowledge
from src.knower.world import INVENTIONS, JUNK, Ints, Numbers, stream

Flags = npt.NDArray[np.bool_]
STEPS = 60
"""Most Newton steps for λ; it takes about eight."""


@dataclass(frozen=True)
class Scope:
    """What a mining prompt asks about.

    Attributes:
        low, high: the part of the domain's line.
        count: how many points it asks for; None leaves it to the model.
        expert: who is to answer; "" is nobody in particular.
    """

    low: float = 0.0
    high: float = 1.0
    count: int | None = None
    expert: str = ""


@dataclass(frozen=True)
class Chances:
    """How likely an answer holds each fact, in R runs side by side.

    Attributes:
        facts: shape (R, n).
        wrong: expected number of points that are invented or junk, shape (R,).
        error: share of such points, the same for all runs.
    """

    facts: Numbers
    wrong: Numbers
    error: float


def chances(knowledge: Knowledge, scope: Scope, turn: int, shown: Flags) -> Chances:
    """The chances of an answer.

    Args:
        knowledge: of the model.
        scope: of the prompt.
        turn: from 1.
        shown: facts that the prompt shows, shape (R, n).
    """
    knower, facts = knowledge.knower, knowledge.facts
    inside = (facts.place >= scope.low) & (facts.place < scope.high)
    weights = facts.popularity * knowledge.held
    if scope.expert:
        weights = weights * np.exp(knower.strays * _interest(scope.expert, len(knowledge.errs)))[facts.topic]
    room = min(knower.points, scope.count or knower.points)
    margin = 0.5 / len(knowledge.errs)
    beside = (facts.place >= scope.low - margin) & (facts.place < scope.high + margin) & ~inside
    leaks = knower.leaks if beside.any() else 0.0
    chance = np.zeros(shown.shape)
    for part, share in ((inside, 1 - leaks), (beside, leaks)):
        columns = np.flatnonzero(part & knowledge.held)
        if share and len(columns):
            open_ = np.where(shown[:, columns], 1 - knower.obeys, 1.0)
            left = open_.sum(axis=1)
            # Room for an unlimited list; with few facts left the list gets shorter.
            expected = share * room * -np.expm1(-left / (share * room))
            chance[:, columns] = inclusion(weights[columns] * open_, expected)
    odds = knowledge.errs[_topics(scope, len(knowledge.errs))].mean() + knowledge.rise * (turn - 1)
    error = float(expit(min(odds, np.log(MOST_INVALID / room))))
    return Chances(chance, chance.sum(axis=1) * error / (1 - error), error)


def inclusion(weights: Numbers, expected: Numbers) -> Numbers:
    """Chances 1 − exp(−λ·weight) whose sum is `expected`, row by row.

    Args:
        weights: at least 0, shape (R, n).
        expected: at least 0 and below the number of weights above 0, shape (R,).
    """
    total = weights.sum(axis=1)
    rate = np.divide(expected, total, out=np.zeros(len(weights)), where=total > 0)
    # The sum is concave in λ and this start lies below the root, so every step stays below it and none overshoots.
    for _ in range(STEPS):
        kept = np.exp(-rate[:, None] * weights)
        lacking = expected - (1 - kept).sum(axis=1)
        if (lacking <= 1e-10 * np.maximum(expected, 1)).all():
            break
        slope = (weights * kept).sum(axis=1)
        rate = rate + np.divide(lacking, slope, out=np.zeros(len(weights)), where=(slope > 0) & (lacking > 0))
    return np.asarray(-np.expm1(-rate[:, None] * weights))


def said(knowledge: Knowledge, drawn: Chances, rng: np.random.Generator) -> list[Ints]:
    """What is said in each of R runs: meanings, each array in the order of the answer.

    A meaning is a number: below n the fact in its true form, below 2n the fact less n in its false form, then what is
    invented, then junk (:func:`valid`, :func:`of_fact`).
    """
    n = len(knowledge.facts)
    holds = rng.random(drawn.facts.shape) < drawn.facts
    wrong = rng.poisson(drawn.wrong)
    answers = []
    for row, count in zip(holds, wrong.tolist(), strict=True):
        stated = np.flatnonzero(row)
        stated = stated + n * knowledge.misbelieved[stated]
        junk = int(rng.binomial(count, knowledge.knower.junk))
        invented = 2 * n + rng.integers(INVENTIONS, size=count - junk)
        nothing = 2 * n + INVENTIONS + rng.integers(JUNK, size=junk)
        answers.append(rng.permutation(np.concatenate([stated, invented, nothing])))
    return answers


def meaning_chances(knowledge: Knowledge, drawn: Chances) -> Numbers:
    """How likely an answer holds each meaning, as :func:`said` draws them, shape (R, meanings).

    Which invention and which junk is said is drawn anew for each of a Poisson number of points, so that each of them
    comes by itself, as facts do.
    """
    junk, runs = knowledge.knower.junk, len(drawn.wrong)
    parts = [drawn.facts * knowledge.known, drawn.facts * knowledge.misbelieved]
    for share, count in ((1 - junk, INVENTIONS), (junk, JUNK)):
        each = -np.expm1(-drawn.wrong * share / count)
        parts.append(np.broadcast_to(each[:, None], (runs, count)))
    return np.concatenate(parts, axis=1)


def valid(meaning: Ints, n: int) -> Flags:
    """Whether what is said is true and says something; n facts."""
    return meaning < n


def of_fact(meaning: Ints, n: int) -> Ints:
    """The fact that is meant, in a true or a false form; -1 if none is."""
    return np.where(meaning < 2 * n, meaning % n, -1)


def _topics(scope: Scope, count: int) -> slice:
    """The topics that a scope touches."""
    low = int(np.floor(scope.low * count + 1e-9))
    return slice(low, max(low + 1, int(np.ceil(scope.high * count - 1e-9))))


def _interest(expert: str, count: int) -> Numbers:
    """How an expert leans from topic to topic, standard normal; two models' experts of one name lean alike."""
    return stream("expert", expert).standard_normal(count)
