"""What the rehearsal answers: lists, names, experts, criticisms and labels, made from the messages alone (pure)."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence

UNASKED = 8
"""Items of a list whose length was not asked for."""

SUBJECTS = ("The Adler", "The Bell", "The Cauchy", "The Dirac", "The Euler", "The Fisher", "The Gauss", "The Hebb")
THINGS = ("gate", "kernel", "loss", "prior", "layer", "sampler", "filter", "bound", "schedule", "estimator")
EFFECTS = ("reduces variance", "stabilises gradients", "removes bias", "speeds convergence", "limits drift")
PLACES = ("sparse regression", "speech models", "graph networks", "robot control", "image search", "protein folding")

_EXPERTS = re.compile(r"describe each\b[^.\n]*\bone sentence|single sentence (?:for|on what) each", re.IGNORECASE)
_NAMES = re.compile(r"names only|just its title", re.IGNORECASE)
_COUNT = re.compile(r"\b(?:exactly|list) (\d+)", re.IGNORECASE)
_LABEL = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b")


def derived(messages: Sequence[Mapping[str, str]], facts: int = 400) -> str:
    """Answer as a model would that has been asked by one of the project's prompts.

    - The last line asks for a label and names some in capitals: one of them, by hash of the messages.
    - "answer alone": one short name, behind "Answer:" if that is asked for.
    - "names only": short names. "Describe each in one sentence": experts.
    - "NEW POINTS": a criticism, that line, and a list of facts. Anything else: a list of facts.
    - "exactly N", "list N": so many items, otherwise 8; "numbered list" is one, otherwise it has bullets.

    Facts come from one world of `facts` sentences whatever the topic, so that they repeat more and more.

    Args:
        messages: of the request; the last one is the question.
        facts: size of the world.
    """
    chance = random.Random(hashlib.sha256(json.dumps(messages).encode()).hexdigest())
    asked = messages[-1]["content"]
    last = asked.rstrip().rpartition("\n")[2]
    labels: list[str] = _LABEL.findall(last) if "label" in last.lower() else []
    if len(labels) > 1:
        return chance.choice(labels)
    if "answer alone" in asked:
        return ("Answer: " if "Answer:" in asked else "") + name(chance.randrange(len(THINGS) * len(PLACES)))
    numbers = _COUNT.findall(asked)
    count = int(numbers[-1]) if numbers else UNASKED
    if _NAMES.search(asked):  # from so many that a child is hardly ever called like its parent
        lines = [name(number) for number in chance.sample(range(10**6), count)]
    elif _EXPERTS.search(asked):
        lines = [expert(number) for number in chance.sample(range(10**6), count)]
    else:
        lines = [fact(number) for number in chance.sample(range(max(facts, count)), count)]
    numbered = "numbered list" in asked
    listed = "\n".join(f"{f'{place}.' if numbered else '-'} {line}" for place, line in enumerate(lines, start=1))
    return f"{criticism(chance)}\n\nNEW POINTS\n{listed}" if "NEW POINTS" in asked else listed


def fact(number: int) -> str:
    """Fact `number` of the world; all differ."""
    rest, subject = divmod(number, len(SUBJECTS))
    rest, thing = divmod(rest, len(THINGS))
    rest, place = divmod(rest, len(PLACES))
    rest, effect = divmod(rest, len(EFFECTS))
    more = f" of order {rest}" if rest else ""
    return f"{SUBJECTS[subject]} {THINGS[thing]}{more} {EFFECTS[effect]} in {PLACES[place]}."


def name(number: int) -> str:
    """Name `number`; all differ."""
    rest, thing = divmod(number, len(THINGS))
    rest, place = divmod(rest, len(PLACES))
    return f"{PLACES[place].title()} {THINGS[thing].title()}s" + (f" {rest}" if rest else "")


def expert(number: int) -> str:
    """Expert `number`, in one sentence; all differ."""
    rest, thing = divmod(number, len(THINGS))
    rest, effect = divmod(rest, len(EFFECTS))
    rest, place = divmod(rest, len(PLACES))
    school = f" of school {rest}" if rest else ""
    return f"A {THINGS[thing]} engineer{school} knows best what {EFFECTS[effect]} in {PLACES[place]}."


def criticism(chance: random.Random) -> str:
    """Sentences, without bullets, about what is missing."""
    place, other = chance.sample(PLACES, 2)
    thing = chance.choice(THINGS)
    return (
        f"The theory of the {thing} is covered, but only on the surface, and edge cases in {place} are missing. "
        f"Little is said about the fundamentals of {other}."
    )


def embedding(text: str, dimension: int = 8) -> list[float]:
    """A vector from the words of a text: texts that share words lie near to one another; never all zeros."""
    vector = [0.0] * dimension
    vector[0] = 0.25
    for part, weight in [(text, 0.5), *((word, 1.0) for word in text.lower().split())]:
        digest = hashlib.sha256(part.encode()).digest()
        for at in range(0, 32, 4):
            drawn = int.from_bytes(digest[at : at + 4], "big")
            vector[drawn // 2 % dimension] += weight if drawn % 2 else -weight
    return vector


def words(text: str) -> int:
    """Tokens of a text: its words."""
    return len(text.split())
