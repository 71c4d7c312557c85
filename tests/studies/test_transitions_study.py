import pytest

from src.errors import ConfigError
from src.figures.canvas import png
from src.studies.transitions import Transitions
from tests.synthetic_answers import answered_cell, known

PASSAGE = ({"knowledge": "internal"}, {"knowledge": "external"})
COT = ({"reasoning": "direct"}, {"reasoning": "cot"})


def study(*pairs, baseline=None):
    return Transitions("transitions", "What changes?", pairs or (PASSAGE, COT), baseline)


def test_planted_moves_are_counted() -> None:
    before = answered_cell(["CU"] * 6 + ["MK"] * 2 + ["HK"] * 11 + [None])
    after = answered_cell(["HK"] * 6 + ["WK"] * 2 + ["HK"] * 12, knowledge="external")
    finding = study().run(known(after, before))
    row = finding.tables["pairs"].row(0, named=True)
    assert (row["from"], row["to"]) == ("alpha · internal, direct", "alpha · external, direct")
    assert (row["questions"], row["incomplete"], row["only_from"], row["only_to"]) == (19, 1, 0, 0)
    moved = {name: row[name] * 19 for name in ("upgrade", "stable", "downgrade", "net", "accuracy", "category_score")}
    assert moved == pytest.approx(
        {"upgrade": 6, "stable": 11, "downgrade": 2, "net": 4, "accuracy": 4, "category_score": 28}
    )
    matrix = finding.tables["matrix"]
    assert matrix.filter(class_from="CU", class_to="HK").select("questions", "of", "row_share").row(0) == (6, 6, 1.0)
    assert matrix.filter(class_from="UU")["row_share"].null_count() == 6
    directions = finding.tables["directions"]
    assert directions.filter(class_from="MK").select("questions", "downgrade").row(0) == (2, 1.0)
    best = directions.filter(class_from="HK").row(0, named=True)
    assert (best["upgrade"], best["upgrade_low"], best["upgrade_reason"]) == (0, None, "0 by definition")
    assert best["downgrade_high"] > 0.2
    assert directions["class_from"].to_list() == ["all", "HK", "MK", "WK", "UU", "MU", "CU"]
    assert "n = 19 shared questions, 1 incomplete left out" in finding.verdict[1]
    assert "upgraded 31.6 %" in finding.verdict[1]
    assert finding.metrics["downgrade_capitals_alpha_internal_direct_to_external_direct"] == pytest.approx(2 / 19)
    assert finding.missing == ("from reasoning=direct to reasoning=cot: no two runs that differ in nothing else",)
    assert len(finding.sources) == 2


def test_questions_whose_answer_is_yes_or_no_are_told_apart() -> None:
    before = answered_cell(["CU"] * 10, yes_no=4)
    after = answered_cell(["HK"] * 3 + ["CU"] * 7, yes_no=4, knowledge="external")
    finding = study(PASSAGE).run(known(before, after))
    apart = finding.tables["yes_no"].select("part", "questions", "upgrade", "accuracy").rows()
    assert apart == [("yes or no", 4, 0.75, 0.75), ("not yes or no", 6, 0.0, 0.0)]
    assert "; yes or no (4): accuracy +75.0 percentage points" in finding.verdict[1]
    alike = study(PASSAGE).run(known(answered_cell(["CU"]), answered_cell(["HK"], knowledge="external")))
    assert "yes_no" not in alike.tables


def test_runs_pair_only_if_they_differ_in_nothing_else() -> None:
    start = answered_cell(["HK"])
    with pytest.raises(ConfigError, match=r"study\.pairs"):
        study().run(known(start, answered_cell(["HK"], knowledge="external", seed=1)))
    with pytest.raises(ConfigError, match="no two runs"):
        study().run(known(start, answered_cell(["HK"], knowledge="external", model="beta")))
    named = ({"knowledge": "internal", "seed": 0}, {"knowledge": "external", "seed": [1, 2]})
    finding = study(named).run(known(start, answered_cell(["HK"], knowledge="external", seed=1)))
    assert finding.tables["pairs"].height == 1


def test_models_are_compared_with_a_baseline_only_if_one_is_named() -> None:
    cells = [
        answered_cell(["HK", "CU", "UU"], model=name, endpoint={"name": name}) for name in ("base", "other", "third")
    ]
    finding = study(baseline="base").run(known(*cells))
    assert finding.tables["pairs"]["to"].to_list() == ["other · internal, direct", "third · internal, direct"]
    with pytest.raises(ConfigError, match="no two of 3 cells pair"):
        study().run(known(*cells))
    with pytest.raises(ConfigError, match=r"study\.baseline=bse: no cell is of that model; give base, other, third"):
        study(baseline="bse").run(known(*cells))
    with pytest.raises(ConfigError, match="no other model has such cells"):
        study(baseline="base").run(known(cells[0]))


def test_runs_without_a_shared_question_are_named_and_left_out() -> None:
    cells = (answered_cell(["HK"] * 3), answered_cell(["HK"] * 3, first=5, knowledge="external"))
    more = (answered_cell(["HK"] * 3, model="b"), answered_cell(["CU"] * 3, model="b", knowledge="external"))
    finding = study(PASSAGE).run(known(*cells, *more))
    assert finding.tables["pairs"]["from"].to_list() == ["b · internal, direct"]
    assert finding.missing == ("capitals: alpha · internal, direct → alpha · external, direct: no shared question",)


def test_p_values_are_corrected_over_all_pairs_and_order_does_not_matter() -> None:
    cells = [
        answered_cell(classes, model=model, knowledge=knowledge)
        for model in ("a", "b")
        for knowledge, classes in (("internal", ["CU"] * 6 + ["HK"] * 6), ("external", ["HK"] * 12))
    ]
    one, other = study(PASSAGE).run(known(*cells)), study(PASSAGE).run(known(*cells[::-1]))
    pairs = one.tables["pairs"]
    assert pairs["p_holm"].to_list() == pytest.approx([2 * p for p in pairs["p"]])
    assert one.verdict == other.verdict
    assert one.metrics == other.metrics
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    assert one.figures.keys() == one.captions.keys()
    assert "flow_capitals_a_internal_direct_to_external_direct" in one.figures
    assert png(one.figures["plane_capitals"]) == png(other.figures["plane_capitals"])
