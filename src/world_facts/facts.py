"""What a fact is, and how names are spelled and compared."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """A question with one right answer.

    Attributes:
        kind: what it is about, such as `capital`.
        question: one clear sentence.
        answer: the right answer.
        aliases: other spellings of the same answer, without doubles.
    """

    kind: str
    question: str
    answer: str
    aliases: tuple[str, ...] = ()


def fact(kind: str, question: str, *golds: str) -> Fact:
    """A fact from all the spellings of its answer, the first of which is the answer; doubles are dropped."""
    answer, *aliases = dict.fromkeys(golds)
    return Fact(kind, question, answer, tuple(aliases))


def bare(name: str) -> str:
    """A name without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))


def folded(name: str) -> str:
    """What two spellings of one name have in common: letters and digits without accents and case."""
    return "".join(sign for sign in bare(name).replace("Saint ", "St ").casefold() if sign.isalnum())


def spelled(*names: str) -> list[str]:
    """Every name as given, without accents, and with "Saint" written out and shortened."""
    found = []
    for name in names:
        whole = name.replace("St. ", "Saint ")
        found += [name, bare(name), whole, whole.replace("Saint ", "St. "), whole.replace("Saint ", "St ")]
    return list(dict.fromkeys(found))
