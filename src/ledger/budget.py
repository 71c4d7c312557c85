"""How much may be spent: limits, and whether one more request fits under them."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.records import Usage

_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)
_ROUNDING = 1e-9  # of sums of dollars, relative: ten times 0.1 fit into 1.0

Scope = Literal["run", "sweep"]


@dataclass(frozen=True, config=_STRICT)
class Budget:
    """What may be spent; None is no limit. What is replayed from the ledger is free.

    Attributes:
        calls: answers and requests for vectors at endpoints; retries are not counted again.
        tokens: tokens in and out.
        usd: US dollars.
    """

    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    usd: Annotated[float, Field(ge=0)] | None = None

    @property
    def limits(self) -> dict[str, float]:
        """The limits that there are, by name."""
        named = {"calls": self.calls, "tokens": self.tokens, "usd": self.usd}
        return {name: limit for name, limit in named.items() if limit is not None}


@dataclass(frozen=True, config=_STRICT)
class Budgets(Budget):
    """The budget of a run and that of its sweep.

    A run has spent what its cell has paid in all its processes so far. The sum of what is spent and of the most that
    is under way never exceeds a limit, unless an endpoint bills more than it was asked for or attempts that it failed
    to answer. What was under way in a process that was killed counts as not sent. Which requests a budget lets through
    may depend on time; all that they brought is in the ledger.

    Attributes:
        sweep: shared by all cells of the sweep.
    """

    sweep: Budget = Field(default_factory=Budget)


class Charge(NamedTuple):
    """What a request is counted with; zero throughout if nobody bills it."""

    calls: int
    tokens: int
    usd: float


def charge(usage: Usage, usd: float | None) -> Charge:
    """Count one request; parts that nobody knows count nothing."""
    return Charge(1, (usage.tokens_in or 0) + (usage.tokens_out or 0), usd or 0.0)


FREE = Charge(0, 0, 0.0)


def add_spent(connection: sqlite3.Connection, scope: Scope, name: str, more: Charge) -> None:
    """Add to what a run (by its cell key) or a sweep has spent."""
    connection.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "calls = calls + excluded.calls, tokens = tokens + excluded.tokens, usd = usd + excluded.usd",
        (scope, name, *more),
    )


def _spent(connection: sqlite3.Connection, scope: Scope, name: str) -> Charge:
    query = "SELECT calls, tokens, usd FROM spent WHERE scope = ? AND name = ?"
    return Charge(*(connection.execute(query, (scope, name)).fetchone() or FREE))


def _held(connection: sqlite3.Connection, scope: Scope, name: str) -> Charge:
    """What requests under way can still take."""
    column = {"run": "cell_key", "sweep": "sweep"}[scope]
    query = f"SELECT SUM(calls), SUM(tokens), SUM(usd) FROM leases WHERE {column} = ? AND calls > 0"
    return Charge(*(part or 0 for part in connection.execute(query, (name,)).fetchone()))


class Room(NamedTuple):
    """Whether a request fits now; if it never will, why."""

    fits: bool
    refusal: str = ""


def room(connection: sqlite3.Connection, budgets: Budgets, cell_key: str, sweep: str | None, most: Charge) -> Room:
    """Look whether a request fits under all limits beside what is spent and what is under way.

    Args:
        connection: inside the transaction that will hold the request's lease.
        budgets: the limits.
        cell_key: the cell that pays.
        sweep: its sweep, if any.
        most: what the request can take.
    """
    fits = True
    scopes: list[tuple[Scope, str, Budget]] = [("run", cell_key, budgets)]
    if sweep is not None:
        scopes.append(("sweep", sweep, budgets.sweep))
    for scope, name, budget in scopes:
        if not budget.limits:
            continue
        spent, held = _spent(connection, scope, name), _held(connection, scope, name)
        for unit, limit in budget.limits.items():
            mine, gone, under_way = (getattr(part, unit) for part in (most, spent, held))
            if mine and gone + mine > limit * (1 + _ROUNDING):
                return Room(False, _refusal(scope, name, unit, limit, gone, mine))
            fits = fits and (not mine or gone + under_way + mine <= limit * (1 + _ROUNDING))
    return Room(fits)


def _refusal(scope: Scope, name: str, unit: str, limit: float, spent: float, mine: float) -> str:
    key = f"budget.{unit}" if scope == "run" else f"budget.sweep.{unit}"
    who = "this run" if scope == "run" else f"sweep {name}"
    said, gone, needed = (f"{part:.6g}" if unit == "usd" else f"{part:.0f}" for part in (limit, spent, mine))
    return (
        f"{key}={said} leaves no room for the next request: {who} has spent {gone}, and it can take up to {needed}; "
        f"raise {key} and run again: nothing that was paid for is asked again."
    )
