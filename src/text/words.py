"""Words as the deterministic checks see them: one normal form, one tokeniser, one light stemmer.

Han and kana characters are tokens of their own, since nothing separates their words. Stemming and stop words are
English only; a word of another language is compared as written.
"""

from __future__ import annotations

import re
import unicodedata

CJK = r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Han and kana, as the inside of a regex class. Hangul is not in it: Korean separates its words."""

# Scripts whose vowel signs are marks, which `\w` does not match, so that a word would fall to pieces.
_MARKED = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u109f\u1780-\u17d3"
_WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}\d])[^\W_]|[{_MARKED}])+(?:'(?![{CJK}])[^\W\d_]+)*")
_SUPERSCRIPTS = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_CHARACTERS = str.maketrans({"’": "'", "ʼ": "'", "−": "-", "‐": "-", "‑": "-", "٫": ".", "٬": ",", "*": "", "`": ""})


def word_set(listed: str) -> frozenset[str]:
    """The words of a list written as running text, which keeps long word lists readable."""
    return frozenset(listed.split())


# Negators and number words are left out too: the guards compare them, by meaning.
STOP_WORDS = word_set(
    """
    a about also am among an and any are as at be been being between billion both but by can cannot commonly
    could did do does each eight eighteen eighty eleven fifteen fifty five for forty four fourteen from
    generally had has have having he her here him his hundred i if in into is it its may might million must
    nine nineteen ninety no not of often on one onto or our over per s seven seventeen seventy shall she
    should six sixteen sixty so some such ten than that the their them then there these they thirteen thirty
    this those thousand three to trillion twelve twenty two typically under usually very via was we were what
    when where which while who whom whose will with would you your zero
    """
)


def plain(text: str) -> str:
    """Bring text to one form: NFKC, one apostrophe, one hyphen, no emphasis marks, superscripts as `^2`."""
    # NFKC would turn 10⁶ into 106.
    text = _SUPERSCRIPTS.sub(lambda found: "^" + found[0], text)
    return unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)


def words(text: str) -> list[str]:
    """Split into lower-case words in order; numbers, punctuation and symbols are left out."""
    return [word.removesuffix("'s") for word in _WORD.findall(plain(text).lower())]


def stem(word: str) -> str:
    """Cut English inflection off a lower-case word: `increases`, `increased` and `increasing` become `increas`."""
    if not word.isascii() or len(word) < 3:
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and word[-2] not in "siu":
        word = word[:-1]
    for suffix in ("ing", "ed"):
        root = word.removesuffix(suffix)
        if root != word and not word.endswith("eed") and len(root) > 1 and re.search(r"[aeiouy]", root):
            doubled = len(root) > 2 and root[-1] == root[-2] and root[-1] not in "lsz"
            word = root[:-1] if doubled else root
            break
    return word.removesuffix("e") if len(word) > 2 else word


def content(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning: all but stop words."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and not word.endswith("n't"))
