"""Statements say by themselves what they mean, survive the list parser, and are told apart by the guards."""

import numpy as np
import pytest

from src.knower.names import BITS, NAME, coined, decoded
from src.knower.wording import KINDS, WAYS, domain_tag, read, say
from src.knower.world import INVENTIONS, JUNK, World, facts
from src.text.form import form_fault
from src.text.guards import difference
from src.text.lists import parse_list

WORLD = World(facts=300, siblings=0.2, seed=5)
N = WORLD.facts
MEANINGS = [*range(2 * N), *range(2 * N, 2 * N + INVENTIONS, 17), *range(2 * N + INVENTIONS, 2 * N + INVENTIONS + JUNK)]


def test_a_name_is_a_code_and_back() -> None:
    codes = [0, 1, 2, 2**BITS - 1, *np.random.default_rng(0).integers(2**BITS, size=2_000).tolist()]
    names = [coined(code) for code in codes]
    assert [decoded(name) for name in names] == codes
    assert all(NAME.fullmatch(name) for name in names)
    assert len({name[:3] for name in map(coined, range(50))}) > 25, "names of neighbours look alike"


@pytest.mark.parametrize(
    "other", ["Dorvik", "Dorvik-Selan-Ra", "dorvik-Selan", "Dorvik-Selan9", "Xyz-Abc", "DorvIk-Selan"]
)
def test_what_is_no_name_has_no_code(other: str) -> None:
    assert decoded(other) is None


def test_every_text_reads_back_as_what_was_meant_and_no_two_meanings_share_one() -> None:
    texts: dict[str, int] = {}
    for meaning in MEANINGS:
        for way in range(WAYS):
            text = say(WORLD, "deep learning", meaning, way)
            statement = read(text)
            assert statement is not None
            assert statement.meaning(N) == meaning
            assert texts.setdefault(text, meaning) == meaning
    assert len(texts) == WAYS * (len(MEANINGS) - JUNK) + JUNK


def test_a_statement_tells_its_domain_and_kind() -> None:
    there = facts(WORLD, "deep learning")
    for fact in range(0, N, 11):
        statement = read(say(WORLD, "deep learning", fact, 2))
        assert (statement.domain, KINDS[statement.kind]) == (
            domain_tag(WORLD, "deep learning"),
            KINDS[there.kind[fact]],
        )
        assert statement != read(say(WORLD, "ml systems", fact, 2))
        assert statement != read(say(World(facts=300, siblings=0.2, seed=6), "deep learning", fact, 2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Dropout zeroes units.",
        "The Dorvik-Selan furnace absorbs damp gravel.",
        say(WORLD, "x", 3, 0).removesuffix("."),
        say(WORLD, "x", 3, 0).replace("The ", "A "),
    ],
)
def test_what_nobody_said_is_no_statement(text: str) -> None:
    assert read(text) is None


def test_statements_survive_the_list_parser_unchanged() -> None:
    texts = [say(WORLD, "deep learning", meaning, place % WAYS) for place, meaning in enumerate(MEANINGS)]
    for bullet in ("- ", "* ", "• "):
        listed = parse_list("\n".join(bullet + text for text in texts), truncated=False)
        assert [item.text for item in listed.items] == texts


def test_siblings_are_both_true_and_differ_in_a_number_only() -> None:
    second = np.flatnonzero(facts(WORLD, "deep learning").sibling)
    assert len(second) > 25
    for fact in second.tolist():
        for way in range(WAYS):
            one, other = (say(WORLD, "deep learning", number, way) for number in (fact - 1, fact))
            assert difference(one, other) == "number"
            assert [word for word in one.split() if not word.isdigit()] == [w for w in other.split() if not w.isdigit()]


def test_a_guard_objects_to_every_false_form_that_is_worded_alike() -> None:
    found = {difference(*(say(WORLD, "deep learning", form, way) for form in (fact, N + fact)))
             for fact in range(0, N, 3) for way in range(WAYS)}  # fmt: skip
    assert found == {"number", "negation"}


def test_a_statement_in_another_order_is_merged_unasked() -> None:
    pairs = [(say(WORLD, "deep learning", fact, 0), say(WORLD, "deep learning", fact, 1)) for fact in range(N)]
    assert sum(difference(*pair) != "" for pair in pairs) <= 0.02 * N


def test_statements_have_the_form_of_propositions_and_most_junk_has_not() -> None:
    faults = [form_fault(say(WORLD, "deep learning", meaning, place % WAYS)) for place, meaning in enumerate(range(N))]
    assert faults.count("") == N
    junk = [form_fault(say(WORLD, "deep learning", 2 * N + INVENTIONS + number, 0)) for number in range(JUNK)]
    assert junk.count("") < JUNK / 2
