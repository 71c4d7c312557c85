"""The ports of the house: what a part must offer so that another can use it.

Protocol classes, no inheritance: subject, judge and writer models are one port, every encoder another.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from src.costs import Calls, Limits, Planned
from src.records import (
    Answer,
    Completion,
    Domain,
    Encoded,
    Metrics,
    Point,
    Progress,
    Prompt,
    Request,
    Rubric,
    Tables,
    Turn,
    Verdict,
)

Report = Callable[[Progress], None]
"""Shows a step of long work; cheap and silent where nobody looks."""

Ask = Callable[[Sequence[Request]], Awaitable[tuple[Answer, ...]]]
"""Asks the subject a batch of requests concurrently; answers come in the order of the requests."""


class ChatModel(Protocol):
    """A model that answers messages."""

    async def complete(self, prompt: Prompt, *, draw: int = 0) -> Completion:
        """Answer a prompt; a failed request is a completion in state `error`.

        Raises:
            EndpointError: the endpoint cannot be used at all (key, address, model name, refused parameter).
            ContextExceeded: the prompt does not fit the context window.
            BudgetReached: the next request would pass a limit.
            LedgerMiss: replay mode and no stored answer.
        """
        ...


class Encoder(Protocol):
    """A sentence encoder."""

    async def encode(self, texts: Sequence[str]) -> Encoded:
        """Encode texts into unit vectors, one row per text in order.

        Raises:
            EmbeddingError: empty text, too few vectors, wrong dimension, values that are not finite.
        """
        ...


class Judge(Protocol):
    """Answers a rubric's question about given values with one of its labels."""

    @property
    def kind(self) -> str:
        """`llm`, `rules` or `oracle`: who decided, shown wherever a verdict is shown."""
        ...

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        """Judge; a reply without a readable label is asked for once more, then unparsed.

        Raises:
            EndpointError, ContextExceeded, BudgetReached, LedgerMiss: as :meth:`ChatModel.complete`;
                EndpointError also when a reply ended in state `error`.
        """
        ...


@runtime_checkable  # so that a probe's configuration class can check it
class Strategy(Protocol):
    """Proposes text about a domain, turn by turn; never dedups, counts or stops."""

    def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield turn after turn, without end unless turns say how many are `left`.

        Each `asend` brings the pool as it stands before the next turn.
        """
        ...

    def calls(self, turn: int) -> Calls:
        """What turn `turn` (from 1) asks for, whatever the answers are."""
        ...


@dataclass(frozen=True)
class Lab:
    """What a probe works with. Roles, not models; built once per run by `src.lab`."""

    subject: ChatModel
    judge: Judge
    writer: ChatModel | None
    encoder: Encoder
    rng: np.random.Generator
    progress: Report


class Probe(Protocol):
    """One way of measuring; `extract` and `process` may call models, `summarise` is pure."""

    async def extract(self, lab: Lab) -> Tables:
        """Obtain the raw answers as tables."""
        ...

    async def process(self, lab: Lab, extracted: Tables) -> Tables:
        """Judge and link what `extract` gave."""
        ...

    def plan(self, limits: Limits) -> tuple[Planned, ...]:
        """Bound what the cell takes, by role, before anything is asked; pure."""
        ...

    def summarise(self, extracted: Tables, processed: Tables | None) -> Metrics:
        """Compute the metrics of the cell from the tables of both phases, or those of the extraction alone."""
        ...
