"""A plan before, and the facts after: every figure of a run lies within what was planned."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Compose
from endpoint import Fault, ScriptedEndpoint, content, derived

from src.costs import Load
from src.errors import DataMissing
from src.lab.config import read_cell
from src.lab.plan import PlanRow, compare, plan_cell
from src.run import run

FORCED = ("saturation.growth=0", "saturation.efficiency=0", "saturation.points=0")
PRICE = "{input: 1.0, output: 2.0, dated: 2026-11-30}"

Answer = Callable[[dict[str, Any]], str]


def names_only(count: int) -> Answer:
    """Names `count` sub-fields or experts, long ones, however many are asked for."""

    def answer(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        if "names only" in asked.lower() or "kind of expert" in asked:
            stem = str(sum(map(ord, asked)))
            return "\n".join(f"- {stem} {number} {'wide topic ' * 5}" for number in range(count))
        return derived(body["messages"])

    return answer


def overrides(server: ScriptedEndpoint, *more: str) -> list[str]:
    roles = [("", "model", "subject"), ("judge.", "judge", "arbiter"), ("embedder.", "embedder", "encoder")]
    said = ["model=openai", "judge=openai", "embedder=qwen3_8b", "embedder.dimension=8", "model.max_tokens=64"]
    for place, role, model in roles:
        said += [f"{place}endpoint.base_url={server.base_url}", f"{place}endpoint.api_key_env=null"]
        said += [f"{role}.id={model}", f"{role}.price={PRICE}"]
    return [*said, *more]


def calls_of(server: ScriptedEndpoint, model: str) -> int:
    return sum(request.body["model"] == model for request in server.requests)


def row(rows: tuple[PlanRow, ...], role: str) -> PlanRow:
    (found,) = [one for one in rows if one.role == role]
    return found


STRATEGIES = [
    "sequential",
    "reflective",
    "taxonomy_l2w2",
    "taxonomy_l3w3",
    "taxonomy_l5w5",
    "personas_n3",
    "personas_n10",
    "personas_n20",
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_calls_of_obedient_answers_are_exactly_those_asked_for(
    composed: Compose, server: ScriptedEndpoint, strategy: str
) -> None:
    said = (
        "model.max_tokens=4096",
        "embedder=hashing",
        "judge=rules",
        f"strategy={strategy}",
        "max_turns=3",
        "phases=[extract]",
    )
    base = [f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null", "model=openai", "model.id=m"]
    cfg = composed(*base, *said, *FORCED)
    rows = plan_cell(read_cell(cfg))
    assert server.count() == 0
    outcome = run(cfg)
    assert outcome.metrics["calls"] == row(rows, "subject").asked == server.count()
    compared = compare(rows, outcome.metrics, outcome.spend)
    assert [one for one in compared if one.within is False] == []
    assert {one.role for one in compared} == {"subject", "embedder"}


@pytest.mark.parametrize("strategy", ["taxonomy_l2w2", "personas_n3", "reflective"])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_figures_of_disobedient_answers_lie_within_the_plan(composed: Compose, strategy: str, count: int) -> None:
    with ScriptedEndpoint(answer=names_only(count)) as server:
        cfg = composed(*overrides(server, f"strategy={strategy}", "max_turns=2", *FORCED))
        rows = plan_cell(read_cell(cfg))
        outcome = run(cfg)
        compared = compare(rows, outcome.metrics, outcome.spend)
        assert [one for one in compared if one.within is not True] == []
        assert len(compared) == 3 + 2 + 1 + 1
        assert row(rows, "embedder").least.calls <= calls_of(server, "encoder") <= row(rows, "embedder").most.calls


def test_an_answer_that_lists_nothing_takes_the_least(composed: Compose) -> None:
    with ScriptedEndpoint(answer=lambda body: "I cannot say.") as server:
        for strategy, least in (("sequential", 1), ("taxonomy_l3w3", 3), ("personas_n10", 3)):
            cfg = composed(*overrides(server, f"strategy={strategy}"))
            outcome = run(cfg)
            assert outcome.metrics["calls"] == row(plan_cell(read_cell(cfg)), "subject").least.calls == least
        patient = plan_cell(read_cell(composed(*overrides(server, "saturation.patience=1"))))
        assert row(patient, "subject").least.calls == 3 + 1


def test_answers_that_are_all_reasoning_and_judges_without_a_label_lie_within(composed: Compose) -> None:
    def thinks(number: int, body: dict[str, Any]) -> Any:
        if body["model"] == "arbiter":
            return content("I would rather not say.")
        return content("<think>hm", "length") if body.get("max_tokens") == 64 else None

    with ScriptedEndpoint(faults=thinks) as server:
        cfg = composed(*overrides(server, "strategy=personas_n3", "max_turns=2", *FORCED))
        rows = plan_cell(read_cell(cfg))
        outcome = run(cfg)
    subject = row(rows, "subject")
    assert outcome.metrics["calls"] == 2 * (subject.asked or 0) <= subject.most.calls
    assert outcome.metrics["audit_unparsed"] == outcome.metrics["unique"]
    assert [one for one in compare(rows, outcome.metrics, outcome.spend) if one.within is not True] == []


def test_a_plan_needs_no_network_no_key_and_no_model_file(composed: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    rows = plan_cell(read_cell(composed("model=llama70b", "strategy=taxonomy_l5w5", "judge=deepseek_v31")))
    subject, judge = row(rows, "subject"), row(rows, "judge")
    assert (subject.asked, subject.usd_most, judge.usd_most, judge.asked) == (381, None, None, None)
    assert subject.least.calls == 3
    assert judge.least == Load(0, 0, 0)
    missing = composed("endpoint.model_path=none.gguf", "model.file=none.gguf")
    assert row(plan_cell(read_cell(missing)), "subject").usd_most == 0.0


def test_bounds_grow_with_turns_and_length_and_stay_below_a_budget(composed: Compose, server: ScriptedEndpoint) -> None:
    def most(*more: str) -> PlanRow:
        return row(plan_cell(read_cell(composed(*overrides(server, *more)))), "subject")

    short, long = most("max_turns=2"), most("max_turns=4")
    assert short.most.tokens_in < long.most.tokens_in
    assert most("max_turns=2", "model.max_tokens=65").most.tokens_out > short.most.tokens_out
    assert short.usd_most == pytest.approx((short.most.tokens_in + 2 * short.most.tokens_out) / 1e6)
    capped = most("max_turns=4", "budget.calls=5", "budget.tokens=1000", "budget.usd=0.001")
    assert (capped.most, capped.usd_most) == (Load(5, 1000, 1000), 0.001)
    assert most("budget.sweep.calls=4", "sweep=s").most.calls == 4


def test_a_stored_extraction_bounds_its_judging(composed: Compose, server: ScriptedEndpoint, tmp_path: Path) -> None:
    said = overrides(server, "max_turns=2", "model.max_tokens=4096")
    with pytest.raises(DataMissing, match="no finished extract"):
        plan_cell(read_cell(composed(*said, "phases=[process]")))
    run(composed(*said, "phases=[extract]"))
    asked = server.count()
    rows = plan_cell(read_cell(composed(*said, "phases=[process]")))
    assert server.count() == asked
    assert [one.role for one in rows] == ["judge", "embedder"]
    outcome = run(composed(*said, "phases=[process]"))
    distinct = row(rows, "judge").least.calls
    assert 0 < distinct <= calls_of(server, "arbiter") <= row(rows, "judge").most.calls
    assert distinct == len(set(_texts(tmp_path)))
    assert [one for one in compare(rows, outcome.metrics, outcome.spend) if one.within is not True] == []


def _texts(place: Path) -> list[str]:
    return pl.read_parquet(place / "cell/extract/atoms.parquet")["text"].to_list()


def test_a_recording_is_planned_by_what_it_holds(composed: Compose, server: ScriptedEndpoint, tmp_path: Path) -> None:
    path = tmp_path / "gpt4o.jsonl"
    path.write_text(
        "".join(json.dumps({"domain": "deep_learning", "atom": f"Fact {n} holds."}) + "\n" for n in (1, 2, 2))
    )
    judged = [part for part in overrides(server) if part.startswith(("judge", "embedder"))]
    cfg = composed("model=recorded", "strategy=recorded", f"recorded.path={path}", *judged)
    rows = plan_cell(read_cell(cfg))
    assert [(one.role, one.least.calls) for one in rows] == [("judge", 2), ("embedder", 1)]
    outcome = run(cfg)
    assert [one for one in compare(rows, outcome.metrics, outcome.spend) if one.within is False] == []


def test_a_run_cut_short_may_take_less_but_never_more(composed: Compose, server: ScriptedEndpoint) -> None:
    cfg = composed(*overrides(server, "strategy=taxonomy_l2w2", *FORCED, "max_turns=3", "phases=[extract]"))
    rows = plan_cell(read_cell(cfg))
    metrics = {"calls": 7, "stop_reason": "budget"}
    assert compare(rows, metrics, {})[0].within
    assert compare(rows, {**metrics, "stop_reason": "saturated"}, {})[0].within is True
    assert compare(rows, {**metrics, "calls": 3, "stop_reason": "max_turns"}, {})[0].within is False
    assert compare(rows, {**metrics, "calls": 10_000}, {})[0].within is False
    assert compare(rows, {}, {})[0].within is None
    assert compare(rows, metrics, {"cost_usd": 1e9})[-1].within is False


@pytest.mark.parametrize("strategy", ["sequential", "reflective", "personas_n3", "taxonomy_l2w2"])
def test_prompts_that_grow_stay_within_even_if_every_byte_is_a_token(composed: Compose, strategy: str) -> None:
    def usage(number: int, body: dict[str, Any]) -> Fault:
        said, answered = body["messages"][-1]["content"], derived(body["messages"])
        counts = {"prompt_tokens": len(said.encode()) + 100, "completion_tokens": len(answered.encode())}
        return Fault(edit=lambda answer: {**answer, "usage": counts})

    with ScriptedEndpoint(faults=usage) as server:
        said = ("embedder=hashing", "judge=rules", f"strategy={strategy}", "max_turns=20", "model.max_tokens=600")
        base = [f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null", "model=openai", "model.id=m"]
        cfg = composed(*base, *said, "phases=[extract]", *FORCED)
        rows = plan_cell(read_cell(cfg))
        outcome = run(cfg)
        tokens_in = [
            row(plan_cell(read_cell(composed(*base, *said, f"max_turns={turns}"))), "subject").most.tokens_in
            for turns in (1, 2, 19, 20)
        ]
    assert [one for one in compare(rows, outcome.metrics, outcome.spend) if one.within is False] == []
    # Turn 20 shows eighteen answers more than turn 2 does, each of up to 600 tokens.
    assert (tokens_in[3] - tokens_in[2]) - (tokens_in[1] - tokens_in[0]) >= 18 * 600


def test_the_most_that_a_judge_can_take_does_happen(composed: Compose, tmp_path: Path) -> None:
    path = tmp_path / "gpt4o.jsonl"
    path.write_text('{"domain": "deep_learning", "atom": "Dropout zeroes units."}')

    def rambles(number: int, body: dict[str, Any]) -> Fault | None:
        if body["model"] != "arbiter":
            return None
        return content("<think>hm", "length") if body["max_tokens"] == 512 else content("I would rather not say.")

    with ScriptedEndpoint(faults=rambles) as server:
        judged = [part for part in overrides(server) if part.startswith(("judge", "embedder"))]
        cfg = composed("model=recorded", "strategy=recorded", f"recorded.path={path}", *judged)
        rows = plan_cell(read_cell(cfg))
        outcome = run(cfg)
        assert row(rows, "embedder").most.calls == calls_of(server, "encoder") == 1
    assert row(rows, "judge").most.calls == outcome.metrics["calls_judge"] == 2 * 2
    assert [one for one in compare(rows, outcome.metrics, outcome.spend) if one.within is False] == []
