from dataclasses import replace

import polars as pl
import pytest

from src.errors import ConfigError
from src.studies.block import accuracy_of, find_block
from tests.synthetic_union import Planted, make_known

DOMAINS = ("deep_learning", "ml_systems", "probabilistic_methods")
MODELS = {"a": Planted(0.4), "b": Planted(0.5), "c": Planted(0.6)}


def without(known, *places):
    """Cells of (model, domain) taken away, and their models out of the unions."""
    gone = set(places)
    unions = []
    for union in known.unions:
        keys = {model: key for model, key in union.keys.items() if (model, union.domain) not in gone}
        points = union.points.filter(pl.col("model").is_in(list(keys)))
        unions.append(replace(union, keys=keys, points=points))
    cells = tuple(cell for cell in known.cells if (cell.model, cell.domain) not in gone)
    return replace(known, cells=cells, unions=tuple(unions))


def test_a_complete_grid_is_taken_whole() -> None:
    block = find_block(make_known(MODELS, DOMAINS), "taxonomy_l5w5", None, None, "series")
    assert (block.models, block.domains, block.missing) == (("a", "b", "c"), DOMAINS, ())
    assert len(block.cells) == 9
    assert {counts.shape[1] for counts in block.counts} == {3}


def test_one_lacking_cell_takes_its_domain_out_and_is_named() -> None:
    known = without(make_known(MODELS, DOMAINS), ("b", "ml_systems"))
    block = find_block(known, "taxonomy_l5w5", None, None, "series")
    assert (block.models, block.domains) == (("a", "b", "c"), ("deep_learning", "probabilistic_methods"))
    assert "no cell of b by taxonomy_l5w5 for ml_systems" in block.missing
    assert any("left out" in clause and "ml_systems (1 of 3 models lacking)" in clause for clause in block.missing)


def test_a_model_that_lacks_most_domains_goes_rather_than_the_domains() -> None:
    known = without(make_known(MODELS, DOMAINS), ("b", "ml_systems"), ("b", "deep_learning"))
    block = find_block(known, "taxonomy_l5w5", None, None, "series")
    assert (block.models, block.domains) == (("a", "c"), DOMAINS)
    assert any("b (2 of 3 domains lacking)" in clause for clause in block.missing)


def test_a_study_of_some_models_has_the_union_of_these() -> None:
    known = make_known(MODELS, DOMAINS[:1], seed=3)
    whole = find_block(known, "taxonomy_l5w5", None, None, "series").counts[0]
    part = find_block(known, "taxonomy_l5w5", ["c", "a"], None, "series").counts[0]
    assert part.shape[1] == 2
    assert len(part) == int((whole[:, [0, 2]].sum(axis=1) > 0).sum()) < len(whole)


def test_what_is_asked_for_and_not_there_is_named() -> None:
    known = make_known(MODELS, DOMAINS[:1])
    block = find_block(known, "taxonomy_l5w5", ["a", "b", "llama70b"], ["deep_learning", "botany"], "series")
    assert block.models == ("a", "b")
    assert "no cell of llama70b by taxonomy_l5w5" in block.missing
    assert "no cell of a by taxonomy_l5w5 for botany" in block.missing


def test_a_missing_union_says_how_to_make_it() -> None:
    known = replace(make_known(MODELS, DOMAINS[:1]), unions=())
    with pytest.raises(ConfigError, match=r"python -m src\.union domain=deep_learning strategy=taxonomy_l5w5"):
        find_block(known, "taxonomy_l5w5", None, None, "series")


def test_who_merged_is_said_where_it_is_not_who_judged() -> None:
    known = make_known(MODELS, DOMAINS[:1])
    assert find_block(known, "taxonomy_l5w5", None, None, "series").caveat == "judge rules: form checked, not truth"
    merged = replace(known, unions=tuple(replace(union, judge="llm") for union in known.unions))
    assert find_block(merged, "taxonomy_l5w5", None, None, "series").caveat.endswith("merged by judge llm")


def test_another_strategy_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="no cell is by sequential; there are taxonomy_l5w5: set"):
        find_block(make_known(MODELS), "sequential", None, None, "series")


def test_models_without_a_valid_point_have_nothing_to_compare() -> None:
    known = make_known({"a": Planted(0.0), "b": Planted(0.0)})
    with pytest.raises(ConfigError, match="none of these models has a valid point"):
        find_block(known, "taxonomy_l5w5", None, None, "series")


def test_accuracy_is_over_branches_and_over_points_where_there_are_few() -> None:
    (many,) = make_known({"a": Planted(0.5)}, leaves=25).cells
    (few,) = make_known({"a": Planted(0.5)}, leaves=2).cells
    branches = many.extracted["atoms"]["branch"].n_unique()
    assert (accuracy_of(many)[1].unit, accuracy_of(many)[1].branches) == ("branch", branches)
    value, interval = accuracy_of(few)
    assert (interval.unit, interval.n) == ("point", few.metrics["valid"] + few.metrics["invalid"])
    assert interval.branches == 2
    assert interval.low < value < interval.high
