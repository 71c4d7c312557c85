"""The outline of a written list: which lines are items, which continue one, who stands under whom."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from src.text.chatter import is_meta
from src.text.markers import Marker, accepted, read_marker, unrolled, without_doubles
from src.text.words import CJK


@dataclass(frozen=True)
class _Line:
    """A line with something on it, and what must be known of its neighbourhood."""

    number: int
    text: str
    indent: int
    after_blank: bool
    marker: Marker | None
    next_marker: Marker | None
    below_markers: bool

    @property
    def title(self) -> str:
        """The text of a heading, "" of other lines; a bold number above bullets is one: `**1. Title**`."""
        title = _HEADING.fullmatch(self.text)
        above_bullets = self.next_marker is not None and not self.next_marker.places
        if title is None or (self.marker is not None and not above_bullets):
            return ""
        return str(title["hash"] or title["bold"]).strip()


@dataclass
class Entry:
    """An item; its text grows while lines are read.

    Attributes:
        text: without marker and indentation, wrapped lines joined.
        parent: the item it stands under.
        heading: the heading above, "" without.
        indent: columns before the marker.
        style: style of the marker.
        end: number of its last line.
    """

    text: str
    parent: Entry | None
    heading: str
    indent: int
    style: str
    end: int

    @property
    def finished(self) -> bool:
        """Whether the text so far ends a sentence."""
        return _FINISHED.search(self.text[-9:]) is not None

    def owns(self, indent: int, style: str) -> bool:
        """Whether an item below is a child: clearly deeper, or of another style and deeper at all or introduced."""
        introduced = indent > self.indent or _COLON.search(self.text) is not None
        return indent >= self.indent + 2 or (style != self.style and introduced)


_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-*_=—–─]\s*){3,}")
_HEADING = re.compile(r"#{1,6}\s+(?P<hash>.+?)\s*#*|(?P<mark>\*\*|__)(?P<bold>(?:(?!(?P=mark)).)+)(?P=mark)[:：]?")
_INVISIBLE = "\ufeff\u200b\u200c\u200e\u200f\u202a\u202b\u2066\u2067\u2068"
_FINISHED = re.compile(r"[.!?…。！？．｡؟۔।][\"'”’»)）」』】*_`]*\Z")
_COLON = re.compile(r"[:：][*_]*\Z")
# What a token limit leaves of the next item's marker.
_PARTIAL_MARKER = re.compile(r"\s*(?:[*_#(（\[【]{0,3}\d{0,3}[.)）、:：*_]{0,3}|[-+•–—]+)\s*[*_]*\s*")
_NO_SPACE = re.compile(rf"[{CJK}\u3000-\u3003\u3008-\u301f\uff00-\uffef]")


def read_outline(text: str, *, truncated: bool) -> tuple[list[Entry], bool]:
    """Find the items of a list.

    Args:
        text: an answer; lines end at line feeds only.
        truncated: whether it was cut off, so that the last line may hold no more than the beginning of a marker.

    Returns:
        The items in order, and whether the text ends within the last of them.
    """
    lines = [piece for line in text.split("\n") for piece in unrolled(line.removesuffix("\r").lstrip(_INVISIBLE))]
    if truncated and len(lines) > 1 and _PARTIAL_MARKER.fullmatch(lines[-1]):
        lines[-1] = ""
    inside, outside = _split_code(lines)
    # A whole list may stand in a code fence; beside a list, code is not part of it.
    entries = _entries(outside) or _entries(inside)
    return entries, bool(entries) and entries[-1].end == len(lines) - 1


def _split_code(lines: Sequence[str]) -> tuple[list[str | None], list[str | None]]:
    """The lines inside and outside of code fences, None in the place of the others."""
    inside: list[str | None] = []
    outside: list[str | None] = []
    fenced = False
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        fenced ^= is_fence
        inside.append(line if fenced and not is_fence else None)
        outside.append(None if fenced or is_fence else line)
    return inside, outside


def _lines(lines: Sequence[str | None]) -> list[_Line]:
    """The lines that are not blank; None stands for a line of code, which separates nothing."""
    markers = without_doubles(
        [read_marker(line.strip()) if line and not _RULE.fullmatch(line) else None for line in lines]
    )
    written = [number for number, line in enumerate(lines) if line and line.strip()]
    last_marker = max((number for number in written if markers[number]), default=-1)
    read = []
    for place, number in enumerate(written):
        line = lines[number] or ""
        previous = written[place - 1] if place else -1
        after_blank = any(between is not None for between in lines[previous + 1 : number])
        following = markers[written[place + 1]] if place + 1 < len(written) else None
        read.append(
            _Line(number, line.strip(), _width(line), after_blank, markers[number], following, number > last_marker)
        )
    return read


def _entries(raw: Sequence[str | None]) -> list[Entry]:
    lines = _lines(raw)
    markers = [line.marker for line in lines if line.marker and not line.title]
    places = Counter(place for marker in markers for place in marker.places)
    entries: list[Entry] = []
    ancestors: list[Entry] = []
    item: Entry | None = None  # the one that the next line may continue
    heading, sentences_wrap = "", False

    for line in lines:
        marker = line.marker
        if line.title and not (item and line.indent > item.indent):
            heading, item, ancestors = line.title, None, []
        elif marker and accepted(
            marker, places, items=len(entries), continues=item is not None and _mid_sentence(item, line)
        ):
            indent = line.indent + 2 * marker.level
            ancestors = _ancestors(ancestors, indent, marker.style)
            parent = ancestors[-1] if ancestors else None
            item = Entry(marker.rest.strip(), parent, heading, indent, marker.style, line.number)
            ancestors = [*ancestors, item]
            entries.append(item)
        elif item and _continues(item, line, sentences_wrap):
            sentences_wrap |= item.finished and line.indent <= item.indent
            space = "" if not item.text or _touches(item.text[-1], line.text[0]) else " "
            item.text, item.end = item.text + space + line.text, line.number
        else:
            item = None
            if ancestors and line.indent <= ancestors[0].indent:
                ancestors = []
    return entries


def _ancestors(ancestors: list[Entry], indent: int, style: str) -> list[Entry]:
    """The chain of items that a new item stands under."""
    for depth, ancestor in enumerate(ancestors):
        if ancestor.style == style and abs(indent - ancestor.indent) < 2:
            return ancestors[:depth]
    while ancestors and not ancestors[-1].owns(indent, style):
        ancestors = ancestors[:-1]
    return ancestors


def _mid_sentence(item: Entry, line: _Line) -> bool:
    """Whether the line stands directly below an item whose sentence has not ended."""
    return bool(item.text) and not line.after_blank and not item.finished and not _COLON.search(item.text)


def _continues(item: Entry, line: _Line, sentences_wrap: bool) -> bool:
    """Whether a line without a marker goes on with the item above it.

    Args:
        item: the item above.
        line: the line.
        sentences_wrap: whether this answer was seen to put further sentences of an item on lines of their own.
    """
    if line.text.startswith("|"):
        return False
    if not item.text or (line.indent > item.indent and not line.after_blank):
        return True
    starts_sentence = item.finished or not line.text[0].islower()
    if starts_sentence and is_meta(line.text):
        return False
    if line.after_blank or (line.next_marker and _COLON.search(line.text)):
        return line.indent > item.indent
    # After a finished sentence, below the whole list, it is rather a closing remark.
    return not item.finished or line.text[0].islower() or not line.below_markers or sentences_wrap


def _touches(left: str, right: str) -> bool:
    """Whether two characters of wrapped text join without a space, as Han and kana do."""
    return bool(_NO_SPACE.match(left) and _NO_SPACE.match(right))


def _width(line: str) -> int:
    """Columns of indentation: a tab counts 4, a full-width space 2."""
    indentation = line[: len(line) - len(line.lstrip())]
    return sum({"\t": 4, "\u3000": 2}.get(character, 1) for character in indentation)
