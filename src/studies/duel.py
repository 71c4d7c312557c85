"""Two models in one domain, turn by turn: recall, accuracy, decline, crossover; and the events that they show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from src.cells import MeasuredCell
from src.stats.compare import Pair, pairs, recall_interval, repeats
from src.stats.compare import holm as holm_of
from src.stats.intervals import FEWEST_BRANCHES, Interval, wilson, wilson_leaf
from src.stats.recall import Counts
from src.stats.trends import Crossing, Trend, crossing, decline, difference
from src.studies.block import accuracy_of, judged_points
from src.studies.wording import columns, judged, p_words, points

Number = tuple[float, Interval]
EVENTS = pl.Schema(
    {
        "event": pl.String,
        "zone": pl.String,
        "domain": pl.String,
        "predicted": pl.Boolean,
        "shown": pl.Boolean,
        "outcome": pl.String,
        "number": pl.Float64,
        "number_low": pl.Float64,
        "number_high": pl.Float64,
        "number_unit": pl.String,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "judged": pl.Int64,
        "branches": pl.Int64,
        "turns": pl.Int64,
        "why": pl.String,
    }
)
TURNS = pl.Schema(
    {
        "zone": pl.String,
        "domain": pl.String,
        "model": pl.String,
        "turn": pl.Int64,
        "judged": pl.Int64,
        "branches": pl.Int64,
        "accuracy": pl.Float64,
        "accuracy_low": pl.Float64,
        "accuracy_high": pl.Float64,
        "unit": pl.String,
    }
)


@dataclass(frozen=True)
class Duel:
    """A domain in which both models were asked.

    Attributes:
        zone: `inside` or `outside`; domain: its name.
        general, specialised: the cells.
        last: T, the last turn that both reached.
        recall: recall_match of the general and of the specialised one; None without a union or without a valid point.
        gap: recall_match of the specialised one less that of the general one; None where `recall` is.
        accuracies: at the end of each run, general first.
        declines: of each up to T, general first.
        faster: decline of the specialised one less that of the general one.
        crossing: of their accuracies; `slopes` and `lead` are the specialised one's less the general one's.
    """

    zone: str
    domain: str
    general: MeasuredCell
    specialised: MeasuredCell
    last: int
    recall: tuple[Number, Number] | None
    gap: Pair | None
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


def duel(zone: str, general: MeasuredCell, specialised: MeasuredCell, counts: Counts | None, seed: int) -> Duel:
    """Compare two models in one domain.

    Args:
        zone: `inside` or `outside`.
        general: the cell of the general model.
        specialised: the cell of the specialised one.
        counts: of the union of both, general first; None if there is no union.
        seed: of the draws.
    """
    sides = judged_points(general), judged_points(specialised)
    last = min(cell.extracted["turns"].height for cell in (general, specialised))
    declines = decline(sides[0], last), decline(sides[1], last)
    recall, gap = None, None
    if counts is not None and len(counts):
        # Specialised first, so that a positive difference is in its favour.
        drawn = repeats([counts[:, ::-1]], seed)
        own = [(float(drawn.match[place]), recall_interval(drawn.unions[0], place)) for place in (1, 0)]
        recall, gap = (own[0], own[1]), pairs(drawn)[0]
    accuracies, faster = (accuracy_of(general), accuracy_of(specialised)), difference(declines[1], declines[0])
    crossed = crossing(sides[1], sides[0], last)
    return Duel(zone, general.domain, general, specialised, last, recall, gap, accuracies, declines, faster, crossed)


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


def events_table(tested: Sequence[Event]) -> pl.DataFrame:
    """The events, in the order of event, zone, domain."""
    rows: list[dict[str, Any]] = []
    for event in tested:
        numbers = columns("number", event.number, event.interval)
        numbers.pop("number_reason")
        rows.append(
            {
                **{"event": event.name, "zone": event.zone, "domain": event.domain, "predicted": event.predicted},
                "shown": event.shown,
                "outcome": event.outcome,
                **numbers,
                "number_unit": "turn" if event.name == "crossover" else "share per turn",
                "p": None if math.isnan(event.p) else event.p,
                "p_holm": None if math.isnan(event.p_holm) else event.p_holm,
                "judged": event.interval.n,
                "branches": event.interval.branches,
                "turns": event.turns,
                "why": event.why,
            }
        )
    return pl.DataFrame(rows, schema=EVENTS)


def duels_table(fought: Sequence[Duel]) -> pl.DataFrame:
    """One row for each domain and model: recall, accuracy at the end, decline up to T."""
    rows: list[dict[str, Any]] = []
    for each in fought:
        for place, cell in enumerate((each.general, each.specialised)):
            trend = each.declines[place]
            nothing = (
                math.nan,
                Interval(math.nan, math.nan, 0, "union cluster", "Wilson", "no union with a valid point"),
            )
            recall = each.recall[place] if each.recall is not None else nothing
            rows.append(
                {
                    **{"zone": each.zone, "domain": each.domain, "model": cell.model},
                    **columns("recall_match", *recall),
                    "clusters": recall[1].n,
                    **columns("accuracy", *each.accuracies[place]),
                    "judged": each.accuracies[place][1].n,
                    "branches": each.accuracies[place][1].branches,
                    "turns": cell.extracted["turns"].height,
                    "compared_turns": each.last,
                    **columns("decline_per_turn", trend.value, trend.interval),
                }
            )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64) for name, kind in table.schema.items() if kind == pl.Null)


def turns_table(fought: Sequence[Duel]) -> pl.DataFrame:
    """Accuracy of all points up to each turn, for each domain and model."""
    rows = []
    for each in fought:
        for cell in (each.general, each.specialised):
            side = judged_points(cell)
            for turn in range(1, cell.extracted["turns"].height + 1):
                seen = side.until(turn)
                n = len(seen.valid)
                enough = seen.branches >= FEWEST_BRANCHES
                bounds = wilson(int(seen.valid.sum()), n)
                if enough:
                    bounds = wilson_leaf(seen.valid.tolist(), [str(branch) for branch in seen.branch])
                ends = (None, None) if bounds.reason else (bounds.low, bounds.high)
                share = float(seen.valid.mean()) if n else None
                rows.append((each.zone, each.domain, cell.model, turn, n, seen.branches, share, *ends, bounds.unit))
    return pl.DataFrame(rows, schema=TURNS, orient="row")


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
