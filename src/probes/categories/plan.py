"""What a cell of questions can take, before anything is asked; pure.

A token is at least one byte of text, and a template around the messages of a request takes at most `WRAPPING` of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from src.costs import Load, Planned
from src.records import Prompt

WRAPPING = 128
LARGER = 2
"""How much longer the second answer may be where the first one was all reasoning."""


def plan(prompts: Sequence[Prompt], answers: int, longest: int, context: int | None) -> tuple[Planned, ...]:
    """Bound the calls and tokens of a cell.

    Args:
        prompts: one for each question; empty if nothing is asked.
        answers: to each of them.
        longest: answer in tokens.
        context: window of the model in tokens, where it is known.
    """
    sizes = [WRAPPING + sum(len(message.content.encode("utf-8", "replace")) for message in p.messages) for p in prompts]
    read = answers * sum(min(size, context or size) for size in sizes)
    calls = answers * len(prompts)
    return (
        Planned(
            "subject",
            least=Load(calls, calls, 0),
            asked=calls,
            most=Load(2 * calls, 2 * read, calls * (1 + LARGER) * longest),
        ),
    )
