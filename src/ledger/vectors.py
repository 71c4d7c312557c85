"""Vectors and the rows that keep them. A space is what an identity (model, revision, dtype, ...) stands for."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from src.errors import FrontierError
from src.ledger.database import put, sealed
from src.ledger.keys import canonical, request_key
from src.ledger.payments import Payer, put_payment
from src.records import Encoded, Usage

Vector = tuple[np.ndarray, int]
"""A float32 vector of shape (d,) and the tokens it took, -1 where unknown."""


class Unanswered(Exception):
    """A request for vectors that was sent in vain: what it took, and what to raise once that is written down.

    Attributes:
        error: why there are no vectors.
        usage: tokens; 0 and 0 if it surely cost nothing.
        attempts: requests made, all of them failed unless it is the vectors that are wrong.
    """

    def __init__(self, error: FrontierError, *, usage: Usage, attempts: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.usage = usage
        self.attempts = attempts


@dataclass(frozen=True)
class Space:
    """An identity and its key."""

    key: str
    identity: Mapping[str, object]

    def key_of(self, text: str) -> str:
        """Return the key of a text's vector."""
        return request_key({"space": self.key, "text": text})


def read_vector(row: sqlite3.Row) -> Vector:
    """Read a stored vector."""
    return np.frombuffer(row["vector"], dtype="<f4"), row["tokens"]


def dimension(connection: sqlite3.Connection, space: Space) -> int:
    """Return the length of the vectors stored in a space; 0 while there are none."""
    row = connection.execute("SELECT dimension FROM spaces WHERE key = ?", (space.key,)).fetchone()
    return int(row[0]) if row else 0


def put_vectors(
    connection: sqlite3.Connection,
    space: Space,
    texts: Mapping[str, str],
    payer: Payer,
    encoded: Encoded,
    *,
    latency_s: float,
) -> tuple[dict[str, Vector], str]:
    """Write down what vectors cost and, if nothing is wrong with them, the vectors.

    Args:
        connection: inside a transaction.
        space: where the vectors belong.
        texts: text by key, as they were encoded.
        payer: who paid.
        encoded: as the encoder gave it.
        latency_s: seconds it took.

    Returns:
        The vectors by key, and what is wrong with them: "" or a fault, and then nothing was stored.
    """
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, which is a fault
        rows = np.ascontiguousarray(encoded.vectors, dtype="<f4")
    counts = np.asarray(encoded.tokens)
    fault = _fault(rows, counts, len(texts), dimension(connection, space))
    total = int(counts.sum()) if counts.shape == (len(texts),) and (counts >= 0).all() else None
    answers = 0 if fault else len(texts)
    spent = {"answers": answers, "attempts": encoded.attempts}
    paid = put_payment(connection, space.key, payer, Usage(total, 0), **spent, latency_s=latency_s)
    if fault:
        return {}, fault
    put(connection, "spaces", {"key": space.key, "identity": canonical(space.identity), "dimension": rows.shape[1]})
    vectors = {key: (row, int(count)) for key, row, count in zip(texts, rows, counts, strict=True)}
    for key, (row, count) in vectors.items():
        value = {"key": key, "space": space.key, "text": texts[key], "vector": row.tobytes(), "tokens": count}
        note = {name: paid[name] for name in ("cell_key", "role", "endpoint", "time")}
        put(connection, "vectors", sealed(value | note))
    return vectors, ""


def _fault(rows: np.ndarray, counts: np.ndarray, expected: int, known: int) -> str:
    if rows.ndim != 2 or rows.shape[0] != expected or rows.shape[1] == 0:
        return f"an array of shape {rows.shape} for {expected} texts"
    if counts.shape != (expected,):
        return f"token counts of shape {counts.shape} for {expected} texts"
    if known not in (0, rows.shape[1]):
        return f"vectors of dimension {rows.shape[1]}, where those stored have {known}"
    if not np.isfinite(rows).all():
        return "values that are not finite"
    return "" if rows.any(axis=1).all() else "a vector of zeros"
