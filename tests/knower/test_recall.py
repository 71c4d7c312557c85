"""The truth about recall is that of runs that are asked, shown and refused as the measured one was."""

import numpy as np
import polars as pl
import pytest

from src.knower.answer import answer
from src.knower.drawing import Scope
from src.knower.knowledge import Knower
from src.knower.recall import Measurement, find_chances, measurement
from src.knower.wording import read
from src.knower.world import World, stream
from src.text.lists import parse_list, parse_sentences

WORLD, QUERY, TURNS, SHOWN = World(facts=300, topics=(2,)), "deep learning", 4, 10
KNOWER = Knower(seed=3, refuses=0.3, obeys=1.0)
EXPERTS = parse_sentences(
    str(answer(WORLD, KNOWER, "personas.experts", {"query": QUERY, "count": 4}, stream())), truncated=False
)
CALLS = pl.DataFrame(
    {
        "turn": [1, *[1] * 4, TURNS, None],
        "prompt": ["personas.experts", *["personas.add"] * 6],
        "branch": ["", *(f"{number} {expert}" for number, expert in enumerate(EXPERTS, start=1)), "1 x", "1 x"],
    }
)


def through_text(run: int) -> int:
    """Facts that one run of experts states, who are asked in words and shown the first points of the pool."""
    pool: dict[object, str] = {}
    valid = set()
    for turn in range(1, TURNS + 1):
        shown = tuple(pool.values())[:SHOWN]
        for expert in EXPERTS:
            values = {"query": QUERY, "count": 5, "expert": expert, "points": shown, "turn": turn}
            text = answer(WORLD, KNOWER, "personas.add", values, stream(run, turn, expert)) or ""
            for item in parse_list(text, truncated=False).items:
                statement = read(item.text)
                assert statement
                pool.setdefault(statement, item.text)
                if statement.what == "true":
                    valid.add(statement.number)
    return len(valid)


def test_how_a_model_was_measured_is_read_from_its_calls() -> None:
    found = measurement(WORLD, KNOWER, CALLS, 5, SHOWN)
    scopes = tuple(Scope(count=5, expert=expert) for expert in EXPERTS)
    assert found == Measurement(WORLD, KNOWER, scopes, TURNS, own=False, shown_points=SHOWN)


def test_chances_are_those_of_runs_through_text() -> None:
    """Refusals and the limit on what is shown each change what a run finds, and the truth with it."""
    said = [through_text(run) for run in range(60)]
    measured = measurement(WORLD, KNOWER, CALLS, 5, SHOWN)
    (chance,) = find_chances([measured], QUERY)
    error = np.std(said) * np.sqrt(1 / 60 + 1 / 100)
    assert chance.sum() == pytest.approx(np.mean(said), abs=4 * error)
    (everything,) = find_chances([measurement(WORLD, KNOWER, CALLS, 5)], QUERY)
    (answered,) = find_chances([measurement(WORLD, Knower(seed=3, obeys=1.0), CALLS, 5, SHOWN)], QUERY)
    assert everything.sum() > np.mean(said) + 4 * error
    assert answered.sum() > np.mean(said) + 4 * error
