"""What marks a line as an item of a list: bullets and enumerators of many scripts.

A bullet needs no proof. An enumerator does: `1990. That was` or `A. Turing was` may open a line of prose. So each is
read as one or more places in sequences, and :func:`accepted` asks whether the answer has a neighbour for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from src.text.words import CJK


class Marker(NamedTuple):
    """A marker at the start of a line.

    Attributes:
        style: the bullet, or what the enumerators of one sequence have in common.
        places: (style, value) readings of an enumerator: `i)` is a letter and a Roman one; empty for a bullet.
        level: depth of hierarchical numbering, 1 for `1.2`.
        weak: whether only a direct neighbour proves it (`1:`, `A.`, `1.2`).
        rest: the text after the marker.
    """

    style: str
    places: tuple[tuple[str, int], ...]
    level: int
    weak: bool
    rest: str


_PLAIN_BULLETS = "•●○◉⚫⚪◾▪▫■□◆◇❖▸▹►▶➢➣➤➔➜→‣◦⁃∙·・★☆✦✓✔✅☑🔹🔸🔷🔶"
_BULLET = re.compile(
    # These marks mean nothing else at the start of a line; dashes and stars do, and need a space or a Han character.
    rf"(?:[{_PLAIN_BULLETS}]\ufe0f?\s*|(?:--?|[*+–—−－＊＋])(?:\s+|\Z)|[-–—－＊＋](?=[{CJK}]))"
    r"(?:\[[ xX✓]?\](?:\s+|\Z))?"  # a box to tick belongs to the bullet
)

_ALPHABETS = (
    "가나다라마바사아자차카타파하",
    "アイウエオカキクケコサシスセソ",
    "أبجدهوزحطي",
    "абвгдежзиклмнопрстуфхцчшщэюя",
)
_HAN_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九十")}
_ROMAN = re.compile(r"(?=[ivxl])(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50}

_VALUE = r"(?P<value>\d{1,3}|[一二三四五六七八九十]{1,3}|[ivxlIVXL]{1,6}|(?:(?!_)[^\W\d]))"
_HAN = r"(?P<value>[一二三四五六七八九十]{1,3})"
_NUMBER = r"(?P<value>\d{1,3})"
# A letter or number that stands close to its text needs a space; Han text never has one.
_GAP = rf"(?:\s+|\Z|(?=[{CJK}「『《“\"]))"
_NO_GAP = r"\s*"
# (style, weak, pattern); the first that fits wins.
_ENUMERATORS = tuple(
    (style, weak, re.compile(pattern))
    for style, weak, pattern in (
        ("keycap", False, rf"(?P<value>\d)\ufe0f?\u20e3{_NO_GAP}"),
        ("circled", False, rf"(?P<value>[①-⒛ⓐ-⓿❶-➓㉑-㉟㊱-㊿]){_NO_GAP}"),
        ("()", False, rf"[(（\[［【〔〈]\s?{_NUMBER}\s?[)）\]］】〕〉][.、．:：]?{_NO_GAP}"),
        ("()", False, rf"[(（\[［【〔〈]\s?{_VALUE}\s?[)）\]］】〕〉][.、．:：]?{_GAP}"),
        ("n.n", False, rf"(?P<prefix>(?:\d{{1,3}}[.．])+){_NUMBER}[.)．）]{_GAP}"),
        ("n.n", False, rf"(?P<prefix>(?:\d{{1,3}}[.．]){{2,}}){_NUMBER}[:：]{_GAP}"),
        ("n.n", True, rf"(?P<prefix>(?:\d{{1,3}}[.．])+){_NUMBER}{_GAP}"),
        ("1)", False, rf"{_NUMBER}\s?\\?[)）](?!\d){_NO_GAP}"),
        ("1)", False, rf"{_VALUE}\s?\\?[)）]{_GAP}"),
        ("1.", False, rf"{_NUMBER}\s?\\?[.．。]{_GAP}"),
        ("1、", False, rf"第?(?:{_NUMBER}|{_HAN.replace('value', 'han')})、(?![\d一二三四五六七八九十]){_NO_GAP}"),
        ("1、", True, rf"第?(?:{_NUMBER}|{_HAN.replace('value', 'han')})、{_NO_GAP}"),
        ("1.", True, rf"{_NUMBER}[.．](?![\d\s]){_NO_GAP}"),
        ("1.", True, rf"第?{_HAN}\s?[.．:：，,]{_NO_GAP}"),
        ("1.", True, rf"{_VALUE}[.．]{_GAP}"),
        ("#1", True, rf"(?:#|№\s?|[Nn]o\.\s?|[Nn]º\s?){_NUMBER}\s?[.:)–—-]?{_GAP}"),
        ("1:", True, rf"{_NUMBER}\s?[:：]{_GAP}"),
        ("1-", True, rf"{_NUMBER}\s?[-–—ـ](?![\dA-Za-z]){_NO_GAP}"),
    )
)
_EMPHASIS = re.compile(r"\*{1,3}|_{1,2}")
# "**1.** text" and "**1**. text": the emphasis belongs to the number alone.
_EMPHASISED_NUMBER = re.compile(r"(\*{1,3}|_{1,2})([^*_\s]{1,8})\1([.)、:：．]?)\s*")

_LINE_NUMBER = re.compile(r"\s*(\d{1,3})[.)、．）]")
_INLINE_NUMBER = re.compile(
    r"(?:(?<=[.!?;:])\s+|(?<=[.!?][\"'*)_])\s+|(?<=[。！？；：])\s*)(\d{1,3})[.)、．）]\s*(?=[^\s\da-z.])"
)


def read_marker(line: str) -> Marker | None:
    """Read the marker that a line, without its indentation, starts with."""
    if bullet := _BULLET.match(line):
        return Marker(bullet[0].strip()[:1], (), 0, False, line[bullet.end() :])
    if lone := _EMPHASISED_NUMBER.match(line):
        marker = _enumerator(f"{lone[2]}{lone[3]} {line[lone.end() :]}")
        if marker:
            return marker
    if emphasis := _EMPHASIS.match(line):
        # "**1. Title** text": the emphasis belongs to what follows, unless that opens its own.
        marker = _enumerator(line[emphasis.end() :])
        if marker and not marker.rest.startswith(("*", "_")):
            marker = marker._replace(rest=emphasis[0] + marker.rest)
        return marker
    return _enumerator(line)


def has_neighbour(marker: Marker, places: Container[tuple[str, int]]) -> bool:
    """Whether the number before or after the marker's own is among the places of an answer."""
    return any((style, value + step) in places for style, value in marker.places for step in (-1, 1))


def without_doubles(markers: Sequence[Marker | None]) -> list[Marker | None]:
    """Take off second and third numbers that count along with the first: `1. 1. Text`, `- 1: Text`.

    A second number on one line alone stays: it belongs to the text.
    """
    kept = list(markers)
    for _ in range(2):
        seconds = [read_marker(marker.rest) if marker else None for marker in kept]
        places = {place for second in seconds if second for place in second.places if place[0].endswith("digit")}
        for line, (marker, second) in enumerate(zip(kept, seconds, strict=True)):
            if marker and second and has_neighbour(second, places):
                kept[line] = marker._replace(rest=second.rest)
    return kept


def unrolled(line: str) -> list[str]:
    """Split a line that lists inline, `1. One. 2. Two. 3. Three.`; other lines stay whole.

    It must start with a number or hold three, each but the first after the end of a sentence.
    """
    first = _LINE_NUMBER.match(line)
    if not first and read_marker(line.strip()):
        return [line]
    expected = int(first[1]) + 1 if first else 1
    cuts = [0]
    for found in _INLINE_NUMBER.finditer(line):
        after_colon = line[: found.start()].rstrip()[-1:] in (":", "：")
        if int(found[1]) == expected and (expected == 1 or not after_colon):
            cuts.append(found.start(1))
            expected += 1
    pieces = [line[start:end].rstrip() for start, end in zip(cuts, [*cuts[1:], len(line)], strict=True)]
    return pieces if (first and len(pieces) > 1) or len(pieces) > 3 else [line]


def accepted(marker: Marker, places: Mapping[tuple[str, int], int], *, items: int, continues: bool) -> bool:
    """Decide whether a marker is one, given the whole answer.

    Args:
        marker: what was read.
        places: how often each place occurs in the answer, this marker's own included.
        items: items above; in a list of mixed markers a number is at most one more.
        continues: whether the line could go on with an unfinished sentence of an item above it.
    """
    if not marker.places or has_neighbour(marker, places):
        return True
    if marker.weak:
        return False
    styles = {style for style, _ in marker.places}
    return (
        not continues
        or any(0 <= place <= items + 1 for _, place in marker.places)
        or sum(count for (style, _), count in places.items() if style in styles) > len(marker.places)
    )


def _enumerator(line: str) -> Marker | None:
    for style, weak, pattern in _ENUMERATORS:
        if found := pattern.match(line):
            groups = found.groupdict()
            prefix = unicodedata.normalize("NFKC", groups.get("prefix") or "")
            places = _places(groups["value"] or groups["han"], style + prefix)
            if places:
                return Marker(style, places, prefix.count("."), weak, line[found.end() :])
    return None


def _places(value: str, style: str) -> tuple[tuple[str, int], ...]:
    """All readings of an enumerator's value as places in a sequence."""
    if value.isdecimal():
        return ((f"{style} digit", int(value)),)
    if style == "circled":
        return ((style, ord(value)),)
    if all(character in _HAN_DIGITS for character in value):
        tens, ten, ones = value.rpartition("十")
        number = 10 * _HAN_DIGITS.get(tens, 1) * bool(ten)
        return ((f"{style} han", number + (_HAN_DIGITS.get(ones, 0))),)
    lower = value.lower()
    style = f"{style} {'lower' if value == lower else 'upper'}"
    places = []
    if _ROMAN.fullmatch(lower):
        digits = [_ROMAN_DIGITS[character] for character in lower]
        signed = [-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True)]
        places.append((f"{style} roman", sum(signed)))
    if len(value) == 1:
        alphabet = next((letters for letters in _ALPHABETS if lower in letters), None)
        if alphabet:
            places.append((f"{style} {alphabet[0]}", alphabet.index(lower)))
        else:
            places.append((style, ord(lower) - ord("a") + 1))
    return tuple(places)
