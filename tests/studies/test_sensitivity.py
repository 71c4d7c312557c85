import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from src.cells import MeasuredCell
from src.dedup.settings import SWEEP
from src.errors import ConfigError
from src.figures.canvas import png
from src.figures.finding import Finding
from src.stats.recall import recall_match
from src.studies.alikeness import MODES
from src.studies.patience import patience_table
from src.studies.prompting import PROMPTS, change, pair_prompts
from src.studies.sensitivity import Sensitivity
from src.studies.settings import RECALLS, REVERSALS, reversals_table, spread_table
from src.studies.stability import Evidence, sentences, summary
from tests.synthetic_known import make_known, make_measured, make_union

STUDY = Sensitivity("sensitivity", "?", None, None, None, {"default": "synonyms"})
THREE = [make_measured(name, turns=3, valid=valid) for name, valid in (("a", 0.9), ("b", 0.7), ("c", 0.5))]
FOUND = STUDY.run(make_known(THREE))


def stale(cell: MeasuredCell, flags: list[bool], stop: str, patience: int, limit: int = 9) -> MeasuredCell:
    turns = cell.extracted["turns"].with_columns(stale=pl.Series(flags))
    saturation = {**cell.config["saturation"], "patience": patience}
    config = {**cell.config, "saturation": saturation, "max_turns": limit}
    metrics = {**cell.metrics, "stop_reason": stop}
    return replace(cell, config=config, metrics=metrics, extracted={**cell.extracted, "turns": turns})


def test_every_cell_and_every_model_of_a_union_under_nine_settings() -> None:
    cells, recalls = FOUND.tables["cells"], FOUND.tables["recalls"]
    for model in ("a", "b", "c"):
        assert cells.filter(model=model).select("strict", "fuzzy").rows() == sorted(SWEEP)
    own = cells.filter("own")
    assert own["unique"].to_list() == [cell.metrics["unique"] for cell in THREE]
    union = make_union(THREE)
    for strict, fuzzy in SWEEP:
        shares = recalls.filter(strict=strict, fuzzy=fuzzy).sort("model")["recall_match"].to_list()
        assert shares == recall_match(union.counts(None, (strict, fuzzy))).tolist()


def test_the_spread_is_half_the_range_over_the_settings() -> None:
    cells, spread = FOUND.tables["cells"], FOUND.tables["accuracy_spread"]
    for row in spread.iter_rows(named=True):
        values = cells.filter(model=row["model"])["accuracy"]
        assert row["half_range"] == pytest.approx((values.max() - values.min()) / 2)
        assert row["settings"] == 9
    assert FOUND.metrics["accuracy_half_range_largest"] == spread["half_range"].max()
    assert FOUND.metrics["recall_match_half_range_mean"] == FOUND.tables["recall_spread"]["half_range"].mean()


def test_models_that_change_places_are_named_with_whether_they_were_tied() -> None:
    union = make_union(THREE)
    shares = {"a": [0.5] * 9, "b": [0.4] * 8 + [0.6], "c": [0.4] * 9}
    rows = [
        (union.domain, union.strategy, model, *setting, False, share, 100, "")
        for model, values in shares.items()
        for setting, share in zip(SWEEP, values, strict=True)
    ]
    table = reversals_table([union], pl.DataFrame(rows, schema=RECALLS, orient="row"), 0)
    assert table.height == 1  # b and c are level in eight settings: no reversal
    row = table.row(0, named=True)
    assert {row["ahead"], row["behind"]} == {"a", "b"}
    assert row["tied"] == (row["p_holm"] >= 0.05)
    assert row["known_in"] == 9
    if row["ahead"] == "a":
        assert (row["reversed_in"], row["settings"]) == (1, "0.94/0.75")


def evidence(**tables: pl.DataFrame) -> Evidence:
    """What there was to find about three models, with some tables in the place of others."""
    none = {"modes": pl.DataFrame(schema=MODES), "prompts": pl.DataFrame(schema=PROMPTS)}
    made = {"spread": "accuracy_spread", **{name: name for name in ("cells", "recalls", "recall_spread", "reversals",
            "patience", "cosines")}}  # fmt: skip
    return Evidence(**{**{name: FOUND.tables[of] for name, of in made.items()}, **none, **tables}, seed=0)


def test_an_order_is_kept_only_where_it_is_known_in_all_nine() -> None:
    union = make_union(THREE)
    rows = [
        (union.domain, strategy, model, *setting, place == 4, share if known else None, 100, "")
        for strategy, settings in (("whole", 9), ("part", 6), ("none", 0))
        for model, share in (("a", 0.5), ("b", 0.4))
        for place, setting in enumerate(SWEEP)
        for known in (place < settings,)
    ]
    recalls = pl.DataFrame(rows, schema=RECALLS, orient="row")
    spread = spread_table(recalls, ["domain", "strategy", "model"], "recall_match")
    found = evidence(recall_spread=spread, reversals=pl.DataFrame(schema=REVERSALS))
    assert (found.unions, found.kept, found.kept_but_tied) == (1, 1, 1)
    assert summary(found)["unions_unordered"] == 2
    said = sentences(found)[0]
    assert "kept in all nine in 1 of 1 union." in said
    assert (
        "Left out, for want of recalls in all nine: deep_learning by none (in 0) and deep_learning by part (in 6)."
        in said
    )
    assert "n = 2 recalls in 1 union" in said


def test_a_reversal_claims_no_more_than_was_tested() -> None:
    row = {
        "domain": "d", "strategy": "s", "ahead": "a", "behind": "b", "difference": 0.2, "difference_low": 0.1,
        "difference_high": 0.3, "p_holm": 1e-9, "tied": False, "reversed_in": 1, "level_in": 0, "known_in": 6,
        "settings": "", "reason": "",
    }  # fmt: skip
    (line,) = (
        line for line in sentences(evidence(reversals=pl.DataFrame([row], schema=REVERSALS))) if "places" in line
    )
    assert line == (
        "a and b change places in d by s (the other way round in 1 of 6 settings; own setting +20.0 percentage points "
        "[+10.0, +30.0], Holm's p < 0.001): separated under the own setting; the reversed gap was not tested."
    )


def test_the_order_is_kept_when_nobody_changes_places() -> None:
    recalls = FOUND.tables["recalls"].sort("strict", "fuzzy", "model")["recall_match"].to_numpy().reshape(9, 3)
    gaps = recalls[:, :, None] - recalls[:, None, :]
    changing = ((gaps > 0).any(axis=0) & (gaps < 0).any(axis=0)).sum() // 2
    assert FOUND.tables["reversals"].height == changing
    assert FOUND.metrics["order_kept"] == int(changing == 0)
    assert f"kept in all nine in {FOUND.metrics['order_kept']} of 1 union" in FOUND.verdict[0]


def test_one_model_alone_has_no_recall_and_says_so() -> None:
    found = STUDY.run(make_known(THREE[:1]))
    assert found.metrics["recall_match_half_range_mean"] is None
    assert any("one model alone in the union of deep_learning" in clause for clause in found.missing)
    assert found.verdict[0].startswith("Over the nine settings accuracy moves by ±")
    assert png(found.figures["settings"]).startswith(b"\x89PNG")


def test_a_missing_union_is_named() -> None:
    found = STUDY.run(make_known(THREE, unions=False))
    assert any("python -m src.union domain=deep_learning strategy=taxonomy_l2w2" in line for line in found.missing)


def test_a_setting_that_was_not_computed_is_reported_and_the_others_stay() -> None:
    cell = THREE[0]
    pairs = cell.processed["pairs"].with_columns(verdict=pl.when(pl.col("cosine") >= 0.70).then(pl.col("verdict")))
    found = STUDY.run(make_known([replace(cell, processed={**cell.processed, "pairs": pairs})], unions=False))
    table = found.tables["cells"]
    assert table.filter(fuzzy=0.65)["unique"].null_count() == 3
    assert table.filter(fuzzy=0.70)["unique"].null_count() == 0
    assert sum("was not computed" in clause for clause in found.missing) == 3
    assert found.tables["accuracy_spread"]["settings"].to_list() == [6]


@pytest.mark.parametrize(
    ("flags", "stop", "own", "expected"),
    [
        ([False, False, True], "saturated", 0, [3, None]),
        ([False, True, True], "saturated", 1, [2, 3]),
        ([False, False, False], "max_turns", 0, [3, 3]),
        ([False, True, False], "max_turns", 1, [2, 3]),
        ([False, False, False], "budget", 0, [3, None]),
        ([False, False, True], "budget", 1, [3, 3]),
        ([False, False, True], "recorded", 0, [None, None]),
    ],
)
def test_patience_says_only_what_is_known(flags: list[bool], stop: str, own: int, expected: list[int | None]) -> None:
    cell = stale(THREE[0], flags, stop, own)
    table = patience_table([cell])
    assert table["stop_turn"].to_list() == expected
    for row in table.iter_rows(named=True):
        if row["stop_turn"] is None:
            assert row["reason"]
        else:
            assert row["valid"] + row["valid_lost"] == cell.metrics["valid"]
            assert (row["valid_lost"] == 0) == (row["share_lost"] == 0)


def test_at_the_limit_of_turns_more_patience_would_have_changed_nothing() -> None:
    table = patience_table([stale(THREE[0], [False, False, True], "saturated", 0, limit=3)])
    assert table["stop_turn"].to_list() == [3, 3]
    assert table["valid_lost"].to_list() == [0, 0]


def test_every_run_counts_once_however_patient_it_was() -> None:
    patient = stale(THREE[0], [True, True, True], "saturated", 2)
    found = STUDY.run(make_known([patient], unions=False))
    nought, one = found.tables["patience"].iter_rows(named=True)
    assert nought["share_lost"] > one["share_lost"] > 0
    assert found.metrics["share_lost_patience_0"] == nought["share_lost"]
    assert any(line.endswith("of 1 run made with more.") for line in found.verdict)


def test_recorded_answers_were_made_with_no_patience() -> None:
    recorded = stale(THREE[0], [False, False, True], "recorded", 0)
    assert "Nothing is known about patience." in STUDY.run(make_known([recorded], unions=False)).verdict
    other = stale(THREE[1], [False, False, False], "max_turns", 0)
    found = STUDY.run(make_known([recorded, other], unions=False))
    assert "Of 1 run made with patience 0, 1 would have ended the same with patience 1." in found.verdict


def test_what_patience_nought_would_have_lost_is_told() -> None:
    cell = stale(THREE[0], [True, False, False], "max_turns", 1)
    found = STUDY.run(make_known([cell], unions=False))
    row = found.tables["patience"].filter(patience=0).row(0, named=True)
    assert row["valid_lost"] > 0
    assert row["tokens_saved"] > 0
    assert f"Patience 0 would have lost {row['valid_lost']} of {cell.metrics['valid']} valid points" in "".join(
        found.verdict
    )
    assert found.metrics["share_lost_patience_0"] == row["share_lost"]


def test_prompts_are_paired_with_the_same_cell_only() -> None:
    base = THREE[0]
    same = make_measured("a", turns=3, valid=0.9, prompts="synonyms", per_leaf=8)
    longer = make_measured("a", domain="ml_systems", turns=4, prompts="synonyms")
    table, missing = pair_prompts([base], [same, longer], {"default": "synonyms"})
    row = table.row(0, named=True)
    assert (table.height, row["raw"], row["raw_synonyms"]) == (1, 72, 96)
    assert row["raw_change"] == pytest.approx(1 / 3)
    assert row["accuracy_change_low"] < row["accuracy_change"] < row["accuracy_change_high"]
    assert (row["judged"], row["branches"], row["branches_synonyms"]) == (base.metrics["unique"], 4, 4)
    assert missing == [f"{longer.folder} has prompts synonyms, but no cell like it has default"]
    other = make_measured("a", turns=4, prompts="synonyms")
    assert "differs from" in pair_prompts([base], [other], {"default": "synonyms"})[1][0]


def test_the_change_of_the_total_has_an_interval_from_three_pairs_on() -> None:
    def table(raw: list[int], other: list[int]) -> pl.DataFrame:
        return pl.DataFrame({"raw": raw, "raw_synonyms": other})

    value, interval = change(table([100, 200], [110, 220]), "raw", 0)
    assert value == pytest.approx(0.1)
    assert "2 pairs of cells" in interval.reason
    value, interval = change(table([100, 200, 100], [110, 200, 130]), "raw", 0)
    assert value == pytest.approx(0.1)
    assert interval.low < 0.1 < interval.high
    assert change(table([100, 200, 100], [110, 200, 130]), "raw", 0)[1] == interval
    assert change(table([0], [5]), "raw", 0)[0] is None


def test_variants_are_told_and_drawn() -> None:
    variants = [make_measured("a", turns=3, valid=0.9, prompts="synonyms", per_leaf=8)]
    found = STUDY.run(make_known(THREE[:1], variants, unions=False))
    assert "+33.3 % raw points (no interval: 1 pair of cells" in found.verdict[-1]
    assert found.metrics["raw_change_synonyms"] == pytest.approx(1 / 3)
    assert png(found.figures["prompts"]).startswith(b"\x89PNG")
    assert "prompts" not in FOUND.figures


def test_modes_are_computed_and_counted() -> None:
    row = FOUND.tables["modes"].row(0, named=True)
    cosines = np.concatenate([cell.extracted["atoms"]["nearest_cosine"].drop_nulls().to_numpy() for cell in THREE])
    assert row["n"] + row["same_text"] == len(cosines)
    assert FOUND.tables["cosines"]["points"].sum() == row["n"]
    assert any(line.startswith("Cosines of facts ") for line in FOUND.verdict)


def test_nothing_to_look_at_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="none of 3 cells to look at"):
        replace(STUDY, models=("other",)).run(make_known(THREE, unions=False))


def test_order_of_cells_and_unions_changes_nothing() -> None:
    def parts(found: Finding) -> list[object]:
        tables = {name: table.write_csv() for name, table in found.tables.items()}
        return [json.dumps(found.metrics, sort_keys=True), found.verdict, tables, png(found.figures["settings"])]

    assert parts(STUDY.run(make_known(THREE[::-1]))) == parts(FOUND)
