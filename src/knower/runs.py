"""Runs of a simulated model without text: perfect reading and merging, many at once, so that there is a truth; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from src.knower.drawing import Flags, Scope, chances, of_fact, said, valid
from src.knower.knowledge import Knowledge
from src.knower.world import Ints, Numbers


@dataclass(frozen=True)
class Run:
    """What one run brought, one row for each point, in the order turn, branch, position.

    Attributes:
        turn, branch: from 1 and from 0, shape (points,).
        meaning: as of :func:`src.knower.drawing.said`.
        n: facts of the domain.
    """

    turn: Ints
    branch: Ints
    meaning: Ints
    n: int

    def first(self) -> Run:
        """The first point of every meaning: what perfect merging keeps."""
        _, places = np.unique(self.meaning, return_index=True)
        places = np.sort(places)
        return Run(self.turn[places], self.branch[places], self.meaning[places], self.n)

    def until(self, turn: int) -> Run:
        """The points up to a turn."""
        early = self.turn <= turn
        return Run(self.turn[early], self.branch[early], self.meaning[early], self.n)

    @property
    def valid(self) -> Flags:
        """Whether each point is true and says something."""
        return valid(self.meaning, self.n)


def taxonomy(widths: Sequence[int]) -> tuple[Scope, ...]:
    """The leaves of a tree over the whole domain."""
    leaves = int(np.prod(widths))
    return tuple(Scope(leaf / leaves, (leaf + 1) / leaves) for leaf in range(leaves))


def personas(experts: int, count: int = 5) -> tuple[Scope, ...]:
    """Experts who are asked for so many points each."""
    return tuple(Scope(count=count, expert=f"expert {number}") for number in range(experts))


SEQUENTIAL = (Scope(),)


def runs(
    knowledge: Knowledge,
    scopes: Sequence[Scope],
    turns: int,
    count: int,
    rng: np.random.Generator,
    *,
    own: bool = True,
    shown_points: int | None = None,
) -> list[Run]:
    """Independent runs of so many turns.

    Args:
        knowledge: of the model.
        scopes: of the branches.
        turns: how many.
        count: of runs.
        rng: of what comes to mind.
        own: whether a branch is shown its own points only (a taxonomy), or those of all (experts, one after another).
        shown_points: how many different points are shown, the first ones, invalid ones too; None: all.
    """
    n = len(knowledge.facts)
    shown = np.zeros((len(scopes) if own else 1, count, n), dtype=bool)
    pools: list[list[dict[int, None]]] = [[{} for _ in range(count)] for _ in shown]
    parts: list[list[tuple[int, int, Ints]]] = [[] for _ in range(count)]
    for turn in range(1, turns + 1):
        before = shown.copy()  # what a turn brings is shown from the next turn on
        for branch, scope in enumerate(scopes):
            place = branch if own else 0
            drawn = chances(knowledge, scope, turn, before[place])
            answers = said(knowledge, drawn, rng)
            if knowledge.knower.refuses:
                refused = rng.random(count) < knowledge.knower.refuses
                answers = [answer[:0] if no else answer for answer, no in zip(answers, refused, strict=True)]
            for run, meanings in enumerate(answers):
                parts[run].append((turn, branch, meanings))
                novel = meanings if shown_points is None else _kept(pools[place][run], meanings, shown_points)
                fact = of_fact(novel, n)
                shown[place, run, fact[fact >= 0]] = True
    return [_run(part, n) for part in parts]


def found(knowledge: Knowledge, drawn: Sequence[Run]) -> Numbers:
    """Share of runs that state each fact in its true form: π, shape (n,)."""
    total = np.zeros(len(knowledge.facts))
    for run in drawn:
        total[np.unique(run.meaning[run.valid])] += 1
    return total / len(drawn)


def repeated(knowledge: Knowledge, scopes: Sequence[Scope], draws: int, rng: np.random.Generator) -> Incidences:
    """Every mining prompt of turn 1 asked `draws` times against an empty pool.

    Returns:
        In how many draws each branch stated each fact, and the chances of one draw.
    """
    n = len(knowledge.facts)
    nothing = np.zeros((1, n), dtype=bool)
    chance = np.array([chances(knowledge, scope, 1, nothing).facts[0] for scope in scopes]) * knowledge.known
    refuses = knowledge.knower.refuses
    answered = rng.binomial(draws, 1 - refuses, size=(len(scopes), 1)) if refuses else draws
    counts = rng.binomial(answered, chance)
    return Incidences(np.asarray(counts, dtype=np.int64), draws, chance * (1 - refuses))


@dataclass(frozen=True)
class Incidences:
    """Repeats of the prompts of turn 1.

    Attributes:
        counts: in how many draws a branch stated a fact in its true form, shape (branches, n).
        draws: how many there were.
        chance: of one draw, shape (branches, n).
    """

    counts: Ints
    draws: int
    chance: Numbers

    @property
    def reachable(self) -> int:
        """Units (branch, fact) that these prompts can bring."""
        return int((self.chance > 0).sum())

    @property
    def coverage(self) -> float:
        """Share of all chances that belongs to units which were seen; NaN if there are none."""
        total = self.chance.sum()
        return float(self.chance[self.counts > 0].sum() / total) if total else math.nan


def _kept(pool: dict[int, None], meanings: Ints, most: int) -> Ints:
    """Add points to a pool, each meaning once and `most` in all; returns what it holds."""
    for meaning in meanings.tolist():
        if len(pool) == most:
            break
        pool[meaning] = None
    return np.fromiter(pool, dtype=np.int64)


def _run(parts: Sequence[tuple[int, int, npt.NDArray[np.int64]]], n: int) -> Run:
    sizes = [len(meanings) for _, _, meanings in parts]
    return Run(
        np.repeat([turn for turn, _, _ in parts], sizes),
        np.repeat([branch for _, branch, _ in parts], sizes),
        np.concatenate([meanings for _, _, meanings in parts]),
        n,
    )
