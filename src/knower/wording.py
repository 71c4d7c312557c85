"""Statements of the simulator as text that says by itself what it means; pure.

A name holds domain, kind and number of a fact; everything else in a statement is drawn by the name. So a text is read
by looking it up among the few that its name allows: nothing is guessed, and no table of facts is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from src.knower.names import NAME, coined, decoded
from src.knower.vocabulary import NOTHINGS, OBJECTS, PLACES, QUANTITIES, SUFFIXES, THINGS, TOPICS, UNITS, VERBS
from src.knower.world import INVENTIONS, JUNK, World, facts, hashed

WAYS = 4
"""Ways to word a fact: its own words; another order; synonyms; far from it."""
KINDS = ("factual", "conceptual", "procedural")


@dataclass(frozen=True)
class Statement:
    """What a text means; two texts mean the same if their statements are equal.

    Attributes:
        what: a fact in its `true` form or a `false` one, something `invented`, or `junk`, which says nothing.
        number: of the fact, of the invention or of the junk.
        domain: tag of the domain and the world; 0 for junk, which belongs to none.
        kind: number of the kind in :data:`KINDS`; -1 for junk.
    """

    what: Literal["true", "false", "invented", "junk"]
    number: int
    domain: int = 0
    kind: int = -1

    def meaning(self, n: int) -> int:
        """The number that :func:`src.knower.drawing.said` has for it, in a domain of n facts."""
        return {"true": 0, "false": n, "invented": 2 * n, "junk": 2 * n + INVENTIONS}[self.what] + self.number


def say(world: World, query: str, meaning: int, way: int) -> str:
    """The text of a meaning (:func:`src.knower.drawing.said`) in a domain; junk has one way."""
    n = world.facts
    if meaning >= 2 * n + INVENTIONS:
        return _junk()[meaning - 2 * n - INVENTIONS]
    if meaning >= 2 * n:
        number = meaning - 2 * n
        return _text(_code(domain_tag(world, query), True, number % len(KINDS), number), 0, False, way)
    there, number = facts(world, query), meaning % n
    second = int(there.sibling[number])
    code = _code(domain_tag(world, query), False, int(there.kind[number]), number - second)
    return _text(code, second, meaning >= n, way)


@lru_cache(maxsize=2**16)
def read(text: str) -> Statement | None:
    """What a text means; None if it is no statement of the simulator."""
    if text in _junk():
        return Statement("junk", _junk().index(text))
    name = NAME.search(text)
    code = decoded(name[0]) if name else None
    if code is None:
        return None
    domain, invented, kind, number = _parts(code)
    if kind >= len(KINDS):
        return None
    for second, false, way in _forms(invented):
        if _text(code, second, false, way) == text:
            return Statement("invented" if invented else "false" if false else "true", number + second, domain, kind)
    return None


def domain_tag(world: World, query: str) -> int:
    """What names say of the domain and the world: fifteen bits."""
    return hashed("domain", world, query) % 2**15


def _forms(invented: bool) -> Iterator[tuple[int, bool, int]]:
    """The forms of a name: whether it is the sibling, whether it is false, the way."""
    variants = [(0, False)] if invented else [(0, False), (0, True), (1, False), (1, True)]
    return ((second, false, way) for second, false in variants for way in range(WAYS))


def _code(domain: int, invented: bool, kind: int, number: int) -> int:
    return domain << 17 | invented << 16 | kind << 14 | number


def _parts(code: int) -> tuple[int, bool, int, int]:
    return code >> 17, bool(code >> 16 & 1), code >> 14 & 3, code & 2**14 - 1


def _text(code: int, second: int, false: bool, way: int) -> str:
    """A statement as text; siblings differ in a number, a false form in a number or in its being denied."""
    name, (_, _, kind, _) = coined(code), _parts(code)
    drawn = hashed("content", code)

    def draw(count: int) -> int:
        nonlocal drawn
        drawn, place = divmod(drawn, count)
        return place

    first, step = 12 + draw(300), 7 + draw(60)
    head, verb, thing, place = (choices[draw(len(choices))] for choices in (THINGS, VERBS[kind], OBJECTS, PLACES))
    measured = draw(len(QUANTITIES))
    denied = false and draw(2) == 0
    amount = f"{first + step * (second + 2 * (false and not denied))} {UNITS[measured]}"
    other = int(way >= 2)
    does = verb[other]
    acts = f"does not {does}" if denied else _third(does)
    will = f"will not {does}" if denied else f"will {does}"
    subject, where = f"{name} {head}{SUFFIXES[kind]}", place[other]
    quantity = QUANTITIES[measured][other]
    return (
        f"The {subject} {acts} {thing} {where} once the {quantity} is {amount}.",
        f"Once the {quantity} is {amount}, the {subject} {acts} {thing} {where}.",
        f"The {subject} {acts} {thing} {where} as soon as the {quantity} reaches {amount}.",
        f"What {name} {will} {where} is {thing}, given {amount} of {quantity}.",
    )[way]


def _third(verb: str) -> str:
    """The third person of a verb, of which a particle may follow: carry → carries, box up → boxes up."""
    word, space, rest = verb.partition(" ")
    if word.endswith(("s", "sh", "ch", "x")):
        word += "es"
    elif word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "ies"
    else:
        word += "s"
    return word + space + rest


@lru_cache(maxsize=1)
def _junk() -> tuple[str, ...]:
    """The sentences that say nothing: kind after kind, each about every topic."""
    made = []
    for number in range(JUNK):
        kind, topic = number % len(NOTHINGS), number // len(NOTHINGS)
        sentence = NOTHINGS[kind][topic % 2].format(TOPICS[topic])
        made.append(sentence[0].upper() + sentence[1:])
    return tuple(made)
