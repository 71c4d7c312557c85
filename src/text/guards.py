"""What must not be merged unseen: near-identical sentences that state different facts.

Sentence vectors hardly tell 1990 from 1991, GPT-3 from GPT-4 or "increases" from "decreases". A guard finds such a
pair by rule, so that it goes to a judge instead of being merged. It may raise a false alarm, which costs one
judgement; silence would cost a fact. English in some depth, basic negators and opposites of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from src.text.quantities import Quantity, identifiers, quantities
from src.text.words import plain, stem, words

_NEGATION = re.compile(
    r"\b(?:not(?! only)|no|never|without|cannot|neither|nor|none|nobody|nothing|nowhere|unable|lacks?|lacking)\b|n't\b"
    r"|\bfail(?:s|ed|ing)? to\b|\bnon(?:-|(?!etheless|sense|stop)(?=[a-z]{4}))"
    r"|\b(?:nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|nunca|sin|jamás|non|senza|não|nunca|sem)\b"  # de fr es it pt
    r"|\b(?:не|нет|никогда|без)\b|\b(?:لا|لم|لن|ليس\w*|بدون)\b|नहीं|[不没沒无無非未]|ない|ません|않|못|없"
)

# One dimension per entry: words that mean more of it, words that mean less. A star marks a beginning of words.
_OPPOSITES = (
    (
        "increase grow grew growth rise rose raise high higher highest more most greater greatest large larger largest"
        " big bigger biggest great exceed above upper strengthen amplify expand accelerate maxim*"
        " увелич* больше выше рост* aument* augment* erhöh* steig* höher 增 升 高 大 多 快 强",
        "decrease reduce reduction shrink shrank fall fell drop decline diminish lessen low lower lowest less least"
        " fewer small smaller smallest below weaken contract slow minim*"
        " уменьш* меньше ниже сниж* dismin* diminu* verring* senk* sink* niedriger 减 降 低 小 少 慢 弱",
    ),
    (
        "before earlier early earliest precede begin began start prior до 前",
        "after later late latest end finish follow после 后",
    ),
    ("good better best improve advantage benefit", "bad worse worst worsen degrade disadvantage drawback"),
    ("fast faster fastest quick", "slow slower slowest"),
    ("long longer longest", "short shorter shortest"),
    ("strong stronger", "weak weaker"),
    ("always all every", "rarely seldom few"),
    ("allow enable permit", "prevent block prohibit"),
    ("positive 正", "negative 负"),
)
_PAIRS = """
    deep/shallow dense/sparse local/global discrete/continuous deterministic/stochastic static/dynamic
    sequential/parallel left/right north/south east/west true/false even/odd add/remove accept/reject forward/backward
    horizontal/vertical row/column easy/hard hot/cold gain/loss win/lose won/lost buy/sell bought/sold open/close
    push/pull male/female mother/father wife/husband son/daughter brother/sister necessary/sufficient
"""
# The same word behind opposite beginnings: stable and unstable, encoder and decoder.
_BEGINNINGS = """
    un/ in/ im/ ir/ il/ dis/ de/ anti/ a/ en/de in/de in/out in/ex im/ex con/di over/under hyper/hypo pre/post
    inter/intra macro/micro homo/hetero up/down for/back
"""


def _split(pairs: str) -> list[tuple[str, str]]:
    return [(one, other) for one, _, other in (pair.partition("/") for pair in pairs.split())]


def _table() -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    exact: dict[str, tuple[int, int]] = {}
    beginnings: dict[str, tuple[int, int]] = {}
    for dimension, sides in enumerate([*_OPPOSITES, *_split(_PAIRS)]):
        for side, listed in enumerate(sides):
            for word in listed.split():
                if word.endswith("*"):
                    beginnings[word[:-1]] = (dimension, side)
                else:
                    exact.setdefault(stem(word), (dimension, side))
    return exact, beginnings


_SIDES, _SIDES_BY_BEGINNING = _table()
_TURNS = _split(_BEGINNINGS)
_ANY_BEGINNING = tuple(_SIDES_BY_BEGINNING)


@dataclass(frozen=True)
class Facets:
    """What the guards compare of a sentence; computed once where a sentence meets many others.

    Attributes:
        numbers, years: quantities in order, those that read as years apart.
        identifiers: names that carry numbers, in order.
        negations: how many negators there are.
        stems: the words, uninflected.
        sides: per dimension of opposites the sides taken, in order.
    """

    numbers: tuple[Quantity, ...]
    years: tuple[Quantity, ...]
    identifiers: tuple[str, ...]
    negations: int
    stems: frozenset[str]
    sides: Mapping[int, tuple[int, ...]]


def facets(text: str) -> Facets:
    """Take a sentence apart for :func:`compare`."""
    text = plain(text)
    names, rest = identifiers(text)
    found = quantities(rest)
    stems = [stem(word) for word in words(text)]
    return Facets(
        numbers=tuple(quantity for quantity in found if not quantity.is_year),
        years=tuple(quantity for quantity in found if quantity.is_year),
        identifiers=names,
        negations=len(_NEGATION.findall(text.lower())),
        stems=frozenset(stems),
        sides=_sides(stems),
    )


def compare(a: Facets, b: Facets) -> str:
    """Name the first kind in which two sentences differ, as :func:`difference` does."""
    if [number.value for number in a.numbers] != [number.value for number in b.numbers]:
        return "number"
    if a.numbers != b.numbers:
        return "unit"
    if a.years != b.years:
        return "year"
    if a.identifiers != b.identifiers:
        return "identifier"
    if a.negations != b.negations:
        return "negation"
    only_a, only_b = a.stems - b.stems, b.stems - a.stems
    opposed = _opposed(a.sides, b.sides) or _turned(only_a, only_b) or _turned(only_b, only_a)
    return "antonym" if opposed else ""


def difference(a: str, b: str) -> str:
    """Name the first kind in which two sentences differ: number, unit, year, identifier, negation, antonym; else "".

    Symmetric; "" for identical texts. Numbers and identifiers are compared in order, since "GPT-4 beats GPT-3" is not
    "GPT-3 beats GPT-4"; values, not spellings: `1,000` is `1000`, `five` is `5`, `5 mg` is `5 milligrams`.
    """
    return "" if a == b else compare(facets(a), facets(b))


def _opposed(a: Mapping[int, tuple[int, ...]], b: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether the texts take different sides of a dimension that both speak of."""
    for dimension in a.keys() & b.keys():
        one, other = a[dimension], b[dimension]
        if one != other if len(one) == len(other) else set(one).isdisjoint(other):
            return True
    return False


def _sides(stems: Iterable[str]) -> dict[int, tuple[int, ...]]:
    sides: dict[int, list[int]] = {}
    for word in stems:
        found = _SIDES.get(word)
        if found is None and word.startswith(_ANY_BEGINNING):
            found = next(_SIDES_BY_BEGINNING[beginning] for beginning in _ANY_BEGINNING if word.startswith(beginning))
        if found is not None:
            sides.setdefault(found[0], []).append(found[1])
    return {dimension: tuple(taken) for dimension, taken in sides.items()}


def _turned(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether a word of `a` has its opposite by beginning in `b`."""
    return any(
        word.startswith(here) and len(word) > len(here) + 2 and there + word[len(here) :] in b
        for word in a
        for here, there in _TURNS
    )
