import numpy as np
import pytest

from src.errors import ConfigError
from src.stats.categories import classify
from src.studies.answered import answered, compare, distinct, natural, slug
from tests.synthetic_answers import answered_cell


def test_labels_name_only_what_tells_cells_apart() -> None:
    cells = [
        answered_cell(["HK"]),
        answered_cell(["HK"], temperature=1.0),
        answered_cell(["HK"], knowledge="external"),
        answered_cell(["HK"], model="beta"),
    ]
    assert [cell.label for cell in answered(cells)["capitals"]] == [
        "alpha · external, direct",
        "alpha · internal, direct · temperature 0.5",
        "alpha · internal, direct · temperature 1.0",
        "beta · internal, direct",
    ]


def test_simulated_and_rehearsed_models_have_a_data_set_of_their_own_beside_real_ones() -> None:
    simulated = answered_cell(["HK"], model="simulated", target="src.llm.simulated.Simulated")
    assert list(answered([simulated])) == ["capitals"]
    found = answered([answered_cell(["HK"]), simulated])
    assert {name: [cell.label for cell in cells] for name, cells in found.items()} == {
        "capitals": ["alpha · internal, direct"],
        "capitals simulated": ["simulated · internal, direct"],
    }


def test_a_cell_of_which_another_one_holds_every_question_is_set_aside() -> None:
    few, all_of_them = answered_cell(["HK"], questions=1), answered_cell(["HK", "CU", None])
    other = answered_cell(["HK"], questions=1, seed=1)
    kept, clauses = distinct([few, all_of_them, other])
    assert kept == (all_of_them, other)
    assert clauses == ("capitals · alpha · internal, direct with 1 question: part of the cell with 3",)


def test_two_data_sets_of_one_name_are_refused() -> None:
    cells = [
        answered_cell(["HK"]),
        answered_cell(["HK"], target="src.llm.simulated.Simulated"),
        answered_cell(["HK"], dataset="capitals_simulated"),
    ]
    with pytest.raises(ConfigError, match="two data sets would be called capitals_simulated"):
        answered(cells)


def test_cells_that_no_detail_tells_apart_bear_their_keys() -> None:
    cells = [answered_cell(["HK"]), answered_cell(["HK"], answer_tokens={"direct": 8})]
    labels = {cell.label for cell in answered(cells)["capitals"]}
    assert labels == {f"alpha · internal, direct · {cell.key[:8]}" for cell in cells}


def test_the_order_in_which_cells_are_found_does_not_matter() -> None:
    cells = [answered_cell(["HK", "CU"], seed=seed, dataset=name) for seed in (2, 10) for name in ("b", "a")]
    one, other = answered(cells), answered(cells[::-1])
    assert list(one) == list(other) == ["a", "b"]
    assert [each.label for each in one["a"]] == [each.label for each in other["a"]]
    assert [each.cell.value("seed") for each in one["a"]] == [2, 10]


def test_cells_are_compared_on_the_questions_that_both_have_all_answers_to() -> None:
    one = answered_cell(["HK", "HK", None, "CU"])
    other = answered_cell(["UU", "CU", "HK"], first=1, model="beta")
    first, second = answered([one, other])["capitals"]
    assert (len(first.known), first.incomplete, int(second.asked.sum())) == (3, 1, 3)
    found = compare(first, second, 0)
    assert (found.shared, found.incomplete) == (2, 1)  # questions 1 and 3; question 2 lacks an answer
    assert found.moved.matrix[0, 3] == found.moved.matrix[5, 0] == 1


def test_the_stored_answers_give_the_classes_of_the_cell_again() -> None:
    for over in ("all", "samples"):
        (cell,) = answered([answered_cell(["CU", None, "MK", "UU", "WK", "HK", "MU"], confidence_over=over)])[
            "capitals"
        ]
        assert np.array_equal(classify(*cell.answers, cell.over), cell.known)


def test_no_cell_is_an_error_that_says_what_to_run() -> None:
    with pytest.raises(ConfigError, match="probe=categories"):
        answered([])


def test_names_become_slugs_and_numbers_sort_by_value() -> None:
    assert slug("a · b, c (1.0)") == "a_b_c_1.0"
    assert sorted(["step10", "step9", "main"], key=natural) == ["main", "step9", "step10"]
