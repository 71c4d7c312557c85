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
class Prompt:
    """A rendered prompt. Only `messages` is sent; `name` and `values` serve logs and the in-process simulator."""

    name: str
    values: Mapping[str, object]
    messages: tuple[Message, ...]


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
class Calls:
    """What a turn of a strategy asks for. A second, larger ask of one and the same question is not counted here.

    Attributes:
        least: calls if the answers offer as little as they can.
        asked: calls if every answer offers what was asked for.
        most: calls if every missing name has to be asked for again.
        answers: answers that points are read from, at most.
        shown: earlier answers that the prompts show, at most, summed over the prompts.
        names: names of sub-fields that the prompts show, at most, summed over the prompts.
    """

    least: int
    asked: int
    most: int
    answers: int
    shown: int = 0
    names: int = 0


@dataclass(frozen=True)
class Limits:
    """What bounds a cell's cost besides the probe's own knobs.

    Attributes:
        answer: longest answer of the subject, in tokens.
        context: context window of the subject in tokens, where it is known.
        verdict: longest answer of the judge, in tokens; None if the judge is no model.
        batch: texts per request of the embedder; None if it works in this process.
        extract, process: whether the phase is run.
        texts: the raw points, where they are known before: of a finished extraction, or recorded.
    """

    answer: int
    context: int | None = None
    verdict: int | None = None
    batch: int | None = None
    extract: bool = True
    process: bool = True
    texts: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Load:
    """Calls (answers that are paid for, a larger second one included) and tokens."""

    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Planned:
    """What one role takes, if nothing is replayed and nothing cuts the run short.

    Attributes:
        role: who is asked.
        least, most: bounds.
        asked: calls if every answer obeys, all turns are run and nothing is asked twice; None if that hangs on what the
            answers say.
    """

    role: Role
    least: Load
    asked: int | None
    most: Load


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
