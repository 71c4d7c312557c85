"""Money: who paid for what, one row per payment, whatever became of the value."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from src.ledger.budget import FREE, Charge, add_spent, charge
from src.ledger.database import put
from src.records import Role, Usage

NOTHING = Usage(0, 0)


@dataclass(frozen=True)
class Payer:
    """Who pays for a request, and what for.

    Attributes:
        cell_key: the cell whose spend it counts to.
        role: subject, judge, writer or embedder.
        prompt: name of the prompt, for people.
        endpoint: name of the endpoint, for people.
        cost: usage to US dollars; None where the price or a token count is unknown.
        most: the most that one request can take, tokens in and out. It is held against the budgets while the request
            is under way, and charged where the endpoint does not tell the usage. No tokens at all: work of this
            machine, which nobody bills and no budget counts.
        sweep: the sweep that the cell belongs to, if any.
    """

    cell_key: str
    role: Role
    prompt: str
    endpoint: str
    cost: Callable[[Usage], float | None]
    most: Usage = NOTHING
    sweep: str | None = None

    @property
    def reserve(self) -> Charge:
        """What a request is counted with while it is under way; dollars that nobody can tell fit no limit."""
        if self.most == NOTHING:
            return FREE
        usd = self.cost(self.most)
        return charge(self.most, math.inf if usd is None else usd)

    def settled(self, usage: Usage, *, answered: bool) -> Charge:
        """What a request is counted with once it is done: nothing if it failed and surely cost nothing."""
        if self.most == NOTHING or not (answered or usage != NOTHING):
            return FREE
        known = Usage(
            self.most.tokens_in if usage.tokens_in is None else usage.tokens_in,
            self.most.tokens_out if usage.tokens_out is None else usage.tokens_out,
        )
        return charge(known, self.cost(known))


@dataclass(frozen=True)
class Spend:
    """What a cell paid for in one role, over all processes; None where any part is unknown.

    Attributes:
        answers: answers, or texts encoded, that were paid for and stored; overwritten ones included.
        calls: requests that an endpoint was paid for, as a budget counts them; none for work of this machine.
        attempts: requests made, failed ones included.
        failed: those of them that failed, be it that a later attempt was answered.
        tokens_in: tokens read by the endpoint.
        tokens_out: tokens written by it.
        latency_s: seconds spent waiting for it, summed over concurrent requests.
        cost_usd: US dollars.
    """

    answers: int
    calls: int
    attempts: int
    failed: int
    tokens_in: int | None
    tokens_out: int | None
    latency_s: float
    cost_usd: float | None


def put_payment(
    connection: sqlite3.Connection,
    key: str,
    payer: Payer,
    usage: Usage,
    *,
    answers: int,
    attempts: int,
    latency_s: float,
) -> dict[str, object]:
    """Write down a payment and count it; return the part of it that the value's own row repeats."""
    cost = payer.cost(usage)
    counted = payer.settled(usage, answered=answers > 0)
    row: dict[str, object] = {
        "cell_key": payer.cell_key,
        "role": payer.role,
        "prompt": payer.prompt,
        "endpoint": payer.endpoint,
        "cost_usd": None if cost is None else float(cost),
        "time": time.time(),
    }
    tokens = {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}
    sums = {"answers": answers, "attempts": attempts, "latency_s": float(latency_s)}
    charged = {"calls": counted.calls, "charged_tokens": counted.tokens, "charged_usd": float(counted.usd)}
    put(connection, "payments", {"key": key, **tokens, **sums, **row, **charged, "sweep": payer.sweep})
    if counted != FREE:
        add_spent(connection, "run", payer.cell_key, counted)
        if payer.sweep is not None:
            add_spent(connection, "sweep", payer.sweep, counted)
    return row


def spend(connection: sqlite3.Connection, cell_key: str) -> dict[str, Spend]:
    """Sum the payments of a cell by role."""
    sums = ", ".join(
        # SUM passes over NULL, and an unknown part makes the whole unknown.
        f"CASE WHEN COUNT({name}) = COUNT(*) THEN SUM({name}) END AS {name}"
        for name in ("answers", "calls", "attempts", "tokens_in", "tokens_out", "latency_s", "cost_usd")
    )
    failed = "SUM(attempts - (answers > 0)) AS failed"
    sql = f"SELECT role, {sums}, {failed} FROM payments WHERE cell_key = ? GROUP BY role ORDER BY role"
    rows = [dict(row) for row in connection.execute(sql, (cell_key,))]
    return {row.pop("role"): Spend(**row) for row in rows}
