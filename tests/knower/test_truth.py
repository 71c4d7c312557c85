"""The truth about a run is counted from its tables; here it can be counted by hand."""

import numpy as np
import polars as pl
import pytest

from src.knower.answer import answer
from src.knower.drawing import Scope, chances
from src.knower.knowledge import Knower, knowledge
from src.knower.truth import truth
from src.knower.wording import say
from src.knower.world import INVENTIONS, World, facts, stream
from src.records import Metrics
from src.schemas import DRAWS
from src.text.lists import parse_names

WORLD, KNOWER, QUERY = World(facts=400, topics=(2, 2)), Knower(seed=9), "deep learning"
N = WORLD.facts
SECOND = int(facts(WORLD, QUERY).sibling.argmax())
FACT = N - 1 if SECOND < N // 2 else 0
CHILDREN = parse_names(
    str(answer(WORLD, KNOWER, "taxonomy.children", {"query": QUERY, "path": (), "count": 2}, stream())), truncated=False
)
BRANCHES = tuple(f"{place} {name}" for place, name in enumerate(CHILDREN, start=1))


def said(meaning: int, way: int = 0) -> str:
    return say(WORLD, QUERY, meaning, way)


def count(
    rows: list[tuple[str, int]],
    repeats: list[tuple[str, str]] = (),
    prompt: str = "taxonomy.mine",
    knower: Knower = KNOWER,
    draws: tuple[int, int, str] = (5, 5, ""),
) -> Metrics:
    """The truth about points (text, cluster), of which the first of a cluster represents it."""
    texts, clusters = [text for text, _ in rows], [cluster for _, cluster in rows]
    judged = {
        "atom_id": range(len(rows)),
        "cluster_id": clusters,
        "unique": [clusters.index(cluster) == place for place, cluster in enumerate(clusters)],
    }
    calls = {
        "turn": [1, 1, 1, 2, None],
        "prompt": ["taxonomy.children", prompt, prompt, "taxonomy.mine_more", prompt],
        "branch": ["", *BRANCHES, BRANCHES[0], BRANCHES[0]],
    }
    extracted = {
        "atoms": pl.DataFrame({"atom_id": range(len(rows)), "text": texts}, schema={"atom_id": int, "text": str}),
        "calls": pl.DataFrame(calls),
        "repeats": pl.DataFrame(repeats, schema={"branch": str, "text": str}, orient="row"),
        "draws": pl.DataFrame([draws], schema=DRAWS, orient="row"),
    }
    schema = {"atom_id": int, "cluster_id": int, "unique": bool}
    return truth(WORLD, knower, QUERY, extracted, {"atoms": pl.DataFrame(judged, schema=schema)}, 5)


def test_meanings_clusters_and_merges_are_counted() -> None:
    found = count(
        [
            (said(FACT), 0),
            (said(FACT, 1), 0),
            (said(FACT, 1), 0),  # the same text again: no pair of its own
            (said(FACT, 2), 1),  # missed, with both of the above
            (said(SECOND - 1), 2),
            (said(SECOND), 2),  # a wrong merge of siblings
            (said(N + FACT), 3),  # false
            (said(2 * N), 4),  # invented
            (said(2 * N + INVENTIONS), 4),  # junk, merged wrongly
            ("What nobody said.", 5),
        ]
    )
    assert (found["truth_unique"], found["truth_valid"]) == (7, 3)
    assert (found["truth_wrong_merges"], found["truth_missed_merges"]) == (2, 2)
    assert found["truth_accuracy"] == pytest.approx(3 / 6)
    assert found["truth_known"] == 200


def test_coverage_is_the_share_of_the_chances_that_the_repeats_brought() -> None:
    known = knowledge(WORLD, KNOWER, QUERY)
    nothing = np.zeros((1, N), dtype=bool)
    first, second = (chances(known, Scope(low, low + 0.5), 1, nothing).facts[0] * known.known for low in (0.0, 0.5))
    total = float(first.sum() + second.sum())
    best = int(first.argmax())
    unknown = int(np.flatnonzero(~known.held)[0])
    repeats = [
        (BRANCHES[0], said(best)),
        (BRANCHES[0], said(best, 3)),  # the same unit
        (BRANCHES[1], said(best)),  # no unit where it cannot come to mind
        (BRANCHES[0], said(N + best)),
        (BRANCHES[0], said(unknown)),
        (BRANCHES[1], said(2 * N)),
    ]
    found = count([(said(FACT), 0)], repeats)
    assert found["truth_coverage"] == pytest.approx(float(first[best] + second[best]) / total)
    assert found["truth_reachable"] == int((first > 0).sum() + (second > 0).sum())
    assert found["truth_reachable"] > found["truth_known"], "leaks reach beyond a leaf"


def test_what_there_is_no_truth_about_says_why() -> None:
    found = count([], draws=(1, 1, ""))
    assert found["truth_accuracy"] is None
    assert found["truth_accuracy_reason"] == "no points were found"
    assert found["truth_coverage"] is None
    assert "repeats: 1" in str(found["truth_coverage_reason"])
    assert (found["truth_unique"], found["truth_valid"], found["truth_wrong_merges"]) == (0, 0, 0)


def test_repeats_that_brought_nothing_are_not_taken_for_no_repeats() -> None:
    assert count([(said(FACT), 0)])["truth_coverage"] == 0, "there was something to bring"
    for knower in (Knower(knows=0, misbelieves=0), Knower(knows=0, misbelieves=1)):
        found = count([(said(N + FACT), 0)], [(BRANCHES[0], said(N + FACT))], knower=knower)
        assert (found["truth_coverage"], found["truth_reachable"]) == (None, 0)
        assert "no fact that the model knows" in str(found["truth_coverage_reason"])
    short = count([(said(FACT), 0)], [(BRANCHES[0], said(FACT))], draws=(5, 2, "only 2 of 5 draws, then budget"))
    assert (short["truth_coverage"], short["truth_coverage_reason"]) == (None, "only 2 of 5 draws, then budget")
