"""What a simulated model answers to the prompts of the project: text, made of the chances that drawing.py knows; pure.

It reads the values of a prompt, never its wording, so that every prompt set gets its answers. What it is shown it knows
by reading the texts that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from src.errors import ConfigError
from src.knower.drawing import Scope, chances, said
from src.knower.knowledge import Knower, knowledge
from src.knower.names import BITS, NAME, coined, decoded
from src.knower.questions import ASKING, reply
from src.knower.wording import WAYS, domain_tag, read, say
from src.knower.world import World, hashed
from src.text.lists import parse_list

MINING = (
    "sequential.first",
    "sequential.more",
    "reflective.more",
    "taxonomy.mine",
    "taxonomy.mine_more",
    "personas.add",
)
NAMING = ("taxonomy.children", "taxonomy.missing", "personas.experts", "personas.missing")
NOTHING = "There is nothing more to say about this."
CRITICISM = "The fundamentals are there, but rare cases are thin. Some theories are missing."
MOST_FIELDS = 256
"""Sub-fields that one field can be divided into: their names hold as many."""
LONGEST_EXPERT = 60
"""Characters of an expert that a branch is named after."""
_FIELDS = ("studies", "theory", "practice", "systems")
_ROLES = ("A surveyor", "A teacher", "An inspector", "A historian")


def answer(world: World, knower: Knower, name: str, values: Mapping[str, Any], rng: np.random.Generator) -> str | None:
    """The answer to a prompt; None is a refusal, of which naming knows none.

    Args:
        world: what there is to know.
        knower: who is asked.
        name: of the prompt.
        values: of the prompt, with the `turn` of a mining prompt.
        rng: of this answer alone.

    Raises:
        ConfigError: there is no answer to such a prompt.
    """
    if name in NAMING:
        return _bullets(_names(name, values))
    if name in ASKING:
        return reply(knower, name, values, rng)
    if name not in MINING:
        raise ConfigError(
            f"model=simulated has no answer to the prompt {name}: it knows {', '.join((*MINING, *NAMING, *ASKING))}"
        )
    if rng.random() < knower.refuses:
        return None
    query = str(values["query"])
    known = knowledge(world, knower, query)
    shown = np.zeros((1, world.facts), dtype=bool)
    shown[0, sorted(_facts(_shown(name, values), domain_tag(world, query)))] = True
    (meanings,) = said(known, chances(known, _scope(name, values), int(values["turn"]), shown), rng)
    ways = rng.choice(WAYS, size=len(meanings), p=knower.ways)
    points = [say(world, query, meaning, way) for meaning, way in zip(meanings.tolist(), ways.tolist(), strict=True)]
    listed = _bullets(points) or NOTHING
    return f"{CRITICISM}\n\nNEW POINTS\n{listed}" if name == "reflective.more" else listed


def scope_of(name: str, branch: str, count: int) -> Scope:
    """What a mining prompt asked about, from its name and branch as the tables keep them.

    Args:
        name: of the prompt.
        branch: that its answer belongs to.
        count: points that an expert is asked for.
    """
    if name == "personas.add":
        return Scope(count=count, expert=branch.partition(" ")[2])
    return _part(NAME.findall(branch))


def _scope(name: str, values: Mapping[str, Any]) -> Scope:
    if name == "personas.add":
        return Scope(count=int(values["count"]), expert=str(values["expert"])[:LONGEST_EXPERT].rstrip())
    return _part([found for field in values.get("path", ()) for found in NAME.findall(field)])


def _part(names: Sequence[str]) -> Scope:
    """The part of the line that sub-fields divide, outermost first, come down to."""
    low, width = 0.0, 1.0
    for name in names:
        number, total = _place(name)
        width /= total
        low += number * width
    return Scope(low, low + width)


def _place(name: str) -> tuple[int, int]:
    """Which part of how many the sub-field of this coined name is."""
    code = decoded(name)
    if code is None:
        raise ConfigError(f"model=simulated named no sub-field {name!r}")
    return code >> 8 & 255, (code & 255) + 1


def _names(name: str, values: Mapping[str, Any]) -> list[str]:
    """As many sub-fields or experts as are asked for, or as a field has left, none of which is there."""
    query, there, count = str(values["query"]), _coined(values.get("have", ())), int(values["count"])
    if name.startswith("personas"):
        every = [_expert(query, number) for number in range(len(there) + count)]
    else:
        # What is there says how many parts the field has: those that are named later may not overlap them.
        total = min(count, MOST_FIELDS) if not there else _place(there[0])[1]
        every = [_field(query, tuple(values["path"]), number, total) for number in range(total)]
    return [one for one in every if not {*there} & {*_coined([one])}][:count]


def _field(query: str, path: tuple[str, ...], number: int, total: int) -> str:
    """The name of a sub-field, which says which part of how many it is of what is above it."""
    salt = hashed("field", query, path, number)
    return f"{coined(salt % 2**16 << 16 | number << 8 | total - 1)} {_FIELDS[salt >> 16 & 3]}"


def _expert(query: str, number: int) -> str:
    salt = hashed("expert", query, number)
    return f"{_ROLES[salt >> BITS & 3]} of the {coined(salt % 2**BITS)} school."


def _shown(name: str, values: Mapping[str, Any]) -> Iterable[str]:
    """The points that a prompt shows."""
    if name == "sequential.more":
        return [item.text for text in values["history"] for item in parse_list(text, truncated=False).items]
    return list(values.get("points", ()))


def _facts(texts: Iterable[str], domain: int) -> set[int]:
    """The facts of a domain that texts state, in whatever form."""
    statements = [statement for text in texts if (statement := read(text))]
    return {one.number for one in statements if one.what in ("true", "false") and one.domain == domain}


def _coined(texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in NAME.findall(text)]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
