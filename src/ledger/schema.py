"""The tables of the ledger, and how their SQLite file is made and opened."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from src.errors import ConfigError

APPLICATION_ID = 0x4B464C47
SCHEMA_VERSION = 1
BUSY_S = 60.0

# answers and vectors hold values, payments hold money: a value that is overwritten was still paid for twice.
_SCHEMA = """
CREATE TABLE answers (
    key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL,
    finish_reason TEXT, tokens_in INTEGER, tokens_out INTEGER, attempts INTEGER NOT NULL, latency_s REAL NOT NULL,
    reason TEXT NOT NULL, cell_key TEXT NOT NULL, role TEXT NOT NULL, prompt TEXT NOT NULL, endpoint TEXT NOT NULL,
    cost_usd REAL, time REAL NOT NULL);
CREATE TABLE spaces (key TEXT PRIMARY KEY, identity TEXT NOT NULL, dimension INTEGER NOT NULL);
CREATE TABLE vectors (
    key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, space TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL,
    tokens INTEGER NOT NULL, cell_key TEXT NOT NULL, role TEXT NOT NULL, endpoint TEXT NOT NULL, time REAL NOT NULL);
CREATE TABLE payments (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, cell_key TEXT NOT NULL, role TEXT NOT NULL, prompt TEXT NOT NULL,
    endpoint TEXT NOT NULL, answers INTEGER NOT NULL, attempts INTEGER NOT NULL, tokens_in INTEGER, tokens_out INTEGER,
    latency_s REAL NOT NULL, cost_usd REAL, time REAL NOT NULL);
CREATE INDEX payments_of_cell ON payments (cell_key);
CREATE TABLE leases (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started REAL NOT NULL,
    expires REAL NOT NULL);
CREATE INDEX leases_of_owner ON leases (owner);
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, key TEXT NOT NULL, row TEXT NOT NULL, time REAL NOT NULL);
"""


def journal_mode(version: tuple[int, ...]) -> Literal["TRUNCATE", "WAL"]:
    """Choose the journal: before 3.51.3 SQLite's WAL can corrupt a file that several processes write."""
    return "WAL" if version >= (3, 51, 3) else "TRUNCATE"


def create(path: Path) -> sqlite3.Connection:
    """Open the file for writing; make it, with its folder, if it is missing or empty.

    Raises:
        ConfigError: it belongs to another program, or to a newer version of this one.
        OSError: the folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _connected(path, "rwc") as connection:
        made = _recognise(connection, path)
        _set_journal(connection, journal_mode(sqlite3.sqlite_version_info))
        connection.execute("PRAGMA synchronous = FULL")
        if not made:
            _make_tables(connection, path)
        return connection


def read(path: Path) -> sqlite3.Connection:
    """Open the file for reading; one that is missing or empty is read as empty tables.

    Raises:
        ConfigError: as :func:`create`.
    """
    if path.exists():
        # Not SQLite's own mode=ro: that cannot clear up after a writer that was killed in the middle of a commit.
        with _connected(path, "rw") as connection:
            connection.execute("PRAGMA query_only = ON")
            if _recognise(connection, path):
                return connection
            connection.close()
    with _connected(path, "memory") as connection:
        connection.executescript(_SCHEMA)
        return connection


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Of several processes that start at once, the first to hold the lock makes the tables.
        if not _recognise(connection, path):
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open a file; the connection outlives the block unless that fails."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    # A damaged byte must not stop the reading of a row; its sha256 will tell.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a ledger of this version (False: it is empty)."""
    # One statement reads one state: between two, another process may have made the tables.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == APPLICATION_ID and version == SCHEMA_VERSION:
        return True
    if application == APPLICATION_ID:
        raise ConfigError(
            f"The ledger {path} has schema version {version}, this software reads {SCHEMA_VERSION}: "
            "use the newer software that wrote it, or choose another ledger.path."
        )
    if application or version or tables:
        raise ConfigError(f"{path} is a database of another program, not a ledger: choose another ledger.path.")
    return False


def _set_journal(connection: sqlite3.Connection, mode: str) -> None:
    until = time.monotonic() + BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone()[0].upper() != mode:
        try:
            connection.execute(f"PRAGMA journal_mode = {mode}")
        except sqlite3.OperationalError as error:
            # To or from WAL the file must be ours alone, and SQLite does not wait for that itself.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
