"""The blind sheet: what annotators see of a sample, and nothing else.

Its order and the names of its items are computed from the texts that it shows and the seed, so they cannot tell what
the texts do not tell. A text that several models listed is shown once.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json

import polars as pl

from src.calibration.questions import Question
from src.text.formulas import neutralised

LETTERS = "bcdfghjkmnpqrstvwxz"
"""Of the tag that tells sheets apart: no spreadsheet takes it for a number, and it spells nothing."""
SHOWN = ("query", "first", "second")


def sheet_items(units: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The items of a sheet: columns item, query, first, second, in the order in which they are shown.

    Args:
        units: what was drawn, with the columns query, first and second; nothing else of it is read.
        seed: shuffles.
    """
    shown = {row: _digest([seed, *row]) for row in units.select(SHOWN).iter_rows()}
    order = sorted(shown, key=lambda row: shown[row])
    number = int(_digest(["sheet", *(shown[row] for row in order)]), 16)
    tag = "".join(LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in range(5))
    width = max(3, len(str(len(order))))
    rows = [(f"{tag}-{place:0{width}d}", *row) for place, row in enumerate(order, start=1)]
    return pl.DataFrame(rows, schema=dict.fromkeys(("item", *SHOWN), pl.String), orient="row")


def sheet_csv(items: pl.DataFrame, question: Question) -> str:
    """The sheet for a spreadsheet, with empty columns label and comment; what looks like a formula is made harmless.

    Begins with a byte order mark, without which spreadsheets misread what is not ASCII.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # as RFC 4180 has it; a lone \r is quoted only then
    writer.writerow(("item", "domain", *question.texts, "label", "comment"))
    for item, query, *texts in items.iter_rows():
        writer.writerow((item, *map(neutralised, (query, *texts[: len(question.texts)])), "", ""))
    return f"\ufeff{out.getvalue()}"


def _digest(values: list[object]) -> str:
    text = json.dumps(values, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
