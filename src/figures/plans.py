"""What a run can cost, before it, and what it did cost, after it; as lines for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from src.costs import Load
from src.records import Role

COLUMNS = ("calls at least", "as asked", "at most", "tokens in ≤", "tokens out ≤", "USD at least", "at most")
LEGEND = (
    "At least: the least it takes unless it is cut short. As asked: every answer obeys, all turns are run, nothing is "
    "asked twice. At most: no run takes more. What the ledger holds already is not taken off."
)


@dataclass(frozen=True)
class PlanRow:
    """What one role of a cell takes, if nothing is replayed.

    Attributes:
        role: who is asked; roles that work without calls or tokens have no row.
        name: the model.
        least: fewest calls and tokens, unless the run is cut short.
        asked: calls if every answer obeys and all turns are run; None if that hangs on what the answers say.
        most: no run takes more; no more than a budget lets it, where one is set.
        usd_least, usd_most: the same in US dollars; None where the price is unknown.
    """

    role: Role
    name: str
    least: Load
    asked: int | None
    most: Load
    usd_least: float | None
    usd_most: float | None


@dataclass(frozen=True)
class Compared:
    """One figure of a plan beside the fact; `within` is None where the fact is unknown."""

    role: Role
    what: str
    least: float
    most: float
    fact: float | None
    within: bool | None


def plan_lines(rows: Sequence[PlanRow]) -> list[tuple[str, ...]]:
    """A line per role: who, then texts under :data:`COLUMNS`."""
    return [
        (
            f"{row.role} {row.name}",
            *(_count(value) for value in (row.least.calls, row.asked, row.most.calls)),
            *(_count(value) for value in (row.most.tokens_in, row.most.tokens_out)),
            *(_dollars(value) for value in (row.usd_least, row.usd_most)),
        )
        for row in rows
    ]


def total(plans: Sequence[Sequence[PlanRow]]) -> list[PlanRow]:
    """The plans of several cells added up by role; a sum with an unknown part is unknown."""
    rows = [row for plan in plans for row in plan]
    return [_added([row for row in rows if row.role == role]) for role in dict.fromkeys(row.role for row in rows)]


def fact_lines(facts: Sequence[Compared]) -> list[str]:
    """A sentence per role: what it took, and in brackets what was planned."""
    lines = []
    for role in dict.fromkeys(fact.role for fact in facts):
        words = [
            f"{fact.what} {_number(fact.fact)} ({_number(fact.least)} to {_number(fact.most)}"
            f"{', OUTSIDE THE PLAN' if fact.within is False else ''})"
            for fact in facts
            if fact.role == role
        ]
        lines.append(f"{role}: {', '.join(words)}")
    return lines


def _added(rows: Sequence[PlanRow]) -> PlanRow:
    return PlanRow(
        rows[0].role,
        ", ".join(dict.fromkeys(row.name for row in rows)),
        _sum([row.least for row in rows]),
        _known([row.asked for row in rows]),
        _sum([row.most for row in rows]),
        _money([row.usd_least for row in rows]),
        _money([row.usd_most for row in rows]),
    )


def _sum(loads: Sequence[Load]) -> Load:
    return Load(*(sum(getattr(load, name) for load in loads) for name in ("calls", "tokens_in", "tokens_out")))


def _known(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _money(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _count(value: int | None) -> str:
    """`1,234`, `2.4 M`, `depends` for what hangs on the answers."""
    if value is None:
        return "depends"
    if value < 1_000_000:
        return f"{value:,}"
    return f"{value / 1e6:,.1f} M" if value < 1e9 else f"{value:.1e}"


def _dollars(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.2f}" if value < 1e6 else f"{value:.1e}"


def _number(value: float | None) -> str:
    if value is None:
        return "unknown"
    return _count(int(value)) if value == int(value) else f"{value:,.4f}"
