"""The roles of a cell: budgets that can be kept, and connections that are shared."""

import asyncio
import json
from pathlib import Path

import pytest
from conftest import Compose
from endpoint import ScriptedEndpoint, slow

from src.console import silent
from src.errors import ConfigError
from src.judge import LLMJudge
from src.lab.config import read_cell
from src.lab.measure import run_cell
from src.lab.roles import build_lab
from src.ledger import Ledger
from src.records import Message, Metrics, Prompt

PRICE = "{input: 1.0, output: 2.0, dated: '2026-11-30'}"


def judged_at(server: ScriptedEndpoint, *more: str) -> tuple[str, ...]:
    return (
        "judge=openai",
        "judge.id=judge",
        f"judge.endpoint.base_url={server.base_url}",
        "judge.endpoint.api_key_env=null",
        *more,
    )


def embedded_at(server: ScriptedEndpoint) -> tuple[str, ...]:
    address = f"embedder.endpoint.base_url={server.base_url}"
    return ("embedder=qwen3_8b", address, "embedder.endpoint.api_key_env=null", "embedder.dimension=8")


@pytest.mark.parametrize("limit", ["budget.usd=5", "budget.sweep.usd=5"])
def test_a_limit_on_money_is_refused_for_every_role_whose_price_is_unknown(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path, limit: str
) -> None:
    roles = (*judged_at(server), *embedded_at(server), limit, "sweep=s")
    priced: list[str] = []
    for role in ("model", "judge", "embedder"):
        with pytest.raises(ConfigError, match=rf"{limit} cannot be kept because {role}\.price is null") as refused:
            run_cell(read_cell(remote(*roles, *priced)), silent)
        assert "\n" not in str(refused.value)
        priced.append(f"{role}.price={PRICE}")
    assert server.count() == 0
    assert not (tmp_path / "ledger.db").exists()
    run_cell(read_cell(remote(*roles, *priced, "max_turns=1", "strategy=sequential")), silent)
    assert server.count() > 0


def test_a_limit_on_calls_needs_no_price_and_free_models_keep_any_limit(remote: Compose, composed: Compose) -> None:
    assert read_cell(composed("budget.usd=0")).parts.model.price is not None
    run_cell(read_cell(remote("budget.calls=2", "budget.tokens=90000", "max_turns=1")), silent)


def test_a_limit_on_a_sweep_without_a_sweep_is_refused(remote: Compose, server: ScriptedEndpoint) -> None:
    with pytest.raises(ConfigError, match=r"budget\.sweep\.calls=5 limits a sweep.*-m.*sweep=NAME"):
        run_cell(read_cell(remote("budget.sweep.calls=5")), silent)
    assert server.count() == 0


def test_cells_of_a_sweep_share_its_budget_and_go_on_when_it_is_raised(
    remote: Compose, server: ScriptedEndpoint
) -> None:
    def run(seed: int, limit: int) -> str:
        outcome = run_cell(read_cell(remote("sweep=s", f"seed={seed}", f"budget.sweep.calls={limit}")), silent)
        return str(outcome.metrics["stop_reason"])

    assert [run(seed, 9) for seed in (1, 2)] == ["budget", "budget"]
    assert server.count() == 9
    assert run(2, 10) == "budget"
    assert server.count() == 10


def test_roles_at_one_endpoint_share_its_limits_and_others_do_not(composed: Compose, tmp_path: Path) -> None:
    prompts = [Prompt("p", {}, (Message("user", f"Exactly 1 of {number}"),)) for number in range(12)]

    async def most_at_once(*overrides: str) -> int:
        at = f"base_url={server.base_url}", "api_key_env=null", "concurrency=3"
        both = [f"{role}{part}" for role in ("endpoint.", "judge.endpoint.") for part in at]
        named = ("model=openai", "model.id=m", "embedder=hashing", "judge=openai", "judge.id=j")
        cell = read_cell(composed(*named, *both, *overrides))
        with Ledger(tmp_path / f"{len(overrides)}.db") as ledger:
            async with build_lab(cell, ledger, silent, {}) as lab:
                assert isinstance(lab.judge, LLMJudge)
                models = (lab.subject, lab.judge.model)
                await asyncio.gather(*(model.complete(prompt) for prompt in prompts for model in models))
        server.most_at_once, most = 0, server.most_at_once
        return most

    with ScriptedEndpoint(faults=lambda number, body: slow(0.03)) as server:
        assert asyncio.run(most_at_once()) == 3
        assert asyncio.run(most_at_once("judge.endpoint.timeout_s=99")) == 6


def test_spend_is_told_by_role(remote: Compose, server: ScriptedEndpoint, tmp_path: Path) -> None:
    roles = (*judged_at(server, f"judge.price={PRICE}"), *embedded_at(server), f"model.price={PRICE}")
    run_cell(read_cell(remote(*roles, "max_turns=2", "strategy=sequential")), silent)
    spend = json.loads((tmp_path / "cell/spend.json").read_text())
    assert spend["paces"]
    assert {len(steps) > 0 and steps[0]["concurrency"] > 0 for steps in spend["paces"].values()} == {True}
    asked = {"subject": "scripted", "judge": "judge", "embedder": "qwen/qwen3-embedding-8b"}
    for role, model in asked.items():
        assert spend["roles"][role]["calls"] == sum(request.body["model"] == model for request in server.requests)
    subject = spend["roles"]["subject"]
    assert subject["cost_usd"] == pytest.approx((subject["tokens_in"] + 2 * subject["tokens_out"]) / 1e6)
    assert spend["roles"]["embedder"]["cost_usd"] is None
    assert spend["cost_usd"] is None
    assert (spend["calls"], spend["failed"]) == (server.count(), 0)


def test_a_limit_on_money_is_refused_where_answers_were_paid_for_at_an_unknown_price(remote: Compose) -> None:
    def run(*overrides: str) -> str:
        cell = read_cell(remote("strategy=sequential", "max_turns=3", *overrides))
        return str(run_cell(cell, silent).metrics["stop_reason"])

    assert run("budget.calls=1") == "budget"
    with pytest.raises(ConfigError, match="1 answers of this run or sweep were paid for while the price was null"):
        run(f"model.price={PRICE}", "budget.usd=3")
    assert run(f"model.price={PRICE}", "budget.calls=9") != "budget"


def test_a_budget_reached_while_judging_is_a_stop_and_goes_on_when_raised(
    remote: Compose, server: ScriptedEndpoint
) -> None:
    def run(limit: int) -> Metrics:
        named = ("strategy=sequential", "max_turns=1", *judged_at(server), f"budget.calls={limit}")
        return run_cell(read_cell(remote(*named)), silent).metrics

    cut = run(4)
    assert (cut["stop_reason"], cut["raw"], server.count()) == ("budget", 8, 4)
    assert "accuracy" not in cut
    whole = run(500)
    assert whole["stop_reason"] == "max_turns"
    assert "accuracy" in whole
    assert server.count() == 1 + int(whole["calls_judge"] or 0)
