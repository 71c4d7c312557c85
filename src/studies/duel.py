"""Two models in one domain, turn by turn: recall, accuracy, decline, crossover; and the events that they show.

Nothing here reads a cell: a side is its judged points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from src.stats.compare import holm as holm_of
from src.stats.intervals import FEWEST_BRANCHES, Interval, Number, wilson, wilson_leaf
from src.stats.trends import Crossing, Judged, Trend, crossing, decline, difference
from src.studies.comparison import Comparison
from src.studies.wording import judged, p_words, points


class Side(NamedTuple):
    """A model in a domain.

    Attributes:
        model: its name.
        points: its judged points.
        turns: turns of its run.
    """

    model: str
    points: Judged
    turns: int


@dataclass(frozen=True)
class Duel:
    """A domain in which both models were asked.

    Attributes:
        zone: `inside` or `outside`; domain: its name.
        general, specialised: the models.
        last: T, the last turn that both reached.
        gap: both on their union, the specialised one first, so that a positive difference is in its favour; None
            without a union or without a valid point.
        accuracies: at the end of each run, general first.
        declines: of each up to T, general first.
        faster: decline of the specialised one less that of the general one.
        crossing: of their accuracies; `slopes` and `lead` are the specialised one's less the general one's.
    """

    zone: str
    domain: str
    general: Side
    specialised: Side
    last: int
    gap: Comparison | None
    accuracies: tuple[Number, Number]
    declines: tuple[Trend, Trend]
    faster: Trend
    crossing: Crossing


@dataclass(frozen=True)
class Event:
    """An event in a domain: predicted or not, shown or not.

    Attributes:
        name: `crossover` or `collapse`.
        zone, domain: where.
        predicted: whether it was expected there.
        testable: whether the data could have shown it; `why` says why not.
        shown: whether it is shown; None if it is not testable or cannot be decided.
        number, interval: the turn of the crossover, or the difference of decline rates per turn.
        p, p_holm: two-sided; NaN if it is not testable.
        turns: T.
        why: the numbers that decided it, or what is lacking.
    """

    name: str
    zone: str
    domain: str
    predicted: bool
    testable: bool
    shown: bool | None
    number: float
    interval: Interval
    p: float
    p_holm: float
    turns: int
    why: str

    @property
    def outcome(self) -> str:
        """What was predicted is kept or not, what was not is contradicted or not; or why neither."""
        if self.shown is None:
            return "undecided" if self.testable else "not testable"
        if self.predicted:
            return "kept" if self.shown else "not kept"
        return "contradicted" if self.shown else "not contradicted"

    @property
    def sentence(self) -> str:
        """The outcome with its numbers."""
        expected = f"{self.name} {'predicted' if self.predicted else 'not predicted'}"
        found = "" if self.shown is None else f", {'shown' if self.shown else 'none shown'}"
        return f"{self.domain} ({self.zone}): {expected}{found}: {self.outcome}; {self.why}."


def duel(zone: str, domain: str, general: Side, specialised: Side, gap: Comparison | None) -> Duel:
    """Compare two models in one domain.

    Args:
        zone: `inside` or `outside`; what is predicted hangs on it.
        domain: its name.
        general: the one model.
        specialised: the other.
        gap: both on their union, the specialised one first; None if there is none.
    """
    last = min(general.turns, specialised.turns)
    declines = decline(general.points, last), decline(specialised.points, last)
    accuracies, faster = (accuracy(general.points), accuracy(specialised.points)), difference(declines[1], declines[0])
    crossed = crossing(specialised.points, general.points, last)
    return Duel(zone, domain, general, specialised, last, gap, accuracies, declines, faster, crossed)


def accuracy(seen: Judged) -> Number:
    """Share of valid points with its interval: over branches, or over points with fewer than three branches."""
    n = len(seen.valid)
    value = float(seen.valid.mean()) if n else math.nan
    if seen.branches >= FEWEST_BRANCHES:
        return value, wilson_leaf(seen.valid.tolist(), [str(branch) for branch in seen.branch])
    return value, replace(wilson(int(seen.valid.sum()), n), branches=seen.branches)


def events(fought: Sequence[Duel], predicted: Mapping[str, Sequence[str]]) -> list[Event]:
    """Both events of every domain, with Holm's correction over all tests.

    Args:
        fought: the domains.
        predicted: `crossover` and `collapse` → zones in which they are expected.
    """
    tests = [(each, name) for name in ("crossover", "collapse") for each in fought]
    raw = [each.crossing.slopes.p if name == "crossover" else _collapse_p(each) for each, name in tests]
    known = [place for place, p in enumerate(raw) if not math.isnan(p)]
    adjusted = [math.nan] * len(raw)
    for place, p in zip(known, holm_of([raw[place] for place in known]), strict=True):
        adjusted[place] = p
    made = zip(tests, raw, adjusted, strict=True)
    return [_event(each, name, each.zone in predicted[name], p, p_holm) for (each, name), p, p_holm in made]


def _event(each: Duel, name: str, predicted: bool, p: float, p_holm: float) -> Event:
    number, interval, shown, why = (_crossover if name == "crossover" else _collapse)(each, p_holm)
    testable = not math.isnan(p)
    return Event(
        name, each.zone, each.domain, predicted, testable, shown if testable else None, number, interval, p, p_holm,
        each.last, why,
    )  # fmt: skip


def _crossover(each: Duel, p_holm: float) -> tuple[float, Interval, bool, str]:
    found = each.crossing
    slopes = found.slopes
    if math.isnan(slopes.value):
        return found.turn, found.interval, False, found.interval.reason
    if math.isnan(found.turn):
        why = f"{found.interval.reason}: its change of log odds per turn less that of the other {_log_odds(slopes)}"
        return found.turn, found.interval, False, f"{why}, {_tested(p_holm, found.interval)}"
    low, high = found.interval.low, found.interval.high
    numbers = f"turn {found.turn:.1f} [{low:.1f}, {high:.1f}] of {each.last}, {_tested(p_holm, found.interval)}"
    if slopes.value > 0:
        return found.turn, found.interval, False, f"it is the general model that is overtaken, {numbers}"
    return found.turn, found.interval, p_holm < 0.05, numbers


def _collapse(each: Duel, p_holm: float) -> tuple[float, Interval, bool | None, str]:
    faster, lead = each.faster, each.crossing.lead
    if reason := faster.interval.reason or lead.interval.reason:
        return faster.value, faster.interval, False, reason
    low, high = lead.interval.low, lead.interval.high
    behind = "it was ahead" if low > 0 else "it was behind" if high < 0 else "whether it was ahead cannot be told"
    why = (
        f"its decline per turn less that of the general model {points(faster.value, faster.interval, 2)} up to turn "
        f"{each.last}, {_tested(p_holm, faster.interval)}; in turn 1 {behind} ({_log_odds(lead)} log odds)"
    )
    falls = faster.value > 0 and p_holm < 0.05
    return faster.value, faster.interval, None if falls and low <= 0 <= high else falls and high < 0, why


def _collapse_p(each: Duel) -> float:
    """NaN unless both what must be known is known: the decline, and who was ahead."""
    return math.nan if math.isnan(each.crossing.lead.value) else each.faster.p


def _tested(p_holm: float, interval: Interval) -> str:
    return f"{p_words(p_holm, 'Holm p')}, {judged(interval)}"


def _log_odds(gap: Trend) -> str:
    return f"{gap.value:+.2f} [{gap.interval.low:+.2f}, {gap.interval.high:+.2f}]"
