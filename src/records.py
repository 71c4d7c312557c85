"""The data that flows through the house: frozen records and the schemas of the tables that are stored.

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

Filled = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""Text that says something."""

State = Literal["ok", "truncated", "empty", "refused", "error"]
Role = Literal["subject", "judge", "writer", "embedder"]


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
    """

    vectors: np.ndarray
    tokens: np.ndarray


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
    """A strategy's wish: the prompt template, its values and the branch the answer belongs to."""

    template: str
    values: Mapping[str, object]
    branch: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer to a :class:`Request`; `draw` is its number among identical requests of the cell."""

    branch: str
    draw: int
    completion: Completion


@dataclass(frozen=True)
class Turn:
    """All answers of one turn in canonical order, and the children a taxonomy asked for in vain."""

    answers: tuple[Answer, ...]
    shortfall: int = 0


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

ATOMS = pl.Schema(
    {
        "atom_id": pl.Int64,
        "text": pl.String,
        "context": pl.String,
        "turn": pl.Int64,
        "branch": pl.String,
        "position": pl.Int64,
        "draw": pl.Int64,
        "call_key": pl.String,
        "nearest_id": pl.Int64,
        "nearest_cosine": pl.Float64,
        "novel": pl.Boolean,
    }
)
TURNS = pl.Schema(
    {
        "turn": pl.Int64,
        "raw": pl.Int64,
        "novel": pl.Int64,
        "growth": pl.Float64,
        "efficiency": pl.Float64,
        "stale": pl.Boolean,
        "unlisted": pl.Int64,
        "truncated": pl.Int64,
        "cut": pl.Int64,
        "empty": pl.Int64,
        "refused": pl.Int64,
        "shortfall": pl.Int64,
        "calls": pl.Int64,
        "tokens_generation_in": pl.Int64,
        "tokens_generation_out": pl.Int64,
        "tokens_embedding": pl.Int64,
    }
)
STOP = pl.Schema({"reason": pl.String, "detail": pl.String})
CALLS = pl.Schema(
    {
        "key": pl.String,
        "role": pl.String,
        "prompt": pl.String,
        "turn": pl.Int64,
        "branch": pl.String,
        "draw": pl.Int64,
        "state": pl.String,
        "requests": pl.Int64,
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
    }
)
PAIRS = pl.Schema(
    {
        "a": pl.Int64,
        "b": pl.Int64,
        "cosine": pl.Float64,
        "stage": pl.String,
        "guard": pl.String,
        "verdict": pl.String,
    }
)
JUDGED_ATOMS = pl.Schema(
    {
        "atom_id": pl.Int64,
        "cluster_id": pl.Int64,
        "representative": pl.Int64,
        "unique": pl.Boolean,
        "valid": pl.Boolean,
        "kind": pl.String,
        "audit_state": pl.String,
    }
)
LINKAGE = pl.Schema(
    {
        "largest_cluster": pl.Int64,
        "smallest_cosine": pl.Float64,
        "chain_alarm": pl.Boolean,
        "judge_unparsed": pl.Int64,
    }
)
