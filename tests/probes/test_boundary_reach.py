"""From the points of repeated draws to estimates: nothing is asked, facts and their truth are planted."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from src.asking import call_row, call_table
from src.dedup.settings import Dedup
from src.errors import BudgetReached, ContextExceeded, EndpointError, FrontierError, LedgerMiss
from src.interfaces import Lab
from src.probes.boundary.reach import judge_repeats, reach
from src.records import Completion, Domain, Metrics, Rubric, Tables, Usage, Verdict
from src.schemas import CALLS, DRAWS, REPEATED_CLUSTERS, REPEATS
from tests.synthetic_known import FALSE, LAB, RUBRICS, FactJudge

Point = tuple[str, str, int]
"""Text, branch, draw."""


def fact(number: int, wording: str = "x", word: str = "rightly") -> str:
    return f"Fact {'abcdefghij'[number]}{'klmnopqrst'[number]} {word} said {wording}"


def extracted(points: Sequence[Point], draws: int = 3, reason: str = "", asked: int | None = None) -> Tables:
    rows = [(number, text, branch, draw, f"k{draw}") for number, (text, branch, draw) in enumerate(points)]
    return {
        "repeats": pl.DataFrame(rows, schema=REPEATS, orient="row"),
        "draws": pl.DataFrame([(asked or draws, draws, reason)], schema=DRAWS, orient="row"),
        "calls": CALLS.to_frame(),
    }


def judged(tables: Tables, lab: Lab = LAB, calls: pl.DataFrame | None = None) -> Tables:
    before = {"calls": CALLS.to_frame() if calls is None else calls}
    return asyncio.run(
        judge_repeats(lab, tables, before, domain=Domain("d", "d"), dedup=Dedup(fuzzy=0.5), rubrics=RUBRICS)
    )


def numbers(points: Sequence[Point], draws: int = 3) -> Metrics:
    tables = extracted(points, draws)
    return reach(tables, judged(tables))


def test_a_cluster_counts_once_in_a_draw_and_apart_in_each_branch() -> None:
    points = [
        *((fact(1, "one way"), "a", 0), (fact(1, "a way"), "a", 0), (fact(1, "one way"), "a", 2)),
        *((fact(2), "a", 1), (fact(1, "one way"), "b", 1)),
    ]
    table = judged(extracted(points))["repeats"]
    assert table.select("branch", "cluster", "draws", "seen", "valid").rows() == [
        ("a", 0, 2, "101", True),
        ("a", 1, 1, "010", True),
        ("b", 0, 1, "010", True),
    ]


def test_only_valid_clusters_count() -> None:
    points = [(fact(n, word=FALSE if n % 2 else "rightly"), "a", draw) for n in range(6) for draw in range(n % 3 + 1)]
    tables = extracted(points)
    units = judged(tables)["repeats"]
    metrics = reach(tables, judged(tables))
    assert units.height == 6
    assert metrics["reach_observed"] == units["valid"].sum() == 3
    assert (metrics["reach_f1"], metrics["reach_f2"]) == (1, 1)


def test_the_order_of_draws_changes_no_estimate() -> None:
    rng = np.random.default_rng(4)
    words = ["one way", "a way", "some words", "word"]
    points = [
        (fact(int(n), words[int(rng.integers(4))]), branch, draw)
        for branch in ("a", "b", "c")
        for draw in range(4)
        for n in rng.choice(10, 5, replace=False)
    ]
    found = numbers(points, 4)
    for order in ([3, 2, 1, 0], [1, 3, 0, 2]):
        mixed = sorted(((text, branch, order[draw]) for text, branch, draw in points), key=lambda point: point[2])
        again = numbers(mixed, 4)
        assert {name: again[name] for name in found} == found


def test_two_draws_give_counts_but_no_estimate() -> None:
    metrics = numbers([(fact(1), "a", 0), (fact(1), "a", 1), (fact(2), "b", 1)], 2)
    assert (metrics["repeats"], metrics["reach_observed"], metrics["reach_f1"]) == (2, 2, 1)
    for name in ("chao2", "coverage", "coverage_low"):
        assert metrics[name] is None
        assert metrics[f"{name}_reason"] == "2 draws of each branch: needs at least 3"


def test_draws_that_are_alike_word_for_word_are_no_sample() -> None:
    metrics = numbers([(fact(n), branch, draw) for draw in range(3) for branch in "ab" for n in range(4)])
    assert metrics["coverage"] is None
    assert "as at temperature 0 or at the rehearsal server" in str(metrics["coverage_reason"])
    assert numbers([(fact(0, f"way {draw}"), "a", draw) for draw in range(3)])["coverage"] == 1


def test_draws_without_a_valid_point_give_a_reason_and_no_number() -> None:
    for points in ([], [(fact(1, word=FALSE), "a", 0)]):
        metrics = numbers(points)
        assert metrics["reach_observed"] == 0
        assert metrics["chao2"] is None
        assert metrics["chao2_reason"] == "nothing was seen in any draw"


def test_missing_draws_are_not_judged_and_say_why() -> None:
    tables = extracted([(fact(1), "a", 0), (fact(1), "a", 1)], 2, "only 2 of 5 draws, then budget: spent", asked=5)
    metrics = reach(tables, judged(tables))
    assert judged(tables)["repeats"].is_empty()
    reasons = [
        metrics[f"{name}_reason"] for name in ("repeats", "reach_observed", "reach_f2", "chao2", "coverage_high")
    ]
    assert reasons == 5 * ["only 2 of 5 draws, then budget: spent"]


class Failing(FactJudge):
    """Fails from the sixth question on."""

    def __init__(self, failure: FrontierError) -> None:
        self.failure, self.asked = failure, 0

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        self.asked += 1
        if self.asked > 5:
            raise self.failure
        return await super().judge(rubric, values)


@pytest.mark.parametrize(
    ("failure", "ended"),
    [
        (BudgetReached("spent"), "budget: spent"),
        (ContextExceeded("long"), "context: long"),
        (EndpointError("gone"), "error: gone"),
        (LedgerMiss("none"), "error: none"),
    ],
)
def test_a_judging_that_fails_keeps_what_was_judged_before_and_says_why(failure: FrontierError, ended: str) -> None:
    tables = extracted([(fact(n), "a", draw) for n in range(8) for draw in range(1 + n % 3)])
    before = call_table([call_row("judge", "audit", Completion("", "ok", "stop", Usage(10, 1), 1, False, "k"))])
    after = judged(tables, replace(LAB, judge=Failing(failure)), before)
    assert after["calls"].equals(before)
    assert after["repeats"].equals(REPEATED_CLUSTERS.to_frame())
    metrics = reach(tables, after)
    for name in ("repeats", "reach_observed", "chao2", "coverage_high"):
        assert metrics[name] is None
        assert metrics[f"{name}_reason"] == f"only the main run was judged, then {ended}"
    for name in ("calls_repeats_judge", "tokens_repeats_judge"):  # five verdicts were paid for: not 0
        assert metrics[name] is None
        assert metrics[f"{name}_reason"] == "the judging of the repeats was cut short"


def test_ice_is_withdrawn_with_or_without_an_estimate() -> None:
    for draws in (1, 3):
        metrics = numbers([(fact(n), "a", draw) for n in range(6) for draw in range(min(draws, 1 + n % 3))], draws)
        assert metrics["ice"] is None
        assert str(metrics["ice_reason"]).startswith("withdrawn")
        assert not {"ice_low", "ice_high"} & metrics.keys()


class Counting(FactJudge):
    """Says what :class:`FactJudge` says in an answer that is paid for."""

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        verdict = await super().judge(rubric, values)
        key = f"{rubric.name} {sorted(values.values())}"
        return replace(verdict, completions=(Completion("", "ok", "stop", Usage(10, 1), 1, False, key),))


def test_verdicts_that_the_cell_paid_for_are_not_counted_again() -> None:
    lab = replace(LAB, judge=Counting())
    points = [(fact(1), "a", draw) for draw in range(3)] + [(fact(1), "b", 1), (fact(2), "b", 0)]
    tables = extracted(points)
    first = judged(tables, lab)
    assert first["calls"]["prompt"].to_list() == ["repeats.audit"] * 2
    metrics = reach(tables, first)
    assert (metrics["calls_repeats_judge"], metrics["tokens_repeats_judge"]) == (2, 22)
    known = first["calls"].with_columns(prompt=pl.lit("audit"))
    assert judged(tables, lab, known)["calls"].equals(known)


@pytest.mark.parametrize("draws", [3, 6])
def test_sightings_of_a_known_universe_are_estimated_within_their_bounds(draws: int) -> None:
    rng = np.random.default_rng(draws)
    points = [
        (fact(n), f"b{branch}", draw)
        for branch in range(6)
        for n in range(10)
        for draw in range(draws)
        if rng.random() < 0.5
    ]
    metrics = numbers(points, draws)
    assert metrics["chao2_low"] <= 60 <= metrics["chao2_high"]
    assert metrics["coverage_low"] <= metrics["reach_observed"] / 60 <= metrics["coverage_high"]
