"""Short answers: where a reply gives one, one normal form, and whether it is the gold answer (arXiv 2501.01332).

The normal form is what "the same answer" means everywhere: for the match with the gold answer and for how often a
model repeats itself. Case folding, articles and number words are English; accents are kept, so Bogota is not Bogotá,
because a plain letter is another letter in most languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from src.text.reasoning import strip_reasoning
from src.text.words import CJK, plain

Reasoning = Literal["direct", "cot"]
"""Whether a reply is the answer alone, or reasons first and then says "Answer:"."""

_ARTICLES = frozenset({"a", "an", "the"})
_CARDINALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_CARDINALS.split())}
_YES_NO = frozenset({"yes", "no"})
_HAS_CJK = re.compile(f"[{CJK}]")

# Fences, rules and characters that nobody sees.
_RULE = re.compile(r"(?:```\w*|~~~\w*|[-_=*]{3,}|[\u200b-\u200f\u2060\ufeff\s])+")
_MARKER = re.compile(r"(?<![^\W_])answer[*_]*[ \t]*[:：][*_]*", re.IGNORECASE)
# "J. K. Rowling" and "U. S." are written without spaces as often.
_INITIALS = re.compile(r"(?<![^\W_])([^\W\d_]\.) +(?=[^\W\d_]\.)")
_PIECE = re.compile(
    # A hyphen after a word or number joins or makes a range: 5-10 has no minus.
    r"(?P<minus>(?<![\w)\].%-])[-–](?:[$€£¥] ?)?(?=\.?\d))?"
    r"(?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)*|(?<!\w)(?:\.\d+)+)"
    r"|(?P<kept>(?<=[^\W\d_])[+#]+(?!\w))"  # C++, C# and AB+ are not C and AB
    # U.S. and O'Brien are one word; km² is km2, but 10⁶ is not 106.
    r"|(?P<joined>(?<!\.)\.(?![.\d])|['‘ʻ](?!\d)|(?<=[^\W\d_])\^(?=\d))"
    r"|[\W_]"
)


class AnswerLine(NamedTuple):
    """The line of a reply that gives the answer.

    Attributes:
        text: the line without reasoning, marker, bold marks and outer spaces; "" where there is no answer line.
        last: whether no line follows it, so that it is cut, or never came, if the reply was cut at its limit.
    """

    text: str
    last: bool


class Match(NamedTuple):
    """How an answer compares with the gold answers.

    Attributes:
        correct: its normal form is that of one of them.
        raw: it is one of them as written, outer spaces aside.
        contained: the normal form of one of them occurs in its own, as whole words.
    """

    correct: bool
    raw: bool
    contained: bool


def answer_line(text: str, reasoning: Reasoning) -> AnswerLine:
    """Find the answer in a reply, its reasoning blocks taken out before.

    Args:
        text: the reply as received.
        reasoning: "direct": the first line that is not empty; "cot": the first such line of what follows the last
            "Answer:", in any case and also in bold; no such marker, no answer line.
    """
    bare = strip_reasoning(text)
    if reasoning == "cot":
        _, *after = _MARKER.split(bare)
        bare = after[-1] if after else ""
    lines = bare.split("\n")
    for place, line in enumerate(lines):
        said = line.strip().strip("*").strip()
        if said and not _RULE.fullmatch(said):
            return AnswerLine(said, place == len(lines) - 1)
    return AnswerLine("", True)


def normalise(text: str, yes_no: bool = False) -> str:
    """Bring an answer to its normal form; "" only for blank text.

    NFKC, lower case; punctuation and symbols dropped, but not "." and a leading "-" inside numbers, and not the + and #
    that end a word; no thousands separators; a, an and the dropped unless they come last, where they are names
    (vitamin A); single spaces; zero to twenty as digits. Text of nothing but punctuation stays what it is.

    Args:
        text: the answer.
        yes_no: the gold answer is yes or no: an answer whose first word is one of the two is that word.
    """
    # An asterisk parts what it stands between: 3*5 is not 35.
    lower = unicodedata.normalize("NFKC", plain(text.replace("*", " ")).casefold())
    tokens = _PIECE.sub(_piece, _INITIALS.sub(r"\1", lower)).split()
    if not tokens:
        return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if yes_no and tokens[0] in _YES_NO:
        return tokens[0]
    kept = [token for token in tokens[:-1] if token not in _ARTICLES] + tokens[-1:]
    return " ".join(_NUMBER_WORDS.get(token, token) for token in kept)


def is_yes_no(gold: str) -> bool:
    """Whether a gold answer is yes or no and nothing else."""
    return normalise(gold) in _YES_NO


def matches(answer: str, golds: Sequence[str], yes_no: bool) -> Match:
    """Compare an answer with every accepted one; a blank answer matches nothing.

    Args:
        answer: the answer line.
        golds: the gold answer and its aliases.
        yes_no: whether the gold answer is yes or no: then the first word decides. "No Country for Old Men" is no "no".
    """
    own = normalise(answer)
    if not own:
        return Match(False, False, False)
    return Match(
        correct=normalise(answer, yes_no) in {normalise(gold, yes_no) for gold in golds},
        raw=answer.strip() in {gold.strip() for gold in golds},
        contained=any(_holds(own, normalise(gold)) for gold in golds),
    )


def _holds(answer: str, gold: str) -> bool:
    """Whether an answer holds a gold answer, both in normal form; Han and kana have no spaces to tell words by."""
    return bool(gold) and (f" {gold} " in f" {answer} " or (bool(_HAS_CJK.search(gold)) and gold in answer))


def _piece(found: re.Match[str]) -> str:
    """What becomes of a number or of a character that is no letter."""
    if found["number"]:
        return ("-" if found["minus"] else "") + found["number"].replace(",", "")
    if found["kept"]:
        return found[0]
    category = unicodedata.category(found[0])
    if category.startswith("M"):  # a vowel sign is part of its word
        return found[0]
    return "" if found["joined"] or category == "Cf" else " "
