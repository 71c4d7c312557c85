import pytest

from src.errors import BudgetReached, ConfigError
from src.llm.config import Price
from src.llm.limits import Budget
from src.records import Usage

PRICE = Price(1.0, 2.0, "2026-11-30")
UNKNOWN = Usage(None, None)


def test_calls_stop_at_the_limit_and_say_what_to_raise():
    budget = Budget(calls=2)
    budget.admit()
    budget.admit()
    with pytest.raises(BudgetReached, match=r"budget\.calls=2 is used up \(2 spent.*raise budget\.calls"):
        budget.admit()


def test_tokens_and_money_stop_once_the_limit_is_reached():
    tokens, money = Budget(tokens=10), Budget(usd=1e-5)
    for budget in (tokens, money):
        budget.admit()
        budget.charge(Usage(4, 2), UNKNOWN, PRICE)  # 6 tokens, 8e-6 dollars
        budget.admit()
        budget.charge(Usage(4, 2), UNKNOWN, PRICE)
    with pytest.raises(BudgetReached, match=r"budget\.tokens=10"):
        tokens.admit()
    with pytest.raises(BudgetReached, match=r"budget\.usd=1e-05"):
        money.admit()


def test_nothing_may_be_spent_at_zero():
    for limit in ("calls", "tokens", "usd"):
        with pytest.raises(BudgetReached):
            Budget(**{limit: 0}).admit()


def test_without_limits_everything_is_admitted():
    budget = Budget()
    for _ in range(1000):
        budget.admit()
        budget.charge(Usage(10**9, 10**9), UNKNOWN, PRICE)
    assert (budget.calls, budget.tokens, budget.usd) == (None, None, None)


def test_unknown_usage_is_charged_at_its_most():
    budget = Budget(tokens=100)
    budget.charge(Usage(None, None), Usage(60, 40), PRICE)
    with pytest.raises(BudgetReached):
        budget.admit()


def test_money_without_a_price_is_refused_before_the_first_call():
    with pytest.raises(ConfigError, match=r"judge\.price is null"):
        Budget(usd=1).require(None, "judge")
    Budget(usd=1).require(PRICE, "judge")
    Budget(calls=1).require(None, "judge")
