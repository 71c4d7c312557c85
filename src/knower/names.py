"""Coined names such as Dorvik-Selan: 32 bits as syllables, so that a name says what it stands for; pure."""

from __future__ import annotations

import re

BITS = 32
NAME = re.compile(r"\b[A-Z][a-z]+-[A-Z][a-z]+\b")
"""What a name looks like in a text."""

_ONSETS = ["b", "br", "d", "dr", "g", "gr", "h", "j", "k", "l", "m", "n", "r", "s", "t", "v"]
_VOWELS = "aeio"
_MIDDLES = ["l", "ld", "lm", "lv", "m", "mb", "n", "nd", "nt", "r", "rd", "rk", "rm", "rv", "s", "z"]
_CODAS = ["d", "k", "l", "lt", "m", "n", "nd", "r", "rn", "s", "sk", "st", "t", "th", "x", "z"]
_PART = re.compile(rf"([^{_VOWELS}]+)([{_VOWELS}])([^{_VOWELS}]+)([{_VOWELS}])([^{_VOWELS}]+)")
_SYLLABLES = (_ONSETS, _VOWELS, _MIDDLES, _VOWELS, _CODAS)
_FACTORS = (0x9E3779B1, 0x85EBCA6B)  # odd, so that multiplying by them can be undone


def coined(code: int) -> str:
    """The name of a code below 2**32; codes that are close have names that are not."""
    for factor in _FACTORS:
        code = code * factor % 2**BITS
        code ^= code >> 16
    high, low = divmod(code, 2**16)
    return f"{_part(high)}-{_part(low)}"


def decoded(name: str) -> int | None:
    """The code of a name; None if it is none of ours."""
    parts = [_number(part) for part in name.split("-")]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    code = parts[0] * 2**16 + parts[1]
    for factor in reversed(_FACTORS):
        code ^= code >> 16
        code = code * pow(factor, -1, 2**BITS) % 2**BITS
    return code


def _part(number: int) -> str:
    """Sixteen bits as a word."""
    letters = []
    for choices in _SYLLABLES:
        number, place = divmod(number, len(choices))
        letters.append(choices[place])
    return "".join(letters).capitalize()


def _number(part: str) -> int | None:
    found = _PART.fullmatch(part.lower())
    if not found or part != part.capitalize():
        return None
    number = 0
    for letters, choices in reversed(list(zip(found.groups(), _SYLLABLES, strict=True))):
        if letters not in choices:
            return None
        number = number * len(choices) + choices.index(letters)
    return number
