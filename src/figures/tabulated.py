"""Tables as a reader sees them: numbers rounded, bounds beside their value, a note where a value is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NO_NUMBERS = frozenset({"", "NaN", "inf", "-inf"})
LONGEST = 240
"""Characters of a text that are shown; the whole of it is in the CSV."""
MARKS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
BOUNDS = ("_low", "_high")
LEVEL = "[95\N{NO-BREAK SPACE}%]"

Values = Mapping[str, Sequence[str]]
"""Name of a column → its texts."""


@dataclass(frozen=True)
class Grid:
    """A table ready to be shown.

    Attributes:
        columns: headings.
        numeric: whether a column holds numbers, which stand to the right.
        rows: texts, one per column.
        notes: why values are none, marked ¹ ² … in the cells.
        total: rows that there are, of which `rows` may be the first.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    total: int = 0


class Notes:
    """Reasons why values are none, numbered as they come; the same reason has one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def none(self, reason: str) -> str:
        """`none` with the mark of its reason."""
        if not reason:
            return "none"
        number = self._numbers.setdefault(line(reason), len(self._numbers) + 1)
        return f"none{str(number).translate(MARKS)}"

    def lines(self) -> tuple[str, ...]:
        """`¹ 2 branches: their spread needs at least 3`."""
        return tuple(f"{str(number).translate(MARKS)} {reason}" for reason, number in self._numbers.items())


def grid(sheet: Sequence[Sequence[str]], most: int) -> Grid:
    """Show the texts of a CSV file, the heading first.

    `x_low` and `x_high` go into the column of `x`, or share one if there is no `x`; `<name>_reason` becomes a note at
    the value that it explains.

    Args:
        sheet: rows of equal length.
        most: rows to show.
    """
    header, body = (list(sheet[0]), sheet[1:]) if sheet else ([], [])
    shown = [dict(zip(header, row, strict=True)) for row in body[:most]]
    values = {name: [row[name] for row in shown] for name in header}
    stems = {name.removesuffix("_low") for name in header if name.endswith("_low")}
    stems = {stem for stem in stems if f"{stem}_high" in values}
    inside = {f"{stem}{end}" for stem in stems for end in BOUNDS}
    explained = {*header, *stems}
    inside |= {name for name in header if name.endswith("_reason") and name.removesuffix("_reason") in explained}
    notes = Notes()
    columns: dict[str, tuple[bool, list[str]]] = {}
    for name in header:
        stem = name.removesuffix("_low")
        if name in stems:
            columns[f"{name} {LEVEL}"] = _with_bounds(name, values, notes)
        elif name not in inside:
            columns[name] = _column(name, values, notes)
        elif name.endswith("_low") and stem not in values:
            columns[f"{stem} {LEVEL}"] = _with_bounds(stem, values, notes)
    return Grid(
        columns=tuple(columns),
        numeric=tuple(numeric for numeric, _ in columns.values()),
        rows=tuple(zip(*(texts for _, texts in columns.values()), strict=True)),
        notes=notes.lines(),
        total=len(body),
    )


def line(text: str) -> str:
    """A text on one line, cut where it is very long."""
    short = " ".join(text.split())
    return short if len(short) <= LONGEST else f"{short[: LONGEST - 1]}…"


def _column(name: str, values: Values, notes: Notes) -> tuple[bool, list[str]]:
    texts = values[name]
    reasons = values.get(f"{name}_reason", [""] * len(texts))
    if not _numeric(texts):
        shown = [line(text) if text or not why else notes.none(why) for text, why in zip(texts, reasons, strict=True)]
        return False, shown
    decimals = _decimals(texts)
    return True, [_spell(text, decimals) if text else notes.none(why) for text, why in zip(texts, reasons, strict=True)]


def _with_bounds(stem: str, values: Values, notes: Notes) -> tuple[bool, list[str]]:
    """`0.850 [0.640, 0.948]`; only the bounds where the table has no column for the value."""
    low, high = (values[f"{stem}{end}"] for end in BOUNDS)
    blank = [""] * len(low)
    middle = values.get(stem, blank)
    decimals = _decimals([*middle, *low, *high])
    why = (values.get(f"{stem}{end}_reason", blank) for end in ("", *BOUNDS))
    shown = []
    for value, start, end, *reasons in zip(middle, low, high, *why, strict=True):
        known = start and end and (value or stem not in values)
        none = "" if known else notes.none(next(filter(None, reasons), ""))
        bounds = f"[{_spell(start, decimals)}, {_spell(end, decimals)}]" if start and end else f"[{none}]"
        if stem in values:
            bounds = f"{_spell(value, decimals)} {bounds}" if value else none
        shown.append(bounds)
    return True, shown


def _numeric(texts: Sequence[str]) -> bool:
    return any(texts) and all(text in NO_NUMBERS or NUMBER.fullmatch(text) for text in texts)


def _decimals(texts: Sequence[str]) -> int:
    """As many as the largest number of a column deserves; none for counts."""
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    if all(text.lstrip("+-").isdigit() for text in numbers):
        return 0
    largest = max(abs(float(text)) for text in numbers)
    return next((decimals for decimals, bound in ((3, 10), (2, 100), (1, 1000)) if largest < bound), 0)


def _spell(text: str, decimals: int) -> str:
    """A number; one that would be rounded to nothing as 1.2e-07; anything else as it is."""
    if NUMBER.fullmatch(text) is None:
        return line(text)
    number = float(text)
    return f"{number:.1e}" if number and abs(number) < 0.5 * 10**-decimals else f"{number:,.{decimals}f}"
