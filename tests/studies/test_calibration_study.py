import math
from dataclasses import replace

import polars as pl
import pytest

from src.calibration.questions import QUESTIONS
from src.calibration.sample import draw_sample
from src.calibration.second import ANSWERS
from src.calibration.sheet import sheet_items
from src.figures.canvas import png, svg
from src.studies.calibration import Second, calibrate
from src.studies.raters import people
from tests.synthetic_sample import answered, kappa_study, make_checked

AUDIT = QUESTIONS["audit"]
SAMPLE = kappa_study()
HUMAN = {
    True: ["valid"] * 40 + ["niche but plausible"] * 7 + ["factually wrong"],
    False: ["valid"] * 9 + ["invalid by form"] * 30 + ["factually wrong"] * 9,
}
"""The published study: of 48 accepted points people accept 47, of 48 turned down 9."""


def test_the_kappa_study_and_its_reweighting():
    calibrated = calibrate("audit", SAMPLE, answered(SAMPLE, "ann", HUMAN), None)
    metrics = calibrated.finding.metrics
    assert metrics["n"] == 96
    assert metrics["agreement"] == pytest.approx(0.896, abs=0.0005)
    assert metrics["kappa"] == pytest.approx(0.7917, abs=0.00005)
    assert metrics["precision"] == pytest.approx(0.979, abs=0.0005)
    assert metrics["missed"] == 0.1875
    assert metrics["judge_share"] == pytest.approx(0.86)
    assert metrics["corrected_share"] == pytest.approx(0.868, abs=0.0005)
    assert metrics["kappa_weighted"] == pytest.approx(0.812, abs=0.0005)
    assert metrics["factually_wrong"] == pytest.approx(0.86 / 48 + 0.14 * 9 / 48)
    assert metrics["factually_wrong_accepted"] == pytest.approx(1 / 48)
    assert metrics["corrected_share_low"] < 0.868 < metrics["corrected_share_high"]
    assert metrics["inter_annotator_kappa"] is None
    assert metrics["inter_annotator_kappa_reason"] == "one annotator alone"
    first, *others = calibrated.finding.verdict
    assert first.startswith("The judge deepseek_v31 and people agree on 89.6 % [")
    assert "of 96 points drawn by verdict: κ 0.79 [" in first
    assert "κ 0.81 [" in first
    assert others[0].startswith(
        "The judge calls 86.0 % of all 1,000 judged points valid; corrected by people: 86.8 % ["
    )
    (cell,) = calibrated.cells.values()
    assert (cell["n"], cell["kappa"]) == (96, metrics["kappa"])


def test_every_number_has_a_value_or_a_reason_and_is_the_same_twice():
    labels = answered(SAMPLE, "ann", {True: ["valid"] * 48, False: [""] * 48})
    one, other = (calibrate("audit", SAMPLE, labels, None) for _ in range(2))
    assert one.finding.metrics == other.finding.metrics
    for metrics in (one.finding.metrics, *one.cells.values()):
        for name, value in metrics.items():
            assert value is not None or metrics[f"{name}_reason"], name
            assert not isinstance(value, float) or math.isfinite(value), name
    assert one.finding.metrics["corrected_share"] is None
    assert "turns down has an answer" in one.finding.metrics["corrected_share_reason"]
    assert one.finding.missing == ("labels of 48 of 96 items of the sheet",)
    for name, figure in one.finding.figures.items():
        assert png(figure) == png(other.finding.figures[name])
        assert svg(figure) == svg(other.finding.figures[name])
        assert name in one.finding.captions
    for table in one.finding.tables.values():
        for column in table.select(pl.col(pl.Float64)).iter_columns():
            assert not column.is_nan().any()


def test_unsure_decides_nothing_and_a_tie_leaves_the_point_out():
    labels = pl.DataFrame(
        [
            ("a", "one", "valid", ""), ("b", "one", "unsure", ""),
            ("a", "two", "valid", ""), ("b", "two", "factually wrong", "no source"),
            ("a", "three", "unsure", ""),
            ("a", "four", "factually wrong", ""), ("b", "four", "factually wrong", ""), ("c", "four", "valid", ""),
            ("a", "five", "invalid by form", ""), ("b", "five", "factually wrong", ""),
            ("a", "six", "niche but plausible", ""),
        ],
        schema=("annotator", "item", "label", "comment"),
        orient="row",
    )  # fmt: skip
    found = {row["item"]: row for row in people(labels, AUDIT).iter_rows(named=True)}
    assert {item: row["people"] for item, row in found.items()} == {
        "one": True, "two": None, "three": None, "four": False, "five": False, "six": True
    }  # fmt: skip
    assert [item for item, row in found.items() if row["tied"]] == ["two"]
    assert {item: row["wrong"] for item, row in found.items() if row["people"] is not None} == {
        "one": False, "four": True, "five": False, "six": False
    }  # fmt: skip
    assert found["two"]["said"] == "a: valid; b: factually wrong (no source)"


def test_two_annotators_are_compared_and_what_they_undecide_is_counted():
    ann = answered(SAMPLE, "ann", HUMAN)
    bob = answered(SAMPLE, "bob", {True: ["valid"] * 48, False: ["unsure"] * 9 + ["factually wrong"] * 39})
    finding = calibrate("audit", SAMPLE, pl.concat([ann, bob]), None).finding
    assert (finding.metrics["annotators"], finding.metrics["labelled"]) == (2, 96)
    (row,) = finding.tables["annotators"].rows(named=True)
    assert (row["annotator"], row["other"], row["n"]) == ("ann", "bob", 87)
    assert row["agreement"] == pytest.approx(86 / 87)
    assert finding.metrics["inter_annotator_kappa"] == row["kappa"]
    assert finding.metrics["tied"] == 1
    assert any(line.startswith("Annotators ann and bob agree on 98.9 %") for line in finding.verdict)
    counts = finding.tables["labels"].filter(annotator="bob", label="unsure")
    assert counts.select("judge_accepts", "judge_turns_down").row(0) == (0, 9)


def same_words(*models):
    """A sample of all judgements of cells that say the same, 20 of them accepted and 20 not."""
    cells = [make_checked(model, 20, 20) for model in models]
    texts = cells[0].extracted["atoms"]["text"]
    alike = [replace(cell, extracted={"atoms": cell.extracted["atoms"].with_columns(texts)}) for cell in cells]
    return draw_sample(alike, "audit", 40 * len(cells), 0)


def words_of(sample):
    """Labels of an annotator, who looks at what a text says and not at who said it."""
    items = sheet_items(sample.units, sample.seed).sort("first")
    said = ["valid" if place % 4 else "factually wrong" for place in range(items.height)]
    return items.select(annotator=pl.lit("ann"), item="item", label=pl.Series(said), comment=pl.lit(""))


def test_what_several_cells_say_in_the_same_words_is_one_point():
    """Four cells that say the same tell no more about the judge than one of them."""
    alone, four = same_words("a"), same_words("a", "b", "c", "d")
    one, many = (calibrate("audit", sample, words_of(sample), None).finding for sample in (alone, four))
    assert (many.metrics["n"], many.metrics["judgements"]) == (40, 160)
    assert (one.metrics["n"], one.metrics["judgements"]) == (40, 40)
    for name in ("agreement", "kappa", "precision", "missed", "corrected_share", "kappa_weighted"):
        for key in (name, f"{name}_low", f"{name}_high"):
            assert many.metrics[key] == pytest.approx(one.metrics[key], abs=0.02 if key != name else 1e-9), key
    assert "of 40 points (160 judgements) drawn by verdict" in many.verdict[0]
    assert "of 40 points drawn by verdict" in one.verdict[0]
    assert "n = 40 points (160 judgements) rated" in many.figures["agreement"].texts[1].get_text()


def test_points_that_stand_for_more_judgements_weigh_more():
    """Of 40 + 40 judgements that are 40 + 20 points, each point counts as often as it was judged."""
    sample = same_words("a", "b")
    sheet = sample.units.filter((pl.col("stratum") < 2) | (pl.col("a") < 10) | (pl.col("a") >= 30))
    part = replace(sample, units=sheet)
    labels = words_of(part)
    metrics = calibrate("audit", part, labels, None).finding.metrics
    assert (metrics["n"], metrics["judgements"]) == (40, 60)
    rated = part.units.join(part.strata.select("stratum", "verdict"), on="stratum").join(
        sheet_items(part.units, part.seed), on=["query", "first", "second"]
    ).join(labels, on="item")  # fmt: skip
    same = (rated["verdict"] == (rated["label"] == "valid")).mean()
    assert metrics["agreement"] == pytest.approx(same)


def test_domains_and_models_get_their_own_rows():
    cells = [make_checked(model, 60, 20, domain=domain) for model in ("a", "b") for domain in ("x", "y")]
    sample = draw_sample(cells, "audit", 80, 0)
    calibrated = calibrate(
        "audit", sample, answered(sample, "ann", {True: ["valid"] * 40, False: ["valid"] * 40}), None
    )
    table = calibrated.finding.tables["agreement"].filter(weighting="weighted")
    assert table.select("part", "name", "n").rows() == [
        ("all", "", 80), ("domain", "x", 40), ("domain", "y", 40), ("model", "a", 40), ("model", "b", 40)
    ]  # fmt: skip
    assert calibrated.finding.metrics["missed_x"] == 1.0
    assert calibrated.finding.tables["cells"].height == len(calibrated.cells) == len(calibrated.finding.sources) == 4
    assert calibrated.finding.tables["strata"]["share"].sum() == pytest.approx(1)


def test_disagreements_can_be_read_and_formulas_in_them_run_nowhere():
    cell = make_checked("m", 2, 2)
    atoms = cell.extracted["atoms"].with_columns(text=pl.format("=HYPERLINK({}) <script>", "atom_id"))
    sample = draw_sample([type(cell)(**{**vars(cell), "extracted": {"atoms": atoms}})], "audit", 4, 0)
    labels = answered(sample, "=ann", {True: ["factually wrong"] * 2, False: ["invalid by form"] * 2})
    finding = calibrate("audit", sample, labels, None).finding
    table = finding.tables["disagreements"]
    assert table.height == 2
    assert table.columns == ["item", "domain", "statement", "judge", "people"]
    assert all(text.startswith("'=HYPERLINK") for text in table["statement"])
    assert all(text.startswith("'=ann: factually wrong") for text in table["people"])
    assert set(table["judge"]) == {"valid"}


PAIRS = [(i, i + 1, "YES" if i < 10 else "NO") for i in range(30)]


def second(sample, kind="llm", turned=None):
    items = sheet_items(sample.units, 0)
    accepted = [place % 2 == 0 for place in range(items.height)]
    rows = {"item": items["item"], "accepted": accepted, "turned": turned or accepted}
    return Second("gpt4o", kind, pl.DataFrame(rows, schema=ANSWERS))


def test_a_second_judge_alone_is_no_person_and_its_flips_are_told():
    sample = draw_sample([make_checked("m", 40, 0, pairs=PAIRS)], "pairs", 99, 0)
    turned = [place % 2 == 0 for place in range(30)]
    turned[:3] = [not answer for answer in turned[:3]]
    turned[3] = None
    finding = calibrate("pairs", sample, None, second(sample, "rehearsed", turned)).finding
    assert finding.metrics["flip_rate"] == pytest.approx(3 / 29)
    assert finding.metrics["n"] == 30
    assert "labels of people: a second judge may err where the first does" in finding.missing
    assert any("The rehearsal server drew a label" in line for line in finding.verdict)
    assert any("10.3 % [" in line and "of 29 pairs" in line for line in finding.verdict)
    assert set(finding.tables["agreement"]["raters"]) == {"judge – second judge"}
    assert "factually_wrong" not in finding.metrics


def test_people_and_a_second_judge_together_are_compared_three_ways():
    labels = answered(SAMPLE, "ann", HUMAN)
    finding = calibrate("audit", SAMPLE, labels, second(SAMPLE)).finding
    assert set(finding.tables["agreement"]["raters"]) == {
        "judge – people", "judge – second judge", "second judge – people"
    }  # fmt: skip
    assert finding.metrics["kappa"] == pytest.approx(0.7917, abs=0.00005), "people count as right"
    assert "flip_rate" not in finding.metrics


def test_rules_and_recorded_cells_are_named_first():
    cell = make_checked("m", 9, 9, judge="rules", kind="rules")
    sample = draw_sample([cell], "audit", 18, 0)
    labels = answered(sample, "ann", {True: ["valid"] * 9, False: ["valid"] * 9})
    finding = calibrate("audit", sample, labels, None).finding
    assert finding.cautions == ["Judge rules: form checked, not truth (1 of 1 cell)."]


def test_there_must_be_somebody_to_compare_with():
    with pytest.raises(ValueError, match="labels of people or the answers of a second judge"):
        calibrate("audit", SAMPLE, None, None)
