"""Asking a model a batch of prompts: draws numbered in canonical order, every call written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from src.errors import BudgetReached, ContextExceeded, EndpointError, FrontierError
from src.interfaces import ChatModel
from src.prompts import PromptSet, render
from src.records import Answer, Completion, Request, Role
from src.schemas import CALLS
from src.settle import settle

CENSORED: dict[type[FrontierError], str] = {
    BudgetReached: "budget",
    ContextExceeded: "context",
    EndpointError: "error",
}
"""Failures that end the asking but keep what was answered before, and the stop reason of each."""


class Asker:
    """Renders requests, asks them concurrently and keeps the call log of one cell.

    The k-th identical request of a cell, in the order in which they are asked for, is draw k: twin branches and
    turns with the same prompt get answers of their own, and a rerun finds each of them in the ledger.
    """

    def __init__(self, model: ChatModel, prompts: PromptSet) -> None:
        self._model = model
        self._prompts = prompts
        self._draws: Counter[tuple[object, ...]] = Counter()
        self._calls: list[dict[str, object]] = []

    async def ask(self, requests: Sequence[Request]) -> tuple[Answer, ...]:
        """Ask all requests at once; answers come in their order.

        Raises:
            EndpointError: a request ended in state `error`; the others are in the ledger.
            FrontierError: as :meth:`src.interfaces.ChatModel.complete`.
        """
        prompts = [render(self._prompts, request.template, request.values) for request in requests]
        draws = []
        for prompt in prompts:
            draws.append(self._draws[prompt.messages])
            self._draws[prompt.messages] += 1
        completions = await settle(
            self._model.complete(prompt, draw=draw) for prompt, draw in zip(prompts, draws, strict=True)
        )
        for completion in completions:
            if completion.state == "error":
                raise EndpointError(f"a request failed for good: {completion.reason}; run again to continue")
        for request, draw, completion in zip(requests, draws, completions, strict=True):
            self._calls.append(call_row("subject", request.template, completion, branch=request.branch, draw=draw))
        return tuple(
            Answer(request.branch, draw, completion, request.form, request)
            for request, draw, completion in zip(requests, draws, completions, strict=True)
        )

    def take_calls(self, turn: int | None) -> list[dict[str, object]]:
        """Return the rows of the calls made since the last time, as those of `turn`; None: of no turn, but repeats."""
        rows = [{**row, "turn": turn} for row in self._calls]
        self._calls = []
        return rows


def call_row(
    role: Role, prompt: str, completion: Completion, *, branch: str | None = None, draw: int | None = None
) -> dict[str, object]:
    """A row of the table `calls`."""
    return {
        "key": completion.key,
        "role": role,
        "prompt": prompt,
        "branch": branch,
        "draw": draw,
        "state": completion.state,
        "requests": completion.requests,
        "tokens_in": completion.usage.tokens_in,
        "tokens_out": completion.usage.tokens_out,
    }


def call_table(rows: Sequence[dict[str, object]]) -> pl.DataFrame:
    """The table `calls` from its rows; keys that a row lacks are null."""
    return pl.DataFrame(rows, schema=CALLS) if rows else CALLS.to_frame()
