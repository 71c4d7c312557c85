from dataclasses import replace

import polars as pl

from src.audited import COUNTED, audited, swept
from src.dedup.settings import SWEEP, Dedup
from tests.synthetic_cell import make_cell
from tests.synthetic_known import make_measured

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
