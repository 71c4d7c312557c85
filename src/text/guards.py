"""What must not be merged unseen: near-identical sentences that state different facts.

Sentence vectors hardly tell 1990 from 1991, GPT-3 from GPT-4, "increases" from "decreases" or "A inhibits B" from
"B inhibits A". A guard finds such a pair by rule, so that it goes to a judge instead of being merged. It may raise a
false alarm, which costs one judgement; silence would cost a fact. English in some depth, basic negators and opposites
of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from src.text.opposites import Stances, opposed, scope_differs, stances
from src.text.order import directions, names, reordered, replaced, sequence
from src.text.quantities import Quantity, identifiers, quantities
from src.text.relations import signs, with_signs
from src.text.words import plain, stem, words

LONGEST = 4_000
"""Characters of a text that are taken apart, far more than a statement has; what lies beyond must be equal.

They are those of the normal form, which can be 18 times as long as the text.
"""

_NEGATION = re.compile(
    r"\b(?:not(?! only)|no|never|without|cannot|neither|nor|none|nobody|nothing|nowhere|unable|lacks?|lacking)\b|n't\b"
    r"|\bfail(?:s|ed|ing)? to\b|\bnon(?:-|(?!etheless|sense|stop)(?=[a-z]{4}))"
    r"|\b(?:nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|nunca|sin|jamás|non|senza|não|nunca|sem)\b"  # de fr es it pt
    r"|\b(?:не|нет|никогда|без)\b|\b(?:لا|لم|لن|ليس\w*|بدون)\b|नहीं|[不没沒無无非未]|ない|ません|않|못|없"
)


@dataclass(frozen=True)
class Facets:
    """What the guards compare of a sentence; computed once where a sentence meets many others.

    Attributes:
        numbers, years: quantities in order, those that read as years apart.
        identifiers: names that carry numbers, in order.
        signs: `<`, `=` … in order, and bounds of numbers said in words.
        negations: how many negators there are.
        stances: the sides it takes of opposites, and how much it claims.
        sequence: the content words, agent first.
        directions: where something goes, and where it comes from.
        names: capitalised words inside a sentence.
        beyond: what follows the first LONGEST characters, as it stands.
    """

    numbers: tuple[Quantity, ...]
    years: tuple[Quantity, ...]
    identifiers: tuple[str, ...]
    signs: tuple[str, ...]
    negations: int
    stances: Stances
    sequence: tuple[str, ...]
    directions: Mapping[str, bool]
    names: frozenset[str]
    beyond: str


def facets(text: str) -> Facets:
    """Take a sentence apart for :func:`compare`."""
    whole = plain(text)
    text = with_signs(whole[:LONGEST])
    carriers, rest = identifiers(text)
    found, rest = quantities(rest)
    return Facets(
        numbers=tuple(quantity for quantity in found if not quantity.is_year),
        years=tuple(quantity for quantity in found if quantity.is_year),
        identifiers=carriers,
        signs=signs(text),
        negations=len(_NEGATION.findall(text.lower())),
        stances=stances(text.lower(), [stem(word) for word in words(text)]),
        sequence=sequence(rest),
        directions=directions(text),
        names=names(text),
        beyond=whole[LONGEST:],
    )


def compare(a: Facets, b: Facets) -> str:
    """Name the first kind in which two sentences differ, as :func:`difference` does."""
    if [number.value for number in a.numbers] != [number.value for number in b.numbers]:
        return "number"
    if a.numbers != b.numbers:
        return "unit"
    for kind in ("years", "identifiers", "signs"):
        if getattr(a, kind) != getattr(b, kind):
            return kind.removesuffix("s")
    if a.negations != b.negations:
        return "negation"
    if opposed(a.stances, b.stances):
        return "antonym"
    if scope_differs(a.stances, b.stances):
        return "scope"
    if a.names - b.stances.stems and b.names - a.stances.stems:
        return "name"
    turned = any(a.directions[word] != b.directions[word] for word in a.directions.keys() & b.directions.keys())
    if turned or reordered(a.sequence, b.sequence):
        return "order"
    return "word" if a.beyond != b.beyond or replaced(a.sequence, b.sequence) else ""


def difference(a: str, b: str) -> str:
    """Name the first kind in which two sentences differ; "" if a vector may be trusted to tell.

    The kinds are number, unit, year, identifier, sign, negation, antonym, scope (all and some, must and may, only),
    name, order (who does what to whom) and word (one or two words in the place of others, or anything past the first
    LONGEST characters). Symmetric; "" for identical texts. Numbers, identifiers and signs are compared in order, since
    "GPT-4 beats GPT-3" is not "GPT-3 beats GPT-4"; values, not spellings: `1,000` is `1000`, `five` is `5`, `5 mg` is
    `5 milligrams`, `at most 5` is `≤ 5`.
    """
    return "" if a == b else compare(facets(a), facets(b))
