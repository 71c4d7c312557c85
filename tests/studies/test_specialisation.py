from dataclasses import replace

import pytest

from src.errors import ConfigError
from src.figures.canvas import png
from src.studies.specialisation import Prediction, Specialisation
from tests.synthetic_union import Planted, make_known

INSIDE, OUTSIDE = ("deep_learning", "ml_systems"), ("probabilistic_methods",)
STEADY = Planted(0.6, 1.0, 0.0)
AHEAD_THEN_BEHIND = Planted(0.6, 2.8, -0.6)
BEHIND_AND_FALLING = Planted(0.5, 0.0, -0.3)
LEVEL_AND_FALLING = Planted(0.5, 1.0, -0.4)


def specialisation(**changed):
    values = {
        "name": "specialisation",
        "question": "Does it hold?",
        "strategy": "taxonomy_l5w5",
        "general": "qwen7b",
        "specialised": "qwen7b_coder",
        "inside": INSIDE,
        "outside": OUTSIDE,
        "prediction": Prediction(("inside",), ("outside",)),
        **changed,
    }
    return Specialisation(**values)


def known_of(inside, outside, *, general=STEADY, facts=500, turns=8, seed=0):
    """Cells of a coder that is one thing inside its field and another outside."""
    parts = [
        make_known({"qwen7b": general, "qwen7b_coder": coder}, domains, facts=facts, turns=turns, seed=seed + place)
        for place, (coder, domains) in enumerate(((inside, INSIDE), (outside, OUTSIDE)))
    ]
    cells = tuple(cell for part in parts for cell in part.cells)
    return replace(parts[0], cells=cells, unions=parts[0].unions + parts[1].unions)


def test_what_was_planted_as_predicted_is_kept() -> None:
    finding = specialisation().run(known_of(AHEAD_THEN_BEHIND, BEHIND_AND_FALLING))
    assert finding.verdict[0] == (
        "3 of 3 predicted events shown; 0 of 3 events expected not to happen shown (none shown proves nothing where "
        "data are weak). Predicted before the run: crossover inside, collapse outside, and nothing of it elsewhere."
    )
    events = finding.tables["events"]
    crossovers = events.filter(event="crossover", zone="inside")
    assert crossovers["shown"].to_list() == [True, True]
    # The lines meet where 2.8 − 0.6 (t − 1) = 1, in turn 4.
    assert ((crossovers["number_low"] < 4) & (crossovers["number_high"] > 4)).all()
    collapse = events.filter(event="collapse", zone="outside").row(0, named=True)
    assert collapse["shown"]
    assert 0 < collapse["number_low"] < collapse["number"]
    assert "deep_learning (inside): crossover predicted, shown: kept; turn" in finding.verdict[1]
    assert " judged points in 50 branches" in finding.verdict[1]
    assert "in turn 1 it was behind (-" in finding.verdict[6]
    assert finding.missing == ()
    assert png(finding.figures["specialisation"])


def test_where_nothing_is_planted_nothing_is_shown() -> None:
    finding = specialisation().run(known_of(STEADY, STEADY, facts=200, turns=5))
    assert not finding.tables["events"]["shown"].any()
    assert finding.verdict[0].startswith("0 of 3 predicted events shown; 0 of 3 events expected not to happen shown")
    assert (finding.metrics["kept"], finding.metrics["not_kept"], finding.metrics["contradicted"]) == (0, 3, 0)


def test_recall_stands_with_both_intervals_and_what_a_small_gap_would_need() -> None:
    finding = specialisation().run(known_of(STEADY, STEADY, facts=200))
    pairs = finding.tables["pairs"]
    assert pairs["domain"].to_list() == [*INSIDE, *OUTSIDE]
    assert (set(pairs["model"]), set(pairs["other"])) == ({"qwen7b_coder"}, {"qwen7b"})
    assert (pairs["branch_low"] < pairs["branch_high"]).all()
    assert finding.metrics["clusters_needed_ml_systems"] == pairs["clusters_needed"][1]
    assert f" A gap of 3 points would need about {pairs['clusters_needed'][0]:,} [" in finding.verdict[7]


def test_a_collapse_without_a_known_lead_is_undecided() -> None:
    finding = specialisation().run(known_of(AHEAD_THEN_BEHIND, LEVEL_AND_FALLING))
    row = finding.tables["events"].filter(event="collapse", zone="outside").row(0, named=True)
    assert (row["shown"], row["outcome"]) == (None, "undecided")
    assert "whether it was ahead cannot be told (" in row["why"]
    assert "2 of 2 predicted events shown" in finding.verdict[0]
    assert "; 1 undecided. Predicted" in finding.verdict[0]
    assert finding.metrics["undecided"] == 1


def test_a_decline_that_is_slower_is_not_called_faster() -> None:
    finding = specialisation().run(known_of(STEADY, STEADY, general=AHEAD_THEN_BEHIND))
    row = finding.tables["events"].filter(event="collapse", domain="deep_learning").row(0, named=True)
    assert row["number"] < 0
    assert row["why"].startswith("its decline per turn less that of the general model -")
    assert "faster" not in row["why"]


def test_the_converse_is_not_kept_when_it_happens() -> None:
    finding = specialisation().run(known_of(AHEAD_THEN_BEHIND, AHEAD_THEN_BEHIND))
    outside = finding.tables["events"].filter(zone="outside")
    assert outside["outcome"].to_list() == ["contradicted", "not kept"]
    assert outside["shown"].to_list() == [True, False]


def test_a_general_model_that_is_overtaken_is_no_crossover_of_this_kind() -> None:
    finding = specialisation().run(known_of(STEADY, STEADY, general=AHEAD_THEN_BEHIND))
    row = finding.tables["events"].filter(event="crossover", domain="deep_learning").row(0, named=True)
    assert row["shown"] is False
    assert "it is the general model that is overtaken" in row["why"]
    assert row["number"] == pytest.approx(4, abs=1)


def test_without_the_models_it_is_not_testable_and_says_what_is_missing() -> None:
    finding = specialisation().run(make_known({"smollm2_135m": Planted()}, INSIDE))
    assert finding.verdict[0].startswith("Not testable: qwen7b and qwen7b_coder have no cells by taxonomy_l5w5")
    assert "Predicted before the run: crossover inside, collapse outside." in finding.verdict[0]
    assert finding.missing == ("no cell of qwen7b by taxonomy_l5w5", "no cell of qwen7b_coder by taxonomy_l5w5")
    assert (dict(finding.figures), dict(finding.captions), finding.sources) == ({}, {}, ())
    assert all(table.is_empty() for table in finding.tables.values())


def test_a_single_turn_is_not_testable_and_recall_still_is() -> None:
    finding = specialisation().run(known_of(STEADY, STEADY, turns=1, facts=100))
    assert finding.verdict[0].startswith("Not testable. Predicted before the run")
    assert set(finding.tables["events"]["outcome"]) == {"not testable"}
    assert finding.metrics["crossover_ml_systems"] is None
    assert "one turn" in finding.metrics["crossover_ml_systems_reason"]
    assert finding.metrics["recall_difference_ml_systems"] is not None
    assert len(finding.missing) == 6


def test_without_a_union_accuracy_is_compared_and_recall_is_named_as_missing() -> None:
    known = replace(known_of(STEADY, STEADY, facts=100), unions=())
    finding = specialisation().run(known)
    assert any("no union of ml_systems" in clause for clause in finding.missing)
    assert "recall not known (no union)" in finding.verdict[-1]
    assert "recall_difference_ml_systems" not in finding.metrics


def test_runs_of_different_length_are_compared_up_to_the_last_turn_of_both() -> None:
    long, short = known_of(STEADY, STEADY, facts=100, turns=6), known_of(STEADY, STEADY, facts=100, turns=3)
    cells = tuple(
        next(cell for cell in part.cells if (cell.model, cell.domain) == (model, domain))
        for domain in INSIDE
        for model, part in (("qwen7b", long), ("qwen7b_coder", short))
    )
    finding = specialisation(outside=()).run(replace(long, cells=cells, unions=()))
    assert set(finding.tables["domains"]["compared_turns"]) == {3}
    assert set(finding.tables["events"]["turns"]) == {3}
    assert finding.tables["turns"].filter(model="qwen7b")["turn"].max() == 6


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"outside": ("ml_systems",)}, "both name ml_systems"),
        ({"specialised": "qwen7b"}, "name two models"),
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused(changed, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        specialisation(**changed)
