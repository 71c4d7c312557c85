"""Asking for an exact number of names, once more where some are missing; what is still missing is a shortfall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from src.interfaces import Ask
from src.records import Answer, Request
from src.text.lists import name_key

Names = tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """A list of names that is wanted.

    Attributes:
        values: what the two prompts need besides `count`, and `have` in the second.
        count: how many; the first ones count where there are more.
        not_these: names that are none, such as that of what is being divided.
    """

    values: Mapping[str, object]
    count: int
    not_these: Names = field(default=())


async def ask_names(
    wanted: Sequence[Wanted], ask: Ask, read: Callable[[Answer], Names], *, first: str, missing: str
) -> list[Names]:
    """Ask for every list at once, then once more for what is missing; at most `count` names each, in answer order.

    Args:
        wanted: the lists.
        ask: asks the subject.
        read: reads the names of an answer.
        first: template of the first prompt.
        missing: template of the second.
    """
    answers = await ask([Request(first, {**one.values, "count": one.count}) for one in wanted])
    found = [_distinct(read(answer), one) for answer, one in zip(answers, wanted, strict=True)]
    short = [place for place, one in enumerate(wanted) if len(found[place]) < one.count]
    again = await ask(
        [
            Request(
                missing,
                {
                    **wanted[place].values,
                    "count": wanted[place].count - len(found[place]),
                    "have": found[place],
                },
            )
            for place in short
        ]
    )
    for place, answer in zip(short, again, strict=True):
        found[place] = _distinct((*found[place], *read(answer)), wanted[place])
    return found


def shortfall(wanted: Sequence[Wanted], found: Sequence[Names]) -> int:
    """Names that were asked for in vain."""
    return sum(one.count - len(names) for one, names in zip(wanted, found, strict=True))


def _distinct(names: Names, wanted: Wanted) -> Names:
    """The first names that are neither above nor the same as an earlier one."""
    above = {name_key(name) for name in wanted.not_these}
    kept = {name_key(name): name for name in reversed(names)}  # of two alike the first stays
    return tuple(name for name in names if kept[name_key(name)] is name and name_key(name) not in above)[: wanted.count]
