from dataclasses import replace

import polars as pl
import pytest

from src.cells import MeasuredCell
from src.errors import ConfigError
from src.figures.canvas import png
from src.figures.finding import Finding
from src.stats.intervals import wilson, wilson_leaf
from src.studies.filtering import Filtering
from tests.synthetic_known import make_known, make_measured

STUDY = Filtering("filtering", "?", None, None, None)


def find(*cells: MeasuredCell, study: Filtering = STUDY) -> Finding:
    return study.run(make_known(cells, unions=False))


def share(found: Finding, stage: str, model: str = "small") -> dict[str, object]:
    return found.tables["models"].filter(stage=stage, model=model).row(0, named=True)


def test_the_rates_of_one_cell_are_its_metrics() -> None:
    cell = make_measured("small")
    found = find(cell)
    for stage in ("dedup_rate", "audit_rejection"):
        row = share(found, stage)
        assert row["share"] == pytest.approx(cell.metrics[stage])
        assert row["low"] < row["share"] < row["high"]
    rejected = share(found, "audit_rejection")
    assert rejected["leaf_low"] == pytest.approx(1 - cell.metrics["accuracy_leaf_high"])
    assert rejected["low"] == pytest.approx(1 - cell.metrics["accuracy_high"])
    assert found.metrics["audit_rejection_low"] == rejected["leaf_low"]
    assert found.metrics["unlisted"] == 1 / 16


def test_every_raw_point_is_in_one_stage() -> None:
    points = find(*(make_measured(name) for name in ("small", "large"))).tables["points"]
    parts = points.select(pl.sum_horizontal("valid", "invalid", "audit_unparsed", "merged")).to_series()
    assert parts.to_list() == points["raw"].to_list()
    assert points["model"].to_list() == ["large", "small"]


def test_pooled_cells_keep_their_branches_apart() -> None:
    cells = [make_measured("small", domain=domain) for domain in ("deep_learning", "ml_systems")]
    row = share(find(*cells), "dedup_rate")
    merged, branches = [], []
    for cell in cells:
        judged = cell.processed["atoms"].join(cell.extracted["atoms"], on="atom_id")
        merged += (~judged["unique"]).to_list()
        branches += [f"{cell.domain}{branch}" for branch in judged["branch"]]
    leaf = wilson_leaf(merged, branches)
    assert (row["leaf_low"], row["leaf_high"], row["branches"]) == (leaf.low, leaf.high, 8)
    plain = wilson(sum(merged), len(merged))
    assert (row["low"], row["high"], row["n"]) == (plain.low, plain.high, len(merged))


def test_few_branches_are_a_reason_and_not_an_interval() -> None:
    found = find(make_measured("small", "sequential", leaves=1))
    row = share(found, "dedup_rate")
    assert (row["leaf_low"], row["reason"]) == (None, "1 branch: their spread needs at least 3")
    assert found.metrics["dedup_rate_low"] == row["low"]
    assert f"of {row['n']} points were merged" in found.verdict[0], "no branches, which are not the unit"
    assert "else the point or cluster itself." in found.verdict[0]


def test_recorded_answers_have_no_share_of_answers() -> None:
    found = find(make_measured("small", tokens=False))
    row = share(found, "truncated")
    assert (row["share"], row["n"]) == (None, 0)
    assert found.metrics["truncated"] is None
    assert "recorded elsewhere" in str(found.metrics["truncated_reason"])


def test_the_verdict_tells_the_extremes() -> None:
    found = find(make_measured("good", valid=0.95), make_measured("bad", valid=0.3))
    assert found.verdict[0].startswith("Over 2 cells ")
    assert any(
        line.startswith("Share rejected, 2 models: from good (") and ") to bad (" in line for line in found.verdict
    )
    good = share(found, "audit_rejection", "good")
    assert any(f"n = {good['n']} clusters in 4 branches) to bad" in line for line in found.verdict)
    assert "unlisted" in found.verdict[-1]


def test_equal_shares_are_not_ranked() -> None:
    found = find(make_measured("one", valid=1.0), make_measured("other", valid=1.0))
    assert "Share rejected: 0.0 % of all 2 models." in found.verdict
    assert not any("ewest" in line or "most" in line for line in found.verdict)


def test_every_share_has_the_unit_of_its_own_interval() -> None:
    cell = make_measured("small", leaves=3)
    lone = cell.extracted["atoms"].filter(branch="1/1")["atom_id"]
    judged = cell.processed["atoms"].with_columns(valid=pl.when(pl.col("atom_id").is_in(lone.to_list())).then("valid"))
    metrics = {**cell.metrics, "invalid": judged.filter(pl.col("unique") & ~pl.col("valid")).height}
    found = find(replace(cell, metrics=metrics, processed={**cell.processed, "atoms": judged}))
    assert "points in 3 branches were merged" in found.verdict[0]
    assert "clusters rejected by the audit" in found.verdict[0], "one branch has verdicts, so it is no unit"


def test_nothing_to_count_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"none of 1 cells to count by study\.models=\['other'\]"):
        find(make_measured("small"), study=replace(STUDY, models=("other",)))


def test_what_is_asked_for_and_not_there_is_missing() -> None:
    found = find(make_measured("small"), study=replace(STUDY, models=("small", "other"), domains=("deep_learning",)))
    assert found.missing == ("no cell of model other",)


def test_a_cell_without_points_is_drawn_and_told() -> None:
    found = find(make_measured("small", turns=0, stop="error"))
    assert found.metrics["dedup_rate"] is None
    assert found.metrics["dedup_rate_reason"] == "there is no point"
    assert found.verdict == ("Over 1 cell there is no raw point, so there is nothing to filter.",)
    assert png(found.figures["stages"]).startswith(b"\x89PNG")
