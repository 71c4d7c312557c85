from pathlib import Path

import polars as pl
import pytest

from src.calibration.labels import read_labels
from src.calibration.questions import QUESTIONS
from src.calibration.sheet import sheet_csv, sheet_items
from src.errors import ConfigError, DataMissing

QUESTION = QUESTIONS["audit"]
UNITS = pl.DataFrame({"query": ["q"] * 4, "first": ["=SUM(A1)", "Two.", "Three,\n“3”.", "Four."], "second": [""] * 4})
ITEMS = sheet_items(UNITS, 0)
ONE, TWO, THREE, FOUR = ITEMS["item"]


def labels(tmp_path: Path, **files: str) -> list[tuple[str, ...]]:
    paths = []
    for name, content in files.items():
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_bytes(content.encode("utf-8"))
    return read_labels(paths, ITEMS, QUESTION).rows()


def test_labels_of_several_annotators(tmp_path):
    found = labels(
        tmp_path,
        a=f"item,label,comment\n{TWO},valid,\n{ONE},factually wrong,'=not so\n{THREE},,\n",
        b=f"\ufeffitem,label,comment,annotator\r\n{ONE},unsure,,Bea\r\n",
    )
    assert found == [
        ("Bea", ONE, "unsure", ""),
        ("a", ONE, "factually wrong", "=not so"),
        ("a", TWO, "valid", ""),
    ]


@pytest.mark.parametrize("said", ["Niche but plausible", " NICHE_BUT-plausible ", "2"])
def test_a_label_may_be_written_a_little_differently_or_as_its_key(tmp_path, said):
    assert labels(tmp_path, a=f"item,label\n{ONE},{said}\n")[0][2] == "niche but plausible"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_filled_sheet_comes_back_as_spreadsheets_of_many_countries_write_it(tmp_path, delimiter):
    rows = sheet_csv(ITEMS, QUESTION).splitlines(keepends=True)
    filled = "".join(rows).replace(",,\r\n", ",valid,\r\n")
    if delimiter != ",":
        table = pl.read_csv(filled.encode(), infer_schema=False)
        filled = table.write_csv(separator=delimiter)
    assert [row[1:3] for row in labels(tmp_path, a=filled)] == [(item, "valid") for item in sorted(ITEMS["item"])]


def test_two_files_of_one_annotator_are_put_together(tmp_path):
    first = f"item,label,comment,annotator\n{ONE},valid,sure,Ann\n"
    second = f"item,label,comment,annotator\n{ONE},valid,,Ann\n{TWO},unsure,,Ann\n"
    assert labels(tmp_path, a=first, b=second) == [("Ann", ONE, "valid", "sure"), ("Ann", TWO, "unsure", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"item,label\n{ONE},valid\n{ONE},unsure\n", rf"line 3: a calls item {ONE} 'unsure', but 'valid' at .*line 2"),
        (f"item,label\n{ONE},true\n", r"line 2: 'true' is no label; known are valid, niche but plausible, invalid by"),
        ("item,label\nzzzzz-001,valid\n", rf"item 'zzzzz-001' is not on this sheet, whose items are {ONE} to {FOUR}"),
        ("id,answer\n1,valid\n", r"has the columns id, answer, and no item and label: give the file that the page"),
        ("", r"has the columns none, and no item and label"),
        (f"item,label\n{ONE},\n", r"a\.csv: no item has a label yet"),
        (f"item,label\n{ONE},valid,x,y\n", r"line 2 has 4 cells, the first line 2"),
        (f"item,statement,label\n{ONE},Swapped.,valid\n", rf"item {ONE} stands beside another statement than on"),
        (f'item,label\n{ONE},"valid\n{TWO},valid\n', r"a\.csv line 3 is no CSV: unexpected end of data"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, content, message):
    with pytest.raises(ConfigError, match=message) as refused:
        labels(tmp_path, a=content)
    assert (tmp_path / "a.csv").read_text() == content, "nothing is lost"
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_or_not_utf8_or_given_twice(tmp_path):
    with pytest.raises(DataMissing, match="cannot read the labels"):
        read_labels([tmp_path / "none.csv"], ITEMS, QUESTION)
    (tmp_path / "latin.csv").write_bytes(f"item,label,comment\n{ONE},valid,caf\xe9\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not in UTF-8: save it as “CSV UTF-8”"):
        read_labels([tmp_path / "latin.csv"], ITEMS, QUESTION)
    content = f"item,label\n{ONE},valid\n"
    with pytest.raises(ConfigError, match="are the same byte for byte"):
        labels(tmp_path, a=content, b=content)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.csv").write_text(content + "\n")
    with pytest.raises(ConfigError, match="call each file after its annotator"):
        read_labels([tmp_path / "a.csv", tmp_path / "other" / "a.csv"], ITEMS, QUESTION)
