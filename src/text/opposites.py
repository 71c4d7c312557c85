"""Words that take sides: opposites, and words that say how many, how sure and how often.

Sentence vectors put "increases" beside "decreases" and "must" beside "may", since they stand in the same sentences.
English in some depth, basic opposites of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from src.text.words import stem, word_set

Sides = Mapping[int, tuple[int, ...]]
"""Per dimension of which a text speaks the sides it takes, in order."""

# One dimension per entry, one text per side of it. A star marks a beginning of words.
_OPPOSITES = (
    (
        "increase grow grew growth rise rose raise high higher highest more most greater greatest large larger largest"
        " big bigger biggest great exceed above upper strengthen amplify expand accelerate enlarge maxim*"
        " увелич* больше выше рост* aument* augment* erhöh* steig* höher 增 升 高 大 多 快 强",
        "decrease reduce reduction shrink shrank fall fell drop decline diminish lessen low lower lowest less least"
        " fewer small smaller smallest below weaken contract slow minim*"
        " уменьш* меньше ниже сниж* dismin* diminu* verring* senk* sink* niedriger 减 降 低 小 少 慢 弱",
    ),
    (
        "before earlier early earliest precede begin began beginning begun start prior до 前",
        "after later late latest end finish follow after après nach después 后",
    ),
    ("good better best improve advantage benefit", "bad worse worst worsen degrade disadvantage drawback"),
    ("fast faster fastest quick", "slow slower slowest"),
    ("long longer longest", "short shorter shortest"),
    ("strong stronger", "weak weaker"),
    ("allow enable permit approve", "prevent block prohibit forbid forbidden ban"),
    ("cause produce create", "prevent avoid"),
    ("positive 正", "negative 负"),
    ("double twice", "halve half", "triple thrice", "quarter", "quadruple"),
    ("winter", "summer", "autumn"),
)
_PAIRS = """
    deep/shallow dense/sparse local/global discrete/continuous deterministic/stochastic static/dynamic
    sequential/parallel left/right north/south east/west true/false even/odd add/remove accept/reject forward/backward
    horizontal/vertical row/column easy/hard hot/cold gain/loss gain/lose gain/lost win/lose won/lost buy/sell
    bought/sold open/close push/pull male/female mother/father wife/husband son/daughter brother/sister he/she him/her
    his/her actor/actress necessary/sufficient include/exclude contain/lack first/last alive/dead live/dead
    acute/chronic absorb/release absorb/emit numerator/denominator prior/posterior generative/discriminative
    lossless/lossy sum/product sum/difference vein/artery over/under into/out
    and/or old/new wide/narrow thick/thin rich/poor heavy/light
    on/off rough/smooth smooth/sharp legal/illegal finite/infinite simple/complex single/multiple fixed/variable
    public/private real/imaginary primary/secondary absolute/relative profit/loss ancestor/descendant parent/child
    teacher/student cause/effect attack/defend lend/borrow arrive/leave freeze/melt attract/repel create/destroy
    succeed/fail pass/fail rural/urban winner/loser employer/employee attached/detached major/minor
"""
_SCOPES = (
    (
        "all every each always entire whole",
        "most mostly majority usually typical typically",
        "many often several various numerous multiple frequent frequently",
        "some sometimes occasional occasionally",
        "few rare rarely seldom hardly scarcely minority",
    ),
    ("must shall require need necessary", "should ought", "can able capable", "may might could"),
    ("both", "either"),
    ("exactly precisely", "about approximately around roughly nearly almost"),
    ("possible", "impossible"),
    ("sufficient sufficiently", "insufficient insufficiently"),
)
# The same word behind opposite beginnings: stable and unstable, encoder and decoder.
_BEGINNINGS = """
    un/ in/ im/ ir/ il/ dis/ de/ anti/ a/ en/de in/de in/out in/ex im/ex con/di over/under hyper/hypo pre/post
    inter/intra macro/micro homo/hetero up/down for/back exo/endo multi/uni multi/mono
"""
# What narrows a statement or makes it less sure, whatever the other text says.
_ONLY = re.compile(r"(?<!not )\b(?:only|solely|exclusively)\b")
_HEDGE = re.compile(r"\b(?:may(?! \d)|might|could|possibly|perhaps|potentially|almost|nearly|hardly|barely)\b")


def _split(pairs: str) -> list[tuple[str, str]]:
    return [(one, other) for one, _, other in (pair.partition("/") for pair in pairs.split())]


_TURNS = _split(_BEGINNINGS)


class _Dimensions:
    """A table of dimensions, each with the words of its sides."""

    def __init__(self, dimensions: Iterable[tuple[str, ...]]) -> None:
        self._exact: dict[str, list[tuple[int, int]]] = {}
        self._beginnings: dict[str, tuple[int, int]] = {}
        for dimension, sides in enumerate(dimensions):
            for side, listed in enumerate(sides):
                for word in word_set(listed):
                    if word.endswith("*"):
                        self._beginnings[word[:-1]] = (dimension, side)
                    else:
                        self._exact.setdefault(stem(word), []).append((dimension, side))
        self._any = tuple(self._beginnings)

    def places(self, word: str) -> list[tuple[int, int]]:
        """The (dimension, side) that a stem stands for; most stems stand for none."""
        found = self._exact.get(word, [])
        if not found and word.startswith(self._any):
            found = [next(self._beginnings[beginning] for beginning in self._any if word.startswith(beginning))]
        return found

    def sides(self, stems: Iterable[str]) -> Sides:
        taken: dict[int, list[int]] = {}
        for word in stems:
            for dimension, side in self.places(word):
                taken.setdefault(dimension, []).append(side)
        return {dimension: tuple(sides) for dimension, sides in taken.items()}


_MEANINGS = _Dimensions([*_OPPOSITES, *_split(_PAIRS)])
_QUALIFIERS = _Dimensions(_SCOPES)


@dataclass(frozen=True)
class Stances:
    """The sides that a text takes.

    Attributes:
        meanings: of opposites.
        scopes: of how many, how sure, how often.
        narrowed, hedged: how often it says "only", and whether it says "may" or "almost".
        stems: its words, uninflected.
    """

    meanings: Sides
    scopes: Sides
    narrowed: int
    hedged: bool
    stems: frozenset[str]


def stances(text: str, stems: list[str]) -> Stances:
    """The sides that a plain text in lower case takes, whose stems in order are given."""
    return Stances(
        _MEANINGS.sides(stems),
        _QUALIFIERS.sides(stems),
        len(_ONLY.findall(text)),
        bool(_HEDGE.search(text)),
        frozenset(stems),
    )


def scope_differs(a: Stances, b: Stances) -> bool:
    """Whether two texts claim it of other numbers of things, of other times, or with other certainty."""
    return a.narrowed != b.narrowed or a.hedged != b.hedged or _opposed(_sorted(a.scopes), _sorted(b.scopes))


def opposed(a: Stances, b: Stances) -> bool:
    """Whether two texts take different sides of a dimension that both speak of."""
    only_a, only_b = a.stems - b.stems, b.stems - a.stems
    return _opposed(a.meanings, b.meanings) or _turned(only_a, only_b) or _turned(only_b, only_a)


def synonyms(a: str, b: str) -> bool:
    """Whether two stems are known to take the same side of one dimension."""
    return any(not set(table.places(a)).isdisjoint(table.places(b)) for table in (_MEANINGS, _QUALIFIERS))


def _opposed(a: Sides, b: Sides) -> bool:
    for dimension in a.keys() & b.keys():
        one, other = a[dimension], b[dimension]
        if one != other if len(one) == len(other) else set(one).isdisjoint(other):
            return True
    return False


def _sorted(sides: Sides) -> Sides:
    return {dimension: tuple(sorted(taken)) for dimension, taken in sides.items()}


def _turned(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether a word of `a` has its opposite by beginning in `b`."""
    return any(
        word.startswith(here) and len(word) > len(here) + 2 and there + word[len(here) :] in b
        for word in a
        for here, there in _TURNS
    )
