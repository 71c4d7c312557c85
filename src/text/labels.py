"""Reading a judge's label; strict, because a guessed verdict is worse than none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from src.text.reasoning import strip_reasoning

_MARKUP = re.compile(r"</?[a-zA-Z][^<>\n]*>|\\boxed|\\text(?:bf)?|[*`#>$\\{}]|(?<!\w)_+|_+(?!\w)")
# Hyphen and apostrophe belong to the word: "no-one" is not the label NO.
_BEFORE, _AFTER = r"(?<![\w'’-])", r"(?![\w'’-])"


def parse_label(reply: str, labels: Sequence[str]) -> str | None:
    """Read the one label that a reply gives.

    A label is read if the reply starts with it and no other label occurs in it as a whole word, or if the last line is
    exactly one label. Reasoning and markup are removed first; case, width and punctuation around a label do not count.

    Returns:
        The label as written in `labels`, or None: the caller asks again or records the reply as unparsed.
    """
    text = _MARKUP.sub("", unicodedata.normalize("NFKC", strip_reasoning(reply))).strip()
    named = {label.casefold(): label for label in labels}
    # Longest first, so that "partially correct" is not also read as "correct".
    alternatives = "|".join(re.escape(label) for label in sorted(named, key=lambda label: (-len(label), label)))
    occurring = re.compile(f"{_BEFORE}(?:{alternatives}){_AFTER}", re.IGNORECASE)

    found = {named[match.casefold()] for match in occurring.findall(text)}
    first = occurring.match(_bare(text))
    if first and len(found) == 1:
        return named[first[0].casefold()]
    last_line = _bare(text.rsplit("\n", 1)[-1]).casefold()
    return named.get(last_line)


def _bare(text: str) -> str:
    """Cut punctuation and spaces, but no other symbols, off both ends: `≠YES` is not YES."""
    start, end = 0, len(text)
    while start < end and unicodedata.category(text[start])[0] in "PZC":
        start += 1
    while end > start and unicodedata.category(text[end - 1])[0] in "PZC":
        end -= 1
    return text[start:end]
