"""The points of an answer, whatever form it was asked for: a list, a criticism and a list, one point."""

from __future__ import annotations

import re
import unicodedata

from src.records import Form
from src.text.lists import Item, ListAnswer, parse_list
from src.text.markers import read_marker
from src.text.reasoning import strip_reasoning

_MARKUP = re.compile(r"[#*_`>=~\"'“”«»\[\]–—-]+")
_LINE = re.compile(r"(?:(?:step|part)\s*)?(?:\d\s*[.):]?\s*)?new points?\s*[:.]*", re.IGNORECASE)
# The list may start on the line itself; prose that starts with these words is not it, so capitals are needed.
_BEFORE_ITEM = re.compile(r"\W*NEW POINTS\W*?[:：]\W*?\s+(?=\S)")


def read_points(text: str, form: Form, *, truncated: bool) -> ListAnswer:
    """Read the points of an answer.

    Args:
        text: the answer as received, reasoning included.
        form: how it was asked to be written.
        truncated: the answer ran into its token limit.
    """
    if form == "point":
        return ListAnswer((Item(text.strip(), ""),), unlisted=False, cut=None)
    said = strip_reasoning(text)
    if form == "list":
        return parse_list(said, truncated=truncated)
    points = after_criticism(said, truncated=truncated)
    answer = parse_list(points, truncated=truncated)
    # Points that cannot be told from the criticism are lost, and counted as such.
    return ListAnswer(
        answer.items, unlisted=bool(said.strip()) and not answer.items and answer.cut is None, cut=answer.cut
    )


def after_criticism(text: str, *, truncated: bool) -> str:
    """Return what follows the last line that says NEW POINTS; markup, a number, a colon and case do not count.

    Without that line the points cannot be told from the criticism, and "" is returned. The exception is an answer that
    is whole and lists from its first line on, though the criticism was to come first: its writer left that out, as
    small models do, and to call the model saturated for it would be the greater error. A cut answer without the line
    was cut in its criticism.
    """
    lines = text.split("\n")
    for number in range(len(lines) - 1, -1, -1):
        line = unicodedata.normalize("NFKC", lines[number])
        if _says_new_points(line):
            return "\n".join(lines[number + 1 :])
        if (start := _BEFORE_ITEM.match(line)) and read_marker(line[start.end() :]):
            return "\n".join([line[start.end() :], *lines[number + 1 :]])
    return "" if truncated or not _starts_with_its_only_list(lines) else text


def _says_new_points(line: str) -> bool:
    marker = read_marker(line.strip())
    return any(_LINE.fullmatch(_MARKUP.sub("", said).strip()) for said in (line, marker.rest if marker else ""))


def _starts_with_its_only_list(lines: list[str]) -> bool:
    """Whether every line down to the last item is an item, or goes on with one by its indentation."""
    written = [line for line in lines if line.strip()]
    items = [number for number, line in enumerate(written) if read_marker(line.strip())]
    return (
        bool(items)
        and items[0] == 0
        and all(number in items or line[0].isspace() for number, line in enumerate(written[: items[-1]]))
    )
