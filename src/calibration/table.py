"""The rows of a CSV file that people filled in, each with its place, columns by their names in lower case."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from src.errors import ConfigError


def read_table(path: Path, text: str) -> tuple[tuple[str, ...], list[tuple[str, dict[str, str]]]]:
    """Take a table apart; blank lines are left out, missing cells are empty.

    Args:
        path: named in messages.
        text: what the file holds, without a byte order mark.

    Returns:
        The names of the columns, and per row its place, `file line 7`, and its cells.

    Raises:
        ConfigError: it is no CSV, a row has too many cells, or two columns have one name.
    """
    delimiter = max(",;\t", key=text.partition("\n")[0].count)  # spreadsheets of many countries write semicolons
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    try:
        names = tuple(name.strip().lower() for name in next(reader, []))
        for name in names:
            if name and names.count(name) > 1:
                raise ConfigError(f"{path} has {names.count(name)} columns that are called {name!r}: keep one")
        for values in reader:
            if not any(value.strip() for value in values):
                continue
            place = f"{path} line {reader.line_num}"
            if len(values) > len(names):
                raise ConfigError(
                    f"{place} has {len(values)} cells, the first line {len(names)}: a quote is missing there"
                )
            rows.append((place, dict(zip(names, [*values, *[""] * (len(names) - len(values))], strict=True))))
    except csv.Error as error:
        raise ConfigError(f"{path} line {reader.line_num} is no CSV: {error}") from error
    return names, rows
