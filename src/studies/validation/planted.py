"""Do the studies find an effect that was planted, and stay quiet where there is none? One trial each; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from src.knower.knowledge import Knower, Tuning
from src.stats.combining import averaged
from src.stats.intervals import LEVEL
from src.studies.comparison import compare
from src.studies.duel import Side, accuracy, duel, events
from src.studies.sizes import scaling_decision
from src.studies.validation.setting import OWN, SIBLING, Bench, Setting, bench
from src.studies.validation.trial import united

BILLIONS = (8, 70, 405)
"""Sizes of three models, as in arXiv 2602.00959."""
ZONES = {"simulated domain one": "inside", "simulated domain two": "inside", "simulated domain three": "outside"}
PREDICTED = {"crossover": ("inside",), "collapse": ("outside",)}
EQUAL, SAME, EFFECT, WEAKER = "equally able models", "models that know the same", "effect", "weaker effect"
TUNINGS = {
    EFFECT: {"inside": Tuning(errs=-1.8, errs_per_turn=0.6), "outside": Tuning(errs=0.8, errs_per_turn=0.5)},
    WEAKER: {"inside": Tuning(errs=-1.0, errs_per_turn=0.4), "outside": Tuning(errs=0.5, errs_per_turn=0.3)},
}
"""What fine-tuning did where it is planted: ahead and overtaken inside, behind and falling faster outside.

The weaker one only shows how much is missed of it: an effect has no size below which nobody looks.
"""


class Outcome(NamedTuple):
    """What a study said in one trial.

    Attributes:
        study: its name.
        planted: what there was to find.
        claim: what the study can say.
        real: whether that was planted.
        said: whether it says so.
    """

    study: str
    planted: str
    claim: str
    real: bool
    said: bool


def outcomes(setting: Setting, seed: int) -> list[Outcome]:
    """Both studies, with an effect and without one, in the universe of a seed."""
    own = setting.lineup[OWN]
    found = []
    for planted, models in (
        (EFFECT, setting.lineup[:SIBLING]),
        (SAME, (own, own, own)),
        (EQUAL, tuple(replace(own, seed=place) for place in range(len(BILLIONS)))),
    ):
        found += _scaling(_benches(setting, seed, models), planted)
    others = {
        planted: replace(own, tuned={query: tunings[zone] for query, zone in ZONES.items()})
        for planted, tunings in TUNINGS.items()
    }
    for planted, other in {**others, EQUAL: replace(own, seed=SIBLING)}.items():
        found += _specialisation(_benches(setting, seed, (own, other)), planted)
    return found


def _benches(setting: Setting, seed: int, models: Sequence[Knower]) -> list[Bench]:
    return [bench(setting, seed, models, query) for query in ZONES]


def _scaling(places: Sequence[Bench], planted: str) -> list[Outcome]:
    drawn = [[place.run(model, planted).first() for model in range(len(BILLIONS))] for place in places]
    unions, origins = zip(
        *(united(runs, place.accepts) for place, runs in zip(places, drawn, strict=True)), strict=True
    )
    compared = compare(unions, places[0].seed, origins)
    parts = [[accuracy(place.judged(run)) for run in runs] for place, runs in zip(places, drawn, strict=True)]
    right = [averaged(*zip(*each, strict=True)) for each in zip(*parts, strict=True)]
    scaled = scaling_decision(np.log10(BILLIONS), compared, right)
    real = planted == EFFECT
    apart = [pair.p_holm < 1 - LEVEL for pair in compared.pairs]
    said = {"larger ones know more": scaled.trend == "more", "every pair separated": all(apart)}
    if not real:  # any claim is wrong, whichever way it goes
        said = {"larger ones know more or less": scaled.trend is not None, "any pair separated": any(apart)}
        said["returns diminish or grow"] = scaled.returns is not None
    return [Outcome("scaling", planted, claim, real, shown) for claim, shown in said.items()]


def _specialisation(places: Sequence[Bench], planted: str) -> list[Outcome]:
    fought = []
    for place in places:
        sides = [
            Side(name, place.judged(place.run(model, planted)), place.setting.turns)
            for model, name in enumerate(("general", "specialised"))
        ]
        fought.append(duel(ZONES[place.query], place.query, sides[0], sides[1], None))
    tested = events(fought, PREDICTED)
    found = []
    for name, zone in product(PREDICTED, ("inside", "outside")):
        # An effect in several domains is found if it is found in all of them; a false alarm is one in any.
        real = planted in TUNINGS and zone in PREDICTED[name]
        shown = [bool(event.shown) for event in tested if (event.name, event.zone) == (name, zone)]
        found.append(Outcome("specialisation", planted, f"{name} {zone}", real, (all if real else any)(shown)))
    false = any(event.shown and not (planted in TUNINGS and event.predicted) for event in tested)
    return [*found, Outcome("specialisation", planted, "any event that was not planted", False, false)]
