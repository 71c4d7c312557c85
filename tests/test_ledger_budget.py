"""What the ledger lets be paid for under a budget."""

import asyncio
import sqlite3
import time
from contextlib import closing

import numpy as np
import pytest
from pydantic import ValidationError

from src.errors import BudgetReached, EmbeddingError
from src.ledger import Budget, Budgets, Ledger, Payer, Reply, Unanswered
from src.ledger.line import POLL_S, Line
from src.records import Encoded, Usage

UNKNOWN, MOST, USED = Usage(None, None), Usage(60, 40), Usage(3, 5)


def dollars(usage):
    return None if None in (usage.tokens_in, usage.tokens_out) else 0.01 * (usage.tokens_in + usage.tokens_out)


def payer(cell="cell", role="subject", most=MOST, sweep=None, cost=dollars):
    return Payer(cell, role, "p", "scripted", cost, most, sweep)


class Shop:
    """Sells replies, some at a time, and counts."""

    def __init__(self, usage=USED, state="ok", seconds=0.001):
        self.sold = self.under_way = self.most_at_once = 0
        self.usage, self.state, self.seconds = usage, state, seconds

    async def pay(self):
        self.sold += 1
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        await asyncio.sleep(self.seconds)
        self.under_way -= 1
        return Reply("a", self.state, "stop", self.usage, 1, 0.0)


def ask(ledger, shop, numbers, who=None, word="number"):
    """Ask all at once; refusals are results."""

    async def all_of_them():
        asked = (ledger.answer({word: number}, who or payer(), shop.pay) for number in numbers)
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(asyncio.wait_for(all_of_them(), 30))


def refusals(results):
    refused = [result for result in results if isinstance(result, BaseException)]
    assert all(isinstance(result, BudgetReached) for result in refused)
    return [str(result) for result in refused]


def sql(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_calls_are_used_up_exactly_by_fifty_at_once(path):
    shop = Shop()
    with Ledger(path, budgets=Budgets(calls=30)) as ledger:
        results = ask(ledger, shop, range(50))
    assert shop.sold == 30
    refused = refusals(results)
    assert len(refused) == 20
    assert set(refused) == {
        "budget.calls=30 leaves no room for the next request: this run has spent 30, and it can take up to 1; "
        "raise budget.calls and run again: nothing that was paid for is asked again."
    }


@pytest.mark.parametrize("limit", [{"tokens": 350}, {"usd": 3.5}], ids=["tokens", "usd"])
def test_what_is_under_way_counts_at_its_most_until_it_is_settled(path, limit):
    shop = Shop()
    with Ledger(path, budgets=Budgets(**limit)) as ledger:
        results = ask(ledger, shop, range(50))
    # A request can take 100 tokens and takes 8: no more than three fit at once, and they go on while 100 are left.
    assert shop.most_at_once <= 3
    assert shop.sold == (350 - 100) // 8 + 1
    assert len(refusals(results)) == 50 - shop.sold


def test_unknown_usage_is_charged_at_its_most_and_shown_as_unknown(path):
    shop = Shop(UNKNOWN)
    with Ledger(path, budgets=Budgets(tokens=350)) as ledger:
        assert len(refusals(ask(ledger, shop, range(10)))) == 7
        spent = ledger.spend("cell")["subject"]
    assert (shop.sold, spent.calls, spent.tokens_in, spent.cost_usd) == (3, 3, None, None)
    with Ledger(path, budgets=Budgets(tokens=508)) as ledger:
        assert len(refusals(ask(ledger, Shop(Usage(3, None)), range(10)))) == 4  # 3 and 40 at most, thrice
    assert sql(path, "SELECT SUM(charged_tokens) FROM payments") == [(429,)]


def test_a_failure_that_cost_nothing_is_free_and_one_that_may_be_billed_is_not(path):
    with Ledger(path, budgets=Budgets(calls=2, tokens=200)) as ledger:
        for usage, sold in ((Usage(0, 0), 5), (UNKNOWN, 2)):
            shop = Shop(usage, "error")
            refused = refusals(ask(ledger, shop, range(5)))
            assert (shop.sold, len(refused)) == (sold, 5 - sold)
        spent = ledger.spend("cell")["subject"]
    assert (spent.answers, spent.calls, spent.attempts, spent.failed) == (0, 2, 7, 7)


def test_a_request_that_can_never_fit_is_refused_before_it_is_sent(path):
    shop = Shop()
    for limit in ({"calls": 0}, {"tokens": 99}, {"usd": 0.99}):
        with Ledger(path, budgets=Budgets(**limit)) as ledger:
            assert "has spent 0" in refusals(ask(ledger, shop, [1]))[0]
    assert shop.sold == 0
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]
    with Ledger(path, budgets=Budgets(calls=1, tokens=100, usd=1.0)) as ledger:
        assert refusals(ask(ledger, shop, [1])) == []


def test_dollars_that_add_up_to_the_limit_fit(path):
    who = payer(most=Usage(10, 0), cost=lambda usage: 0.1)
    with Ledger(path, budgets=Budgets(usd=1.0)) as ledger:
        assert len(refusals(ask(ledger, Shop(), range(11), who))) == 1


def test_what_costs_no_money_is_not_stopped_by_a_limit_on_money(path):
    with Ledger(path, budgets=Budgets(usd=0)) as ledger:
        assert refusals(ask(ledger, Shop(), range(3), payer(cost=lambda usage: 0.0))) == []


def test_an_unknown_price_never_fits_a_limit_on_money(path):
    with Ledger(path, budgets=Budgets(usd=5)) as ledger:
        assert "budget.usd=5" in refusals(ask(ledger, Shop(), [1], payer(cost=lambda usage: None)))[0]
    with Ledger(path, budgets=Budgets(calls=1)) as ledger:
        assert refusals(ask(ledger, Shop(), [1], payer(cost=lambda usage: None))) == []


def test_raised_and_run_again_it_goes_on_and_replays_are_free(path):
    shop = Shop()
    for limit, sold in ((7, 7), (7, 7), (14, 14), (None, 20)):
        with Ledger(path, budgets=Budgets(calls=limit)) as ledger:
            assert len(refusals(ask(ledger, shop, range(20)))) == 20 - sold
        assert shop.sold == sold


def test_all_roles_of_a_run_draw_on_one_budget_and_another_run_has_its_own(path):
    with Ledger(path, budgets=Budgets(calls=5)) as ledger:
        assert refusals(ask(ledger, Shop(), range(3))) == []
        judged = ask(ledger, Shop(), range(3), payer(role="judge"), "judgement")
        assert len(refusals(judged)) == 1
        assert refusals(ask(ledger, Shop(), range(5), payer("other"), "other")) == []


def test_the_runs_of_a_sweep_share_its_budget(path):
    with Ledger(path, budgets=Budgets(calls=4, sweep=Budget(calls=6))) as ledger:
        first, second, alone = (
            refusals(ask(ledger, Shop(), range(5), payer(cell, sweep=sweep), cell))
            for cell, sweep in (("a", "s"), ("b", "s"), ("c", None))
        )
    assert (len(first), len(second), len(alone)) == (1, 3, 1)
    assert "budget.calls=4" in first[0]
    assert "budget.sweep.calls=6" in second[0]
    assert "sweep s has spent 6" in second[0]


def test_a_request_is_woken_when_room_is_made_not_by_a_clock(path):
    shop = Shop(seconds=0)
    with Ledger(path, budgets=Budgets(tokens=1000 + 8 * 40)) as ledger:
        start = time.monotonic()
        assert refusals(ask(ledger, shop, range(40), payer(most=Usage(1000, 0)))) == []
    assert shop.most_at_once == 1
    assert time.monotonic() - start < 39 * POLL_S / 2


def test_a_cancelled_request_leaves_the_line(path):
    async def scenario(ledger):
        slow, quick = Shop(seconds=0.2), Shop()
        asked = [asyncio.create_task(ledger.answer({"n": 0}, payer(), slow.pay))]
        await asyncio.sleep(0.05)
        asked += [asyncio.create_task(ledger.answer({"n": n}, payer(), quick.pay)) for n in (1, 2, 3)]
        await asyncio.sleep(0.05)
        asked[1].cancel()
        asked[2].cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        return [task.cancelled() for task in asked], quick.sold

    with Ledger(path, budgets=Budgets(tokens=190)) as ledger:
        assert asyncio.run(asyncio.wait_for(scenario(ledger), 10)) == ([False, True, True, False], 1)
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]


def test_what_is_settled_during_an_attempt_is_not_missed():
    tries = []

    async def scenario():
        line = Line()

        async def attempt():
            tries.append(time.monotonic())
            await asyncio.sleep(0.01)
            if len(tries) == 1:
                line.move()
            return len(tries) == 2

        return await line.wait(attempt, bool)

    assert asyncio.run(scenario())
    assert tries[1] - tries[0] < POLL_S / 2


def test_those_who_wait_are_served_in_the_order_they_came():
    served = []

    async def scenario():
        line = Line()
        room = 0

        async def wait(number):
            nonlocal room

            async def attempt():
                nonlocal room
                taken = room > 0
                room -= taken
                return taken

            await line.wait(attempt, bool)
            served.append(number)

        waiting = [asyncio.create_task(wait(number)) for number in range(20)]
        await asyncio.sleep(0.01)
        room = 20
        line.move()
        await asyncio.gather(*waiting)

    asyncio.run(asyncio.wait_for(scenario(), 5))
    assert served == list(range(20))


def test_two_event_loops_in_a_row_may_wait(path):
    with Ledger(path, budgets=Budgets(tokens=500)) as ledger:
        for word in ("first", "second"):
            assert refusals(ask(ledger, Shop(), range(20), word=word)) == []


def test_sums_agree_with_the_payments_they_are_made_of(path):
    with Ledger(path) as ledger:
        ask(ledger, Shop(), range(5), payer(sweep="s"))
        ask(ledger, Shop(UNKNOWN), range(2), payer("other", sweep="s"), "other")
        ask(ledger, Shop(Usage(0, 0), "error"), range(9), payer("failed", sweep="s"), "failed")
        ask(ledger, Shop(), range(5), payer("another"))  # stored: free
    assert sql(path, "SELECT scope, name, calls, tokens, round(usd, 9) FROM spent ORDER BY scope, name") == [
        ("run", "cell", 5, 40, 0.4),
        ("run", "other", 2, 200, 2.0),
        ("sweep", "s", 7, 240, 2.4),
    ]
    assert sql(path, "SELECT SUM(calls), SUM(charged_tokens) FROM payments WHERE sweep = 's'") == [(7, 240)]


def encode(ledger, texts, pay, who):
    return asyncio.run(asyncio.wait_for(ledger.vectors(texts, {"model": "m"}, who, pay), 10))


async def vectors_of(texts):
    return Encoded(np.ones((len(texts), 3)), np.full(len(texts), 4), attempts=3)


def test_a_request_for_vectors_is_one_call_whatever_number_of_texts(path):
    who = payer(role="embedder", most=Usage(50, 0))
    with Ledger(path, budgets=Budgets(calls=2, tokens=80)) as ledger:
        encode(ledger, ["a", "b", "c"], vectors_of, who)
        encode(ledger, ["d"], vectors_of, who)
        with pytest.raises(BudgetReached, match=r"budget\.calls=2"):
            encode(ledger, ["e"], vectors_of, who)
        encode(ledger, ["a", "d"], None, who)
        spent = ledger.spend("cell")["embedder"]
    assert (spent.answers, spent.calls, spent.attempts, spent.failed, spent.tokens_in) == (4, 2, 6, 4, 16)


def test_an_encoder_on_this_machine_uses_up_no_budget(path):
    with Ledger(path, budgets=Budgets(calls=0, tokens=0, usd=0)) as ledger:
        encode(ledger, ["a", "b"], vectors_of, Payer("cell", "embedder", "embed", "local", lambda usage: 0.0))
        assert ledger.spend("cell")["embedder"].calls == 0
        assert ledger.spend("cell")["embedder"].tokens_in == 8


def test_vectors_that_were_paid_for_in_vain_are_in_the_bill(path):
    who = payer(role="embedder", most=Usage(50, 0))

    async def fail(usage):
        raise Unanswered(EmbeddingError("too few"), usage=usage, attempts=4)

    async def spoiled(texts):
        return Encoded(np.zeros((len(texts), 3)), np.full(len(texts), -1))

    with Ledger(path) as ledger:
        for usage in (Usage(0, 0), Usage(None, 0), Usage(7, 0)):
            with pytest.raises(EmbeddingError, match="too few"):
                encode(ledger, ["a", "b"], lambda texts, usage=usage: fail(usage), who)
        with pytest.raises(EmbeddingError, match="zeros"):
            encode(ledger, ["a", "b"], spoiled, who)
        spent = ledger.spend("cell")["embedder"]
    assert (spent.answers, spent.calls, spent.attempts, spent.failed) == (0, 3, 13, 13)
    assert sql(path, "SELECT calls, tokens FROM spent") == [(3, 50 + 7 + 50)]
    assert sql(path, "SELECT COUNT(*) FROM leases") == [(0,)]


@pytest.mark.parametrize("bad", [{"calls": -1}, {"usd": float("nan")}, {"tokens": "many"}, {"sweep": {"dollars": 1}}])
def test_a_limit_is_a_number_that_is_not_negative(bad):
    with pytest.raises(ValidationError):
        Budgets(**bad)
