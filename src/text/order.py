"""Who does what to whom: the content words of a sentence in an order that does not depend on how it is built.

"Rome defeated Carthage" and "Carthage defeated Rome" have the same words and nearly the same vector. What changes the
order but no fact is undone first: a fronted adjunct, the passive voice, the genitive, two words joined by "and", and
adverbs, which stand anywhere. What is left is compared as it stands, so a rarer way to build the same sentence is a
false alarm. English only.
"""

from __future__ import annotations

import re
from collections import Counter

from src.text.opposites import synonyms
from src.text.words import STOP_WORDS, stem, word_set, words

_MOST_REPLACED = 2
_MOST_SYNONYMS = 8  # sentences that differ in more words than this are no near-identical ones
_FRONTED = re.compile(
    r"((?:after|although|as|at|because|before|by|during|for|from|given|if|in|on|once|since|through|to|under|unless"
    r"|unlike|until|using|when|while|with|within|without)\b[^,]*?)(?:,| then\b)\s*(.+)",
    re.DOTALL | re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"(.*?)\b(?:is|are|was|were|be|been|being)((?: \w+ly)? \w+)((?: \w+){0,4}?) by (?!\d|(?-i:[a-z]+ing\b))(.*)",
    re.DOTALL | re.IGNORECASE,
)
# "A form of regularisation is dropout" says that dropout is one.
_INVERTED = re.compile(
    r"((?:an?|the|one) .+?) (?:is|are|was|were)((?! an? | the | not ) \w+(?: \w+){0,2})", re.IGNORECASE
)
_ADJUNCT = re.compile(r",| (?:after|as|at|before|by|during|for|from|in|on|through|to|under|when|while|with|within)\b")
_GENITIVE = re.compile(r"'s (?=\w)")
_ARTICLES = word_set("a an the its their his her our this these that")
_OWN_NOTHING = word_set("all compose composed consist consisting consists made many most number part some")
_SOURCE = word_set("from off of")
_DIRECTION = re.compile(
    r"\b(from|out of|off|to|into|onto|towards?) (?:(?:an?|the|its|their|his|her|this|that) )?([^\W\d_]+)"
)
_CAPITAL = re.compile(r"(?<![.!?:] )(?<!^)(?<![\w'-])[A-Z][^\W\d_]+")
_BRITISH = ((re.compile(r"(?<=[a-z]{3})is(?=$|er$|ation$|abl$)"), "iz"), (re.compile(r"(?<=[a-z]{2})our"), "or"))


def sequence(text: str) -> tuple[str, ...]:
    """The stems of the content words: agent, action, object, adjuncts.

    Args:
        text: normalised by :func:`src.text.words.plain`, without its numbers and units.
    """
    text = text.strip(" .")
    if fronted := _FRONTED.fullmatch(text):
        text = f"{fronted[2]} {fronted[1]}"
    text = _GENITIVE.sub(" ", text)
    if passive := _PASSIVE.fullmatch(text):
        patient, action, between, rest = passive.groups()
        adjunct = _ADJUNCT.search(rest)
        end = adjunct.start() if adjunct else len(rest)
        text = f"{rest[:end]} {action} {patient} {between} {rest[end:]}"
    elif inverted := _INVERTED.fullmatch(text):
        text = f"{inverted[2]} {inverted[1]}"
    tokens = [word for word in words(text) if word not in _ARTICLES]
    if "respectively" not in tokens:
        _sort_joined(tokens)
    _compound(tokens)
    return tuple(_spelt(stem(word)) for word in tokens if word not in STOP_WORDS and not word.endswith("n't"))


def reordered(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether words that two sequences share, once in each, stand in another order."""
    counted = Counter(a), Counter(b)
    shared = {word for word in a if counted[0][word] == counted[1][word] == 1 and not word.endswith("ly")}
    return [word for word in a if word in shared] != [word for word in b if word in shared]


def replaced(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether one or two words of a sequence stand in the place of one or two of the other, and the rest is the same.

    Such a pair says the same of something else, unless the words are synonyms: a vector cannot tell.
    """
    only_a, only_b = list((Counter(a) - Counter(b)).elements()), list((Counter(b) - Counter(a)).elements())
    if max(len(only_a), len(only_b)) > _MOST_SYNONYMS:
        return False
    for word in tuple(only_a):
        if other := next((other for other in only_b if synonyms(word, other)), None):
            only_a.remove(word)
            only_b.remove(other)
    return 0 < len(only_a) <= _MOST_REPLACED and 0 < len(only_b) <= _MOST_REPLACED


def directions(text: str) -> dict[str, bool]:
    """Per word behind a preposition of direction, as a stem, whether it is where something comes from."""
    return {stem(word): start.split()[-1] in _SOURCE for start, word in _DIRECTION.findall(text.lower())}


def names(text: str) -> frozenset[str]:
    """The stems of capitalised words that do not begin a sentence."""
    return frozenset(stem(word.lower()) for word in _CAPITAL.findall(text))


def _sort_joined(tokens: list[str]) -> None:
    """Put two words joined by "and" or "or" into one order."""
    for place in range(1, len(tokens) - 1):
        before, after = tokens[place - 1], tokens[place + 1]
        if tokens[place] in ("and", "or") and before not in STOP_WORDS and after not in STOP_WORDS:
            tokens[place - 1], tokens[place + 1] = sorted((before, after))


def _compound(tokens: list[str]) -> None:
    """Put "flow of information" as "information flow"."""
    for place in range(1, len(tokens) - 1):
        owned, owner = tokens[place - 1], tokens[place + 1]
        if tokens[place] == "of" and owned not in _OWN_NOTHING and STOP_WORDS.isdisjoint((owned, owner)):
            tokens[place - 1], tokens[place + 1] = owner, owned


def _spelt(word: str) -> str:
    """One spelling for British and American English."""
    for british, american in _BRITISH:
        word = british.sub(american, word)
    return word
