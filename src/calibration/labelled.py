"""Pairs of texts of which people said whether they say the same: from JSONL, or from a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from src.calibration.questions import QUESTIONS
from src.calibration.table import read_table
from src.errors import ConfigError, DataMissing
from src.text.formulas import restored

LABELLED = pl.Schema({"first": pl.String, "second": pl.String, "same": pl.Boolean})
"""`same` is null where people could not decide."""
_SAID: dict[str, bool | None] = {
    "true": True,
    "false": False,
    **{label.name: label.verdict for label in QUESTIONS["pairs"].labels},
}
_FIELDS = "first, second and same (true or false) or label (same, distinct, unsure)"


def read_pairs(path: Path) -> pl.DataFrame:
    """Read labelled pairs, schema LABELLED, sorted by their texts; a row without a label is left out.

    A file that ends in `.csv` is a table in UTF-8, such as the filled sheet of `calibrate export what=pairs`; any other
    is JSONL.

    Raises:
        DataMissing: there is no such file.
        ConfigError: a row is no labelled pair, or contradicts another.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataMissing(f"cannot read the pairs {path}: {error.strerror}; give the file as pairs=FILE") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not in UTF-8: save it in UTF-8 and give it again") from None
    given: dict[tuple[str, str], tuple[bool | None, str]] = {}
    for place, row in read_table(path, text)[1] if path.suffix == ".csv" else _lines(path, text):
        first, second = (_text(place, row, name) for name in ("first", "second"))
        said = [word for name in ("same", "label") if (word := _plain(row.get(name)))]
        if not said:
            continue
        if not _SAID.keys() >= set(said) or not first.strip() or not second.strip() or first == second:
            raise ConfigError(f"{place} is no labelled pair: it needs two different texts and a label, as {_FIELDS}")
        if len({_SAID[word] for word in said}) > 1:
            raise ConfigError(f"{place} contradicts itself: same is {said[0]!r} and label {said[1]!r}; keep one")
        pair = (min(first, second), max(first, second))
        label, where = given.setdefault(pair, (_SAID[said[0]], place))
        if label != _SAID[said[0]]:
            raise ConfigError(f"{place} contradicts {where}, which labels the same pair otherwise: keep one")
    if not given:
        raise ConfigError(f"{path} holds no labelled pair: a row has {_FIELDS}")
    return pl.DataFrame([(*pair, label) for pair, (label, _) in sorted(given.items())], schema=LABELLED, orient="row")


def _lines(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path} line {number} is no JSON ({error}): a line is an object with {_FIELDS}"
            ) from None
        if not isinstance(row, dict):
            raise ConfigError(f"{path} line {number} is no JSON object: a line is an object with {_FIELDS}")
        yield f"{path} line {number}", row


def _text(place: str, row: Mapping[str, Any], name: str) -> str:
    """One of the two texts, "" if there is none.

    Raises:
        ConfigError: it is something else, or cannot be written in UTF-8.
    """
    columns = (name, f"{name} statement")
    text = next((row[column] for column in columns if row.get(column) not in (None, "")), "")
    if not isinstance(text, str):
        raise ConfigError(f"{place}: {name} is no text but {json.dumps(text)[:40]}; give it in quotes")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{place}: {name} holds half a character (a lone surrogate), which is no Unicode") from None
    return restored(text)


def _plain(value: object) -> str:
    return "" if value is None else str(value).strip().lower()
