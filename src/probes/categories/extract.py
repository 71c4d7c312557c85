"""Asking every question as often as configured; what failed is a missing draw, never an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from src.asking import call_row, call_table
from src.errors import BudgetReached, ContextExceeded, EndpointError
from src.interfaces import Lab
from src.questions import Question
from src.records import Completion, Progress, Prompt, Tables
from src.schemas import ANSWERS, QUESTIONS, STOP

AT_ONCE = 64
"""Questions under way at once: as many requests as any endpoint takes, and few enough to be lost by a kill."""
HOPELESS = 20
"""Requests that failed for good, none that succeeded between them, after which no further question is asked."""


class ToPrompt(Protocol):
    """Makes the prompt of a question."""

    def __call__(self, question: Question, *, greedy: bool) -> Prompt:
        """The prompt for the greedy answer, or for a sample."""
        ...


@dataclass
class Extraction:
    """The asking of one cell.

    Attributes:
        lab: whom to ask.
        questions: what, in the order of the tables.
        prompt: how.
        samples: answers besides the greedy one.
    """

    lab: Lab
    questions: Sequence[Question]
    prompt: ToPrompt
    samples: int

    def __post_init__(self) -> None:
        self.stop: tuple[str, str] | None = None
        self.failed: list[str] = []
        self.in_a_row = self.given = self.tokens = 0
        self.answers: dict[str, list[Completion | None]] = {}

    async def run(self) -> Tables:
        """Ask; returns the tables questions, answers, calls and stop.

        Raises:
            EndpointError: the endpoint cannot be used, and there is no answer at all.
        """
        places = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._question(question, places) for question in self.questions))
        if self.stop and self.stop[0] == "error" and not self.given:
            raise EndpointError(self.stop[1])
        if self.failed and not self.stop:
            self.stop = "error", _failures(self.failed)
        return {
            "questions": pl.DataFrame([_row(question) for question in self.questions], schema=QUESTIONS, orient="row"),
            "answers": self._table(),
            "calls": call_table(self._calls()),
            "stop": pl.DataFrame([self.stop or ("finished", "")], schema=STOP, orient="row"),
        }

    async def _question(self, question: Question, places: asyncio.Semaphore) -> None:
        async with places:
            if self.stop:
                return
            greedy, sampled = (self.prompt(question, greedy=greedy) for greedy in (True, False))
            found = await asyncio.gather(
                self.lab.subject.complete(greedy),
                *(self.lab.subject.complete(sampled, draw=draw) for draw in range(self.samples)),
                return_exceptions=True,  # what is under way may be billed already: let it in
            )
            self.answers[question.id] = [self._completion(each) for each in found]
        self._show()

    def _completion(self, found: Completion | BaseException) -> Completion | None:
        """An answer, or None for a draw that is missing; a failure that others will meet too stops the asking."""
        if isinstance(found, Completion):
            if found.state != "error":
                self.in_a_row = 0
                self.given += 1
                self.tokens += found.usage.tokens_out or 0
                return found
            self.failed.append(found.reason)
            self.in_a_row += 1
            if self.in_a_row >= HOPELESS:
                self.stop = self.stop or ("error", _failures(self.failed))
        elif isinstance(found, ContextExceeded):  # this question is too long; the others need not be
            return None
        elif isinstance(found, BudgetReached | EndpointError):
            self.stop = self.stop or ("budget" if isinstance(found, BudgetReached) else "error", str(found))
        else:
            raise found
        return None

    def _show(self) -> None:
        self.lab.progress(
            Progress(
                "extract",
                done=len(self.answers),
                total=len(self.questions),
                calls=self.given,
                tokens=self.tokens,
            )
        )

    def _table(self) -> pl.DataFrame:
        missing: list[Completion | None] = [None] * (self.samples + 1)
        rows = [
            (question.id, draw, *((each.text, each.state, each.key) if each else ("", "missing", "")))
            for question in self.questions
            for draw, each in enumerate(self.answers.get(question.id, missing))
        ]
        return pl.DataFrame(rows, schema=ANSWERS, orient="row")

    def _calls(self) -> list[dict[str, object]]:
        return [
            call_row("subject", self.prompt(question, greedy=draw == 0).name, each, branch=question.id, draw=draw)
            for question in self.questions
            for draw, each in enumerate(self.answers.get(question.id, ()))
            if each
        ]


def _row(question: Question) -> tuple[object, ...]:
    return question.id, question.text, list(question.golds), question.kind, question.passage, question.yes_no


def _failures(reasons: Sequence[str]) -> str:
    return f"{len(reasons)} requests failed for good, the first: {reasons[0]}; run again to ask for what is missing"
