"""How likely a run of a simulated model finds each fact, from how it was measured: the truth behind recall; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from src.knower.answer import MINING, scope_of
from src.knower.drawing import Scope
from src.knower.knowledge import Knower, knowledge
from src.knower.runs import found, runs
from src.knower.world import Numbers, World, stream

FRESH = 100
"""Fresh runs of each model that say how likely a run finds a fact."""


@dataclass(frozen=True)
class Measurement:
    """How a simulated model was measured.

    Attributes:
        world, knower: the model.
        scopes: what its branches were asked about.
        turns: how many it had.
        own: whether a branch was shown its own points only.
        shown_points: how many points were shown, the first ones; None: all.
    """

    world: World
    knower: Knower
    scopes: tuple[Scope, ...]
    turns: int
    own: bool
    shown_points: int | None = None


def measurement(
    world: World, knower: Knower, calls: pl.DataFrame, expert_points: int, shown_points: int | None = None
) -> Measurement:
    """How a model was measured.

    Args:
        world: what there is to know.
        knower: the model.
        calls: of its cell (schema CALLS).
        expert_points: points that an expert is asked for.
        shown_points: points that an expert is shown, the first ones; None: all.
    """
    asked = calls.filter((pl.col("turn") == 1) & pl.col("prompt").is_in(MINING)).unique(["prompt", "branch"])
    rows = asked.select("prompt", "branch").sort("branch").rows()
    scopes = tuple(scope_of(prompt, branch, expert_points) for prompt, branch in rows)
    own = all(prompt.startswith("taxonomy") for prompt, _ in rows)
    turns = int(calls["turn"].max() or 0)  # type: ignore[arg-type]
    return Measurement(world, knower, scopes, turns, own, shown_points)


def find_chances(measured: Sequence[Measurement], query: str) -> Numbers:
    """How likely a fresh run of each model finds each fact, shape (models, n), from FRESH runs of each.

    Merging and judging are perfect in these runs, and what is invented does not count: it is not valid. No answer is
    cut short.

    Args:
        measured: the models.
        query: the domain, as prompts say it.
    """
    chances = []
    for place, each in enumerate(measured):
        held = knowledge(each.world, each.knower, query)
        rng = stream("recall", query, place)
        drawn = runs(held, each.scopes, each.turns, FRESH, rng, own=each.own, shown_points=each.shown_points)
        chances.append(found(held, drawn))
    return np.array(chances)
