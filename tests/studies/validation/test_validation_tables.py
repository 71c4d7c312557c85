"""Tables and sentences of a validation: arithmetic on trials made by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from src.studies.linkages import COMPARED
from src.studies.validation.catalogue import BOUND, ESTIMATORS, NOMINAL, verdict
from src.studies.validation.finding import Tried, finding
from src.studies.validation.planted import WEAKER, Outcome
from src.studies.validation.population import Truth
from src.studies.validation.sentences import of_studies
from src.studies.validation.setting import Setting
from src.studies.validation.stopping import Stop
from src.studies.validation.summary import estimates_table, stops_table, studies_table
from src.studies.validation.trial import Trial
from src.studies.validation.ways import NUMBERS, direct, ways_table

TRUTHS = {"one": {name: Truth(0.5, 0.01) for name in ("accuracy", "decline_rate", "crossover")}}


def seed(number: int, **replaced: Trial) -> list[Trial]:
    """Trials of one seed: every interval holds the truth .5 but for what is replaced."""
    value = 0.5 + (0.01 if number % 2 else -0.01)
    usual = {name: Trial(name, value, value - 0.1, value + 0.1, 0.5) for name in ESTIMATORS}
    usual["valid_judged"] = Trial("valid_judged", value, math.nan, math.nan, 0.5, "claims nothing")
    usual["chao2_bound"] = Trial("chao2_bound", value, value - 0.1, math.inf, 0.5)
    return list((usual | replaced).values())


def tried(seeds: int, hits: int) -> list[list[Trial]]:
    """Trials in which the leaf interval holds the truth so many times."""
    low = Trial("accuracy_leaf", 0.7, 0.6, 0.8, 0.5)
    return [seed(number) if number < hits else seed(number, accuracy_leaf=low) for number in range(seeds)]


def row(table: pl.DataFrame, name: str) -> dict:
    return table.row(by_predicate=pl.col("estimator") == name, named=True)


def test_bias_error_and_coverage_are_those_of_the_trials():
    table = estimates_table({"one": tried(40, 35)}, TRUTHS)
    leaf, plain = row(table, "accuracy_leaf"), row(table, "accuracy_plain")
    assert (leaf["seeds"], leaf["intervals"], leaf["coverage"], leaf["verdict"]) == (40, 40, 35 / 40, "fails")
    assert leaf["coverage_low"] < 35 / 40 < leaf["coverage_high"]
    assert leaf["bias"] == pytest.approx((5 * 0.2 + 17 * 0.01 - 18 * 0.01) / 40)
    assert (plain["verdict"], plain["claims"], plain["truth_error"]) == ("conservative", "nothing", 0.01)
    assert plain["rmse"] == pytest.approx(0.01)
    assert plain["bias_error"] == pytest.approx(0.01 / math.sqrt(39))
    assert plain["width"] == pytest.approx(0.2)
    assert row(table, "recall_wilson")["truth_error"] is None


def test_what_has_no_interval_says_why_and_an_open_one_has_no_width():
    table = estimates_table({"one": tried(3, 3)}, TRUTHS)
    none, bound = row(table, "valid_judged"), row(table, "chao2_bound")
    assert (none["verdict"], none["coverage"], none["without"]) == ("no interval", None, "3: claims nothing")
    assert none["bias"] == pytest.approx(-0.01 / 3)
    assert (bound["coverage"], bound["width"], bound["verdict"]) == (1.0, None, "too few intervals")


def test_the_rule_of_the_verdict():
    said = [verdict(coverage, NOMINAL) for coverage in (0.899, 0.9, 0.98, 0.981)]
    assert said == ["fails", "holds", "holds", "conservative"]
    assert [verdict(coverage, BOUND) for coverage in (0.899, 0.9, 1.0)] == ["fails", "holds", "holds"]


def test_studies_fail_below_95_percent_found_and_above_16_of_200_alarms():
    def trial(found: bool, alarm: bool) -> list[Outcome]:
        return [
            Outcome("scaling", "effect", "more", True, found),
            Outcome("scaling", "nothing", "more or less", False, alarm),
            Outcome("scaling", WEAKER, "more", True, False),
        ]

    for found, alarms, said in ((190, 16, ["holds"] * 2), (189, 17, ["fails"] * 2)):
        table = studies_table([trial(at < found, at < alarms) for at in range(200)])
        assert table["verdict"].to_list() == [*said, "power"]
        assert table["said"].to_list() == [found, alarms, 0]
        (line,) = of_studies(table)
        assert "Of a weaker effect: more 0 of 200 (power" in line
        assert ("Fails:" in line) == ("fails" in said)


def test_stops_are_averaged_by_patience():
    table = stops_table({"one": [[Stop(0, 2, True, 0.5, 0.4), Stop(1, 4, False, 0.0, 0.0)]] * 3})
    assert table.select("patience", "seeds", "saturated", "stop_turn", "valid_lost").rows() == [
        (0, 3, 3, 2.0, 0.5),
        (1, 3, 0, 4.0, 0.0),
    ]
    assert table["points_saved"].to_list() == pytest.approx([0.4, 0.0])


def test_ways_are_compared_in_pairs():
    texts = [dict.fromkeys(NUMBERS, value) for value in (11.0, 12.0, 13.0)]
    directs = [dict.fromkeys([other for other, _ in NUMBERS.values()], 10.0)] * 3
    first = ways_table(texts, directs).row(0, named=True)
    assert (first["seeds"], first["text"], first["direct"], first["difference"]) == (3, 12.0, 10.0, 2.0)
    assert first["relative"] == pytest.approx(0.2)
    assert first["difference_low"] == pytest.approx(2 - 4.302653 / math.sqrt(3), abs=1e-5)
    alone = ways_table(texts[:1], directs[:1]).row(0, named=True)
    assert (alone["difference_low"], alone["difference_reason"]) == (
        None,
        "1 seed with this number: a spread needs two",
    )
    without = ways_table([{**texts[0], "coverage": math.nan}], directs[:1])
    assert without.row(by_predicate=pl.col("number") == "coverage", named=True)["text"] is None
    assert ways_table([], []).is_empty()


def test_the_finding_names_what_fails_and_says_that_it_is_simulated():
    found = finding(
        Tried(
            settings={"one": Setting(why="quick", turns=4)},
            universes=40,
            turns=15,
            studied="",
            estimates=estimates_table({"one": tried(40, 30)}, TRUTHS),
            studies=studies_table([]),
            stops=stops_table({"one": [[Stop(0, 2, True, 0.5, 0.4), Stop(1, 4, True, 0.1, 0.2)]]}),
            ways=ways_table([], []),
            linkages=COMPARED.to_frame(),
        )
    )
    assert "1 fail, below 90 %" in found.verdict[0]
    assert any(line.startswith("Fails: accuracy, leaf interval in one, 75.0 %") for line in found.verdict)
    assert found.cautions[0].startswith("Simulated:")
    assert (found.metrics["failing"], found.metrics["coverage_accuracy_leaf_one"]) == (1, 0.75)
    assert found.metrics["coverage_valid_judged_one"] is None
    assert found.metrics["coverage_valid_judged_one_reason"] == "40: claims nothing"
    assert len(found.missing) == 2
    assert dict(found.tables["coverage"].select("estimator", "one").rows())["accuracy, leaf interval"] == "0.750 fails"
    assert found.tables["settings"]["unlike the default"].to_list() == ["turns=4"]


def test_direct_runs_have_the_numbers_that_text_is_held_against():
    setting = Setting(why="quick", turns=2, widths=(1, 2))
    numbers = direct(setting, 0, "anything")
    assert set(numbers) == {other for other, _ in NUMBERS.values()}
    assert numbers["accuracy"] == pytest.approx(numbers["valid"] / numbers["unique"], abs=0.02)
    assert 0 < numbers["recall_match"] < 1
