"""The ledger among several processes, some of which are killed."""

import asyncio
import multiprocessing
import os
import platform
import random
import signal
import sqlite3
import time
from contextlib import closing, contextmanager

import numpy as np
import psutil
import pytest

from src.errors import BudgetReached
from src.ledger import Budget, Budgets, Ledger, Payer, Reply
from src.ledger.database import Database
from src.ledger.leases import Leases
from src.records import Encoded, Usage

SPAWN = multiprocessing.get_context("spawn")
# Starts processes in no time, once it has imported what takes long.
FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["numpy", "polars", "src.ledger"])

PAYER = Payer("cell", "subject", "p", "e", lambda usage: 0.0)
IDENTITY = {"model": "m"}


def note(path, text):
    # One write in append mode is whole, whoever else writes.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{text}\n".encode())
    os.close(file)


def answer_all(ledger_path, asked, numbers, seconds, barrier=None):
    """Answer prompts through a slow `pay` that leaves a line for each payment, eight at a time."""
    slots = asyncio.Semaphore(8)

    async def one(ledger, number):
        async def pay():
            note(asked, number)
            await asyncio.sleep(seconds)
            return Reply(f"answer {number}", "ok", "stop", Usage(1, 1), 1, seconds)

        async with slots:
            _, reply, _ = await ledger.answer({"number": number}, PAYER, pay)
        assert reply.text == f"answer {number}"

    async def encode(texts):
        for text in texts:
            note(f"{asked}.vectors", text)
        await asyncio.sleep(seconds)
        return Encoded(np.array([[1.0, len(text)] for text in texts]), np.ones(len(texts), int))

    async def everything():
        with Ledger(ledger_path) as ledger:
            await asyncio.gather(*(one(ledger, number) for number in numbers))
            for start in range(0, len(numbers), 20):
                await ledger.vectors([f"t {n}" for n in numbers[start : start + 20]], IDENTITY, PAYER, encode)

    if barrier:
        barrier.wait()
    asyncio.run(asyncio.wait_for(everything(), 60))


@contextmanager
def started(context, *arguments):
    process = context.Process(target=answer_all, args=arguments)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def wait_for_lines(path, count):
    until = time.monotonic() + 30
    while len(lines(path)) < count:
        assert time.monotonic() < until, f"no {count} payments within 30 s"
        time.sleep(0.002)


def sql(path, query, *values):
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        return connection.execute(query, values).fetchall()


def stored(path):
    return {text.removeprefix("answer ") for (text,) in sql(path, "SELECT text FROM answers")}


def test_killed_anywhere_and_run_again_no_stored_answer_is_asked_again(tmp_path):
    path, asked = tmp_path / "ledger.sqlite", tmp_path / "asked"
    numbers, rng = list(range(200)), random.Random(7)
    kills = 0
    for _ in range(5):
        kept, before = stored(path) if path.exists() else set(), len(lines(asked))
        with started(FORKSERVER, path, asked, numbers, 0.01) as process:
            wait_for_lines(asked, min(before + rng.randint(1, 40), 200))
            time.sleep(rng.uniform(0, 0.03))
            process.kill()
            process.join()
            kills += process.exitcode != 0
        assert kept.isdisjoint(lines(asked)[before:])
        assert kept <= stored(path)
    assert kills == 5
    kept, before = stored(path), len(lines(asked))
    assert 0 < len(kept) < 200
    answer_all(path, asked, numbers, 0.0)
    assert kept.isdisjoint(lines(asked)[before:])
    assert stored(path) == {str(number) for number in numbers}
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]
    with Ledger(path) as ledger:
        assert ledger.spend("cell")["subject"].answers == 200 + 200  # answers and vectors, each paid for once


def open_all(folder, files, barrier):
    for number in range(files):
        barrier.wait(30)
        with Ledger(folder / str(number) / "ledger.sqlite"):
            pass


def test_eight_processes_that_make_one_ledger_at_once_all_recognise_it(tmp_path):
    barrier = FORKSERVER.Barrier(8)
    processes = [FORKSERVER.Process(target=open_all, args=(tmp_path, 60, barrier)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8


def test_eight_processes_with_the_same_hundred_keys_pay_a_hundred_times(tmp_path):
    path, asked = tmp_path / "new" / "ledger.sqlite", tmp_path / "asked"
    barrier = FORKSERVER.Barrier(8)
    processes = []
    for seed in range(8):
        numbers = list(range(100))
        random.Random(seed).shuffle(numbers)
        processes.append(FORKSERVER.Process(target=answer_all, args=(path, asked, numbers, 0.002, barrier)))
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert sorted(lines(asked), key=int) == [str(number) for number in range(100)]
    assert len(lines(tmp_path / "asked.vectors")) == len(set(lines(tmp_path / "asked.vectors"))) == 100


@pytest.mark.parametrize("collected", [True, False], ids=["gone", "zombie"])
def test_the_lease_of_a_killed_process_is_taken_at_once(tmp_path, collected):
    path, asked = tmp_path / "ledger.sqlite", tmp_path / "asked"
    with started(SPAWN, path, asked, [1], 600) as process:
        wait_for_lines(asked, 1)
        os.kill(process.pid, signal.SIGKILL)
        if collected:
            process.join()
        else:
            while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
        assert len(sql(path, "SELECT * FROM leases")) == 1
        start = time.monotonic()
        answer_all(path, asked, [1], 0)
        assert time.monotonic() - start < 5
    assert lines(asked) == ["1", "1"]


def lease(path, host, pid, born, expires):
    with Ledger(path) as ledger:
        key = asyncio.run(ledger.answer({"number": 1}, PAYER, pay))[0]
    sql(path, "DELETE FROM answers")
    columns = "key, owner, host, pid, started, expires"
    sql(path, f"INSERT INTO leases ({columns}) VALUES (?, 'somebody', ?, ?, ?, ?)", key, host, pid, born, expires)


async def pay():
    return Reply("paid", "ok", "stop", Usage(1, 1), 1, 0.0)


def waited(path):
    """Seconds until the answer came, and ticks of the event loop meanwhile."""

    async def ask():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        start = time.monotonic()
        async with asyncio.timeout(20):
            await ledger.answer({"number": 1}, PAYER, pay)
        ticking.cancel()
        return time.monotonic() - start, ticks

    with Ledger(path) as ledger:
        return asyncio.run(ask())


def test_a_number_that_another_process_has_got_since_is_a_dead_owner(tmp_path):
    lease(tmp_path / "l", platform.node(), os.getpid(), psutil.Process().create_time() - 60, time.time() + 600)
    assert waited(tmp_path / "l")[0] < 5


def test_the_lease_of_another_host_holds_until_it_expires_and_the_loop_goes_on(tmp_path):
    expires = time.time() + 1.5
    lease(tmp_path / "l", "elsewhere", os.getpid(), psutil.Process().create_time(), expires)
    _, ticks = waited(tmp_path / "l")
    assert time.time() >= expires
    assert ticks > 20


def test_a_living_owner_on_this_host_is_waited_for_even_past_expiry(tmp_path):
    path = tmp_path / "l"
    lease(path, platform.node(), os.getpid(), psutil.Process().create_time(), time.time() - 1)
    with Ledger(path) as ledger, pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(ledger.answer({"number": 1}, PAYER, pay), 0.5))
    sql(path, "DELETE FROM leases")
    assert waited(path)[0] < 5


def test_leases_are_renewed_while_their_owner_pays(tmp_path):
    database = Database(tmp_path / "l", read_only=False)
    leases = Leases(database, lifetime_s=0.4)

    async def hold():
        await database.write(lambda connection: leases.take(connection, "me", ["k"], PAYER))
        first = sql(tmp_path / "l", "SELECT expires FROM leases")[0][0]
        async with leases.renewed("me"):
            await asyncio.sleep(0.8)
        return sql(tmp_path / "l", "SELECT expires FROM leases")[0][0] - first

    try:
        assert asyncio.run(hold()) > 0.3
    finally:
        database.close()


def test_a_writer_elsewhere_does_not_stop_the_event_loop(tmp_path):
    path = tmp_path / "l"
    lease(path, "elsewhere", 1, 0.0, 0.0)

    async def both():
        with Ledger(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            answer = asyncio.create_task(ledger.answer({"number": 1}, PAYER, pay))
            await asyncio.sleep(0.5)
            assert not answer.done()
            # Had the loop been blocked, the writer would not have come to this.
            writer.execute("COMMIT")
            await answer

    asyncio.run(asyncio.wait_for(both(), 20))
    assert sql(path, "SELECT text FROM answers") == [("paid",)]


def spend_all(path, asked, cell, limits, seconds, count=100):
    """Ask as many prompts of a cell in a sweep at once as the budget lets through."""
    payer = Payer(cell, "subject", "p", "e", lambda usage: 0.0, Usage(60, 40), "sweep")

    async def one(ledger, number):
        async def pay():
            note(asked, f"{cell} {number}")
            await asyncio.sleep(seconds)
            return Reply("a", "ok", "stop", Usage(30, 20), 1, seconds)

        await ledger.answer({"cell": cell, "number": number}, payer, pay)

    async def everything():
        with Ledger(path, budgets=Budgets(sweep=Budget(**limits))) as ledger:
            work = (one(ledger, number) for number in range(count))
            results = await asyncio.gather(*work, return_exceptions=True)
        return sum(isinstance(result, BudgetReached) for result in results), [
            result for result in results if result is not None and not isinstance(result, BudgetReached)
        ]

    refused, other = asyncio.run(asyncio.wait_for(everything(), 60))
    assert other == []
    return refused


def spender(*arguments):
    return FORKSERVER.Process(target=spend_all, args=arguments)


@pytest.mark.parametrize(("limits", "most"), [({"calls": 90}, 90), ({"tokens": 4500}, 89)], ids=["calls", "tokens"])
def test_four_processes_that_share_a_sweep_never_exceed_its_budget_and_use_it_up(tmp_path, limits, most):
    path, asked = tmp_path / "ledger.sqlite", tmp_path / "asked"
    processes = [spender(path, asked, f"cell {number}", limits, 0.005) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(lines(asked)) == most  # the last 100 tokens are kept for what a request can take: 90 of 50 do not fit
    assert sql(path, "SELECT SUM(calls), SUM(tokens) FROM spent WHERE scope = 'sweep'") == [(most, 50 * most)]
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]


def test_what_a_killed_process_held_of_a_budget_is_free_again(tmp_path):
    path, asked = tmp_path / "ledger.sqlite", tmp_path / "asked"
    limits = {"tokens": 300}
    killed = spender(path, asked, "killed", limits, 600, 3)
    killed.start()
    wait_for_lines(asked, 3)
    waiting = spender(path, asked, "next", limits, 0, 1)
    waiting.start()
    time.sleep(0.7)
    assert waiting.is_alive()
    assert len(lines(asked)) == 3  # it waits: all that the budget has is under way
    killed.kill()
    killed.join()
    start = time.monotonic()
    waiting.join()
    assert time.monotonic() - start < 5
    assert (waiting.exitcode, lines(asked)[3:]) == (0, ["next 0"])
    assert sql(path, "SELECT calls, tokens FROM spent WHERE scope = 'sweep'") == [(1, 50)]


def test_room_that_another_process_makes_is_noticed_within_a_second(tmp_path):
    path, asked = tmp_path / "ledger.sqlite", tmp_path / "asked"
    other = spender(path, asked, "other", {"tokens": 150}, 1.5, 1)
    other.start()
    wait_for_lines(asked, 1)
    start = time.monotonic()
    assert spend_all(path, asked, "mine", {"tokens": 150}, 0, 1) == 0
    assert 0.3 < time.monotonic() - start < 5
    other.join()
