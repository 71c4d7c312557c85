import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from src.cells import MeasuredCell
from src.errors import ConfigError
from src.figures.canvas import png
from src.figures.finding import Finding
from src.stats.frontier import area, gained, log_grid
from src.studies.pareto import Pareto
from tests.synthetic_known import make_known, make_measured

STRATEGIES = ("sequential", "reflective", "taxonomy_l2w2", "personas_n3")
STUDY = Pareto("pareto", "?", None, STRATEGIES, None, "taxonomy_l2w2")
LEAVES = {"sequential": 1, "reflective": 1, "taxonomy_l2w2": 4, "personas_n3": 3}


def cell(strategy: str, domain: str = "deep_learning", model: str = "small", **changes: object) -> MeasuredCell:
    return make_measured(model, strategy, domain, **{"leaves": LEAVES[strategy], **changes})  # type: ignore[arg-type]


def find(*cells: MeasuredCell, study: Pareto = STUDY) -> Finding:
    return study.run(make_known(cells, unions=False))


def spent(measured: MeasuredCell, factor: int) -> MeasuredCell:
    """The same cell for `factor` times the tokens."""
    turns = measured.extracted["turns"].with_columns(pl.col("^tokens_.*$") * factor)
    return replace(measured, extracted={**measured.extracted, "turns": turns})


def test_the_baseline_ends_at_exactly_one() -> None:
    cells = [cell(s, d) for s in ("taxonomy_l2w2", "personas_n3") for d in ("deep_learning", "ml_systems")]
    found = find(*cells)
    runs = found.tables["runs"].filter(strategy="taxonomy_l2w2")
    assert runs["yield"].to_list() == [1.0, 1.0]
    assert set(runs["interval_reason"]) == {"the baseline is the unit"}
    mean = found.tables["strategies"].filter(strategy="taxonomy_l2w2").row(0, named=True)
    assert (mean["yield_mean"], mean["yield_sd"]) == (1.0, 0.0)
    assert found.tables["curves"].filter(strategy="taxonomy_l2w2")["yield_mean"][-1] == 1.0
    assert found.metrics["yield_mean_small_taxonomy_l2w2"] == 1.0


def test_a_yield_is_valid_points_over_those_of_the_baseline() -> None:
    base, other = cell("taxonomy_l2w2"), cell("personas_n3")
    row = find(base, other).tables["runs"].filter(strategy="personas_n3").row(0, named=True)
    assert row["yield"] == other.metrics["valid"] / base.metrics["valid"]
    assert row["tokens"] == other.metrics["tokens_nominal"]
    assert row["yield_low"] < row["yield"] < row["yield_high"]
    turns = find(base, other).tables["turns"].filter(strategy="personas_n3")
    assert turns["yield"][-1] == row["yield"]
    assert turns["yield"].is_sorted()
    assert turns["turn"].to_list() == [1, 2, 3, 4]


def test_who_is_beaten_and_by_whom() -> None:
    base, dear = cell("taxonomy_l2w2"), spent(cell("personas_n3"), 9)
    found = find(base, dear, cell("sequential"))
    table = {row["strategy"]: row for row in found.tables["strategies"].iter_rows(named=True)}
    assert {name: row["pareto_optimal"] for name, row in table.items()} == {
        "taxonomy_l2w2": True, "sequential": True, "personas_n3": False,
    }  # fmt: skip
    assert table["personas_n3"]["beaten_by"] == "taxonomy_l2w2"
    assert found.metrics["pareto_optimal_small_personas_n3"] == 0.0
    (line,) = found.verdict
    assert line.startswith("small, 1 domain: Pareto-optimal are sequential")
    assert "Beaten is personas_n3" in line
    assert "by taxonomy_l2w2." in line


def test_means_are_over_the_domains_that_all_share() -> None:
    cells = [cell("taxonomy_l2w2", d) for d in ("deep_learning", "ml_systems")] + [cell("sequential", "ml_systems")]
    table = find(*cells).tables["strategies"]
    assert table["over"].to_list() == ["ml_systems", "ml_systems"]
    assert table["sd_reason"].to_list() == ["one domain has no spread"] * 2
    assert find(*cells).metrics["yield_sd_small_sequential_reason"] == "one domain has no spread"


def test_the_interval_of_one_domain_is_that_of_the_domain_it_is_over() -> None:
    cells = [cell("taxonomy_l2w2", d) for d in ("deep_learning", "ml_systems")]
    cells += [cell("sequential", "ml_systems"), cell("personas_n3", "deep_learning", tokens=False)]
    cells += [cell("personas_n3", "ml_systems")]
    found = find(*cells)
    row = found.tables["runs"].filter(strategy="personas_n3", domain="ml_systems").row(0, named=True)
    other = found.tables["runs"].filter(strategy="personas_n3", domain="deep_learning").row(0, named=True)
    assert other["yield_low"] is not None, "an interval of a domain that is not meant"
    bounds = f"[{row['yield_low']:.2f}, {row['yield_high']:.2f}]"
    assert bounds != f"[{other['yield_low']:.2f}, {other['yield_high']:.2f}]"
    assert row["branches"] == 3
    assert f"(yield {row['yield']:.2f} {bounds}, n = {row['judged']} points in 3 branches, " in found.verdict[0]
    bars = [
        bar
        for drawn in found.figures["frontier"].axes[0].containers
        for bars in drawn.lines[2]
        for bar in bars.get_segments()
    ]
    assert any(bar[:, 1].tolist() == pytest.approx([row["yield_low"], row["yield_high"]]) for bar in bars)


def test_a_mean_whose_domains_agree_has_no_interval_of_one_of_them() -> None:
    cells = [cell(s, d, valid=1.0) for s in ("taxonomy_l2w2", "personas_n3") for d in ("deep_learning", "ml_systems")]
    metrics = {"valid": 9, "invalid": 1, "accuracy_low": 0.6, "accuracy_high": 0.98}
    found = find(*(replace(each, metrics={**each.metrics, **metrics}, processed=tell(each, 9)) for each in cells))
    mean = found.tables["strategies"].filter(strategy="personas_n3").row(0, named=True)
    assert mean["yield_sd"] == 0.0
    assert f"personas_n3 (yield {mean['yield_mean']:.2f} ± 0.00, " in found.verdict[0]
    assert "taxonomy_l2w2 (yield 1.00, " in found.verdict[0], "the baseline is 1 by definition"


def tell(measured: MeasuredCell, valid: int) -> dict[str, pl.DataFrame]:
    """What was judged, with so many valid clusters."""
    judged = measured.processed["atoms"]
    kept = judged.filter("unique")["atom_id"].head(valid).to_list()
    return {**measured.processed, "atoms": judged.with_columns(valid=pl.col("atom_id").is_in(kept))}


def test_the_area_is_that_of_the_steps_on_one_grid() -> None:
    found = find(cell("taxonomy_l2w2"), cell("sequential"))
    turns = found.tables["turns"]
    grid = log_grid(turns.group_by("strategy").agg(pl.col("tokens").min())["tokens"].min(), turns["tokens"].max())
    for row in found.tables["strategies"].iter_rows(named=True):
        mine = turns.filter(strategy=row["strategy"])
        assert row["area_mean"] == pytest.approx(area(grid, gained(grid, mine["tokens"], mine["yield"])))


def test_unknown_tokens_are_named_and_have_no_place() -> None:
    found = find(cell("taxonomy_l2w2"), cell("sequential", tokens=False))
    row = found.tables["strategies"].filter(strategy="sequential").row(0, named=True)
    assert row["yield_mean"] is not None
    assert (row["tokens_mean"], row["pareto_optimal"], row["area_mean"]) == (None, None, None)
    assert any("small/sequential/deep_learning has a yield but no place" in clause for clause in found.missing)
    assert "only taxonomy_l2w2 (yield 1.00" in found.verdict[0]
    assert found.metrics["tokens_mean_small_sequential_reason"] == "the endpoint did not say how many tokens it used"


def test_a_baseline_without_valid_points_gives_no_yield() -> None:
    found = find(cell("taxonomy_l2w2", valid=0.0), cell("sequential"))
    assert found.tables["runs"]["yield"].null_count() == 2
    assert any("taxonomy_l2w2 found no valid point" in clause for clause in found.missing)
    assert png(found.figures["frontier"]).startswith(b"\x89PNG")


def test_missing_cells_are_named() -> None:
    cells = [cell("taxonomy_l2w2", d) for d in ("deep_learning", "ml_systems")] + [cell("sequential", "ml_systems")]
    missing = find(*cells).missing
    assert "no cell of small by sequential for deep_learning" in missing
    assert "no cell of small by reflective, personas_n3 for deep_learning, ml_systems" in missing


def test_without_a_baseline_one_sentence_says_what_to_run() -> None:
    with pytest.raises(ConfigError, match=r"no cell of it is there: run strategy=taxonomy_l2w2"):
        find(cell("sequential"))
    with pytest.raises(ConfigError, match="of other, and no cell"):
        find(cell("taxonomy_l2w2"), study=replace(STUDY, model="other"))


def test_every_model_has_its_own_section_and_order_changes_nothing() -> None:
    cells = [cell(s, model=m) for m in ("b", "a") for s in ("taxonomy_l2w2", "sequential")]
    found, other = find(*cells), find(*reversed(cells))
    assert [line[:2] for line in found.verdict] == ["a,", "b,"]
    assert found.verdict == other.verdict
    assert json.dumps(found.metrics, sort_keys=True) == json.dumps(other.metrics, sort_keys=True)
    for name, table in found.tables.items():
        assert table.write_csv() == other.tables[name].write_csv(), name
    assert png(found.figures["frontier"]) == png(other.figures["frontier"])
    assert replace(STUDY, model="a").run(make_known(cells, unions=False)).tables["runs"][
        "model"
    ].unique().to_list() == ["a"]


def test_no_number_is_silently_none() -> None:
    cells = [cell("taxonomy_l2w2"), cell("sequential", tokens=False), cell("personas_n3", turns=1)]
    metrics = find(*cells).metrics
    for name, value in metrics.items():
        if value is None:
            assert metrics[f"{name}_reason"], name
        elif not isinstance(value, str):
            assert np.isfinite(value)
