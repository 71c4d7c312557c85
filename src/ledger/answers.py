"""Replies and the rows that keep them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from src.ledger.database import put, sealed
from src.ledger.keys import canonical, clean
from src.ledger.payments import Payer, put_payment
from src.records import State, Usage


@dataclass(frozen=True)
class Reply:
    """What an endpoint said to one request.

    Attributes:
        text: as received; lone surrogates are replaced when it passes the ledger.
        state: every state but `error` is final and is stored.
        finish_reason: as the endpoint gave it.
        usage: tokens; None is unknown. A reply in state `error` that surely cost nothing says 0.
        attempts: HTTP requests made, failed ones included.
        latency_s: seconds it took.
        reason: why state is not ok; "" otherwise.
    """

    text: str
    state: State
    finish_reason: str | None
    usage: Usage
    attempts: int
    latency_s: float
    reason: str = ""


def cleaned(reply: Reply) -> Reply:
    """Return the reply as it will be read again."""
    finish = None if reply.finish_reason is None else clean(reply.finish_reason)
    return replace(reply, text=clean(reply.text), finish_reason=finish, reason=clean(reply.reason))


def read_reply(row: sqlite3.Row) -> Reply:
    """Read a stored reply."""
    usage = Usage(row["tokens_in"], row["tokens_out"])
    names = ("text", "state", "finish_reason", "attempts", "latency_s", "reason")
    return Reply(usage=usage, **{name: row[name] for name in names})


def put_reply(
    connection: sqlite3.Connection, key: str, request: Mapping[str, object], payer: Payer, reply: Reply
) -> None:
    """Write down what a reply cost and, if its state is final, the reply."""
    final = reply.state != "error"
    paid = put_payment(
        connection,
        key,
        payer,
        reply.usage,
        answers=int(final),
        attempts=reply.attempts,
        latency_s=reply.latency_s,
    )
    if final:
        row: dict[str, object] = {
            "key": key,
            "request": canonical(request),
            "text": reply.text,
            "state": reply.state,
            "finish_reason": reply.finish_reason,
            "tokens_in": reply.usage.tokens_in,
            "tokens_out": reply.usage.tokens_out,
            "attempts": reply.attempts,
            "latency_s": float(reply.latency_s),
            "reason": reply.reason,
        }
        put(connection, "answers", sealed(row | paid))
