from dataclasses import replace

import numpy as np
import pytest

from src.figures.canvas import png
from src.stats.categories import CLASSES
from src.studies.categories import Categories
from tests.synthetic_answers import answered_cell, known

GOOD = ["HK"] * 30 + ["MK"] * 10 + ["WK"] * 4 + ["MU"] * 3 + ["CU"] * 3
POOR = ["WK"] * 10 + ["UU"] * 10 + ["MU"] * 10 + ["CU"] * 20
FAIR = ["HK"] * 30 + ["MK"] * 9 + ["WK"] * 5 + ["MU"] * 3 + ["CU"] * 3


def study(revisions=None):
    return Categories("categories", "What do they know?", revisions)


def test_planted_shares_are_told_with_what_cannot_be_told_apart() -> None:
    cells = (answered_cell(POOR, model="poor"), answered_cell(FAIR, model="fair"), answered_cell(GOOD, model="good"))
    finding = study().run(known(*cells))
    assert finding.verdict[0].startswith(
        "On capitals, good · internal, direct is right most often: accuracy 80.0 % [66.3, 90.0], category score 5.1"
    )
    assert "n = 50 questions (95 % intervals; accuracy Clopper–Pearson, score" in finding.verdict[0]
    assert "; of 2 other cells, 1 cannot be told apart from it by accuracy: fair" in finding.verdict[0]
    assert finding.verdict[1].startswith("1 of 3 pairs on capitals cannot be told apart by accuracy: fair")
    assert "fair · internal, direct less good · internal, direct (-2.0 percentage points [" in finding.verdict[1]
    rows = finding.tables["cells"].sort("cell")
    assert rows["tied_with_best"].to_list() == [True, True, False]
    assert rows["share_CU"].to_list() == [0.06, 0.06, 0.4]
    pair = finding.tables["pairs"].filter(cell="fair · internal, direct", other="good · internal, direct")
    assert pair.select("questions", "only_cell", "only_other").row(0) == (50, 0, 1)
    assert finding.metrics["accuracy_capitals_good_internal_direct"] == pytest.approx(0.8)
    assert finding.metrics["pairs_told_apart"] == 2
    assert len(finding.sources) == 3
    assert finding.missing == ()


def test_data_sets_are_never_in_one_order() -> None:
    finding = study().run(known(answered_cell(GOOD), answered_cell(POOR, dataset="rivers")))
    assert {"classes_capitals", "classes_rivers"} <= finding.figures.keys()
    assert "pairs" not in finding.tables
    assert finding.tables["cells"]["tied_with_best"].to_list() == [True, True]
    assert finding.captions.keys() == finding.figures.keys()


def test_kinds_of_questions_stand_apart() -> None:
    finding = study().run(known(answered_cell(["HK", "CU"] * 10, kinds=("easy", "hard"))))
    kinds = finding.tables["kinds"].sort("kind")
    assert kinds.select("kind", "questions", "accuracy").rows() == [("easy", 10, 1.0), ("hard", 10, 0.0)]
    assert (kinds["accuracy_low"] < kinds["accuracy_high"]).all()


def test_checkpoints_are_a_series_in_the_order_given() -> None:
    cells = [answered_cell(classes, revision=name) for name, classes in (("step10", GOOD), ("step9", POOR))]
    finding = study().run(known(*cells))
    series = finding.tables["series"]
    assert series["revision"].to_list() == ["step9", "step10"]
    assert series["accuracy"].to_list() == [0.0, 0.8]
    last = next(line for line in finding.verdict if line.startswith("From step9 to step10"))
    assert "accuracy +80.0 percentage points" in last
    assert "n = 50 shared questions" in last
    assert finding.metrics["accuracy_last_less_first_capitals_alpha_internal_direct"] == pytest.approx(0.8)
    turned = study(("step10", "step9", "step11")).run(known(*cells))
    assert turned.tables["series"]["revision"].to_list() == ["step10", "step9"]
    assert turned.missing == ("revision step11: no series has it",)


def test_without_checkpoints_nothing_is_missing_unless_they_were_asked_for() -> None:
    alone = known(answered_cell(GOOD))
    assert study().run(alone).missing == ()
    assert study(("1",)).run(alone).missing == ("revision 1: no series has it",)


def test_a_series_has_one_endpoint_and_hashes_are_none() -> None:
    cells = [answered_cell(GOOD, revision=name) for name in ("1", "2")]
    twin = answered_cell(GOOD, model="alpha", endpoint={"name": "other"})
    assert study().run(known(*cells, twin)).tables["series"]["revision"].to_list() == ["1", "2"]
    hashed = [answered_cell(GOOD, revision=f"sha256:{name}") for name in "ab"]
    assert "series" not in study().run(known(*hashed)).tables


def test_files_of_one_name_are_never_paired() -> None:
    one = answered_cell(GOOD)
    other = answered_cell(GOOD, model="beta", dataset="capitals")
    changed = {**other.config, "dataset": {"name": "capitals", "revision": "sha256:1"}}
    finding = study().run(known(one, replace(other, config=changed)))
    assert "pairs" not in finding.tables
    assert set(finding.tables["cells"]["dataset"]) == {"capitals 0", "capitals 1"}


def test_fewer_samples_and_the_other_rule_are_read_from_the_stored_answers() -> None:
    finding = study().run(known(answered_cell(["HK", "CU", "WK", "MU", "UU"] * 4)))
    rows = finding.tables["samples"]
    assert rows["samples"].to_list() == [2, 3, 4, 5, 6]
    assert rows["kept"].to_list() == [1.0] * 5
    rules = finding.tables["rules"]
    # Without the greedy answer no two of MU's answers are alike.
    assert rules.filter(rule="samples").select("share_UU", "share_MU", "kept").row(0) == (0.4, 0.0, 0.8)
    assert rules.filter(rule="all")["kept"].item() == 1.0
    assert any("keeps the class of 100.0 %" in line for line in finding.verdict)


def test_cells_that_differ_in_temperature_alone_are_paired() -> None:
    cold, warm = answered_cell(["HK"] * 20), answered_cell(["HK"] * 15 + ["MK"] * 5, temperature=1.0)
    other = answered_cell(["CU"] * 20, temperature=1.0, reasoning="cot")
    finding = study().run(known(warm, other, cold))
    row = finding.tables["temperatures"].row(0, named=True)
    assert finding.tables["temperatures"].height == 1
    assert (row["temperature"], row["temperature_other"], row["kept"], row["category_score"]) == (0.5, 1.0, 0.75, -0.25)
    assert any("temperature 1 instead of 0.5 keeps the class of 75.0 %" in line for line in finding.verdict)


def test_cells_that_share_no_question_are_ranked_with_a_remark_and_named() -> None:
    finding = study().run(known(answered_cell(["HK"] * 9), answered_cell(["CU"] * 9, model="beta", first=50)))
    assert "(each cell ranked by its own questions, 9; two cells share 0)" in finding.verdict[0]
    assert finding.verdict[1] == "No two cells on capitals share a question, so nothing tells them apart."
    assert len(finding.missing) == 1
    assert finding.missing[0].endswith("no shared question")
    alike = study().run(known(answered_cell(["HK"] * 9), answered_cell(["CU"] * 9, model="beta")))
    assert "own questions" not in alike.verdict[0]


def test_kinds_are_apart_from_yes_or_no() -> None:
    cell = answered_cell(["HK"] * 6 + ["CU"] * 6, kinds=("yes or no", ""), yes_no=4)
    finding = study().run(known(cell))
    assert finding.tables["kinds"].select("by", "kind", "questions").rows() == [
        ("kind", "", 6), ("kind", "yes or no", 6), ("answer", "yes or no", 4), ("answer", "not yes or no", 8),
    ]  # fmt: skip
    (ax,) = finding.figures["kinds_capitals"].axes
    assert [label.get_text().split("\n")[0] for label in ax.get_xticklabels()].count("yes or no") == 2


def test_a_cell_without_a_whole_question_is_named() -> None:
    finding = study().run(known(answered_cell([None, None], model="mute"), answered_cell(GOOD)))
    assert finding.missing == ("capitals · mute · internal, direct: no question with all of its answers",)
    row = finding.tables["cells"].filter(model="mute").row(0, named=True)
    assert (row["accuracy"], row["tied_with_best"], row["incomplete"]) == (None, None, 2)
    assert finding.verdict[0].startswith("On capitals, alpha")
    assert png(finding.figures["classes_capitals"])


def test_nothing_hangs_on_the_order_in_which_cells_are_found() -> None:
    rng = np.random.default_rng(1)
    cells = [answered_cell(rng.choice(CLASSES, 30).tolist(), model=name, kinds=("a", "b")) for name in "abc"]
    one, other = (study().run(known(*some)) for some in (cells, cells[::-1]))
    assert one.verdict == other.verdict
    assert one.metrics == other.metrics
    assert one.sources == other.sources
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
