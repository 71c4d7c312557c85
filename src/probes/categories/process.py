"""From answers to graded answers to a class for every question; pure."""

from __future__ import annotations

import numpy as np
import polars as pl

from src.records import Tables
from src.schemas import CLASSED_QUESTIONS, GRADED_ANSWERS
from src.stats.categories import CLASSES, Over, classify, frequency
from src.text.answers import Reasoning, answer_line, matches, normalise


def process(extracted: Tables, reasoning: Reasoning, n: int, over: Over) -> Tables:
    """Grade every answer against the gold ones and classify the questions that have all of theirs.

    Args:
        extracted: tables questions and answers.
        reasoning: how the answer stands in a reply.
        n: answers to each question, the greedy one included.
        over: among which answers the frequency of an answer is counted.

    Returns:
        The tables answers and questions, in the order of the extraction.
    """
    questions = extracted["questions"]
    golds = {row["question_id"]: (row["golds"], row["yes_no"]) for row in questions.iter_rows(named=True)}
    graded = pl.DataFrame(
        [_graded(row, *golds[row["question_id"]], reasoning) for row in extracted["answers"].iter_rows(named=True)],
        schema=GRADED_ANSWERS,
        orient="row",
    )
    return {"answers": graded, "questions": _classed(questions, graded, n, over)}


def _graded(row: dict[str, object], golds: list[str], yes_no: bool, reasoning: Reasoning) -> tuple[object, ...]:
    """An answer with its grade; without one, if there is nothing that could be graded."""
    place, state = (row["question_id"], row["draw"]), str(row["state"])
    if state not in ("ok", "truncated"):
        return *place, "", "", state, None, None, None
    line = answer_line(str(row["text"]), reasoning)
    if state == "truncated" and line.last:
        return *place, line.text, normalise(line.text, yes_no), "truncated", None, None, None
    if not line.text:
        return *place, "", "", "empty", None, None, None
    return *place, line.text, normalise(line.text, yes_no), "ok", *matches(line.text, golds, yes_no)


def _classed(questions: pl.DataFrame, graded: pl.DataFrame, n: int, over: Over) -> pl.DataFrame:
    states = graded["state"].to_numpy().reshape(-1, n)
    whole = (states == "ok").all(axis=1)
    right = graded["correct"].fill_null(False).to_numpy().reshape(-1, n)
    answers = graded["normal"].rank("dense").to_numpy().reshape(-1, n)
    names = np.array(CLASSES)[classify(right, answers, over)]
    known = pl.Series(whole)
    return pl.DataFrame(
        {
            "question_id": questions["question_id"],
            "kind": questions["kind"],
            "yes_no": questions["yes_no"],
            "state": pl.Series(np.where(whole, "complete", "incomplete")),
            "category": pl.Series(names),
            "greedy_correct": pl.Series(right[:, 0]),
            "samples_correct": pl.Series(right[:, 1:].sum(axis=1)),
            "frequency": pl.Series(frequency(answers, over)),
        },
        schema=CLASSED_QUESTIONS,
    ).with_columns(
        pl.when(known).then(pl.col(name)).alias(name)
        for name in ("category", "greedy_correct", "samples_correct", "frequency")
    )
