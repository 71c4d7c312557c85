"""Leases: of all tasks and processes that miss one key, one pays while the others wait."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache

import psutil

from src.errors import FrontierError
from src.host import alive
from src.ledger.budget import FREE
from src.ledger.database import Database, put, rows_of
from src.ledger.payments import Payer

LIFETIME_S = 120.0


class Leases:
    """Rows that say who is paying for a key right now.

    A row also says what the request can take at most: budgets reckon with it until the request is settled. On the
    owner's own host a lease holds for as long as the process lives, elsewhere until it expires. Nobody waits while
    holding one, so there is no deadlock.
    """

    def __init__(self, database: Database, *, lifetime_s: float = LIFETIME_S) -> None:
        self._database = database
        self._lifetime_s = lifetime_s
        self._host = platform.node()
        self._pid = os.getpid()
        self._started = psutil.Process().create_time()

    def free(self, connection: sqlite3.Connection, keys: Sequence[str]) -> list[str]:
        """Return the keys that nobody holds, in the order given."""
        held = self._living(rows_of(connection, "leases", keys))
        return [key for key in keys if key not in held]

    def take(self, connection: sqlite3.Connection, owner: str, keys: Sequence[str], payer: Payer) -> None:
        """Hold free keys, which one request pays for, for an owner, a name used once."""
        lease = {"owner": owner, "host": self._host, "pid": self._pid, "started": self._started}
        lease |= {"cell_key": payer.cell_key, "sweep": payer.sweep}
        most = payer.reserve
        for key in keys:
            counted = {"calls": most.calls, "tokens": most.tokens, "usd": float(most.usd)}
            put(connection, "leases", {"key": key, **lease, "expires": time.time() + self._lifetime_s, **counted})
            most = FREE  # one request, so only one of its rows counts

    def bury(self, connection: sqlite3.Connection) -> None:
        """Delete what dead owners hold against a budget."""
        rows = connection.execute("SELECT * FROM leases WHERE calls > 0").fetchall()
        living = self._living(rows)
        dead = [(row["key"],) for row in rows if row["key"] not in living]
        connection.executemany("DELETE FROM leases WHERE key = ?", dead)

    def _living(self, rows: Sequence[sqlite3.Row]) -> set[str]:
        """The keys of leases that still hold."""
        running = cache(alive)
        return {
            row["key"]
            for row in rows
            if (running(row["pid"], row["started"]) if row["host"] == self._host else row["expires"] > time.time())
        }

    @asynccontextmanager
    async def renewed(self, owner: str) -> AsyncIterator[None]:
        """Keep the leases of an owner from expiring for as long as the block runs."""
        renewal = asyncio.create_task(self._renew(owner))
        try:
            yield
        finally:
            renewal.cancel()

    async def _renew(self, owner: str) -> None:
        def renew(connection: sqlite3.Connection) -> None:
            expires = time.time() + self._lifetime_s
            connection.execute("UPDATE leases SET expires = ? WHERE owner = ?", (expires, owner))

        while True:
            await asyncio.sleep(self._lifetime_s / 4)
            # A file that cannot be written will stop the payer too, who says so; this task has nobody to tell.
            with suppress(FrontierError):
                await self._database.write(renew)


def drop(connection: sqlite3.Connection, owner: str) -> None:
    """Give back what an owner holds, if anything."""
    connection.execute("DELETE FROM leases WHERE owner = ?", (owner,))
