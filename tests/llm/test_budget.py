import pytest
from chats import ask, client, endpoint, prompt
from endpoint import NO_USAGE, ScriptedEndpoint, status

from src.errors import BudgetReached, ConfigError
from src.ledger import Ledger
from src.llm.config import Price
from src.llm.limits import Budget

PRICE = Price(1.0, 1.0, "2026-11-30")


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.db") as opened:
        yield opened


def prompts(count, word="fact"):
    return [prompt(f"Exactly 2 of {word} {number}") for number in range(count)]


def test_calls_never_exceed_their_limit_also_when_asked_at_once(ledger):
    with ScriptedEndpoint() as server:
        results = ask(client(endpoint(server), ledger, budget=Budget(calls=7)), *prompts(20))
        assert server.count() == 7
    refused = [result for result in results if isinstance(result, BudgetReached)]
    assert len(refused) == 13
    assert "budget.calls=7" in str(refused[0])


def test_replayed_answers_are_free_and_the_next_run_goes_on(ledger):
    with ScriptedEndpoint() as server:
        for wanted in (7, 14, 20):
            results = ask(client(endpoint(server), ledger, budget=Budget(calls=7)), *prompts(20))
            assert server.count() == wanted
        assert all(not isinstance(result, BaseException) for result in results)


def test_all_roles_share_one_budget(ledger):
    budget = Budget(calls=5)
    with ScriptedEndpoint() as server:
        ask(client(endpoint(server), ledger, budget=budget), *prompts(3))
        judged = ask(client(endpoint(server), ledger, budget=budget, role="judge"), *prompts(3, "judgement"))
        assert server.count() == 5
    assert [isinstance(result, BudgetReached) for result in judged] == [False, False, True]


@pytest.mark.parametrize("limit", [{"tokens": 50}, {"usd": 50e-6}], ids=["tokens", "usd"])
@pytest.mark.parametrize("faults", [[], [NO_USAGE] * 20], ids=["counted", "not counted"])
def test_tokens_and_money_stop_with_the_request_that_passes_them(limit, faults, ledger):
    with ScriptedEndpoint(faults=faults) as server:
        served = endpoint(server, concurrency=1)
        chat = client(served, ledger, budget=Budget(**limit), model={"price": PRICE})
        results = ask(chat, *prompts(20))
        spent = [result.usage for result in results if not isinstance(result, BudgetReached)]
        assert 0 < len(spent) == server.count() < 20
    if not faults:
        used = [usage.tokens_in + usage.tokens_out for usage in spent]
        assert sum(used[:-1]) < 50 <= sum(used)


def test_what_follows_a_failure_still_counts_it_as_one_call(ledger):
    with ScriptedEndpoint(faults=[status(500)] * 2) as server:
        first, second = ask(client(endpoint(server, concurrency=1), ledger, budget=Budget(calls=1)), *prompts(2))
        assert server.count() == 2
    assert first.state == "error"
    assert isinstance(second, BudgetReached)


def test_money_without_a_price_is_refused_before_the_first_call(ledger):
    with ScriptedEndpoint() as server:
        with pytest.raises(ConfigError, match=r"budget\.usd=1 .* model\.price"):
            client(endpoint(server), ledger, budget=Budget(usd=1))
        assert server.count() == 0
