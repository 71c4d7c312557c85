"""The ledger: look up, or pay once and keep."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeVar, get_args

import numpy as np

from src.errors import BudgetReached, ConfigError, EmbeddingError, LedgerMiss
from src.ledger.answers import Reply, cleaned, put_reply, read_reply
from src.ledger.budget import Budgets, Room, room
from src.ledger.database import Database, Mode, Table, quarantine, sort_out
from src.ledger.keys import normal, request_key
from src.ledger.leases import Leases, drop
from src.ledger.line import Line
from src.ledger.payments import Payer, Spend, put_payment, spend
from src.ledger.vectors import Space, Unanswered, Vector, dimension, put_vectors, read_vector
from src.records import Encoded

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.01, 0.2

Value = TypeVar("Value")
Buy = Callable[[str, Sequence[str]], Awaitable[dict[str, Value]]]
"""Pays for keys that a named owner holds, stores what came, gives the keys back and returns it."""


class Ledger:
    """Every answer and vector ever obtained, in one SQLite file that many processes may share.

    Modes: `live` pays for what is missing; `replay` pays for nothing and writes nothing; `refresh` pays for every
    request once more, whatever is stored, and overwrites it. Nothing is paid for that might exceed a budget. A context
    manager; the file, with its folder, is made
    on entering, except in replay, where a missing file is an empty one.

    Attributes:
        path: the file.
        mode: live, replay or refresh.
        budgets: what the payers' runs and sweeps may spend.
        quarantined: rows found damaged so far; each was a miss.
        asked: answers asked for so far, and
        replayed: those of them that were there.
    """

    def __init__(self, path: Path | str, mode: Mode = "live", budgets: Budgets | None = None) -> None:
        if mode not in get_args(Mode):
            raise ConfigError(f"ledger.mode is {mode!r}; allowed are {', '.join(get_args(Mode))}.")
        self.path = Path(path)
        self.mode = mode
        self.budgets = budgets or Budgets()
        self.quarantined = 0
        self.asked = 0
        self.replayed = 0
        self._refreshed: set[str] = set()

    def __enter__(self) -> Self:
        self._database = Database(self.path, read_only=self.mode == "replay")
        self._leases = Leases(self._database)
        self._line = Line()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    async def answer(
        self, request: Mapping[str, object], payer: Payer, pay: Callable[[], Awaitable[Reply]]
    ) -> tuple[str, Reply, bool]:
        """Return the stored reply to a request, or pay for it and store it first.

        Args:
            request: everything that determines the answer, as plain data (see :func:`request_key`).
            payer: who pays on a miss.
            pay: obtains the reply; not called on a hit. A reply in state `error` is returned but not stored.

        Returns:
            The key, the reply, and whether it was replayed, so that nothing was spent now.

        Raises:
            LedgerMiss: mode `replay` and nothing stored.
            BudgetReached: the request might exceed a budget, whatever becomes of those under way; it was not sent.
        """
        key = request_key(request)

        async def buy(owner: str, _: Sequence[str]) -> dict[str, Reply]:
            reply = cleaned(await pay())

            def store(connection: sqlite3.Connection) -> None:
                put_reply(connection, key, request, payer, reply)
                drop(connection, owner)
                if reply.state != "error":
                    self._refreshed.add(key)

            await self._database.write(store)
            return {key: reply}

        def what(_: str) -> str:
            known = [f"{name} {request[name]}" for name in ("model", "draw") if name in request]
            return f"answer to the {payer.role} prompt {payer.prompt!r} ({', '.join([*known, f'key {key[:12]}'])})"

        replies, paid = await self._obtain("answers", [key], read_reply, buy, what, payer)
        self.asked += 1
        self.replayed += key not in paid
        return key, replies[key], key not in paid

    async def vectors(
        self,
        texts: Sequence[str],
        identity: Mapping[str, object],
        payer: Payer,
        pay: Callable[[list[str]], Awaitable[Encoded]],
    ) -> tuple[Encoded, int]:
        """Return the vectors of texts; those that are missing are paid for, together, and stored first.

        Args:
            texts: any number of texts, also repeated ones.
            identity: what determines a vector beside the text: model, revision, dtype, normalise, ...
            payer: who pays for what is missing.
            pay: encodes distinct texts, given in NFC and in order of first appearance; raises :class:`Unanswered` if
                it paid in vain. It is called again for texts that another task or process was paying for and gave up.

        Returns:
            The vectors, a row per text in order, and the number of rows that were not paid for now.

        Raises:
            LedgerMiss: mode `replay` and a text without a vector.
            BudgetReached: as :meth:`answer`.
            EmbeddingError: rows missing, zero or not finite, or of another dimension than those stored under this
                identity. None of them is stored then, only the payment.
        """
        space = Space(request_key(identity), identity)
        written = [normal(text) for text in texts]
        keys = [space.key_of(text) for text in written]
        text_of = dict(zip(keys, written, strict=True))

        async def buy(owner: str, missing: Sequence[str]) -> dict[str, Vector]:
            wanted = {key: text_of[key] for key in missing}
            start = time.perf_counter()
            try:
                encoded = await pay(list(wanted.values()))
            except Unanswered as vain:
                await self._database.write(
                    partial(
                        put_payment,
                        key=space.key,
                        payer=payer,
                        usage=vain.usage,
                        answers=0,
                        attempts=vain.attempts,
                        latency_s=time.perf_counter() - start,
                    )
                )
                raise vain.error from None
            latency_s = time.perf_counter() - start

            def store(connection: sqlite3.Connection) -> tuple[dict[str, Vector], str]:
                bought, fault = put_vectors(connection, space, wanted, payer, encoded, latency_s=latency_s)
                drop(connection, owner)
                self._refreshed.update(bought)
                return bought, fault

            bought, fault = await self._database.write(store)
            if fault:
                who = f"The encoder {identity.get('model')} at {payer.endpoint}"
                raise EmbeddingError(f"{who} returned {fault}; nothing of it was stored.")
            return bought

        def what(key: str) -> str:
            return f"vector of {text_of[key][:60]!r} (model {identity.get('model')}, key {key[:12]})"

        found, paid = await self._obtain("vectors", list(text_of), read_vector, buy, what, payer)
        if not keys:
            width = await self._database.read(lambda connection: dimension(connection, space))
            return Encoded(np.empty((0, width), np.float32), np.empty(0, np.int64)), 0
        rows = np.array([found[key][0] for key in keys], dtype=np.float32)
        tokens = np.array([found[key][1] for key in keys], dtype=np.int64)
        return Encoded(rows, tokens), sum(key not in paid for key in keys)

    def spend(self, cell_key: str) -> dict[str, Spend]:
        """Return what a cell has paid, by role, summed over every process that paid for it."""
        return self._database.submit(partial(spend, cell_key=cell_key), writes=False).result()

    def unpriced(self, cell_key: str, sweep: str | None) -> int:
        """Return how many payments of a cell or sweep were made while the price was unknown: no dollars count them."""
        query = (
            "SELECT COUNT(*) FROM payments WHERE (cell_key = ? OR sweep = ?) "
            "AND calls > 0 AND cost_usd IS NULL AND charged_usd = 0 AND charged_tokens > 0"
        )
        return int(
            self._database.submit(
                lambda connection: connection.execute(query, (cell_key, sweep)).fetchone()[0], writes=False
            ).result()
        )

    async def _obtain(
        self,
        table: Table,
        keys: Sequence[str],
        read: Callable[[sqlite3.Row], Value],
        buy: Buy[Value],
        what: Callable[[str], str],
        payer: Payer,
    ) -> tuple[dict[str, Value], set[str]]:
        """Find the values of keys, buying what nobody has or is buying; return them, and which were bought here."""
        owner = uuid.uuid4().hex
        found: dict[str, Value] = {}
        paid: set[str] = set()
        missing = list(keys)
        wait = _FIRST_WAIT_S
        while missing:
            look = partial(self._look, table=table, keys=missing, payer=payer)
            rows, free, _ = await self._database.read(look)
            if self.mode == "replay" and len(rows) < len(missing):
                lost = next(key for key in missing if key not in rows)
                raise LedgerMiss(
                    f"The ledger {self.path} holds no {what(lost)}, and replay pays for nothing: run with "
                    "ledger.mode=live to obtain it, or choose the ledger.path that holds it."
                )
            if free:
                try:
                    # Looked up again under the file's lock: somebody may have paid since.
                    rows, taken, place = await self._with_room(partial(look, owner=owner))
                    if place.refusal:
                        raise BudgetReached(place.refusal)
                    if taken:
                        async with self._leases.renewed(owner):
                            found |= await buy(owner, taken)
                        paid.update(taken)
                except BaseException:
                    # Submitted and not awaited, for this task may be cancelled.
                    self._database.submit(partial(drop, owner=owner), writes=True)
                    raise
                finally:
                    self._line.move()
                wait = _FIRST_WAIT_S
            elif len(rows) < len(missing):
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT_S)
            found |= {key: read(row) for key, row in rows.items()}
            missing = [key for key in missing if key not in found]
        return found, paid

    async def _with_room(self, look: Callable[[sqlite3.Connection], _Look]) -> _Look:
        """Look and take; while requests under way leave no room in a budget, wait for them."""

        def decided(seen: _Look) -> bool:
            return seen.room.fits or bool(seen.room.refusal)

        seen = await self._database.write(look)
        return seen if decided(seen) else await self._line.wait(lambda: self._database.write(look), decided)

    def _look(
        self, connection: sqlite3.Connection, *, table: Table, keys: Sequence[str], payer: Payer, owner: str = ""
    ) -> _Look:
        """Return the rows stored and, of the other keys, those that nobody is buying.

        An owner takes the latter if there is room for the request that buys them.
        """
        known = [key for key in keys if key in self._refreshed] if self.mode == "refresh" else keys
        rows, damaged = sort_out(connection, table, known)
        free = self._leases.free(connection, [key for key in keys if key not in rows])
        place = Room(True)
        if owner:
            quarantine(connection, table, damaged)
            place = self._room(connection, payer) if free else place
            if place.fits:
                self._leases.take(connection, owner, free, payer)
        if owner or self.mode == "replay":
            self.quarantined += len(damaged)
        return _Look(rows, free, place)

    def _room(self, connection: sqlite3.Connection, payer: Payer) -> Room:
        """Whether the budgets have room for a request of a payer."""
        ask = partial(room, connection, self.budgets, payer.cell_key, payer.sweep, payer.reserve)
        place = ask()
        if not place.fits and not place.refusal:  # only now it matters whether all who hold room still live
            self._leases.bury(connection)
            place = ask()
        return place


class _Look(NamedTuple):
    """Rows by key, keys that nobody holds, and whether the budgets have room for the request that buys them."""

    rows: dict[str, sqlite3.Row]
    free: list[str]
    room: Room
