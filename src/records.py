"""The data that flows through the house: frozen records.

Everything here is plain data; what acts on it lives on the floors above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as config_dataclass

STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)
"""How classes of configuration are checked. Messages keep inputs out: the value of a mistaken field may be a key."""

Filled = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""Text that says something."""

State = Literal["ok", "truncated", "empty", "refused", "error"]
Role = Literal["subject", "judge", "writer", "embedder"]
Form = Literal["list", "critique", "point"]
"""How the points of an answer are written: a list; a criticism and then, below a line NEW POINTS, a list; the text
itself is one point."""


class Message(NamedTuple):
    """One chat message as it is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn where that belongs to the question, not to the model.

    Attributes:
        temperature: 0 is greedy.
        max_tokens: longest answer, in tokens.
        top_k: likeliest tokens that are drawn from, where the endpoint knows such a limit; None: all.
        stop: the answer ends before any of these.
    """

    temperature: float
    max_tokens: int
    top_k: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt; `name` and `values` serve logs and the in-process simulator and are not sent.

    Attributes:
        name: of the template, or of the rubric.
        values: that it was rendered with.
        messages: what is sent.
        sampling: how it is drawn; None: as the model is configured.
        continued: whether the messages are text to go on from; otherwise the model's style says so.
    """

    name: str
    values: Mapping[str, object]
    messages: tuple[Message, ...]
    sampling: Sampling | None = None
    continued: bool = False


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; None means that the endpoint did not say, which is not zero."""

    tokens_in: int | None
    tokens_out: int | None


@dataclass(frozen=True)
class Completion:
    """What came back for one prompt.

    Attributes:
        text: the answer as received, reasoning included; "" unless state is ok or truncated.
        state: a failure is a state with a reason; it never becomes an empty list or a grade.
        finish_reason: as the endpoint gave it.
        usage: tokens summed over `requests`.
        attempts: HTTP requests made when the answer was obtained, failed ones included.
        requests: answers paid for (2 after a larger re-ask of an answer that was all reasoning).
        replayed: True if every part came from the ledger, so that nothing was spent now.
        key: ledger key of the answer that counts.
        reason: why state is not ok; "" otherwise.
    """

    text: str
    state: State
    finish_reason: str | None
    usage: Usage
    attempts: int
    replayed: bool
    key: str
    requests: int = 1
    reason: str = ""


@dataclass(frozen=True)
class Encoded:
    """Unit vectors and what they cost.

    Attributes:
        vectors: float32, shape (n, d), rows of length 1 in the order of the texts.
        tokens: int64, shape (n,), tokens the encoder read per text; -1 where unknown.
        attempts: requests it took to get them from an endpoint, failed ones included.
    """

    vectors: np.ndarray
    tokens: np.ndarray
    attempts: int = 1


@config_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Rubric:
    """A question to a judge: a template, the labels it may answer with and those that accept.

    Attributes:
        name: name of the rubric, also of the prompt in logs.
        labels: every label allowed, upper case.
        accept: the labels that mean yes or valid.
        template: Jinja source of the user message; model text goes in through the `fenced` filter.
    """

    name: Filled
    labels: Annotated[tuple[Filled, ...], Field(min_length=2)]
    accept: Annotated[tuple[Filled, ...], Field(min_length=1)]
    template: Filled

    def __post_init__(self) -> None:
        if unknown := set(self.accept) - set(self.labels):
            raise ValueError(f"accept names {', '.join(sorted(unknown))}, which is none of labels")


@dataclass(frozen=True)
class Verdict:
    """A judge's label, or that none could be read.

    Attributes:
        label: one of the rubric's labels, None when unparsed.
        accepted: whether the label accepts; None when unparsed.
        completions: the calls it took (none for a judge of kind rules, two after a re-ask).
    """

    label: str | None
    accepted: bool | None
    completions: tuple[Completion, ...] = ()

    @property
    def unparsed(self) -> bool:
        """Whether no label could be read, after one re-ask."""
        return self.label is None


@config_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Domain:
    """What is asked about: `name` is a slug for paths and tables, `query` is what prompts say."""

    name: Filled
    query: Filled


@dataclass(frozen=True)
class Request:
    """A strategy's wish: the prompt template, its values, the branch the answer belongs to and how it is to be read."""

    template: str
    values: Mapping[str, object]
    branch: str = ""
    form: Form = "list"


@dataclass(frozen=True)
class Answer:
    """The answer to a :class:`Request`; `draw` is its number among identical requests of the cell.

    `asked` is that request, None where the answer was collected elsewhere and nothing can be asked again.
    """

    branch: str
    draw: int
    completion: Completion
    form: Form = "list"
    asked: Request | None = None


@dataclass(frozen=True)
class Turn:
    """All answers of one turn in canonical order.

    Attributes:
        answers: what the points of the turn are read from.
        shortfall: sub-fields or experts that were asked for in vain.
        left: turns still to come, where the strategy is finite: then all are taken, and nothing is asked.
    """

    answers: tuple[Answer, ...]
    shortfall: int = 0
    left: int | None = None


@dataclass(frozen=True)
class Point:
    """A novel point of the pool, as later turns are shown it."""

    atom_id: int
    text: str
    branch: str
    turn: int


@dataclass(frozen=True)
class Progress:
    """A step of long work, for whoever shows it.

    Attributes:
        phase: "extract", "pairs", "audit", ...
        done, total: steps finished and planned (turns or judgements).
        calls: model calls made so far in this phase, replayed ones included.
        tokens: tokens in and out so far, replayed ones included.
        raw, novel: points so far (extract only).
    """

    phase: str
    done: int
    total: int
    calls: int = 0
    tokens: int = 0
    raw: int = 0
    novel: int = 0


Tables = Mapping[str, pl.DataFrame]
Metrics = dict[str, float | int | str | None]
