import numpy as np
import polars as pl
import pytest

from src.calibration.proof import proof
from src.calibration.thresholds import CURVE, choose_thresholds, fewest
from src.errors import ConfigError
from src.stats.intervals import wilson


def pairs(cosines: list[float], same: list[bool | None], guards: list[str] | None = None) -> pl.DataFrame:
    names = [f"text {place:04d}" for place in range(len(cosines))]
    return pl.DataFrame(
        {
            "first": names,
            "second": [f"{name} too" for name in names],
            "same": pl.Series(same, dtype=pl.Boolean),
            "cosine": pl.Series(cosines, dtype=pl.Float64),
            "guard": guards or [""] * len(names),
        }
    )


def sample(n: int = 400) -> pl.DataFrame:
    """Same pairs from .70 to .99, distinct ones from .40 to .90, evenly."""
    return pairs([*np.linspace(0.7012, 0.9912, n), *np.linspace(0.4012, 0.9012, n)], [True] * n + [False] * n)


def test_both_thresholds_are_where_a_bound_says_so() -> None:
    found = choose_thresholds(sample(), 0.05, 0.95)
    table, curve = sample(), found.curve
    assert curve.schema == CURVE
    for row in curve.iter_rows(named=True):
        above, same = table.filter(pl.col("cosine") > row["threshold"]), table.filter("same")
        bounds = wilson(above.filter(~pl.col("same")).height, above.height)
        kept = wilson(same.filter(pl.col("cosine") >= row["threshold"]).height, same.height)
        assert row["wrong_high"] == (bounds.high if above.height else None)
        assert row["kept_low"] == kept.low
        if found.fuzzy <= row["threshold"] < found.strict:
            assert bounds.high > 0.05
        assert (kept.low >= 0.95) == (row["threshold"] <= found.fuzzy)
    assert found.at(found.strict)["wrong_high"] <= 0.05
    assert 0.7 < found.fuzzy < 0.72
    assert 0.85 < found.strict < 0.91
    assert found.novelty == found.strict, "nothing is guarded"


def test_order_and_undecided_pairs_change_nothing() -> None:
    table = pl.concat([sample(), pairs([0.95] * 50, [None] * 50)])
    assert choose_thresholds(table.sample(fraction=1, shuffle=True, seed=1), 0.05, 0.95).curve.equals(
        choose_thresholds(sample(), 0.05, 0.95).curve
    )


def test_guarded_pairs_lower_strict_and_not_the_threshold_of_the_loop() -> None:
    table = sample().with_columns(pl.when("same").then(pl.lit("")).otherwise(pl.lit("number")).alias("guard"))
    found = choose_thresholds(table, 0.05, 0.95)
    assert found.strict == found.fuzzy < choose_thresholds(sample(), 0.05, 0.95).strict, "at least fuzzy, however safe"
    assert found.novelty == choose_thresholds(sample(), 0.05, 0.95).novelty


def test_without_guards_no_threshold_may_be_safe() -> None:
    """As many twins of cosine 1 as paraphrases, all of them guarded."""
    twins = pairs([0.9999] * 500, [False] * 500, ["year"] * 500)
    found = choose_thresholds(pl.concat([sample(), twins]), 0.05, 0.95)
    assert found.strict == choose_thresholds(sample(), 0.05, 0.95).strict
    assert found.novelty is None


def test_too_few_pairs_are_refused_in_one_sentence_with_the_number_it_takes() -> None:
    assert fewest(0.05) == 73
    assert wilson(73, 73).low >= 0.95 > wilson(72, 72).low
    far = pairs([0.1] * 73, [False] * 73)
    assert choose_thresholds(pl.concat([pairs([0.9012] * 73, [True] * 73), far]), 0.05, 0.95).strict == 0.9
    with pytest.raises(
        ConfigError, match=r"fuzzy cannot be proven: 72 pairs labelled same.* 73 are needed .*lower kept"
    ):
        choose_thresholds(pl.concat([pairs([0.9012] * 72, [True] * 72), far]), 0.05, 0.95)
    alike = pairs([0.9] * 80 + [0.95] * 76 + [0.95] * 4, [True] * 156 + [False] * 4)
    with pytest.raises(
        ConfigError,
        match=r"strict cannot be proven: .*nearest is 0.9, where 4 of 80 pairs .* at least 73 .*raise wrong",
    ):
        choose_thresholds(pl.concat([alike, far]), 0.05, 0.95)
    guarded = pairs([0.9012] * 80, [True] * 80, ["order"] * 80)
    with pytest.raises(ConfigError, match=r"strict cannot be proven: .*no pair that is free of guards lies above 0.9,"):
        choose_thresholds(pl.concat([guarded, far]), 0.05, 0.95)
    with pytest.raises(ConfigError, match="fuzzy cannot be proven: 0 pairs"):
        choose_thresholds(far, 0.05, 0.95)
    few = pl.concat([pairs([0.9012] * 30, [True] * 30), far.head(fewest(0.15))])
    assert choose_thresholds(few, 0.15, 0.85).strict == 0.9


@pytest.mark.parametrize("distinct", [0, 1, 72])
def test_pairs_that_are_all_the_same_prove_no_threshold(distinct: int) -> None:
    table = pl.concat(
        [pairs(list(np.linspace(0.07, 0.99, 400)), [True] * 400), pairs([0.01] * distinct, [False] * distinct)]
    )
    with pytest.raises(
        ConfigError,
        match=rf"strict cannot be proven: {distinct} pairs? labelled distinct.* 73 are needed .*at most 5.0 % .*raise",
    ):
        choose_thresholds(table, 0.05, 0.95)


def test_the_finding_asks_about_alike_pairs_if_no_distinct_one_reaches_fuzzy() -> None:
    def cautions(cosine: float) -> tuple[str, ...]:
        table = pl.concat([pairs([0.9012] * 80, [True] * 80), pairs([*[0.1] * 79, cosine], [False] * 80)])
        return tuple(proof("x", "e", table, choose_thresholds(table, 0.1, 0.95)).cautions)

    asked = "No distinct pair lies at or above dedup.fuzzy: were alike ones among those labelled?"
    assert asked in cautions(0.1)
    assert asked not in cautions(0.9012)


def test_the_finding_says_what_from_how_many_and_lists_what_goes_wrong() -> None:
    table = pl.concat([sample(), pairs([0.93, 0.2], [False, None])]).sort("first", "cosine")
    found = choose_thresholds(table, 0.05, 0.95)
    finding = proof("thresholds-x", "an encoder", table, found)
    assert finding.metrics["pairs"] == 802
    assert finding.metrics["strict"] == found.strict
    assert finding.metrics["wrong_high"] <= 0.05
    assert f"dedup.strict {found.strict:g}: of " in finding.verdict[0]
    assert "of 400 pairs that are the same" in finding.verdict[1]
    assert "1 unsure and left out" in finding.captions["thresholds"]
    assert 0.93 in finding.tables["merged_wrongly"]["cosine"]
    assert finding.tables["missed"]["cosine"].max() < found.fuzzy
    assert "cosines from 0.20 to 0.99" in finding.cautions[0]
    guarded = table.with_columns(pl.lit("year").alias("guard")).filter(pl.col("cosine") > 2)
    twins = pairs([0.9999] * 500, [False] * 500, ["year"] * 500)
    none = proof("x", "e", pl.concat([table, twins, guarded]), choose_thresholds(pl.concat([table, twins]), 0.05, 0.95))
    assert none.metrics["novelty"] is None
    assert none.metrics["novelty_reason"] == "no threshold is safe without guards"
    assert any("saturation.novelty is left as it is" in line for line in none.verdict)
