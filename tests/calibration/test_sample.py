import numpy as np
import polars as pl
import pytest

from src.calibration.sample import draw_sample, level
from src.errors import ConfigError, DataMissing
from tests.synthetic_sample import kappa_study, make_checked

CELLS = [
    make_checked("llama8b", 300, 20),
    make_checked("llama70b", 200, 3, unparsed=4),
    make_checked("llama8b", 90, 40, domain="ml_systems"),
]


def test_a_sample_is_balanced_by_verdict_and_then_by_cell():
    sample = draw_sample(CELLS, "audit", 90, 0)
    drawn = {row[:3]: row[3:] for row in sample.strata.select(
        "domain", "model", "verdict", "sampled", "population").iter_rows()}  # fmt: skip
    by_verdict = sample.strata.group_by("verdict").agg(pl.col("sampled").sum())
    assert dict(by_verdict.iter_rows()) == {True: 45, False: 45}
    assert [drawn[place][0] for place in drawn if place[2]] == [15, 15, 15]
    assert drawn["deep_learning", "llama70b", False] == (3, 3), "a stratum gives no more than it has"
    assert {drawn["deep_learning", "llama8b", False][1], drawn["ml_systems", "llama8b", False][1]} == {20, 40}
    assert sample.units.height == 90
    assert sample.units.select("stratum", "a").n_unique() == 90, "nothing is drawn twice"
    assert sample.strata.filter(model="llama70b")["unparsed"].to_list() == [4, 4]


def test_rare_rejections_are_all_taken_and_the_rest_is_filled_up():
    sample = draw_sample([make_checked("llama8b", 300, 7)], "audit", 60, 0)
    assert dict(sample.strata.select("verdict", "sampled").iter_rows()) == {True: 53, False: 7}


def test_more_than_there_is_takes_all():
    sample = draw_sample(CELLS, "audit", 10_000, 0)
    assert sample.units.height == sample.strata["population"].sum() == 653
    assert sample.asked == 10_000


def test_the_same_cells_and_seed_give_the_same_sample_in_any_order():
    one, other = draw_sample(CELLS, "audit", 50, 3), draw_sample(CELLS[::-1], "audit", 50, 3)
    assert one.units.equals(other.units)
    assert one.strata.equals(other.strata)
    assert not one.units.equals(draw_sample(CELLS, "audit", 50, 4).units)


def test_only_representatives_with_a_verdict_are_in_the_population():
    cell = make_checked("llama8b", 10, 5, unparsed=2)
    judged = cell.processed["atoms"].with_columns(unique=pl.col("atom_id") != 0)
    merged = draw_sample(
        [type(cell)(**{**vars(cell), "processed": {**cell.processed, "atoms": judged}})], "audit", 99, 0
    )
    assert merged.strata["population"].sum() == 14
    assert 0 not in merged.units["a"].to_list()


def test_pairs_are_those_that_the_judge_answered_in_the_order_it_saw_them():
    pairs = [(0, 1, "YES"), (1, 2, "NO"), (2, 3, "NO"), (0, 3, "unparsed"), (0, 2, None)]
    sample = draw_sample([make_checked("llama8b", 4, 0, pairs=pairs)], "pairs", 9, 0)
    assert dict(sample.strata.select("verdict", "population").iter_rows()) == {True: 1, False: 2}
    assert sample.strata["unparsed"].to_list() == [1, 1]
    texts = {frozenset(row) for row in sample.units.select("first", "second").iter_rows()}
    assert texts == {frozenset(f"llama8b says deep_learning {i}." for i in pair[:2]) for pair in pairs[:3]}
    turned = [(1, 0, "YES"), (2, 1, "NO"), (3, 2, "NO")]
    other = draw_sample([make_checked("llama8b", 4, 0, pairs=turned)], "pairs", 9, 0)
    assert {*other.units.select("first", "second").iter_rows()} == {*sample.units.select("first", "second").iter_rows()}


def test_cells_of_two_judges_are_refused():
    cells = [make_checked("a", 3, 3), make_checked("b", 3, 3, judge="rules", kind="rules")]
    with pytest.raises(
        ConfigError, match=r"have different judge \(deepseek_v31 and rules; they differ in kind, name\)"
    ):
        draw_sample(cells, "audit", 5, 0)


def test_nothing_to_check_is_said():
    with pytest.raises(DataMissing, match="hold no pair with a verdict of the judge"):
        draw_sample([make_checked("a", 3, 3)], "pairs", 5, 0)


@pytest.mark.parametrize(("n", "expected"), [(0, [0, 0, 0]), (60, [3, 29, 28]), (1000, [3, 100, 50])])
def test_levelling(n, expected):
    counts = level(np.array([3, 100, 50]), n, np.random.default_rng(0))
    assert counts.sum() == sum(expected)
    assert sorted(counts) == sorted(expected)


def test_the_kappa_study_is_drawn_as_published():
    assert kappa_study().strata.select("population", "sampled").rows() == [(860, 48), (140, 48)]
