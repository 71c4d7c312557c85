"""Budgets and single payment over HTTP: what the server saw counts."""

import asyncio
import multiprocessing

import pytest
from chats import ask, client, endpoint, prompt
from endpoint import NO_USAGE, ScriptedEndpoint, content, slow, status

from src.errors import BudgetReached
from src.judge import LLMJudge
from src.ledger import Budget, Budgets, Ledger
from src.llm.client import TEMPLATE
from src.llm.config import Price
from src.records import Rubric

FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["numpy", "polars", "openai", "aiohttp", "src.llm.client"])

PRICE = Price(1.0, 1.0, "2026-11-30")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def prompts(count, word="fact"):
    return [prompt(f"Exactly 2 of {word} {number}") for number in range(count)]


def refused(results):
    return [isinstance(result, BudgetReached) for result in results]


def spent(results):
    return sum(
        result.usage.tokens_in + result.usage.tokens_out for result in results if not isinstance(result, BudgetReached)
    )


def test_fifty_at_once_never_exceed_the_calls_and_use_them_up(path):
    with ScriptedEndpoint() as server, Ledger(path, budgets=Budgets(calls=33)) as ledger:
        results = ask(client(endpoint(server, concurrency=50), ledger), *prompts(50))
        assert server.count() == 33
    assert sum(refused(results)) == 17
    assert "budget.calls=33" in str(results[refused(results).index(True)])


@pytest.mark.parametrize("limit", [{"tokens": 2000}, {"usd": 2000e-6}], ids=["tokens", "usd"])
def test_fifty_at_once_never_exceed_tokens_and_money_and_use_most_of_them(limit, path):
    with ScriptedEndpoint() as server, Ledger(path, budgets=Budgets(**limit)) as ledger:
        chat = client(endpoint(server, concurrency=50), ledger, model={"price": PRICE})
        results = ask(chat, *prompts(150))
        assert 0 < server.count() < 150
    # What one request can take is kept free: the prompt's bytes, the template's tokens and the longest answer.
    most = TEMPLATE + 100 + 80
    assert 2000 - most < spent(results) <= 2000


def test_an_answer_without_usage_is_charged_at_its_most(path):
    with ScriptedEndpoint(faults=[NO_USAGE] * 50) as server, Ledger(path, budgets=Budgets(tokens=2000)) as ledger:
        results = ask(client(endpoint(server, concurrency=50), ledger), *prompts(50))
        assert server.count() == 4  # of some 420 tokens each
        assert ledger.spend("cell")["subject"].tokens_out is None
    assert all(result.usage.tokens_out is None for result in results if not isinstance(result, BudgetReached))


def test_raised_and_run_again_it_goes_on_and_pays_nothing_twice(path):
    with ScriptedEndpoint() as server:
        for limit, sent in ((7, 7), (7, 7), (14, 14), (None, 20)):
            with Ledger(path, budgets=Budgets(calls=limit)) as ledger:
                results = ask(client(endpoint(server), ledger), *prompts(20))
            assert server.count() == sent
            assert sum(refused(results)) == 20 - sent
        assert len({str(request.body) for request in server.requests}) == 20


def test_attempts_at_one_answer_are_one_call_and_failures_for_free_are_none(path):
    faults = [status(500), status(503), None, status(500), None]  # gives up; answers; answers at the second attempt
    with ScriptedEndpoint(faults=faults) as server, Ledger(path, budgets=Budgets(calls=2)) as ledger:
        chat = client(endpoint(server), ledger)
        states = [ask(chat, one)[0] for one in prompts(4)]
        assert server.count() == 5
        bill = ledger.spend("cell")["subject"]
    assert [getattr(state, "state", "refused") for state in states] == ["error", "ok", "ok", "refused"]
    assert (bill.calls, bill.attempts, bill.failed) == (2, 5, 3)


def test_an_answer_that_may_have_been_billed_is_charged_although_it_never_came(path):
    with ScriptedEndpoint(faults=[slow(0.5)] * 2) as server, Ledger(path, budgets=Budgets(tokens=500)) as ledger:
        chat = client(endpoint(server, timeout_s=0.1, attempts=1), ledger)
        results = [ask(chat, one)[0] for one in prompts(2)]
        assert server.count() == 1
    assert results[0].state == "error"
    assert "budget.tokens=500" in str(results[1])


def test_a_longer_second_try_needs_room_too(path):
    thinking = content("<think>on and on", "length")
    with ScriptedEndpoint(faults=[thinking] * 2) as server:
        with Ledger(path, budgets=Budgets(calls=1)) as ledger:
            assert refused(ask(client(endpoint(server), ledger), *prompts(1))) == [True]
        assert server.count() == 1
        with Ledger(path, budgets=Budgets(calls=2)) as ledger:
            assert refused(ask(client(endpoint(server), ledger), *prompts(1))) == [False]
        assert server.count() == 2


def test_the_budget_binds_the_judge_and_its_second_question(path):
    rubric = Rubric("duplicate", ("YES", "NO"), ("YES",), "Same?\n{{ first }}\n{{ second }}")

    async def judged(limit, role="judge"):
        with Ledger(path, budgets=Budgets(calls=limit)) as ledger:
            async with client(endpoint(server), ledger, role=role) as chat:
                verdict = await LLMJudge(chat).judge(rubric, {"first": "a", "second": "b"})
            return verdict, ledger.spend("cell")["judge"]

    with ScriptedEndpoint(answer=lambda body: "who can tell") as server:
        with pytest.raises(BudgetReached, match=r"budget\.calls=1"):
            asyncio.run(judged(1))
        assert server.count() == 1
        verdict, bill = asyncio.run(judged(2))
        assert server.count() == 2
    assert verdict.label is None
    assert bill.calls == 2
    assert bill.tokens_out == 6  # of both replies, though neither was of use


def ask_all(base_url, path, cell, word, budgets, count, barrier):
    """Ask prompts from a process of its own; return nothing, fail on anything but a refusal."""
    server = type("Server", (), {"base_url": base_url})
    with Ledger(path, budgets=budgets) as ledger:
        barrier.wait(60)
        chat = client(endpoint(server, concurrency=50), ledger, cell_key=cell, sweep="sweep")
        results = ask(chat, *prompts(count, word))
    for result in results:
        if not isinstance(result, BudgetReached) and (isinstance(result, BaseException) or result.state != "ok"):
            raise AssertionError(result)


def in_processes(server, path, cells, words, budgets, count):
    barrier = FORKSERVER.Barrier(len(cells))
    processes = [
        FORKSERVER.Process(target=ask_all, args=(server.base_url, path, cell, word, budgets, count, barrier))
        for cell, word in zip(cells, words, strict=True)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(cells)


def test_eight_processes_with_the_same_400_prompts_send_400_requests(path):
    with ScriptedEndpoint() as server:
        in_processes(server, path, ["cell"] * 8, ["fact"] * 8, Budgets(), 400)
        assert server.count() == 400
        assert len({str(request.body) for request in server.requests}) == 400
    with Ledger(path) as ledger:
        assert ledger.spend("cell")["subject"].calls == 400


def test_four_processes_share_the_budget_of_their_sweep(path):
    cells = [f"cell {number}" for number in range(4)]
    with ScriptedEndpoint() as server:
        in_processes(server, path, cells, cells, Budgets(sweep=Budget(calls=50)), 40)
        assert server.count() == 50
    with ScriptedEndpoint() as server:
        budgets = Budgets(tokens=10**6, sweep=Budget(tokens=4000))
        in_processes(server, path.with_name("tokens"), cells, cells, budgets, 100)
        with Ledger(path.with_name("tokens")) as ledger:
            bills = [bill for cell in cells for bill in ledger.spend(cell).values()]
        used = sum(bill.tokens_in + bill.tokens_out for bill in bills)
        assert sum(bill.calls for bill in bills) == server.count()
    assert 4000 - (TEMPLATE + 100 + 80) < used <= 4000
