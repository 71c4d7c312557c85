"""Money: who paid for what, one row per payment, whatever became of the value."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from src.ledger.database import put
from src.records import Role, Usage


@dataclass(frozen=True)
class Payer:
    """Who pays for a request, and what for.

    Attributes:
        cell_key: the cell whose spend it counts to.
        role: subject, judge, writer or embedder.
        prompt: name of the prompt, for people.
        endpoint: name of the endpoint, for people.
        cost: usage to US dollars; None where the price or a token count is unknown.
    """

    cell_key: str
    role: Role
    prompt: str
    endpoint: str
    cost: Callable[[Usage], float | None]


@dataclass(frozen=True)
class Spend:
    """What a cell paid for in one role, over all processes; None where any part is unknown.

    Attributes:
        answers: answers, or texts encoded, that were paid for and stored; overwritten ones included.
        attempts: requests made, failed ones included.
        tokens_in: tokens read by the endpoint.
        tokens_out: tokens written by it.
        latency_s: seconds spent waiting for it, summed over concurrent requests.
        cost_usd: US dollars.
    """

    answers: int
    attempts: int
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
    """Write down a payment; return the part of it that the value's own row repeats."""
    cost = payer.cost(usage)
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
    put(connection, "payments", {"key": key, **tokens, **sums, **row})
    return row


def spend(connection: sqlite3.Connection, cell_key: str) -> dict[str, Spend]:
    """Sum the payments of a cell by role."""
    sums = ", ".join(
        # SUM passes over NULL, and an unknown part makes the whole unknown.
        f"CASE WHEN COUNT({name}) = COUNT(*) THEN SUM({name}) END AS {name}"
        for name in ("answers", "attempts", "tokens_in", "tokens_out", "latency_s", "cost_usd")
    )
    sql = f"SELECT role, {sums} FROM payments WHERE cell_key = ? GROUP BY role ORDER BY role"
    rows = [dict(row) for row in connection.execute(sql, (cell_key,))]
    return {row.pop("role"): Spend(**row) for row in rows}
