import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from src.dedup.link import ORDER_FREE, Graph, confirmed, greedy
from src.dedup.pairs import Pairs
from src.dedup.settings import Dedup

COSINES = {"AB": 0.86, "BC": 0.81, "AC": 0.67}


def graph(
    order: Sequence[str], cosines: dict[str, float], setting: Dedup, guarded: Sequence[str] = ()
) -> tuple[Graph, list[str]]:
    """The graph of named nodes arriving in `order`, and the two names of every pair."""
    place = {name: i for i, name in enumerate(order)}
    rows = sorted((*sorted((place[n[0]], place[n[1]])), cosine, n in guarded) for n, cosine in cosines.items())
    pairs = Pairs(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.float64),
    )
    names = ["".join(sorted((order[row[0]], order[row[1]]))) for row in rows]
    return Graph.of(len(order), pairs, np.array([row[3] for row in rows], dtype=bool), setting), names


def link(
    order: Sequence[str],
    cosines: dict[str, float],
    setting: Dedup,
    yes: Sequence[str] = (),
    guarded: Sequence[str] = (),
) -> tuple[set[str], list[str]]:
    """Clusters as sorted strings of names with the representative in front, and the pairs asked about in order."""
    made, names = graph(order, cosines, setting, guarded)
    asked: list[str] = []

    def confirm(pair: int) -> bool:
        asked.append(names[pair])
        return names[pair] in yes

    if setting.linkage == "greedy":
        centres = greedy(made, confirm, nearest_only=setting.candidates == 1)
    else:
        centres = ORDER_FREE[setting.linkage](confirmed(made, confirm), list(order))  # the names serve as hashes
    members: dict[int, list[str]] = {}
    for node, centre in enumerate(centres):
        members.setdefault(centre, []).append(order[node])
    return {order[centre] + "".join(sorted(set(names) - {order[centre]})) for centre, names in members.items()}, asked


ORDERS = list(itertools.permutations("ABC"))


def at(tau: float, linkage: str) -> Dedup:
    return Dedup(strict=tau, fuzzy=tau, linkage=linkage)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ORDERS)
def test_complete_never_joins_what_is_not_alike(order: Sequence[str]) -> None:
    assert link(order, COSINES, at(0.8, "complete"))[0] == {"BA", "C"}  # the more similar pair; B has more neighbours


@pytest.mark.parametrize("order", ORDERS)
def test_representative_is_the_same_in_all_orders(order: Sequence[str]) -> None:
    assert link(order, COSINES, at(0.8, "representative"))[0] == {"BAC"}


@pytest.mark.parametrize("order", ORDERS)
def test_components_are_one(order: Sequence[str]) -> None:
    assert link(order, COSINES, at(0.8, "components"))[0] == {"BAC"}


@pytest.mark.parametrize("order", ORDERS)
def test_greedy_is_one_cluster_only_if_the_middle_arrives_first(order: Sequence[str]) -> None:
    clusters, asked = link(order, COSINES, at(0.8, "greedy"))
    assert (len(clusters) == 1) == (order[0] == "B")
    assert asked == []


def test_greedy_joins_the_most_similar_survivor_and_of_equals_the_first() -> None:
    setting = at(0.8, "greedy")
    assert link("ABC", {"AB": 0.5, "AC": 0.86, "BC": 0.9}, setting)[0] == {"A", "BC"}
    assert link("ABC", {"AB": 0.5, "AC": 0.9, "BC": 0.9}, setting)[0] == {"AC", "B"}


def test_greedy_compares_with_survivors_only() -> None:
    # B merged into A, so C, near B alone, has no survivor to join.
    assert link("ABC", {"AB": 0.95, "BC": 0.95, "AC": 0.6}, Dedup())[0] == {"AB", "C"}


def test_equal_to_strict_is_a_question_and_equal_to_fuzzy_too() -> None:
    clusters, asked = link("ABC", {"AB": 0.92, "BC": 0.70, "AC": 0.6999999}, Dedup())
    assert clusters == {"A", "B", "C"}
    assert asked == ["AB", "BC"]


def test_all_walks_most_similar_first_and_stops_at_the_first_yes() -> None:
    cosines = {"AD": 0.75, "BD": 0.85, "CD": 0.80, "AB": 0.1, "AC": 0.1, "BC": 0.1}
    assert link("ABCD", cosines, Dedup(), yes=["CD", "AD"]) == ({"A", "B", "CD"}, ["BD", "CD"])
    assert link("ABCD", cosines, Dedup()) == ({"A", "B", "C", "D"}, ["BD", "CD", "AD"])


def test_one_candidate_is_the_nearest_survivor_and_no_other() -> None:
    cosines = {"AD": 0.75, "BD": 0.85, "CD": 0.80, "AB": 0.1, "AC": 0.1, "BC": 0.1}
    assert link("ABCD", cosines, Dedup(candidates=1), yes=["CD", "AD"]) == ({"A", "B", "C", "D"}, ["BD"])
    # If the nearest has been merged away, the nearest that is left is asked about.
    merged = cosines | {"AB": 0.9}
    assert link("ABCD", merged, Dedup(candidates=1), yes=["AB", "CD"]) == ({"AB", "CD"}, ["AB", "CD"])


def test_a_point_merged_by_the_judge_is_no_candidate_any_more() -> None:
    clusters, asked = link("ABC", {"AB": 0.8, "BC": 0.85, "AC": 0.75}, Dedup(), yes=["AB", "BC"])
    assert clusters == {"AB", "C"}
    assert asked == ["AB", "AC"]


def test_members_of_a_survivor_follow_it() -> None:
    cosines = {"AB": 0.8, "BC": 0.95, "AC": 0.3}
    assert link("ABC", cosines, Dedup(), yes=["AB"])[0] == {"ABC"}


def test_a_guarded_pair_is_asked_about_and_never_merged_unasked() -> None:
    cosines = {"AB": 0.99}
    assert link("AB", cosines, Dedup(), guarded=["AB"]) == ({"A", "B"}, ["AB"])
    assert link("AB", cosines, Dedup(), guarded=["AB"], yes=["AB"]) == ({"AB"}, ["AB"])
    assert link("AB", cosines, Dedup(guards=False), guarded=["AB"]) == ({"AB"}, [])
    for linkage in ORDER_FREE:
        assert link("AB", cosines, Dedup(linkage=linkage), guarded=["AB"]) == ({"A", "B"}, ["AB"])  # type: ignore[arg-type]


def test_a_guarded_nearest_survivor_is_the_one_candidate() -> None:
    cosines = {"AB": 0.1, "AC": 0.75, "BC": 0.97}
    assert link("ABC", cosines, Dedup(candidates=1), guarded=["BC"], yes=["AC"]) == ({"A", "B", "C"}, ["BC"])


def test_representative_joins_the_nearest_centre_it_was_confirmed_against() -> None:
    # Stars around B and Y share M; M is nearer to Y, but was confirmed against B alone.
    star = {"AB": 0.8, "BC": 0.8, "XY": 0.8, "YZ": 0.8, "BM": 0.75, "MY": 0.85}
    setting = Dedup(linkage="representative")
    for order in list(itertools.permutations("ABCMXYZ"))[::97]:
        assert link(order, star, setting, yes=set(star) - {"MY"})[0] == {"BACM", "YXZ"}  # type: ignore[arg-type]
        assert link(order, star, setting, yes=list(star))[0] == {"BAC", "YMXZ"}


def chain(n: int) -> tuple[list[str], dict[str, float]]:
    names = [chr(0x4E00 + i) for i in range(n)]
    return names, {a + b: 0.95 for a, b in itertools.pairwise(names)}


@pytest.mark.parametrize("linkage", ["greedy", "representative", "complete", "components"])
def test_a_chain_of_near_neighbours_is_one_cluster_only_as_component(linkage: str) -> None:
    names, cosines = chain(1000)
    mixed = [names[i] for i in np.random.default_rng(0).permutation(1000)]
    for order in (names, mixed):
        clusters, _ = link(order, cosines, Dedup(linkage=linkage))  # type: ignore[arg-type]
        largest = max(len(cluster) for cluster in clusters)
        assert largest == 1000 if linkage == "components" else 2 <= largest <= 3


@pytest.mark.parametrize("linkage", ["representative", "complete", "components"])
def test_order_free_means_order_free(linkage: str) -> None:
    rng = np.random.default_rng(4)
    names = [chr(0x4E00 + i) for i in range(40)]
    # One decimal less than usual, so that many cosines are equal.
    cosines = {a + b: round(float(rng.uniform(0.5, 1)), 1) for a, b in itertools.combinations(names, 2)}
    yes = [pair for pair in cosines if rng.random() < 0.3]
    setting = Dedup(strict=0.9, fuzzy=0.7, linkage=linkage)  # type: ignore[arg-type]
    results = []
    for _ in range(12):
        order = [names[i] for i in rng.permutation(40)]
        results.append(link(order, cosines, setting, yes=yes)[0])
    assert all(result == results[0] for result in results)
    assert linkage == "components" or len(results[0]) > 3


def test_inside_complete_every_pair_is_confirmed_and_no_two_clusters_could_be_one() -> None:
    rng = np.random.default_rng(5)
    names = [chr(0x4E00 + i) for i in range(30)]
    cosines = {a + b: float(rng.uniform(0.7, 0.92)) for a, b in itertools.combinations(names, 2)}
    yes = {pair for pair in cosines if rng.random() < 0.6}
    clusters, _ = link(names, cosines, Dedup(linkage="complete"), yes=yes)  # type: ignore[arg-type]

    def all_confirmed(members: str) -> bool:
        return all("".join(sorted(pair)) in yes for pair in itertools.combinations(members, 2))

    assert all(all_confirmed(cluster) for cluster in clusters)
    assert not any(all_confirmed(a + b) for a, b in itertools.combinations(clusters, 2))
    assert max(map(len, clusters)) > 2


@pytest.mark.parametrize("linkage", ["greedy", "representative", "complete", "components"])
def test_no_nodes_no_clusters(linkage: str) -> None:
    assert link("", {}, Dedup(linkage=linkage)) == (set(), [])  # type: ignore[arg-type]
    assert link("A", {}, Dedup(linkage=linkage)) == ({"A"}, [])  # type: ignore[arg-type]
