"""The SQLite file behind the ledger: how it is opened, written and checked."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from src.errors import ConfigError, DataMissing, FrontierError
from src.ledger import schema

Mode = Literal["live", "replay", "refresh"]
Table = Literal["answers", "vectors"]

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

_UNUSABLE = "Check that its folder exists, is writable and has space left, or choose another ledger.path."
_LOCKED = f"Another process kept it locked for {schema.BUSY_S:.0f} s; end that process or choose another ledger.path."
_DAMAGED = "Move it away to start a new one, or restore a copy; `sqlite3 FILE .recover` may save what it holds."
_ADVICE: Mapping[int, tuple[type[FrontierError], str]] = {
    sqlite3.SQLITE_CANTOPEN: (ConfigError, _UNUSABLE),
    sqlite3.SQLITE_READONLY: (ConfigError, _UNUSABLE),
    sqlite3.SQLITE_PERM: (ConfigError, _UNUSABLE),
    sqlite3.SQLITE_IOERR: (ConfigError, _UNUSABLE),
    sqlite3.SQLITE_FULL: (ConfigError, _UNUSABLE),
    sqlite3.SQLITE_BUSY: (ConfigError, _LOCKED),
    sqlite3.SQLITE_NOTADB: (DataMissing, _DAMAGED),
    sqlite3.SQLITE_CORRUPT: (DataMissing, _DAMAGED),
}


class Database:
    """One connection to the ledger file, worked by a thread of its own.

    A durable commit takes from one to tens of milliseconds, so the event loop must not wait for it, and what has
    gathered while one commit runs shares the next. A work once submitted is done, though its task be cancelled: no
    answer that was paid for is lost.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """Open the file; create it, with its folder, unless it is only read.

        Raises:
            ConfigError: the place is not writable, holds something else, or was written by a newer version.
            DataMissing: the file is damaged.
        """
        self._path = path
        try:
            with _explained(path):
                self._connection = schema.read(path) if read_only else schema.create(path)
        except OSError as error:
            raise ConfigError(f"The ledger {path} cannot be used: {error}. {_UNUSABLE}") from error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._lock = threading.Lock()
        self._waiting: list[tuple[Work[Any], Future[Any], bool]] = []

    def close(self) -> None:
        """Finish what was submitted, then close the connection."""
        self._thread.shutdown()
        self._connection.close()

    async def read(self, work: Work[Result]) -> Result:
        """Run queries."""
        return await _finished(self.submit(work, writes=False))

    async def write(self, work: Work[Result]) -> Result:
        """Run queries and changes under the file's lock; they are on disk afterwards, or an error is raised."""
        return await _finished(self.submit(work, writes=True))

    def submit(self, work: Work[Result], *, writes: bool) -> Future[Result]:
        """Have a work done soon, in the order of submission."""
        future: Future[Result] = Future()
        with self._lock:
            self._waiting.append((work, future, writes))
            if len(self._waiting) == 1:
                self._thread.submit(self._run)
        return future

    def _run(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        writes = any(writing for _, _, writing in batch)
        try:
            with _explained(self._path), self._connection if writes else nullcontext():
                if writes:
                    self._connection.execute("BEGIN IMMEDIATE")
                results = [work(self._connection) for work, _, _ in batch]
        except BaseException as error:
            for _, future, _ in batch:
                future.set_exception(error)
            raise
        for (_, future, _), result in zip(batch, results, strict=True):
            future.set_result(result)


async def _finished(future: Future[Result]) -> Result:
    """Wait for a future without handing it the cancellation of the task that waits, as asyncio's own wrapper would."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def tell(_: Future[Result]) -> None:
        with suppress(RuntimeError):  # the task was cancelled and its loop is closed: nobody waits any more
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    await done.wait()
    return future.result()


def rows_of(connection: sqlite3.Connection, table: Table | Literal["leases"], keys: Sequence[str]) -> list[sqlite3.Row]:
    """Return the rows that have one of the keys, in no particular order."""
    sql = f"SELECT * FROM {table} WHERE key IN (SELECT value FROM json_each(?))"
    return connection.execute(sql, (json.dumps(keys),)).fetchall()


def sort_out(
    connection: sqlite3.Connection, table: Table, keys: Sequence[str]
) -> tuple[dict[str, sqlite3.Row], list[sqlite3.Row]]:
    """Return the rows that fit their sha256, by key, and the damaged ones."""
    rows = rows_of(connection, table, keys)
    sound = {row["key"]: row for row in rows if _fits(row)}
    return sound, [row for row in rows if row["key"] not in sound]


def quarantine(connection: sqlite3.Connection, table: Table, rows: Sequence[sqlite3.Row]) -> None:
    """Move damaged rows out of the way, for people to look at."""
    for row in rows:
        bad = {"source": table, "key": row["key"], "row": _json(dict(row)), "time": time.time()}
        put(connection, "quarantine", bad)
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (row["key"],))


def put(connection: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
    """Write a row over any other with its key."""
    names = ", ".join(row)
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})", tuple(row.values()))


def sealed(row: Mapping[str, object]) -> dict[str, object]:
    """Add the sha256 of a row to it. Numbers must have the type of their column, or the row will not fit."""
    return {**row, "sha256": _digest(row)}


def _json(row: Mapping[str, object]) -> str:
    return json.dumps(row, sort_keys=True, default=bytes.hex)


def _digest(row: Mapping[str, object]) -> str:
    return hashlib.sha256(_json(row).encode()).hexdigest()


def _fits(row: sqlite3.Row) -> bool:
    values = dict(row)
    return bool(values.pop("sha256") == _digest(values))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        # The low byte is the kind of failure, the rest its detail. What is not listed is a bug of ours.
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind not in _ADVICE:
            raise
        failure, advice = _ADVICE[kind]
        raise failure(f"The ledger {path} cannot be used: {error}. {advice}") from error
