"""Rows collected elsewhere: what is read, and the sentence for what is not."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from src.errors import ConfigError
from src.recordings import read_recording, turns_of
from src.records import Domain

DOMAIN = Domain("deep_learning", "deep learning")


def written(place: Path, *rows: object) -> Path:
    path = place / "rows.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_turn_and_branch_have_defaults_and_null_counts_as_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"domain": "d", "atom": " A. ", "text": None, "turn": None}, "", {"domain": "d", "text": ""}
    )
    recording = read_recording(path)
    assert [(row.line, row.turn, row.branch, row.form, row.text) for row in recording.rows] == [
        (1, 1, "", "point", " A. "),
        (3, 1, "", "list", ""),
    ]
    assert recording.sha256 == sha256(path.read_bytes()).hexdigest()


def test_a_field_that_first_appears_late_is_kept(tmp_path: Path) -> None:
    rows = [{"domain": "d", "atom": f"Fact {number}."} for number in range(149)]
    late = {"domain": "d", "atom": "Late.", "turn": 7, "branch": "b", "label": {"human": [1, None]}}
    found = read_recording(written(tmp_path, *rows, late)).rows
    assert len(found) == 150
    assert (found[149].turn, found[149].branch, found[149].fields["label"]) == (7, "b", {"human": [1, None]})


def test_lines_end_at_line_feeds_only_and_a_byte_order_mark_is_none(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\ufeff".encode() + '{"domain": "d", "atom": "a\u2028b\x85c"}\r\n'.encode() * 2)
    assert [row.text for row in read_recording(path).rows] == ["a\u2028b\x85c"] * 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not a JSON object"),
        ({"domain": "d"}, "neither text nor atom"),
        ({"domain": "d", "text": "- a", "atom": "a"}, "both text and atom"),
        ({"domain": "d", "atom": 3}, "atom=3 is not a text"),
        ({"domain": "d", "text": ["- a"]}, 'text=["- a"] is not a text'),
        ({"domain": "d", "atom": " \n"}, "atom is missing or blank"),
        ({"domain": " ", "atom": "a"}, "domain is missing or blank"),
        ({"atom": "a"}, "domain is missing or blank"),
        ({"domain": 1, "atom": "a"}, "domain=1 is not a text"),
        ({"domain": "d", "atom": "a", "branch": 2}, "branch=2 is not a text"),
        *(
            ({"domain": "d", "atom": "a", "turn": turn}, f"turn={json.dumps(turn)} is not a whole number")
            for turn in (0, -1, 1.5, 1.0, True, "1")
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path: Path, row: object, said: str) -> None:
    path = written(tmp_path, {"domain": "d", "atom": "good"}, "", row)
    with pytest.raises(ConfigError, match=rf"rows\.jsonl, line 3.*{re.escape(said)}"):
        read_recording(path)


def test_bytes_that_are_no_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"domain": "d", "atom": "a"}\n{"domain": "d", "atom": "\xff"}')
    with pytest.raises(ConfigError, match="line 2 is not JSON in UTF-8"):
        read_recording(path)


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    (row,) = read_recording(written(tmp_path, '{"domain": "d", "atom": "a\\ud800"}')).rows
    assert row.text == "a\ufffd"


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"recorded\.path=.*none\.jsonl cannot be read \(No such file"):
        read_recording(tmp_path / "none.jsonl")


def test_turns_come_in_order_and_other_domains_are_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"domain": "deep learning", "atom": "c", "turn": 10},
        {"domain": "history", "atom": "x"},
        {"domain": "deep_learning", "atom": "b", "turn": 2},
        {"domain": "deep_learning", "atom": "a", "turn": 2},
    )
    turns = turns_of(read_recording(path).rows, DOMAIN, path)
    assert [[row.text for row in turn] for turn in turns] == [["b", "a"], ["c"]]


def test_a_file_without_the_domain_says_which_it_has(tmp_path: Path) -> None:
    path = written(tmp_path, *({"domain": f"d{number:02}", "atom": "a"} for number in range(22)))
    with pytest.raises(ConfigError, match=r"no row of domain=deep_learning; it has 'd00', .*'d19' and 2 more"):
        turns_of(read_recording(path).rows, DOMAIN, path)
    with pytest.raises(ConfigError, match="no domain at all"):
        turns_of((), DOMAIN, path)
