"""Cells that a spreadsheet would run as a formula: made harmless on the way out, restored on the way in."""

from __future__ import annotations

STARTS = frozenset("=+-@\t\r\n＝＋－＠")
"""What a formula may begin with, full-width forms included, and what spreadsheets skip before one."""
MARK = "'"


def neutralised(text: str) -> str:
    """Put a mark before a text that a spreadsheet would run; :func:`restored` takes it off again."""
    return MARK + text if text[:1] in STARTS or _marked(text) else text


def restored(text: str) -> str:
    """The text behind a cell, whether it was neutralised or not."""
    return text[1:] if _marked(text) else text


def _marked(text: str) -> bool:
    """Whether a text looks as if it was neutralised, so that one that began like this must be marked as well."""
    return len(text) > 1 and text[0] == MARK and (text[1] in STARTS or text[1] == MARK)
