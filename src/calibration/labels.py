"""Labels that come back: from the page or from a spreadsheet, whole or in part, of one or several annotators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from src.calibration.questions import Question
from src.calibration.table import read_table
from src.errors import ConfigError, DataMissing
from src.text.formulas import restored

LABELS = pl.Schema({"annotator": pl.String, "item": pl.String, "label": pl.String, "comment": pl.String})


def read_labels(paths: Sequence[Path], items: pl.DataFrame, question: Question) -> pl.DataFrame:
    """Read the labels of every annotator, schema LABELS, sorted; items without a label are left out.

    An annotator is who the column `annotator` names, else the file is called after. Several files of one annotator are
    put together.

    Args:
        paths: CSV files with the columns `item` and `label`; `comment`, `annotator` and the texts may be there too.
        items: those of the sheet.
        question: what was asked.

    Raises:
        DataMissing: there is no such file.
        ConfigError: a file is no labels file of this sheet, or contradicts itself or another of its annotator.
    """
    shown = {item: texts[: len(question.texts)] for item, _, *texts in items.iter_rows()}
    given: dict[tuple[str, str], tuple[str, str, str]] = {}
    contents: dict[bytes, Path] = {}
    called: dict[str, Path] = {}
    for path in paths:
        content = _content(path)
        other = contents.setdefault(content, path)
        if other is not path:
            raise ConfigError(
                f"{other} and {path} are the same byte for byte: one annotator counts once, leave one out"
            )
        for place, row in _rows(path, content):
            if row["item"] not in shown:
                raise ConfigError(
                    f"{place}: item {row['item']!r} is not on this sheet, whose items are {_some(list(shown))}: "
                    "these labels belong to another sample; give its name, as name=…"
                )
            _check_texts(place, row, shown[row["item"]], question)
            label = _label(place, row["label"], question)
            if not label:
                continue
            if not row.get("annotator") and called.setdefault(path.stem, path) is not path:
                raise ConfigError(
                    f"{called[path.stem]} and {path} do not say whose they are: call each file after its annotator"
                )
            key = (row.get("annotator") or path.stem, row["item"])
            before = given.get(key)
            if before and before[0] != label:
                raise ConfigError(
                    f"{place}: {key[0]} calls item {key[1]} {label!r}, but {before[0]!r} at {before[2]}: keep one"
                )
            comment = restored(row.get("comment", ""))
            given[key] = (label, comment or (before[1] if before else ""), place)
    if not given:
        raise ConfigError(f"{', '.join(map(str, paths))}: no item has a label yet; known are {_known(question)}")
    rows = [(*key, label, comment) for key, (label, comment, _) in sorted(given.items())]
    return pl.DataFrame(rows, schema=LABELS, orient="row")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataMissing(
            f"cannot read the labels {path}: {error.strerror}; give the file as labels=[FILE,…]"
        ) from error


def _rows(path: Path, content: bytes) -> list[tuple[str, dict[str, str]]]:
    """The rows of a file with the place of each, `file line 7`; columns by their names in lower case.

    Raises:
        ConfigError: it is no CSV in UTF-8 with the columns item and label.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not in UTF-8: save it as “CSV UTF-8” and give it again") from None
    names, rows = read_table(path, text)
    if not {"item", "label"} <= set(names):
        raise ConfigError(
            f"{path} has the columns {', '.join(names) or 'none'}, and no item and label: give the file that the "
            "page downloads, or the filled sheet.csv"
        )
    return [
        (place, row | {name: row[name].strip() for name in ("item", "label", "annotator") if name in row})
        for place, row in rows
    ]


def _label(place: str, said: str, question: Question) -> str:
    """The label that a cell names; "" if it is empty. Case, `_` and `-` do not matter; a number is the key of one.

    Raises:
        ConfigError: it names none.
    """
    plain = _plain(said)
    for key, label in enumerate(question.labels, start=1):
        if plain in (_plain(label.name), str(key)):
            return label.name
    if plain:
        raise ConfigError(f"{place}: {said!r} is no label; known are {_known(question)}, or none yet (an empty cell)")
    return ""


def _check_texts(place: str, row: dict[str, str], shown: Sequence[str], question: Question) -> None:
    """Refuse a sheet whose items and texts no longer stand side by side, as after sorting one column alone.

    Raises:
        ConfigError: a text is not that of the item.
    """
    for heading, text in zip(question.texts, shown, strict=True):
        if heading in row and _plain(restored(row[heading])) != _plain(text):
            raise ConfigError(
                f"{place}: item {row['item']} stands beside another {heading} than on the sheet: rows were moved "
                "apart or the text was edited; copy the labels into a fresh sheet.csv"
            )


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def _known(question: Question) -> str:
    return ", ".join(label.name for label in question.labels)


def _some(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
