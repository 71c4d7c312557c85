import json
from pathlib import Path

import pytest

from src.calibration.labelled import LABELLED, read_pairs
from src.errors import ConfigError, DataMissing


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def said(first: str, second: str, **label: object) -> dict[str, object]:
    return {"first": first, "second": second, **label}


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", lines(said("b", "a", same=True), said("c", "d", same=False), said("e", "f", label="unsure"))),
        ("p.jsonl", lines(said("c", "d", label="distinct"), said("f", "e", label="unsure"), said("a", "b", same=True),
                          said("b", "a", label="same"))),
        ("p.csv", "first,second,same\r\nb,a,TRUE\r\nc,d,false\r\ne,f,unsure\r\ng,h,\r\n"),
        ("p.csv", "\ufeffitem;domain;first statement;second statement;label;comment\n1;x;b;a;Same;\n"
                  "2;x;c;d;distinct;no\n3;x;e;f;unsure;\n4;x;g;h;;later\n"),
    ],
)  # fmt: skip
def test_pairs_are_read_from_lines_tables_and_sheets(tmp_path: Path, name: str, text: str) -> None:
    pairs = read_pairs(written(tmp_path / name, text))
    assert pairs.schema == LABELLED
    assert pairs.rows() == [("a", "b", True), ("c", "d", False), ("e", "f", None)]


def test_what_a_spreadsheet_needed_is_taken_off(tmp_path: Path) -> None:
    pairs = read_pairs(written(tmp_path / "p.csv", 'first,second,label\n\'=a,"two\nlines, here",same\n'))
    assert pairs.rows() == [("=a", "two\nlines, here", True)]


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("p.jsonl", "", "holds no labelled pair: a row has first, second and same"),
        ("p.jsonl", "{", "line 1 is no JSON"),
        ("p.jsonl", "[1]", "line 1 is no JSON object"),
        ("p.jsonl", lines(said("a", "b", same="maybe")), "line 1 is no labelled pair"),
        ("p.jsonl", lines(said("a", "a", same=True)), "two different texts"),
        ("p.jsonl", lines(said("a", " ", same=True)), "line 1 is no labelled pair"),
        ("p.jsonl", lines({"first": "a", "same": True}), "line 1 is no labelled pair"),
        ("p.jsonl", lines(said("a", "b", same=True), said("b", "a", same=False)),
         r"p.jsonl line 2 contradicts .*p.jsonl line 1"),
        ("p.jsonl", lines(said("a", "b"), said({"a": 1}, "b", same=True)), r'line 2: first is no text but \{"a": 1\};'),
        ("p.jsonl", lines(said("a", ["b"], same=True)), r'line 1: second is no text but \["b"\]'),
        ("p.jsonl", lines(said(0, "b")), "line 1: first is no text but 0"),
        ("p.jsonl", lines(said("a \ud800", "b", same=True)), "line 1: first holds half a character"),
        ("p.jsonl", lines(said("a", "b", same=True, label="distinct")),
         "line 1 contradicts itself: same is 'true' and label 'distinct'"),
        ("p.jsonl", lines(said("a", "b", same=False, label="unsure")), "line 1 contradicts itself"),
        ("p.jsonl", lines(said("a", "b", label=False), said("b", "a", label="same")), "line 2 contradicts .* line 1"),
        ("p.jsonl", "[" * 100_000, "line 1 is no JSON"),
        ("p.csv", "first,second,label\na,b,same,extra\n", "line 2 has 4 cells, the first line 3: a quote is missing"),
        ("p.csv", 'first,second,label\n"a"b,c,same\n', "line 2 is no CSV"),
        ("p.csv", "first,second,same,Same \na,b,true,true\n", "has 2 columns that are called 'same': keep one"),
        ("p.csv", "first,second,same,label\n\na,b,true,distinct\n", "line 3 contradicts itself"),
        ("p.csv", "item,label\n1,same\n", "line 2 is no labelled pair"),
        ("p.csv", "first,second,label\na,b,\n", "holds no labelled pair"),
    ],
)  # fmt: skip
def test_what_is_no_pair_is_named_with_its_place(tmp_path: Path, name: str, text: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        read_pairs(written(tmp_path / name, text))


def test_a_label_may_stand_in_either_column_or_in_both(tmp_path: Path) -> None:
    text = "first,second,same,label\na,b,,same\nc,d,false,\ne,f,true,same\n"
    assert read_pairs(written(tmp_path / "p.csv", text))["same"].to_list() == [True, False, True]


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"cannot read the pairs .*No such file.*give the file as pairs=FILE"):
        read_pairs(tmp_path / "none.csv")
    (tmp_path / "p.csv").write_bytes("first,second,label\ncafé,thé,same\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="not in UTF-8"):
        read_pairs(tmp_path / "p.csv")
