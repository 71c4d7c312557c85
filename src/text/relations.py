"""Signs between terms, and bounds of numbers said in words: "at most 10" is `≤ 10`."""

from __future__ import annotations

import re

from src.text.quantities import NUMBER_WORDS

_SPELT = {"<=": "≤", "=<": "≤", ">=": "≥", "!=": "≠", "==": "=", "<->": "↔", "->": "→", "<-": "←", "=>": "⇒", "+-": "±"}
_SPELT |= {r"\leq": "≤", r"\le": "≤", r"\geq": "≥", r"\ge": "≥", r"\neq": "≠", r"\ne": "≠"}
_ASCII = re.compile("|".join(re.escape(name) for name in sorted(_SPELT, key=len, reverse=True)))
_BOUNDS = {
    "≤": "at most|up to|(?:no|not) (?:more|greater|larger|higher) than|not exceeding|an? maximum of",
    "≥": "at least|(?:no|not) (?:fewer|less|smaller|lower) than|an? minimum of",
    ">": "(?:more|greater|larger|higher) than|over|above|exceeding|exceeds",
    "<": "(?:fewer|less|smaller|lower) than|under|below",
}
_NUMBER_FOLLOWS = rf"(?= ?[-$€£¥]?\.?\d| (?:{NUMBER_WORDS}|half)\b)"
_IN_WORDS = [(re.compile(rf"\b(?:{words}){_NUMBER_FOLLOWS}", re.IGNORECASE), sign) for sign, words in _BOUNDS.items()]
_SIGNS = re.compile(r"[<>≤≥=≠≈≡∝∈∉⊂⊃⊆⊇∪∩∀∃∧∨¬→←↔⇒⇐⇔↑↓+±÷∂∇∑∏∫√]")


def with_signs(text: str) -> str:
    """A plain text with signs where it spells them, so that "no more than 5" is neither a negation nor a "more"."""
    text = _ASCII.sub(lambda found: _SPELT[found[0]], text)
    for words, sign in _IN_WORDS:
        text = words.sub(sign, text)
    return text


def signs(text: str) -> tuple[str, ...]:
    """The signs of a text in order."""
    return tuple(_SIGNS.findall(text))
