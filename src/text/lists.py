"""Reading the points of a model's list: the marker is removed and nothing else.

What is a point, what is not:

* A bulleted or numbered item always is one, whatever it says: whether it is a proposition is for the audit to say.
* An unbulleted line continues the item above it or is dropped: introductions, closings, headings, tables, code.
* A child item is a point of its own; its parent's text, or the heading above a top-level item, is its context.
* An answer in which nothing is listed has no points; sentences of a paragraph are not made into points.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from src.text.chatter import is_meta
from src.text.outline import read_outline


@dataclass(frozen=True)
class Item:
    """A point of a list; `context` is the text of its parent, or the heading above it, "" without."""

    text: str
    context: str


@dataclass(frozen=True)
class ListAnswer:
    """What a list answer holds.

    Attributes:
        items: the points in answer order, repeats kept.
        unlisted: the answer says something, but lists nothing.
        cut: the last item of a truncated answer, set aside because its end may be missing.
    """

    items: tuple[Item, ...]
    unlisted: bool
    cut: str | None


LONGEST_NAME = 120
"""Characters of a name; the prompts that show it stay as short as a plan says."""

_JSON_LIST = re.compile(r'\s*(?:```\w*\s*)?(?:\{\s*"[^"\n]*"\s*:\s*)?\[\s*(?=")')
_JSON_COMMA = re.compile(r"\s*,\s*")
_MARKUP = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)")
_NUMBERING = re.compile(r"\A[\d.]+[:.)]\s+")
_DESCRIPTION = re.compile(r"\s*:\s.*|\s*：.*|\s+(?:--?|[–—])\s.*|——.*", re.DOTALL)


def parse_list(text: str, *, truncated: bool) -> ListAnswer:
    """Read the points of an answer from which reasoning has been removed.

    Args:
        text: the answer; lines end at line feeds only.
        truncated: the answer ran into its token limit. Its last item is then set aside as `cut`, even if it looks
            complete, unless something follows it: a line end, another marker, other text.

    Returns:
        The points. Blank text is neither listed nor unlisted.
    """
    entries, open_end = read_outline(text, truncated=truncated)
    items = [Item(entry.text, entry.parent.text if entry.parent else entry.heading) for entry in entries]
    if not items:
        strings, open_end = _json_strings(text)
        items = [Item(string.strip(), "") for string in strings]
    cut = items.pop().text if truncated and open_end else None
    points = tuple(item for item in items if _says_something(item.text))
    return ListAnswer(points, unlisted=bool(text.strip()) and not points and cut is None, cut=cut)


def parse_names(text: str, *, truncated: bool) -> tuple[str, ...]:
    """Read distinct names in answer order, without markup, numbering and a description after a colon or dash.

    Names are the top of a list (the children, if a lone item introduces them); without a list, the short plain lines.
    Case and width do not make a name distinct.
    """
    names: dict[str, str] = {}
    for line in _top(text, truncated, _may_be_name):
        name = _name(line)
        if name and len(name.split()) <= 12 and len(name) <= LONGEST_NAME:  # longer ones are sentences
            names.setdefault(name_key(name), name)
    return tuple(names.values())


def parse_sentences(text: str, *, truncated: bool) -> tuple[str, ...]:
    """Read sentences that each describe something, such as a kind of expert, in answer order.

    They are the top of a list, or without one the plain lines; two are one if they start with the same name.
    """
    found: dict[str, str] = {}
    for line in _top(text, truncated, _may_be_sentence):
        sentence = _NUMBERING.sub("", _MARKUP.sub("", line), count=1).strip()
        if sentence:
            found.setdefault(name_key(sentence), sentence)
    return tuple(found.values())


def name_key(line: str) -> str:
    """What two lines have in common that name the same: case, width, spaces and a description do not count."""
    return " ".join(unicodedata.normalize("NFKC", _name(line) or line).casefold().split())


def _top(text: str, truncated: bool, may_be: Callable[[str], bool]) -> list[str]:
    """The top items of a list (the children of a lone one); without a list, the plain lines that may be items."""
    answer = parse_list(text, truncated=truncated)
    listed = [item.text for item in answer.items]
    parents = set(listed)
    top = [item.text for item in answer.items if item.context not in parents]
    if len(top) == 1 and len(listed) > 1:
        top = listed[1:]
    if answer.unlisted:
        lines = text.split("\n")[: -1 if truncated else None]
        top = [line.strip() for line in lines if may_be(line.strip())]
        top = top if len(top) > 1 else []  # a lone line is a remark
    return top


def _name(line: str) -> str:
    return _DESCRIPTION.sub("", _NUMBERING.sub("", _MARKUP.sub("", line), count=1)).strip(" \t\"'“”«».,;:：。，；")


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _may_be_name(line: str) -> bool:
    """Whether a plain line is short and unfinished enough to be a name, perhaps with a description."""
    name = _DESCRIPTION.sub("", _MARKUP.sub("", line))
    return (
        _says_something(name)
        and len(name.split()) <= 8
        and not is_meta(line)
        and not line.startswith("#")
        and line[-1] not in ":："
        and name[-1:] not in ".!?。！？"
    )


def _may_be_sentence(line: str) -> bool:
    return _says_something(line) and not is_meta(line) and not line.startswith("#") and line[-1] not in ":："


def _json_strings(text: str) -> tuple[list[str], bool]:
    """The strings of a JSON list, and whether it breaks off in the last of them; ([], False) for other text."""
    start = _JSON_LIST.match(text)
    position = start.end() if start else len(text)
    strings: list[str] = []
    while text[position : position + 1] == '"':
        try:
            string, position = json.JSONDecoder(strict=False).raw_decode(text, position)
        except json.JSONDecodeError:
            return [*strings, text[position + 1 :]], True
        strings.append(string)
        comma = _JSON_COMMA.match(text, position)
        position = comma.end() if comma else len(text)
    return strings, False
