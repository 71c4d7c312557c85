"""A setting in which estimators are tried: a universe, a model, a judge with its errors; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.knower.drawing import Flags, Scope
from src.knower.knowledge import Knower, Knowledge, Share, Tuning, knowledge
from src.knower.runs import Run, runs, taxonomy
from src.knower.world import INVENTIONS, JUNK, World, stream
from src.records import STRICT, Filled
from src.stats.trends import Judged

QUERY = "a simulated domain"
SMALLER, OWN, LARGER, SIBLING = range(4)
"""Places of the models in the line-up of a setting: three whose knowledge is compared, and a sibling of `own`."""
STEP = 0.15
"""Share of all facts that the larger one knows more, and the smaller one less."""
TUNED = Tuning(errs=-0.9, errs_per_turn=0.3)
"""What the sibling has: it is more accurate at first and is overtaken around turn 4."""


@config_dataclass(frozen=True, config=STRICT)
class Errors:
    """What a judge gets wrong.

    Attributes:
        false_valid: share of invalid statements that it accepts.
        false_invalid: share of valid statements that it turns down.
    """

    false_valid: Share = 0.1
    false_invalid: Share = 0.05


@config_dataclass(frozen=True, config=STRICT)
class Setting:
    """A setting.

    Attributes:
        why: what it puts to the test, one clause.
        world: of facts; every seed draws another one.
        model: whose knowledge is measured.
        judge: who says what is valid.
        widths: of the tree of sub-fields, which are the branches.
        turns: of every run.
        draws: how often the prompts of turn 1 are asked for estimates of what was not seen.
        sheet: judgements that people check.
    """

    why: Filled
    world: World = World()
    model: Knower = Knower()
    judge: Errors = Errors()
    widths: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (5, 5)
    turns: Annotated[int, Field(ge=2)] = 6
    draws: Annotated[int, Field(ge=1)] = 5
    sheet: Annotated[int, Field(ge=1)] = 200

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What the mining prompts ask about."""
        return taxonomy(self.widths)

    @property
    def lineup(self) -> tuple[Knower, ...]:
        """Three models, which do not know the same facts, and the sibling of `own`."""
        own = self.model
        three = [
            replace(own, seed=place, knows=min(1 - own.misbelieves, max(0.0, own.knows + STEP * (place - OWN))))
            for place in range(SIBLING)
        ]
        return *three, replace(three[OWN], tuned={QUERY: TUNED})


@dataclass(frozen=True)
class Bench:
    """Models in a domain of one universe, and the judge.

    Attributes:
        setting, seed: which universe; query: which domain.
        held: what each model holds.
        accepts: whether the judge accepts each meaning; the same statement always gets the same verdict.
    """

    setting: Setting
    seed: int
    query: str
    held: tuple[Knowledge, ...]
    accepts: Flags

    def run(self, model: int, purpose: str, turns: int | None = None) -> Run:
        """A run of one of the models, of so many turns; another purpose is another run."""
        rng = stream("run", self.seed, self.query, model, purpose)
        return runs(self.held[model], self.setting.scopes, turns or self.setting.turns, 1, rng)[0]

    def judged(self, run: Run) -> Judged:
        """The distinct statements of a run as the judge sees them."""
        first = run.first()
        return Judged(self.accepts[first.meaning], first.turn, first.branch)


def bench(setting: Setting, seed: int, models: Sequence[Knower], query: str = QUERY) -> Bench:
    """Models in a domain of the universe of a seed."""
    world = replace(setting.world, seed=seed)
    meanings = np.arange(2 * world.facts + INVENTIONS + JUNK)
    lot = stream("judge", seed, query).random(len(meanings))
    true, errors = meanings < world.facts, setting.judge
    return Bench(
        setting,
        seed,
        query,
        tuple(knowledge(world, model, query) for model in models),
        np.where(true, lot >= errors.false_invalid, lot < errors.false_valid),
    )
