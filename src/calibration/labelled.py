"""Pairs of texts of which people said whether they say the same: from JSONL, or from a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from src.calibration.questions import QUESTIONS
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
    for place, row in _table(path, text) if path.suffix == ".csv" else _lines(path, text):
        first, second = (
            restored(str(row.get(name) or row.get(f"{name} statement") or "")) for name in ("first", "second")
        )
        said = str(row.get("same") if row.get("same") is not None else row.get("label") or "").strip().lower()
        if not said:
            continue
        if said not in _SAID or not first.strip() or not second.strip() or first == second:
            raise ConfigError(f"{place} is no labelled pair: it needs two different texts and a label, as {_FIELDS}")
        pair = (min(first, second), max(first, second))
        label, where = given.setdefault(pair, (_SAID[said], place))
        if label != _SAID[said]:
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
        except ValueError as error:
            raise ConfigError(
                f"{path} line {number} is no JSON ({error}): a line is an object with {_FIELDS}"
            ) from None
        if not isinstance(row, dict):
            raise ConfigError(f"{path} line {number} is no JSON object: a line is an object with {_FIELDS}")
        yield f"{path} line {number}", row


def _table(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    separator = max(",;\t", key=text.partition("\n")[0].count)  # spreadsheets of many countries write semicolons
    try:
        table = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise ConfigError(f"{path} is no CSV table ({str(error).splitlines()[0]}): give one with {_FIELDS}") from None
    table = table.rename({name: name.strip().lower() for name in table.columns})
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        yield f"{path} row {number}", row
