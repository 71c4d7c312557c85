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
BUSY_S = 60.0

# answers and vectors hold values, payments hold money: a value that is overwritten was still paid for twice.
_VERSION_1 = """
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
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, key TEXT NOT NULL, row TEXT NOT NULL, time REAL NOT NULL)
"""

# A call of version 1: paid for at an endpoint, not surely for nothing.
_CALLS = """(role <> 'embedder' OR endpoint NOT IN ('local', 'hashing'))
    AND (answers > 0 OR COALESCE(tokens_in, 1) + COALESCE(tokens_out, 1) > 0)"""

# What budgets count: a payment as it is charged, where usage may be unknown; `spent`, its sums, so that nobody has to
# add up payments before every request; and what a request under way can still take. Local encoders cost no calls.
_VERSION_2 = f"""
ALTER TABLE payments ADD COLUMN sweep TEXT;
ALTER TABLE payments ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN charged_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN charged_usd REAL NOT NULL DEFAULT 0;
UPDATE payments SET
    calls = {_CALLS},
    charged_tokens = COALESCE(tokens_in, 0) + COALESCE(tokens_out, 0),
    charged_usd = COALESCE(cost_usd, 0);
CREATE TABLE spent (
    scope TEXT NOT NULL, name TEXT NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL,
    PRIMARY KEY (scope, name)) WITHOUT ROWID;
INSERT INTO spent SELECT 'run', cell_key, SUM(calls), SUM(charged_tokens), SUM(charged_usd)
    FROM payments GROUP BY cell_key;
ALTER TABLE leases ADD COLUMN cell_key TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN sweep TEXT;
ALTER TABLE leases ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN usd REAL NOT NULL DEFAULT 0;
CREATE INDEX leases_of_cell ON leases (cell_key) WHERE calls > 0;
CREATE INDEX leases_of_sweep ON leases (sweep) WHERE calls > 0 AND sweep IS NOT NULL
"""

_STEPS = (_VERSION_1, _VERSION_2)
"""From nothing to version 1, and from each version to the next: the one way to make a file and to bring one up."""

SCHEMA_VERSION = len(_STEPS)

# A file of version 1 that is only read stays as it is, and is seen as if it had been brought up to date.
_SEEN = {1: f"CREATE TEMP VIEW payments AS SELECT *, {_CALLS} AS calls FROM main.payments"}


def journal_mode(version: tuple[int, ...]) -> Literal["TRUNCATE", "WAL"]:
    """Choose the journal: before 3.51.3 SQLite's WAL can corrupt a file that several processes write."""
    return "WAL" if version >= (3, 51, 3) else "TRUNCATE"


def create(path: Path) -> sqlite3.Connection:
    """Open the file for writing; make it, with its folder, if it is missing or empty; bring an older one up to date.

    Raises:
        ConfigError: it belongs to another program, or to a newer version of this one.
        OSError: the folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _connected(path, "rwc") as connection:
        version = _recognise(connection, path)
        _set_journal(connection, journal_mode(sqlite3.sqlite_version_info))
        connection.execute("PRAGMA synchronous = FULL")
        if version < SCHEMA_VERSION:
            _bring_up(connection, path)
        return connection


def read(path: Path) -> sqlite3.Connection:
    """Open the file for reading; one that is missing or empty is read as empty tables.

    Raises:
        ConfigError: as :func:`create`.
    """
    if path.exists():
        # Not SQLite's own mode=ro: that cannot clear up after a writer that was killed in the middle of a commit.
        with _connected(path, "rw") as connection:
            version = _recognise(connection, path)
            connection.executescript(_SEEN.get(version, ""))
            connection.execute("PRAGMA query_only = ON")
            if version:
                return connection
            connection.close()
    with _connected(path, "memory") as connection:
        _take_steps(connection, 0)
        return connection


def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Of several processes that start at once, the first to hold the lock makes or changes the tables.
        _take_steps(connection, _recognise(connection, path))


def _take_steps(connection: sqlite3.Connection, version: int) -> None:
    for step in _STEPS[version:]:
        for statement in step.split(";"):
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


def _recognise(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of a ledger that this software can read; 0 is an empty file."""
    # One statement reads one state: between two, another process may have made or changed the tables.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == APPLICATION_ID and 0 < version <= SCHEMA_VERSION:
        return int(version)
    if application == APPLICATION_ID:
        raise ConfigError(
            f"The ledger {path} has schema version {version}, this software reads {SCHEMA_VERSION}: "
            "use the newer software that wrote it, or choose another ledger.path."
        )
    if application or version or tables:
        raise ConfigError(f"{path} is a database of another program, not a ledger: choose another ledger.path.")
    return 0


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
