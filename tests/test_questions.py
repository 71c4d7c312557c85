"""Files of questions: what is read, and the sentence for what is not."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from pydantic import ValidationError

from src.errors import ConfigError, DataMissing
from src.questions import Dataset, Fields, Question, Questions, draw, read_questions

CONF = Path(__file__).parents[1] / "conf" / "dataset"
Row = dict[str, object]


def loaded(dataset: Dataset) -> Questions:
    return read_questions(dataset, "direct")


def written(place: Path, *rows: object, **fields: str) -> Dataset:
    path = place / "rows.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return Dataset(path=path, fields=Fields(**fields))


def asked(question: str, answer: object = "Paris", **more: object) -> Row:
    return {"question": question, "answer": answer, **more}


def said(dataset: Dataset) -> str:
    with pytest.raises(ConfigError) as raised:
        loaded(dataset)
    assert "\n" not in str(raised.value)
    return str(raised.value).replace(str(dataset.path), "FILE")


def test_mapped_fields_become_a_question(tmp_path: Path) -> None:
    row = {
        "q": " Capital of France? ",
        "gold": "Paris",
        "other": ["City of Paris", "Paris"],
        "text": "Paris is …",
        "k": "c",
    }
    dataset = written(tmp_path, row, question="q", answer="gold", aliases="other", passage="text", kind="k")
    found = loaded(dataset)
    assert found.rows == (
        Question(
            id=sha256(b"Capital of France?").hexdigest()[:16],
            text="Capital of France?",
            golds=("Paris", "City of Paris"),
            kind="c",
            passage="Paris is …",
            yes_no=False,
        ),
    )
    assert found.sha256 == sha256(dataset.path.read_bytes()).hexdigest()


def test_a_list_of_answers_is_the_answer_and_its_aliases(tmp_path: Path) -> None:
    dataset = written(tmp_path, asked("One?", ["USA", "US"], also="America"), aliases="also")
    assert loaded(dataset).rows[0].golds == ("USA", "US", "America")


def test_ids_of_the_file_are_kept_and_give_the_order(tmp_path: Path) -> None:
    dataset = written(tmp_path, asked("One?", n="b"), asked("Two?", n=7), asked("Three?", n="a"), id="n")
    assert [(row.id, row.text) for row in loaded(dataset).rows] == [
        ("7", "Two?"),
        ("a", "Three?"),
        ("b", "One?"),
    ]


def test_the_order_of_the_file_changes_nothing_but_its_hash(tmp_path: Path) -> None:
    rows = [asked(f"Question {number}?", str(number)) for number in range(20)]
    one = loaded(written(tmp_path, *rows))
    other = loaded(written(tmp_path, *reversed(rows)))
    assert one.rows == other.rows
    assert one.sha256 != other.sha256


def test_a_field_that_first_appears_late_is_kept(tmp_path: Path) -> None:
    rows = [asked(f"Question {number}?") for number in range(149)]
    late = asked("Late?", passage="Here.", kind="late", aliases=["Lutetia"])
    found = loaded(written(tmp_path, *rows, late, passage="passage", kind="kind", aliases="aliases")).rows
    assert len(found) == 150
    assert [(row.passage, row.kind, row.golds) for row in found if row.text == "Late?"] == [
        ("Here.", "late", ("Paris", "Lutetia"))
    ]
    assert {(row.passage, row.kind) for row in found if row.text != "Late?"} == {("", "")}


def test_a_question_asked_again_is_dropped_and_counted(tmp_path: Path) -> None:
    found = loaded(written(tmp_path, asked("One?", "1"), asked(" One? ", "1"), asked("Two?"), "", asked("One?", "1")))
    assert found.duplicates == 2
    assert sorted((row.text, row.golds) for row in found.rows) == [("One?", ("1",)), ("Two?", ("Paris",))]


def test_a_question_with_two_answers_is_refused_by_its_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2 asks what line 1 asks"):
        loaded(written(tmp_path, asked("One?", "1"), asked("One?", "2")))


def test_composed_and_decomposed_letters_are_one_question(tmp_path: Path) -> None:
    found = loaded(written(tmp_path, asked("Caf\u00e9?"), asked("Cafe\u0301?")))
    assert (len(found.rows), found.duplicates) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "yes_no"), [("Yes.", True), ("no", True), ("No Country for Old Men", False), ("None", False)]
)
def test_yes_and_no_are_told_by_the_gold_answer(tmp_path: Path, answer: str, yes_no: bool) -> None:
    assert loaded(written(tmp_path, asked("One?", answer))).rows[0].yes_no is yes_no


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("{", "line 2 is not JSON"),
        ("[" * 100_000, "line 2 is not JSON"),
        ("[1]", "line 2 is not a JSON object but [1]"),
        ({"answer": "a"}, "line 2 has no question (dataset.fields.question); it has answer"),
        ({"question": "a?", "answer": None}, "line 2 has no answer"),
        (asked("a?", 42), "line 2: answer=42 is not a text"),
        (asked("a?", [["b"]]), 'line 2: answer=["b"] is not a text'),
        (asked("a?", []), "line 2: answer is an empty list"),
        (asked("  "), "line 2: question is blank"),
        (asked("a?", " \n"), "line 2: answer is blank"),
        (asked("a?", "<think>b</think>"), 'line 2: the answer "<think>b</think>" does not match itself'),
        (asked("a?", "one\ntwo"), 'line 2: the answer "one\\ntwo" does not match itself'),
        (asked("a?", ["It is not", "no", "yes"]), 'line 2: the answers "yes" and "no" contradict each other'),
        (asked("a?", ["Yes", "no"]), 'line 2: the answers "Yes" and "no" contradict each other'),
    ],
)
def test_a_row_that_is_none_is_one_sentence_with_its_line(tmp_path: Path, row: object, sentence: str) -> None:
    assert f"FILE, {sentence}" in said(written(tmp_path, asked("One?"), row))


def test_an_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    message = said(written(tmp_path, asked("One?", n=1), asked("Two?", n="1"), id="n"))
    assert message == "FILE, line 2: the id '1' is that of line 1: ids must differ"


def test_a_field_that_no_row_has_is_told_with_those_there_are(tmp_path: Path) -> None:
    message = said(written(tmp_path, asked("One?"), passage="context"))
    assert message == "dataset.fields.passage=context: no row of FILE has it; they have answer, question"


def test_a_missing_or_empty_file_is_one_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    with pytest.raises(DataMissing, match=r"run `python -m src\.fetch halueval`"):
        loaded(Dataset(path=gone, source="halueval"))
    assert "give the JSONL file of questions" in said(Dataset(path=gone))
    assert "cannot be read (Is a directory)" in said(Dataset(path=tmp_path))
    assert "holds no question" in said(written(tmp_path, "", " "))


def test_a_draw_is_seeded_ordered_and_nested(tmp_path: Path) -> None:
    rows = loaded(written(tmp_path, *(asked(f"Question {number}?") for number in range(50)))).rows
    assert draw(rows, None, 1) == draw(rows, 50, 1) == rows
    ten = draw(rows, 10, 1)
    assert len(set(ten)) == 10
    assert list(ten) == sorted(ten, key=lambda row: row.id)
    assert draw(rows, 10, 1) == ten != draw(rows, 10, 2)
    assert set(ten) < set(draw(rows, 11, 1))
    for count in (0, 51):
        with pytest.raises(ConfigError, match=f"questions={count}, but the data set has 50"):
            draw(rows, count, 1)


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_option_is_a_data_set_that_says_how_to_get_it(path: Path, tmp_path: Path) -> None:
    option = OmegaConf.load(path)
    assert path.read_text(encoding="utf-8").startswith("# ")
    option.path = str(tmp_path / "gone.jsonl")
    dataset = instantiate(option, _convert_="all")
    assert isinstance(dataset, Dataset)
    assert (dataset.name, dataset.source) in {(path.stem, path.stem), (None, None)}
    assert dataset.source is None or (CONF.parent / "fetch" / f"{dataset.source}.yaml").is_file()
    with pytest.raises(DataMissing if dataset.source else ConfigError, match=re.escape("gone.jsonl is not there")):
        loaded(dataset)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="context"):
        Dataset(path=Path("a"), fields={"context": "c"})  # type: ignore[arg-type]


def test_gold_answers_are_graded_in_the_way_that_is_asked_for(tmp_path: Path) -> None:
    dataset = written(tmp_path, asked("Which novel?", "The Answer: a novel"))
    assert loaded(dataset).rows[0].golds == ("The Answer: a novel",)
    with pytest.raises(ConfigError, match=r"line 1: .* does not match itself.*\(without Answer:\)"):
        read_questions(dataset, "cot")


def test_a_title_that_begins_with_yes_or_no_contradicts_nothing(tmp_path: Path) -> None:
    found = loaded(written(tmp_path, asked("Which band?", ["No Doubt", "Yes Sir"])))
    assert not found.rows[0].yes_no
