"""Ledgers of earlier versions: what was paid for must not be lost."""

import asyncio
import multiprocessing
import sqlite3
from contextlib import closing

import pytest

from src.errors import BudgetReached, ConfigError
from src.ledger import Budgets, Ledger, Payer, Reply
from src.ledger.schema import APPLICATION_ID, SCHEMA_VERSION
from src.records import Usage

FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["numpy", "polars", "src.ledger"])

# As version 1 wrote it: one answer of the request {"number": 1}, with payments of two cells.
VERSION_1 = """
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
INSERT INTO answers VALUES (
    'e83f10da5a14d3a17b487a554613ac8db358c93e1b6c6dcf71cce2880453b9d7',
    '537aa416b0c42538e428c115f674851753e14933baafdc277467b911b506b5f7',
    '{"number":1}', '- kept', 'ok', 'stop', 3, 5, 2, 0.5, '', 'cell', 'subject', 'p', 'e', 0.25, 7.0);
INSERT INTO payments VALUES
    (1, 'k', 'cell', 'subject', 'p', 'e', 1, 2, 3, 5, 0.5, 0.25, 7.0),
    (2, 'k', 'cell', 'judge', 'p', 'e', 1, 1, 7, NULL, 0.5, NULL, 7.0),
    (3, 'k', 'cell', 'subject', 'p', 'e', 0, 4, 0, 0, 0.5, 0, 7.0),
    (4, 'k', 'cell', 'embedder', 'embed', 'local', 32, 1, 99, 0, 0.5, 0, 7.0),
    (5, 'k', 'other', 'subject', 'p', 'e', 1, 1, 1, 1, 0.5, 0.5, 7.0);
INSERT INTO leases VALUES ('dead', 'o', 'nowhere', 1, 0.0, 0.0);
PRAGMA application_id = 1262898247;
PRAGMA user_version = 1;
"""


def make_old(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    return path


async def never():
    raise AssertionError("paid although the answer is stored")


async def pay():
    return Reply("new", "ok", "stop", Usage(1, 1), 1, 0.0)


MOST = Usage(5, 5)


def ask(ledger, number=1, pay=never):
    payer = Payer("cell", "subject", "p", "e", lambda usage: 0.0, MOST)
    return asyncio.run(asyncio.wait_for(ledger.answer({"number": number}, payer, pay), 10))


def sql(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def tables(path):
    names = [name for (name,) in sql(path, "SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")]
    return {
        name: sql(path, f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{name}')")
        for name in names
    }


def test_a_ledger_of_version_1_is_brought_up_in_place(tmp_path):
    path = make_old(tmp_path / "ledger.db")
    with Ledger(path) as ledger:
        assert ask(ledger)[1].text == "- kept"
        assert ledger.quarantined == 0
        spent = ledger.spend("cell")
    assert sql(path, "PRAGMA user_version") == [(2,)]
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    assert {role: (part.calls, part.attempts, part.failed, part.cost_usd) for role, part in spent.items()} == {
        "subject": (1, 6, 5, 0.25),
        "judge": (1, 1, 0, None),
        "embedder": (0, 1, 0, 0.0),
    }
    assert sql(path, "SELECT * FROM spent ORDER BY name") == [
        ("run", "cell", 2, 114, 0.25),
        ("run", "other", 1, 2, 0.5),
    ]
    with Ledger(tmp_path / "new.db"):
        pass
    assert tables(path) == tables(tmp_path / "new.db")


def test_what_version_1_paid_counts_against_a_budget(tmp_path):
    path = make_old(tmp_path / "ledger.db")
    with Ledger(path, budgets=Budgets(calls=3)) as ledger:
        ask(ledger, 2, pay)
        with pytest.raises(BudgetReached, match="has spent 3"):
            ask(ledger, 3, pay)


def test_a_ledger_of_version_1_that_is_only_replayed_stays_as_it_is(tmp_path):
    path = make_old(tmp_path / "ledger.db")
    before = path.read_bytes()
    with Ledger(path, "replay") as ledger:
        assert ask(ledger)[1].text == "- kept"
        assert ledger.spend("cell")["subject"].calls == 1
        assert ledger.spend("cell")["embedder"].calls == 0
    assert path.read_bytes() == before


def test_a_migration_that_is_broken_off_leaves_the_old_file(tmp_path):
    path = make_old(tmp_path / "ledger.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE spent (in_the_way)")  # half way through, it fails
    before = path.read_bytes()
    with pytest.raises(sqlite3.OperationalError), Ledger(path):
        pass
    assert path.read_bytes() == before


def open_all(folder, files, barrier):
    for number in range(files):
        barrier.wait(30)
        with Ledger(folder / f"{number}.db") as ledger:
            assert ask(ledger)[1].text == "- kept"
            ask(ledger, 2, pay)


def test_eight_processes_that_open_an_old_ledger_at_once_all_find_what_it_holds(tmp_path):
    for number in range(20):
        make_old(tmp_path / f"{number}.db")
    barrier = FORKSERVER.Barrier(8)
    processes = [FORKSERVER.Process(target=open_all, args=(tmp_path, 20, barrier)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    for number in range(20):
        path = tmp_path / f"{number}.db"
        assert sql(path, "SELECT calls, tokens FROM spent WHERE name = 'cell'") == [(3, 116)]
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_newer_ledger_is_refused_whatever_the_mode(tmp_path):
    path = make_old(tmp_path / "ledger.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    for mode in ("live", "replay", "refresh"):
        with (
            pytest.raises(ConfigError, match=f"schema version {SCHEMA_VERSION + 1}.*newer software"),
            Ledger(path, mode),
        ):
            pass
    assert APPLICATION_ID == 1262898247
