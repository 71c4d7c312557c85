import asyncio
from collections.abc import Sequence

import pytest

from src.errors import ConfigError
from src.interfaces import Strategy
from src.records import Answer, Completion, Domain, Point, Request, Turn, Usage
from src.strategies.personas import Personas
from src.strategies.reflective import Reflective
from src.strategies.sequential import Sequential
from src.strategies.taxonomy import Taxonomy

DOMAIN = Domain("d", "deep learning")


class Scribe:
    """Answers by a given function and keeps what was asked, batch by batch."""

    def __init__(self, answer: dict[str, str]) -> None:
        self.answer = answer
        self.batches: list[list[Request]] = []

    async def ask(self, requests: Sequence[Request]) -> tuple[Answer, ...]:
        self.batches.append(list(requests))
        return tuple(
            Answer(
                request.branch,
                0,
                Completion(self.answer[request.template], "ok", "stop", Usage(1, 1), 1, False, "key"),
            )
            for request in requests
        )

    @property
    def asked(self) -> list[Request]:
        return [request for batch in self.batches for request in batch]


def turns(strategy: Strategy, scribe: Scribe, pools: Sequence[Sequence[Point]]) -> list[Turn]:
    async def run() -> list[Turn]:
        generator = strategy.propose(DOMAIN, scribe.ask)
        found = [await anext(generator)]
        found += [await generator.asend(pool) for pool in pools]
        await generator.aclose()
        return found

    return asyncio.run(run())


LISTS = {
    "sequential.first": "- one",
    "sequential.more": "<think>hm</think>- two",
    "taxonomy.children": "1. Alpha\n2. Beta\n3. Gamma\n4. Delta\n5. Epsilon\n6. Zeta",
    "taxonomy.missing": "- Eta",
    "taxonomy.mine": "- a fact",
    "reflective.more": "Theory is missing.\nNEW POINTS\n- two",
    "personas.experts": "".join(f"- Expert {number}: knows much.\n" for number in range(30)),
    "personas.missing": "- Late expert: knows more.",
    "personas.add": "- a niche fact",
    "taxonomy.mine_more": "- another fact",
}


def test_sequential_shows_its_whole_flat_history() -> None:
    scribe = Scribe(LISTS)
    turns(Sequential("sequential"), scribe, [(), ()])
    assert [request.template for request in scribe.asked] == ["sequential.first", "sequential.more", "sequential.more"]
    assert scribe.asked[2].values["history"] == ("- one", "- two")


@pytest.mark.parametrize(
    ("widths", "first", "later"), [([2, 2], 7, 4), ([3, 3], 13, 9), ([5, 5], 31, 25), ([4], 5, 4), ([2, 2, 2], 15, 8)]
)
def test_taxonomy_asks_as_often_as_the_paper(widths: tuple[int, ...], first: int, later: int) -> None:
    scribe = Scribe(LISTS)
    one, two = turns(Taxonomy("t", widths), scribe, [()])
    assert len(scribe.asked) == first + later
    assert len(two.answers) == later
    assert one.shortfall == two.shortfall == 0
    branches = [answer.branch for answer in one.answers]
    assert len(set(branches)) == later
    assert branches == [answer.branch for answer in two.answers]


def test_a_leaf_is_shown_its_own_points_alone() -> None:
    scribe = Scribe(LISTS)
    own = Point(0, "own point", "1 Alpha > 1 Beta", 1)
    turns(Taxonomy("t", (2, 2)), scribe, [(own, Point(1, "foreign", "2 Beta > 1 Alpha", 1))])
    last = {request.branch: request for request in scribe.batches[-1]}
    assert last["1 Alpha > 1 Beta"].values["points"] == ("own point",)
    assert last["2 Beta > 1 Alpha"].values["points"] == ("foreign",)
    assert {branch for branch, request in last.items() if request.template == "taxonomy.mine"} == {
        "1 Alpha > 2 Gamma",
        "2 Beta > 2 Gamma",
    }


def test_six_children_asked_as_five_are_the_first_five_in_answer_order() -> None:
    scribe = Scribe(LISTS)
    (turn,) = turns(Taxonomy("t", (5,)), scribe, [])
    assert [answer.branch for answer in turn.answers] == ["1 Alpha", "2 Beta", "3 Gamma", "4 Delta", "5 Epsilon"]


def test_three_children_for_five_are_asked_for_once_more_and_the_rest_recorded() -> None:
    scribe = Scribe({**LISTS, "taxonomy.children": "- Alpha\n- Beta\n- alpha\n- Deep Learning\n- Gamma"})
    (turn,) = turns(Taxonomy("t", (5,)), scribe, [])
    (again,) = [request for request in scribe.asked if request.template == "taxonomy.missing"]
    assert again.values["count"] == 2
    assert again.values["have"] == ("Alpha", "Beta", "Gamma")
    assert [answer.branch for answer in turn.answers] == ["1 Alpha", "2 Beta", "3 Gamma", "4 Eta"]
    assert turn.shortfall == 1


def test_a_node_without_children_is_mined_itself() -> None:
    scribe = Scribe({**LISTS, "taxonomy.children": "I cannot say.", "taxonomy.missing": "Sorry."})
    (turn,) = turns(Taxonomy("t", (2, 2)), scribe, [])
    assert [answer.branch for answer in turn.answers] == [""]
    assert scribe.asked[-1].values == {"query": "deep learning", "path": (), "turn": 1}
    assert turn.shortfall == 2


def test_a_barren_node_keeps_its_place_in_the_order_of_branches() -> None:
    class Barren(Scribe):
        async def ask(self, requests: Sequence[Request]) -> tuple[Answer, ...]:
            answers = await super().ask(requests)
            none = Completion("I cannot say.", "ok", "stop", Usage(1, 1), 1, False, "key")
            return tuple(
                Answer(request.branch, 0, none) if request.values.get("path") == ("Beta",) else answer
                for request, answer in zip(requests, answers, strict=True)
            )

    (turn,) = turns(Taxonomy("t", (3, 1)), Barren(LISTS), [])
    assert [answer.branch for answer in turn.answers] == ["1 Alpha > 1 Beta", "2 Beta", "3 Gamma > 1 Alpha"]


def test_fifteen_turns_of_l5w5_take_381_calls() -> None:
    scribe = Scribe(LISTS)
    turns(Taxonomy("taxonomy_l5w5", (5, 5)), scribe, [()] * 14)
    assert len(scribe.asked) == 381


def test_other_widths_need_another_name() -> None:
    with pytest.raises(ConfigError, match=r"strategy\.name=taxonomy_3"):
        Taxonomy("taxonomy_l2w2", (3,))


def test_reflective_starts_as_sequential_and_then_shows_every_kept_point() -> None:
    first, reviewing = Scribe(LISTS), Scribe(LISTS)
    turns(Sequential("sequential"), first, [])
    pool = (Point(0, "one", "", 1), Point(3, "two", "", 1))
    _, later = turns(Reflective("reflective"), reviewing, [pool])
    assert reviewing.asked[0] == first.asked[0], "the ledger shares the answer"
    assert reviewing.asked[1] == Request(
        "reflective.more", {"query": "deep learning", "points": ("one", "two"), "turn": 2}, form="critique"
    )
    assert len(later.answers) == 1


@pytest.mark.parametrize("count", [1, 3, 10, 20])
def test_personas_ask_as_often_as_the_paper(count: int) -> None:
    scribe = Scribe(LISTS)
    one, two = turns(Personas("p", count), scribe, [()])
    assert [len(batch) for batch in scribe.batches] == [1, 0, count, count]  # none is missing
    branches = [answer.branch for answer in one.answers]
    assert branches == [answer.branch for answer in two.answers]
    assert branches[0] == "1 Expert 0: knows much."
    assert len(set(branches)) == count
    assert one.shortfall == two.shortfall == 0
    assert {request.values["count"] for request in scribe.batches[-1]} == {5}


def test_every_expert_sees_the_first_points_of_the_pool_or_all() -> None:
    pool = tuple(Point(number, f"point {number}", f"{number % 3}", 1) for number in range(40))
    for shown, seen in ((30, 30), ("all", 40), (2, 2)):
        scribe = Scribe(LISTS)
        turns(Personas("p", 3, shown), scribe, [pool])
        for request in scribe.batches[-1]:
            assert request.values["points"] == tuple(point.text for point in pool[:seen])
        assert {request.values["points"] for request in scribe.batches[-2]} == {()}


def test_missing_experts_are_asked_for_once_more_and_the_rest_recorded() -> None:
    few = "- Optimiser: tunes.\n- OPTIMISER - tunes again.\n- Theorist: proves."
    scribe = Scribe({**LISTS, "personas.experts": few})
    one, two = turns(Personas("p", 5), scribe, [()])
    (again,) = [request for request in scribe.asked if request.template == "personas.missing"]
    assert again.values == {"query": "deep learning", "count": 3, "have": ("Optimiser: tunes.", "Theorist: proves.")}
    assert [answer.branch for answer in one.answers] == [
        "1 Optimiser: tunes.",
        "2 Theorist: proves.",
        "3 Late expert: knows more.",
    ]
    assert (one.shortfall, two.shortfall) == (2, 0)


def test_without_any_expert_one_of_no_kind_answers() -> None:
    scribe = Scribe({**LISTS, "personas.experts": "I cannot say.", "personas.missing": "Sorry."})
    (turn,) = turns(Personas("p", 3), scribe, [])
    assert [answer.branch for answer in turn.answers] == ["1 An expert in deep learning."]
    assert turn.shortfall == 3


def test_another_number_of_experts_needs_another_name() -> None:
    with pytest.raises(ConfigError, match=r"strategy\.experts=4 is not personas_n3.*strategy\.name=personas_n4"):
        Personas("personas_n3", 4)
    for bad in (0, "some", -1):
        with pytest.raises(ValueError, match="shown_points"):
            Personas("personas_n3", 3, shown_points=bad)  # type: ignore[arg-type]


STRATEGIES: list[Strategy] = [
    Sequential("sequential"),
    Reflective("reflective"),
    Taxonomy("t", (2, 2)),
    Taxonomy("t", (5, 5)),
    Taxonomy("t", (1,)),
    Taxonomy("t", (1, 1)),
    Taxonomy("t", (2, 1, 3)),
    Personas("p", 1),
    Personas("p", 3),
    Personas("p", 20, "all"),
]
NAMING = {"taxonomy.children", "taxonomy.missing", "personas.experts", "personas.missing"}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize("named", ["", "- Alpha", "- Alpha\n- Beta\n- Gamma", LISTS["personas.experts"]])
@pytest.mark.parametrize("more", ["", "- Late", "".join(f"- Late {number}\n" for number in range(20))])
def test_calls_lie_within_what_a_strategy_says_of_itself(strategy: Strategy, named: str, more: str) -> None:
    answers = {**LISTS, "taxonomy.children": named, "personas.experts": named}
    scribe = Scribe({**answers, "taxonomy.missing": more, "personas.missing": more})
    pools = [tuple(Point(number, f"point {number}", "", 1) for number in range(50))] * 2
    found = turns(strategy, scribe, pools)
    later = len(found[1].answers)
    said = [strategy.calls(turn) for turn in (1, 2, 3)]
    asked = [len(scribe.asked) - 2 * later, later, later]
    for calls, count, turn in zip(said, asked, found, strict=True):
        assert calls.least <= count <= calls.most
        assert len(turn.answers) <= calls.answers
    if not any(request.template in ("taxonomy.missing", "personas.missing") for request in scribe.asked):
        assert asked == [calls.asked for calls in said]
    if not named and not more:
        naming = sum(request.template in NAMING for request in scribe.asked)
        assert asked == [naming + 1, 1, 1]


@pytest.mark.parametrize(
    ("strategy", "first", "later"),
    [
        (Sequential("sequential"), 1, 1),
        (Reflective("reflective"), 1, 1),
        (Taxonomy("taxonomy_l2w2", (2, 2)), 7, 4),
        (Taxonomy("taxonomy_l3w3", (3, 3)), 13, 9),
        (Taxonomy("taxonomy_l5w5", (5, 5)), 31, 25),
        (Personas("personas_n3", 3), 4, 3),
        (Personas("personas_n10", 10), 11, 10),
        (Personas("personas_n20", 20), 21, 20),
    ],
)
def test_strategies_say_the_calls_of_the_paper(strategy: Strategy, first: int, later: int) -> None:
    assert [strategy.calls(turn).asked for turn in (1, 2, 3)] == [first, later, later]


@pytest.mark.parametrize(
    "strategy", [Sequential("s"), Reflective("r"), Taxonomy("t", (2, 1)), Personas("p", 2)], ids=lambda one: one.name
)
def test_every_mining_request_says_which_turn_it_is(strategy: Strategy) -> None:
    scribe = Scribe(LISTS)
    turns(strategy, scribe, [[Point(0, "own point", "1 Alpha > 1 Beta", 1)], []])
    mined = [request for request in scribe.asked if "turn" in request.values]
    assert sorted(request.values["turn"] for request in mined) == sorted([1, 2, 3] * (len(mined) // 3))
    naming = {request.template for request in scribe.asked if "turn" not in request.values}
    assert naming <= {"taxonomy.children", "taxonomy.missing", "personas.experts", "personas.missing"}
