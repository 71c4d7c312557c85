"""What counts as the same point: thresholds, guards, candidates and linkage (arXiv 2602.00959)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.errors import ConfigError


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Dedup:
    """One setting of the deduplication.

    Attributes:
        strict: a pair with a cosine above this is merged without asking, unless a guard objects.
        fuzzy: a pair with a cosine from this up to `strict`, or guarded above `strict`, is a question to the judge.
        guards: whether a difference in numbers, units, negation … forbids merging without asking.
        candidates: `all`: the judge sees the earlier survivors, most similar first, until one YES; 1: only the
            nearest one, as in the authors' code. Linkages other than `greedy` always judge every candidate pair.
        linkage: `greedy` depends on the order of arrival, the first kept wins; `representative`, `components` and
            `complete` do not.
    """

    strict: float = 0.92
    fuzzy: float = 0.70
    guards: bool = True
    candidates: Literal["all", 1] = "all"
    linkage: Literal["greedy", "representative", "components", "complete"] = "greedy"

    def __post_init__(self) -> None:
        if not 0 < self.fuzzy <= self.strict <= 1:
            raise ConfigError(
                f"dedup.fuzzy={self.fuzzy:g} and dedup.strict={self.strict:g} do not fit together: "
                "choose 0 < dedup.fuzzy <= dedup.strict <= 1"
            )

    def __str__(self) -> str:
        return (
            f"strict={self.strict:g} fuzzy={self.fuzzy:g} guards={str(self.guards).lower()} "
            f"candidates={self.candidates} linkage={self.linkage}"
        )


SWEEP = tuple((strict, fuzzy) for strict in (0.90, 0.92, 0.94) for fuzzy in (0.65, 0.70, 0.75))
"""The nine (strict, fuzzy) of the sensitivity study."""


def sweep(own: Dedup) -> tuple[Dedup, ...]:
    """The nine sweep settings under the run's own guards, candidates and linkage."""
    return tuple(replace(own, strict=strict, fuzzy=fuzzy) for strict, fuzzy in SWEEP)


def computed(own: Dedup) -> tuple[Dedup, ...]:
    """Every setting whose verdicts a run with setting `own` gathers: its own, then the nine of the sweep."""
    return (own, *(setting for setting in sweep(own) if setting != own))
