from dataclasses import replace

import polars as pl

from src.audited import COUNTED, audited, decline_metrics, judged_points, swept
from src.dedup.settings import SWEEP, Dedup
from tests.synthetic_cell import make_cell
from tests.synthetic_known import make_measured
from tests.synthetic_union import Planted
from tests.synthetic_union import make_known as make_planted

CELL = make_measured("small", turns=3)


def test_the_numbers_are_those_of_the_cell() -> None:
    for cell in (make_cell(), make_cell(0), make_cell(2, 0, 1), make_cell(3, valid=0.0)):
        found = audited(cell.atoms, cell.judged)
        assert found == {name: cell.metrics[name] for name in found}
        assert set(COUNTED) <= found.keys()


def test_unreadable_audits_are_in_neither_part_of_accuracy() -> None:
    cell = make_cell(1, 4, 1)
    judged = cell.judged.with_columns(
        unique=pl.Series([True, True, True, False]), valid=pl.Series([True, None, False, True])
    )
    found = audited(cell.atoms, judged)
    assert [found[name] for name in ("unique", "valid", "invalid", "audit_unparsed")] == [3, 1, 1, 1]
    assert (found["accuracy"], found["audit_rejection"], found["dedup_rate"]) == (0.5, 0.5, 0.25)


def test_the_sweep_holds_nine_settings_and_the_own_one_is_the_cell() -> None:
    found = swept(CELL.extracted, CELL.processed, Dedup())
    assert tuple(found) == SWEEP
    own = found[0.92, 0.70]
    assert own == {name: CELL.metrics[name] for name in own}


def test_a_higher_threshold_merges_no_more() -> None:
    found = swept(CELL.extracted, CELL.processed, Dedup())
    unique = [found[0.92, fuzzy]["unique"] for fuzzy in (0.65, 0.70, 0.75)]
    assert unique == sorted(unique)
    assert unique[0] < unique[2]


def test_a_setting_that_was_not_computed_says_so() -> None:
    pairs = CELL.processed["pairs"]
    without = pairs.with_columns(verdict=pl.when(pl.col("cosine") >= 0.75).then(pl.col("verdict")))
    found = swept(CELL.extracted, {**CELL.processed, "pairs": without}, Dedup())
    assert found[0.92, 0.75]["unique"] is not None
    for fuzzy in (0.65, 0.70):
        assert found[0.94, fuzzy]["accuracy"] is None
        assert "was not computed" in str(found[0.94, fuzzy]["accuracy_reason"])


def test_own_linkage_holds_for_all_nine() -> None:
    """A linkage that asks about every pair finds the verdicts of a greedy run wanting."""
    found = swept(CELL.extracted, CELL.processed, replace(Dedup(), linkage="components"))
    lacking = [metrics for metrics in found.values() if metrics["unique"] is None]
    assert lacking
    assert all("linkage=components was not computed" in str(metrics["unique_reason"]) for metrics in lacking)


def test_a_cluster_counts_from_the_turn_of_its_earliest_member() -> None:
    (cell,) = make_planted({"a": Planted(0.5)}).cells
    judged = cell.processed["atoms"]
    # The last point stands for the first one too; another is judged by nobody.
    last = judged.height - 1
    merged = judged.with_columns(
        representative=pl.when(pl.col("atom_id") == 0).then(last).otherwise(pl.col("representative")),
        unique=pl.col("atom_id") != 0,
        valid=pl.when(pl.col("atom_id") == 1).then(None).otherwise(pl.col("valid")),
    )
    points = judged_points(cell.extracted["atoms"], merged)
    assert len(points.valid) == judged.height - 2
    assert points.turn[-1] == cell.extracted["atoms"]["turn"][0] == 1


def test_the_decline_of_a_cell_by_hand_and_without_a_second_turn() -> None:
    atoms = pl.DataFrame({"atom_id": range(6), "turn": [1, 1, 1, 2, 2, 2], "branch": ["1/1", "1/2"] * 3})
    judged = pl.DataFrame(
        {"atom_id": range(6), "representative": range(6), "unique": True, "valid": [True] * 4 + [False] * 2}
    )
    found = decline_metrics(atoms, judged, pl.DataFrame({"turn": [1, 2]}))
    assert found["decline_rate"] == 1 - 4 / 6  # turn 1: all of 3 valid; up to turn 2: 4 of 6
    assert found["decline_rate_low"] is None
    assert "2 branches" in str(found["decline_rate_low_reason"])
    alone = decline_metrics(atoms.head(3), judged.head(3), pl.DataFrame({"turn": [1]}))
    assert alone["decline_rate"] is None
    assert "one turn" in str(alone["decline_rate_reason"])
    (many,) = make_planted({"a": Planted(0.9, 2.0, -0.5)}, facts=400).cells
    falls = decline_metrics(many.extracted["atoms"], many.processed["atoms"], many.extracted["turns"])
    assert 0 < falls["decline_rate_low"] < falls["decline_rate"] < falls["decline_rate_high"]  # type: ignore[operator]
