"""A second judge labels the sample that people label: the same question, and pairs in both orders."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from src.calibration.questions import Question
from src.interfaces import Judge, Report
from src.records import Progress, Rubric
from src.settle import settle

ANSWERS = pl.Schema({"item": pl.String, "accepted": pl.Boolean, "turned": pl.Boolean})


async def ask_second(
    judge: Judge, rubric: Rubric, items: pl.DataFrame, question: Question, report: Report
) -> pl.DataFrame:
    """Ask a judge about every item.

    Args:
        judge: the second one.
        rubric: the question that the first judge was asked.
        items: those of the sheet.
        question: what the sheet asks.
        report: is told of every answer.

    Returns:
        Schema ANSWERS: `accepted` is the answer to the texts in the order that the first judge saw, `turned` that to a
        pair in the other order; null where no label could be read or, for `turned`, nothing was turned.

    Raises:
        FrontierError: the judge failed; answers obtained are in the ledger.
    """
    done = 0

    async def ask(query: str, texts: Sequence[str]) -> bool | None:
        nonlocal done
        values = {"domain": query, "atom": texts[0]}
        if question.what == "pairs":
            values = {"first": texts[0], "second": texts[1]}
        verdict = await judge.judge(rubric, values)
        done += 1
        report(Progress("second judge", done, len(asked)))
        return verdict.accepted

    rows = list(items.iter_rows())
    asked = [(query, texts) for _, query, *texts in rows]
    if question.what == "pairs":
        asked += [(query, texts[::-1]) for query, texts in asked]
    answers = await settle(ask(query, texts) for query, texts in asked)
    turned = answers[len(rows) :] or [None] * len(rows)
    return pl.DataFrame(
        {"item": [row[0] for row in rows], "accepted": answers[: len(rows)], "turned": turned}, schema=ANSWERS
    )
