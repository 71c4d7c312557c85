"""Turn 1 drawn again: independent answers to the same prompts, from which unseen knowledge is estimated.

The prompts of later turns ask not to repeat what is known, so their answers are no sample. Those of turn 1 are, if they
are asked anew against an empty pool. Draw 0 is turn 1 itself; the others feed no pool and count nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from src.asking import CENSORED, Asker
from src.interfaces import Report
from src.records import Answer, Progress, Tables
from src.schemas import DRAWS, REPEATS
from src.text.lists import ListAnswer
from src.text.points import read_points


@dataclass(frozen=True)
class Repeats:
    """What repeating brought.

    Attributes:
        asked: draws that were wanted, that of turn 1 included.
        draws: the answers of every whole draw; the first is turn 1.
        reason: why draws are missing; "" if none is.
    """

    asked: int
    draws: tuple[tuple[Answer, ...], ...]
    reason: str = ""

    def tables(self) -> Tables:
        """The tables repeats (the points of every draw, numbered by draw, branch, position) and draws (one row)."""
        points = (
            (item.text, answer.branch, draw, answer.completion.key)
            for draw, answers in enumerate(self.draws if self.asked > 1 else ())
            for answer in answers
            for item in points_of(answer).items
        )
        rows = [(number, *point) for number, point in enumerate(points)]
        return {
            "repeats": pl.DataFrame(rows, schema=REPEATS, orient="row"),
            "draws": pl.DataFrame([(self.asked, len(self.draws), self.reason)], schema=DRAWS, orient="row"),
        }


async def repeat(asker: Asker, first: tuple[Answer, ...], times: int, report: Report) -> Repeats:
    """Ask again what gave the answers of turn 1, until each was asked `times` times or asking fails.

    Args:
        asker: the one that asked before: it numbers the draws, so that each gets an answer of its own.
        first: the answers of turn 1.
        times: how often in all.
        report: is told of every draw.
    """
    if times > 1 and not first:
        return Repeats(times, (), "turn 1 was not finished")
    requests = [answer.asked for answer in first if answer.asked]
    if times > 1 and len(requests) < len(first):
        return Repeats(times, (first,), "recorded answers cannot be drawn again")
    draws, calls, tokens = [first], 0, 0
    while len(draws) < times:
        try:
            draws.append(await asker.ask(requests))
        except tuple(CENSORED) as failure:
            reason = f"only {len(draws)} of {times} draws, then {CENSORED[type(failure)]}: {failure}"
            return Repeats(times, tuple(draws), reason)
        calls += len(requests)
        tokens += sum(answer.completion.usage.tokens_out or 0 for answer in draws[-1])
        report(Progress("repeats", len(draws) - 1, times - 1, calls, tokens))
    return Repeats(times, tuple(draws))


def points_of(answer: Answer) -> ListAnswer:
    """The points that an answer lists."""
    return read_points(answer.completion.text, answer.form, truncated=answer.completion.state == "truncated")
