import asyncio
from collections.abc import Sequence

import pytest

from src.errors import ConfigError
from src.interfaces import Strategy
from src.records import Answer, Completion, Domain, Point, Request, Turn, Usage
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
    assert scribe.asked[-1].values == {"query": "deep learning", "path": ()}
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
