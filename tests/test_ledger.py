import asyncio
import sqlite3
import unicodedata
from contextlib import closing

import pytest

from src.errors import ConfigError, DataMissing, LedgerMiss
from src.ledger import Ledger, Payer, Reply, Spend
from src.ledger.schema import SCHEMA_VERSION, journal_mode
from src.records import Usage

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "List 8 facts."}], "temperature": 0.7, "draw": 0}


def dollars(usage):
    return None if usage.tokens_out is None else 0.01 * usage.tokens_out


MOST = Usage(100, 50)
PAYER = Payer("cell", "subject", "sequential.first", "embedded", dollars, MOST)


class Shop:
    """Sells replies and counts; each is different."""

    def __init__(self, text="reply", state="ok", tokens=(3, 5), attempts=1):
        self.sold = 0
        self.make = lambda n: Reply(f"{text} {n}", state, "stop", Usage(*tokens), attempts, 0.5, "")

    async def pay(self):
        self.sold += 1
        await asyncio.sleep(0)
        return self.make(self.sold)


def run(work):
    """Run to the end, or fail: a lease that is never given back must not stop the tests."""
    return asyncio.run(asyncio.wait_for(work, 30))


async def never():
    raise AssertionError("paid although the answer is stored")


def ask(ledger, request=REQUEST, pay=never, payer=PAYER):
    return run(ledger.answer(request, payer, pay))


def sql(path, query, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(query, values).fetchall()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "ledger.sqlite"


def test_a_stored_answer_is_replayed_as_it_was(path):
    said = Reply("a\x00b\n- 苯", "truncated", "length", Usage(3, None), 2, 1.25, "cut at max_tokens")

    async def pay():
        return said

    with Ledger(path) as ledger:
        key, reply, replayed = ask(ledger, pay=pay)
        assert (reply, replayed) == (said, False)
        assert ask(ledger) == (key, said, True)
    with Ledger(path) as ledger:
        assert ask(ledger) == (key, said, True)
    row = sql(path, "SELECT request, role, prompt, endpoint, cell_key, cost_usd FROM answers WHERE key = ?", key)
    assert row[0][1:] == ("subject", "sequential.first", "embedded", "cell", None)
    assert "List 8 facts." in row[0][0]


def test_lone_surrogates_are_replaced_in_the_live_reply_as_in_the_stored_one(path):
    with Ledger(path) as ledger:
        live = ask(ledger, pay=Shop("\ud800x").pay)[1]
        assert live.text == "\ufffdx 1"
        assert ask(ledger)[1] == live


def test_draws_and_sampling_are_other_answers_and_nothing_is_paid_twice(path):
    shop = Shop()
    requests = [{**REQUEST, "draw": draw} for draw in range(6)] + [{**REQUEST, "temperature": 0.8}]

    async def all_of(ledger, pay):
        return await asyncio.gather(*(ledger.answer(request, PAYER, pay) for request in requests))

    with Ledger(path) as ledger:
        first = run(all_of(ledger, shop.pay))
        again = run(all_of(ledger, never))
    assert shop.sold == 7
    assert len({key for key, _, _ in first}) == 7
    assert [reply for _, reply, _ in again] == [reply for _, reply, _ in first]
    assert sql(path, "SELECT COUNT(*) FROM answers") == [(7,)]


def test_texts_equal_in_nfc_are_one_request_and_the_text_is_kept_as_received(path):
    nfd = unicodedata.normalize("NFD", "é")
    with Ledger(path) as ledger:
        ask(ledger, {"q": nfd}, Shop(nfd).pay)
        _, reply, replayed = ask(ledger, {"q": "é"})
    assert replayed
    assert reply.text == nfd + " 1"


@pytest.mark.parametrize("state", ["ok", "truncated", "empty", "refused"])
def test_final_states_are_stored(path, state):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop(state=state).pay)
        assert ask(ledger)[1].state == state


def test_an_error_is_returned_and_paid_for_but_not_stored(path):
    broken = Shop(state="error", tokens=(0, 0), attempts=4)
    with Ledger(path) as ledger:
        assert ask(ledger, pay=broken.pay)[1].state == "error"
        assert not ask(ledger, pay=Shop().pay)[2]
        assert ledger.spend("cell") == {"subject": Spend(1, 1, 5, 4, 3, 5, 1.0, 0.05)}


def test_spend_is_by_cell_and_role_and_unknown_parts_make_the_sum_unknown(path):
    judge = Payer("cell", "judge", "valid", "embedded", dollars, MOST)
    other = Payer("other", "subject", "sequential.first", "embedded", dollars, MOST)
    with Ledger(path) as ledger:
        for draw in range(3):
            ask(ledger, {"draw": draw}, Shop().pay)
        ask(ledger, {"judge": 1}, Shop(tokens=(7, 1)).pay, judge)
        ask(ledger, {"judge": 2}, Shop(tokens=(7, None)).pay, judge)
        ask(ledger, {"draw": 0}, never, other)
    with Ledger(path, "replay") as ledger:
        spent = ledger.spend("cell")
        assert spent["subject"] == Spend(3, 3, 3, 0, 9, 15, 1.5, pytest.approx(0.15))
        assert spent["judge"] == Spend(2, 2, 2, 0, 14, None, 1.0, None)
        assert ledger.spend("other") == {}


def test_tasks_with_one_key_pay_once_and_a_later_run_in_the_process_not_at_all(path):
    shop = Shop()

    async def together(ledger):
        return await asyncio.gather(*(ledger.answer(REQUEST, PAYER, shop.pay) for _ in range(20)))

    with Ledger(path) as ledger:
        first = run(together(ledger))
        second = run(together(ledger))
    assert shop.sold == 1
    assert sorted(replayed for _, _, replayed in first) == [False] + [True] * 19
    assert {reply.text for _, reply, _ in first + second} == {"reply 1"}


def test_when_the_payer_fails_a_waiter_pays(path):
    shop = Shop()

    async def fail():
        await asyncio.sleep(0.05)
        raise ConnectionResetError("gone")

    async def both(ledger):
        first = asyncio.create_task(ledger.answer(REQUEST, PAYER, fail))
        await asyncio.sleep(0.02)
        return await asyncio.gather(first, ledger.answer(REQUEST, PAYER, shop.pay), return_exceptions=True)

    with Ledger(path) as ledger:
        first, second = run(both(ledger))
    assert isinstance(first, ConnectionResetError)
    assert second[1].text == "reply 1"
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]


def test_a_cancelled_payer_gives_its_lease_back(path):
    async def scenario(ledger):
        started = asyncio.Event()

        async def hang():
            started.set()
            await asyncio.sleep(60)

        task = asyncio.create_task(ledger.answer(REQUEST, PAYER, hang))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            return await ledger.answer(REQUEST, PAYER, Shop().pay)

    with Ledger(path) as ledger:
        assert not run(scenario(ledger))[2]


def test_cancelled_at_any_moment_no_lease_stays_and_what_was_paid_is_kept(path):
    delivered = []

    async def finished_within(ledger, seconds):
        async def pay():
            await asyncio.sleep(0)
            delivered.append((str(seconds),))
            return Reply(str(seconds), "ok", "stop", Usage(1, 1), 1, 0.1)

        task = asyncio.create_task(ledger.answer({"seconds": seconds}, PAYER, pay))
        await asyncio.sleep(seconds)
        task.cancel()
        return not isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)

    async def scenario(ledger):
        seconds, finished = 0.0001, 0
        while finished < 3:
            finished += await finished_within(ledger, seconds)
            seconds *= 1.1

    with Ledger(path) as ledger:
        run(scenario(ledger))
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]
    assert set(sql(path, "SELECT text FROM answers")) == set(delivered)


def test_cancelled_tasks_do_not_take_along_those_whose_commit_they_share(path):
    async def scenario(ledger):
        tasks = [asyncio.create_task(ledger.answer({"draw": draw}, PAYER, Shop().pay)) for draw in range(40)]
        for task in tasks[::2]:
            await asyncio.sleep(0.001)
            task.cancel()
        return await asyncio.gather(*tasks[1::2])

    with Ledger(path) as ledger:
        assert len(run(scenario(ledger))) == 20


def test_a_damaged_row_is_a_miss_that_is_kept_aside_and_counted(path):
    with Ledger(path) as ledger:
        key = ask(ledger, pay=Shop().pay)[0]
        sql(path, "UPDATE answers SET text = 'forged' WHERE key = ?", key)
        with Ledger(path, "replay") as reader:
            with pytest.raises(LedgerMiss):
                ask(reader)
            assert reader.quarantined == 1
        _, reply, replayed = ask(ledger, pay=Shop("second").pay)
        assert (reply.text, replayed, ledger.quarantined) == ("second 1", False, 1)
        assert ask(ledger)[1].text == "second 1"
    kept = sql(path, "SELECT source, key, row FROM quarantine")
    assert kept[0][:2] == ("answers", key)
    assert "forged" in kept[0][2]


@pytest.mark.parametrize(
    "damage",
    ["text = CAST(x'ff80' AS TEXT)", "tokens_out = 6", "tokens_out = NULL", "state = 'empty'", "sha256 = 'x'"],
)
def test_damage_anywhere_in_a_row_is_found(path, damage):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop().pay)
        sql(path, f"UPDATE answers SET {damage}")
        assert not ask(ledger, pay=Shop().pay)[2]
        assert ledger.quarantined == 1


def test_a_row_under_the_wrong_key_is_found(path):
    with Ledger(path) as ledger:
        a, b = (ask(ledger, {"q": q}, Shop(q).pay)[0] for q in "ab")
        sql(path, "DELETE FROM answers WHERE key = ?", a)
        sql(path, "UPDATE answers SET key = ? WHERE key = ?", a, b)
        assert ask(ledger, {"q": "a"}, Shop("new").pay)[1].text == "new 1"


def test_replay_of_an_edited_prompt_names_the_request_and_never_pays(path):
    with Ledger(path) as ledger:
        key = ask(ledger, pay=Shop().pay)[0]
    before = path.read_bytes()
    with Ledger(path, "replay") as ledger:
        assert ask(ledger)[2]
        with pytest.raises(LedgerMiss) as miss:
            ask(ledger, {**REQUEST, "messages": [], "draw": 4})
    for part in ("subject", "'sequential.first'", "model m", "draw 4", "ledger.mode=live", str(path)):
        assert part in str(miss.value)
    assert key[:12] not in str(miss.value)
    assert path.read_bytes() == before


def test_replay_without_a_file_makes_none_and_every_request_is_a_miss(path):
    with Ledger(path, "replay") as ledger:
        with pytest.raises(LedgerMiss):
            ask(ledger)
        assert ledger.spend("cell") == {}
    assert not path.parent.exists()


def test_replay_reads_a_file_that_nobody_may_write(path):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop().pay)
    path.chmod(0o444)
    with Ledger(path, "replay") as ledger:
        assert ask(ledger)[1].text == "reply 1"


def test_refresh_pays_once_more_for_each_key_and_overwrites(path):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop("old").pay)
    shop = Shop("new")

    async def together(ledger):
        return await asyncio.gather(*(ledger.answer(REQUEST, PAYER, shop.pay) for _ in range(5)))

    with Ledger(path, "refresh") as ledger:
        assert {reply.text for _, reply, _ in run(together(ledger))} == {"new 1"}
        assert ask(ledger)[2]
        assert ledger.spend("cell")["subject"].answers == 2
    with Ledger(path) as ledger:
        assert ask(ledger)[1].text == "new 1"


def test_a_failed_refresh_leaves_the_old_answer(path):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop("old").pay)
    with Ledger(path, "refresh") as ledger:
        assert ask(ledger, pay=Shop(state="error").pay)[1].state == "error"
    with Ledger(path) as ledger:
        assert ask(ledger)[1].text == "old 1"


def test_an_unknown_mode_is_refused_with_those_allowed(path):
    with pytest.raises(ConfigError, match="'offline'; allowed are live, replay, refresh"):
        Ledger(path, "offline")


def test_a_schema_from_the_future_is_refused_untouched(path):
    with Ledger(path):
        pass
    sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    for mode in ("live", "replay", "refresh"):
        with pytest.raises(ConfigError, match=f"schema version {SCHEMA_VERSION + 1}"), Ledger(path, mode):
            pass


def test_a_file_of_another_kind_is_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to have a header of one hundred bytes\n" * 3)
    with pytest.raises(DataMissing, match=r"notes\.txt.*Move it away"), Ledger(text):
        pass
    other = tmp_path / "other.sqlite"
    sql(other, "CREATE TABLE runs (id)")
    with pytest.raises(ConfigError, match="another program"), Ledger(other):
        pass
    assert sql(other, "SELECT name FROM sqlite_master") == [("runs",)]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "ledger.sqlite"):
        with pytest.raises(ConfigError, match=r"cannot be used.*choose another ledger\.path"), Ledger(path):
            pass


def test_damage_found_while_reading_is_one_sentence(path):
    with Ledger(path) as ledger:
        ask(ledger, {"draw": 1}, Shop("x" * 100_000).pay)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(DataMissing, match="malformed"), Ledger(path) as ledger:
        ask(ledger, pay=Shop().pay)


def test_an_empty_file_becomes_a_ledger(tmp_path):
    path = tmp_path / "a?b #1 %41.sqlite"
    path.touch()
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop().pay)
    assert path.stat().st_size > 0


@pytest.mark.parametrize(
    ("version", "mode"), [((3, 40, 1), "TRUNCATE"), ((3, 51, 2), "TRUNCATE"), ((3, 51, 3), "WAL"), ((4, 0, 0), "WAL")]
)
def test_wal_only_where_it_is_safe(version, mode):
    assert journal_mode(version) == mode


def test_a_wal_file_of_a_newer_sqlite_is_taken_over(path):
    with Ledger(path) as ledger:
        ask(ledger, pay=Shop().pay)
    sql(path, "PRAGMA journal_mode = WAL")
    with Ledger(path) as ledger:
        assert ask(ledger)[2]
    assert sql(path, "PRAGMA journal_mode") != [("wal",)] or journal_mode(sqlite3.sqlite_version_info) == "WAL"
