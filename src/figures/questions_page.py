"""Every question of a cell with its answers on one page that can be searched and sorted, with nothing to download."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from jinja2 import Environment, StrictUndefined

from src.figures.captions import Title, judge_sentence
from src.figures.categories_lines import MEANINGS
from src.figures.summary import cautions
from src.records import Metrics, Tables

TEMPLATE = Path(__file__).with_name("questions.html.j2")
INCOMPLETE = "incomplete"
COLUMNS = (
    ("class", "hover over a class for its meaning; incomplete: an answer is lacking, so the question has no class"),
    ("question", "as it was asked"),
    ("kind", "as the data set names it"),
    ("gold", "the answer, then what else is accepted"),
    ("greedy answer", "at temperature 0"),
    ("samples", "each distinct answer as first written, with how often it was given; the commonest first"),
)


def questions_page(questions: pl.DataFrame, processed: Tables, title: Title, metrics: Metrics) -> str:
    """A self-contained HTML page; what a model or a data set wrote is escaped.

    Args:
        questions: the table `extract/questions`.
        processed: the tables `process/answers` and `process/questions`.
        title: what the cell is about.
        metrics: the metrics of the cell.
    """
    classed = processed["questions"].select("question_id", "category")
    rows = questions.join(classed, on="question_id", how="left", maintain_order="left")
    given = _given(processed["answers"])
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=title,
        cautions=cautions(title, metrics),
        judged_by=judge_sentence(title.judge),
        columns=COLUMNS,
        meanings={**MEANINGS, INCOMPLETE: "an answer is lacking"},
        questions=[
            {
                **row,
                "category": row["category"] or INCOMPLETE,
                "greedy": given.get((row["question_id"], True), []),
                "samples": given.get((row["question_id"], False), []),
            }
            for row in rows.iter_rows(named=True)
        ],
    )


def _given(answers: pl.DataFrame) -> dict[tuple[str, bool], list[dict[str, object]]]:
    """By question and whether it is the greedy one: the distinct answers, the commonest first."""
    distinct = (
        answers.sort("question_id", "draw")
        .with_columns(greedy=pl.col("draw") == 0)
        .group_by("question_id", "greedy", "normal", "state", "correct", maintain_order=True)
        .agg(pl.col("answer").first(), pl.len().alias("times"))
        .sort("times", descending=True, maintain_order=True)
    )
    found: dict[tuple[str, bool], list[dict[str, object]]] = {}
    for row in distinct.select("question_id", "greedy", "answer", "state", "correct", "times").iter_rows(named=True):
        found.setdefault((row["question_id"], row["greedy"]), []).append(row)
    return found
