"""Cells of questions made of planted answers, as `find_cells` would read them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from src.cells import MeasuredCell
from src.figures.captions import title_of
from src.identity import key_of
from src.probes.categories.metrics import summarise
from src.probes.categories.process import process
from src.schemas import ANSWERS, CALLS, QUESTIONS, STOP
from src.studies.known import Known

ROWS = {
    "HK": ["Paris"] * 7,
    "MK": ["Paris", *["Rome"] * 6],
    "WK": ["Rome", "Paris", *["Rome"] * 5],
    "UU": ["Rome", "Oslo", "Bern", "Riga", "Kyiv", "Lima", "Doha"],
    "MU": ["Rome", "Rome", "Bern", "Riga", "Kyiv", "Lima", "Doha"],
    "CU": ["Rome"] * 7,
}
"""Answers, the greedy one first, that put a question whose answer is Paris into each class."""


def answered_cell(
    classes: Sequence[str | None], kinds: Sequence[str] = ("city",), first: int = 0, yes_no: int = 0, **config: Any
) -> MeasuredCell:
    """A cell whose questions, numbered from `first`, have these classes; None: an answer is missing.

    The first `yes_no` of them pass for questions whose answer is yes or no.
    """
    ids = [f"q{first + place:05}" for place in range(len(classes))]
    answers = [
        (each, draw, text, "missing" if name is None and draw == 3 else "ok", "")
        for each, name in zip(ids, classes, strict=True)
        for draw, text in enumerate(ROWS[name or "HK"])
    ]
    questions = [
        (each, f"Where is {each}?", ["Paris", "Paname"], kinds[place % len(kinds)], "", place < yes_no)
        for place, each in enumerate(ids)
    ]
    extracted = {
        "questions": pl.DataFrame(questions, schema=QUESTIONS, orient="row"),
        "answers": pl.DataFrame(answers, schema=ANSWERS, orient="row"),
        "calls": CALLS.to_frame(),
        "stop": pl.DataFrame([("finished", "")], schema=STOP, orient="row"),
    }
    whole = settings(**config)
    processed = process(extracted, "direct", 7, whole["confidence_over"])
    metrics = summarise(extracted, processed)
    key = key_of(whole)
    return MeasuredCell(f"cells/{key[:8]}", key, key, title_of(whole), whole, metrics, extracted, processed)


def settings(
    model: str = "alpha",
    revision: str = "1",
    dataset: str = "capitals",
    target: str = "src.llm.config.Model",
    **config: Any,
) -> Mapping[str, Any]:
    """The configuration of a cell, with these values instead of the usual ones."""
    usual = {
        "probe": "categories",
        "model": {"_target_": target, "name": model, "revision": revision},
        "endpoint": {"name": "local"},
        "dataset": {"name": dataset, "revision": "sha256:0"},
        "knowledge": "internal",
        "reasoning": "direct",
        "form": "chat",
        "questions": None,
        "samples": 6,
        "temperature": 0.5,
        "top_k": 40,
        "confidence_over": "all",
        "seed": 0,
    }
    return {**usual, **config}


def known(*cells: MeasuredCell) -> Known:
    """What a study is given."""
    return Known(cells, (), (), {}, 0)
