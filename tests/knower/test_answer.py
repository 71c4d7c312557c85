"""A simulated model answers the prompts of every prompt set by their names and values."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from src.errors import ConfigError
from src.knower.answer import LONGEST_EXPERT, MINING, MOST_FIELDS, NAMING, answer, scope_of
from src.knower.drawing import Scope, chances
from src.knower.knowledge import Knower, knowledge
from src.knower.names import NAME
from src.knower.wording import read, say
from src.knower.world import World, facts, stream
from src.records import Answer, Completion, Domain, Request, Usage
from src.strategies.taxonomy import Taxonomy
from src.text.lists import parse_names, parse_sentences
from src.text.points import read_points

WORLD, KNOWER = World(facts=500, topics=(2, 3)), Knower(seed=4)
QUERY = "deep learning"
VALUES = {
    "sequential.first": {"query": QUERY, "turn": 1},
    "sequential.more": {"query": QUERY, "turn": 2, "history": ("- Nothing known.",)},
    "reflective.more": {"query": QUERY, "turn": 2, "points": ()},
    "taxonomy.children": {"query": QUERY, "path": (), "count": 3},
    "taxonomy.missing": {"query": QUERY, "path": (), "count": 2, "have": ()},
    "taxonomy.mine": {"query": QUERY, "path": (), "turn": 1},
    "taxonomy.mine_more": {"query": QUERY, "path": (), "turn": 2, "points": ()},
    "personas.experts": {"query": QUERY, "count": 3},
    "personas.missing": {"query": QUERY, "count": 3, "have": ()},
    "personas.add": {"query": QUERY, "count": 5, "expert": "A teacher.", "points": (), "turn": 1},
}


def ask(name: str, draw: int = 0, knower: Knower = KNOWER, **values: object) -> str:
    said = answer(WORLD, knower, name, {**VALUES[name], **values}, stream(draw))
    assert said is not None
    return said


def names(text: str) -> tuple[str, ...]:
    return parse_names(text, truncated=False)


def stated(text: str, form: str = "list") -> list[int]:
    return [read(item.text).meaning(WORLD.facts) for item in read_points(text, form, truncated=False).items]


def test_every_prompt_of_every_set_has_an_answer() -> None:
    asked = set()
    for path in Path("conf/prompts").glob("*.yaml"):
        families = yaml.safe_load(path.read_text()).get("families", {})
        asked |= {f"{family}.{name}" for family, templates in families.items() for name in templates}
    assert asked == {*MINING, *NAMING} == VALUES.keys()
    for name in asked:
        assert read_points(ask(name), "critique" if name == "reflective.more" else "list", truncated=False).items


def test_an_unknown_prompt_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no answer to the prompt triples\.open: it knows sequential\.first"):
        answer(WORLD, KNOWER, "triples.open", {}, stream())


@pytest.mark.parametrize("widths", [(1,), (3,), (2, 5), (3, 3, 2)])
def test_sub_fields_cover_the_domain_without_overlap(widths: tuple[int, ...]) -> None:
    paths: list[tuple[str, ...]] = [()]
    for width in widths:
        below = []
        for path in paths:
            found = names(ask("taxonomy.children", path=path, count=width))
            assert len(found) == width
            below += [(*path, name) for name in found]
        paths = below
    assert len({name for path in paths for name in path}) == sum(
        int(np.prod(widths[: depth + 1])) for depth in range(len(widths))
    ), "two sub-fields have one name"
    branches = [" > ".join(f"{place} {name}" for place, name in enumerate(path, start=1)) for path in paths]
    parts = sorted((scope.low, scope.high) for scope in (scope_of("taxonomy.mine", one, 5) for one in branches))
    edges = [0.0, *(high for _, high in parts)]
    assert edges[:-1] == pytest.approx([low for low, _ in parts])
    assert edges[-1] == pytest.approx(1.0)


def test_what_is_missing_is_named_anew() -> None:
    every = names(ask("taxonomy.children", count=5))
    again = names(ask("taxonomy.missing", count=2, have=(every[0], every[3], every[4])))
    assert set(again) == {every[1], every[2]}
    experts = parse_sentences(ask("personas.experts", count=4), truncated=False)
    late = parse_sentences(ask("personas.missing", count=2, have=experts[:2]), truncated=False)
    assert late == experts[2:]


def test_a_field_has_no_more_parts_than_its_names_hold() -> None:
    asked: list[str] = []

    async def reply(requests: Sequence[Request]) -> tuple[Answer, ...]:
        asked.extend(request.template for request in requests)
        said = [
            Completion(ask(one.template, **one.values), "ok", "stop", Usage(1, 1), 0, False, "k") for one in requests
        ]
        return tuple(Answer("", 0, one) for one in said)

    async def grow() -> tuple[int, int]:
        turns = Taxonomy("taxonomy_257", (257,)).propose(Domain("field", QUERY), reply)
        turn = await anext(turns)
        await turns.aclose()
        return len(turn.answers), turn.shortfall

    assert asyncio.run(grow()) == (MOST_FIELDS, 1)
    assert asked[:2] == ["taxonomy.children", "taxonomy.missing"]


def test_siblings_do_not_overlap_whatever_number_is_asked_for_later() -> None:
    have = names(ask("taxonomy.children", count=5))[:2]
    for count, left in ((1, 1), (3, 3), (8, 3)):
        late = names(answer(WORLD, KNOWER, "taxonomy.missing", {"query": QUERY, "path": (), "have": have,
                                                                  "count": count}, stream()))  # fmt: skip
        assert len(late) == left
        parts = sorted((part.low, part.high) for part in (scope_of("taxonomy.mine", one, 5) for one in (*have, *late)))
        assert all(high <= low + 1e-12 for (_, high), (low, _) in pairwise(parts))


def test_a_leaf_is_answered_with_facts_of_its_part_of_the_line() -> None:
    (first, second) = names(ask("taxonomy.children", count=2))
    there = facts(WORLD, QUERY).place
    for path, low, high in (((first,), 0.0, 0.5), ((second,), 0.5, 1.0)):
        text = ask("taxonomy.mine", path=path, knower=Knower(leaks=0.0))
        places = [there[meaning % WORLD.facts] for meaning in stated(text) if meaning < 2 * WORLD.facts]
        assert places
        assert all(low <= place < high for place in places)


def test_a_name_that_is_no_sub_field_of_ours_is_refused() -> None:
    with pytest.raises(ConfigError, match="no sub-field 'Alpha-Beta'"):
        ask("taxonomy.mine", path=("Alpha-Beta studies",))


def test_experts_are_described_within_what_a_branch_is_named_after() -> None:
    experts = parse_sentences(ask("personas.experts", count=200), truncated=False)
    assert len(set(experts)) == 200
    assert max(map(len, experts)) <= LONGEST_EXPERT
    assert scope_of("personas.add", f"7 {experts[6]}", 5) == Scope(count=5, expert=experts[6])


@pytest.mark.parametrize("name", ["taxonomy.mine_more", "personas.add", "reflective.more"])
def test_shown_points_are_not_said_again_by_one_that_obeys(name: str) -> None:
    form = "critique" if name == "reflective.more" else "list"
    knower = Knower(obeys=1.0, seed=4)
    said = stated(ask(name, knower=knower), form)
    facts_said = [meaning for meaning in said if meaning < 2 * WORLD.facts]
    shown = tuple(say(WORLD, QUERY, meaning, 3) for meaning in facts_said)
    for draw in range(30):
        assert not {*facts_said} & {*stated(ask(name, draw, knower, points=shown), form)}


def test_the_history_of_answers_is_read_as_what_was_shown() -> None:
    knower = Knower(obeys=1.0, seed=4, points=40)
    first = ask("sequential.first", knower=knower)
    again = {*stated(ask("sequential.more", 1, knower, history=(first,)))}
    assert not {meaning for meaning in stated(first) if meaning < 2 * WORLD.facts} & again


def test_answers_hold_facts_as_often_as_their_chances_say() -> None:
    knower = Knower(seed=4, points=60)
    known = knowledge(WORLD, knower, QUERY)
    chance = chances(known, Scope(), 1, np.zeros((1, WORLD.facts), dtype=bool)).facts[0]
    counts = np.zeros(WORLD.facts)
    for draw in range(100):
        meanings = np.array(stated(ask("sequential.first", draw, knower)))
        counts[np.unique(meanings[meanings < 2 * WORLD.facts] % WORLD.facts)] += 1
    z = (counts - 100 * chance) / np.sqrt(100 * chance * (1 - chance) + 1e-9)
    assert np.abs(z[chance > 0.02]).max() < 4.5
    assert counts[chance == 0].sum() == 0


def test_ways_refusals_and_empty_answers() -> None:
    own = Knower(ways=(1, 0, 0, 0), points=40)
    for text in ask("sequential.first", knower=own).split("\n"):
        statement = read(text.removeprefix("- "))
        if statement.what != "junk":
            assert text.removeprefix("- ") == say(WORLD, QUERY, statement.meaning(WORLD.facts), 0)
    refusing = Knower(refuses=0.3)
    refused = sum(answer(WORLD, refusing, "taxonomy.mine", VALUES["taxonomy.mine"], stream(draw)) is None
                  for draw in range(200))  # fmt: skip
    assert 40 <= refused <= 80
    assert names(answer(WORLD, Knower(refuses=0.999), "taxonomy.children", VALUES["taxonomy.children"], stream()))
    mute = ask("sequential.first", knower=Knower(knows=0, misbelieves=0))
    assert read_points(mute, "list", truncated=False).unlisted


def test_names_are_found_in_what_is_named() -> None:
    assert all(NAME.search(name) for name in names(ask("taxonomy.children", count=9)))
