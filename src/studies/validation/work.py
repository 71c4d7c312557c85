"""The pieces of a validation, each small enough for one process: what is tried does not depend on who tries it when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from src.saturation import Saturation
from src.studies.validation.planted import outcomes
from src.studies.validation.population import Truth, counted
from src.studies.validation.setting import Setting
from src.studies.validation.stopping import Stop, stops
from src.studies.validation.trial import Trial, trials

CHUNK = 5
"""Universes of a piece."""


@dataclass(frozen=True)
class Piece:
    """A piece of work: `what` is to be called with each of `arguments`."""

    what: Callable[..., Any]
    arguments: Sequence[tuple[Any, ...]]


def done(piece: Piece) -> list[Any]:
    """Do a piece of work; returns what each call gave."""
    return [piece.what(*each) for each in piece.arguments]


@dataclass(frozen=True)
class Seed:
    """What one seed gave: trials of every estimator, and where a run would stop."""

    trials: list[Trial]
    stops: list[Stop]


def population(setting: Setting, universes: int) -> list[Piece]:
    """Pieces that give the counts of each universe."""
    return _chunked(counted, universes, lambda number: (setting, number))


def seeded(setting: Setting, seeds: int, truths: Mapping[str, Truth], rule: Saturation, turns: int) -> list[Piece]:
    """Pieces that give a :class:`Seed` for each seed."""
    return _chunked(one_seed, seeds, lambda seed: (setting, seed, truths, rule, turns))


def one_seed(setting: Setting, seed: int, truths: Mapping[str, Truth], rule: Saturation, turns: int) -> Seed:
    """Everything that is tried in the universe of a seed."""
    return Seed(trials(setting, seed, truths), stops(setting, seed, rule, turns))


def studied(setting: Setting, seeds: int) -> list[Piece]:
    """Pieces that give a list of :class:`Outcome` for each seed."""
    return _chunked(outcomes, seeds, lambda seed: (setting, seed))


def _chunked(what: Callable[..., Any], seeds: int, arguments: Callable[[int], tuple[Any, ...]]) -> list[Piece]:
    numbers = range(seeds)
    return [Piece(what, [arguments(seed) for seed in numbers[at : at + CHUNK]]) for at in range(0, seeds, CHUNK)]
