"""The simulated model as a chat model: the same request, the same answer; another request, another one."""

import asyncio
from dataclasses import replace

import pytest

from src.knower.knowledge import Knower, Tuning
from src.knower.world import World
from src.llm.simulated import Simulated
from src.records import Completion, Message, Prompt

MODEL = Simulated(World(facts=200, topics=(2,)), Knower())
VALUES = {"query": "deep learning", "turn": 1}


def ask(model: Simulated = MODEL, seed: int = 0, draw: int = 0, text: str = "List facts.") -> Completion:
    prompt = Prompt("sequential.first", VALUES, (Message("user", text),))
    return asyncio.run(model.chat(seed).complete(prompt, draw=draw))


def test_an_answer_depends_on_its_request_alone() -> None:
    first = ask()
    assert first == ask()
    assert first.text != ask(seed=1).text
    assert first.text != ask(draw=1).text
    assert first.text != ask(text="List facts!").text
    assert len({first.key, ask(seed=1).key, ask(draw=1).key, ask(text="List facts!").key}) == 4


def test_usage_counts_characters_and_nothing_was_paid() -> None:
    got = ask()
    assert (got.usage.tokens_in, got.usage.tokens_out) == (3, -(-len(got.text) // 4))
    assert (got.attempts, got.requests, got.replayed, got.state) == (0, 1, False, "ok")


def test_a_long_answer_is_cut_and_a_refused_one_says_so() -> None:
    cut = ask(replace(MODEL, max_tokens=20))
    assert (cut.state, cut.finish_reason, len(cut.text)) == ("truncated", "length", 80)
    assert "model.max_tokens=20" in cut.reason
    refused = ask(replace(MODEL, knower=Knower(refuses=0.999)))
    assert (refused.state, refused.text) == ("refused", "")
    assert "knower.refuses" in refused.reason


@pytest.mark.parametrize(
    "other",
    [
        replace(MODEL, world=World(facts=201, topics=(2,))),
        replace(MODEL, knower=Knower(errs=0.2)),
        replace(MODEL, knower=Knower(tuned={"x": Tuning(errs=1.0)})),
        replace(MODEL, max_tokens=5),
    ],
)
def test_the_revision_is_a_hash_of_what_answers_depend_on(other: Simulated) -> None:
    assert other.fingerprint != MODEL.fingerprint
    assert replace(MODEL, parameters=7.0).fingerprint == MODEL.fingerprint
    assert MODEL.fingerprint.startswith("sha256:")


def test_the_order_of_tunings_does_not_count() -> None:
    one, other = Tuning(errs=1.0), Tuning(errs=2.0)
    forth = replace(MODEL, knower=Knower(tuned={"a": one, "b": other}))
    back = replace(MODEL, knower=Knower(tuned={"b": other, "a": one}))
    assert forth.fingerprint == back.fingerprint
