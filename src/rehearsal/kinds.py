"""The faults that users choose by name, and their groups."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Literal

from src.errors import ConfigError
from src.rehearsal.faults import (
    BROKEN_OFF,
    CUT_JSON,
    DROPPED,
    ENDLESS,
    HTML,
    HTML_AS_JSON,
    NO_CHOICES,
    NO_USAGE,
    NULL_CHOICES,
    Fault,
    content,
    said,
    slow,
    status,
)

Group = Literal["transport", "content", "stop"]

GROUPS: dict[Group, str] = {
    "transport": "overcome by asking again, with the same result as without the fault",
    "content": "an answer that is not as it should be; the run goes on and counts it",
    "stop": "the run ends with one sentence, keeps what is done and can be run again",
}

THOUGHT = (
    "The user wants a list. Perhaps it should hold\n- a first idea that is no point\n- a second idea that is no point"
)


@dataclass(frozen=True)
class Kind:
    """A fault with a name.

    Attributes:
        name: as users write it.
        group: what becomes of a run that meets it.
        what: one sentence for users.
        make: the fault, given an amount.
        amount: the amount if none is written; None for a fault that has none.
    """

    name: str
    group: Group
    what: str
    make: Callable[[float], Fault]
    amount: float | None = None


def fault(written: str) -> tuple[Kind, Callable[[], Fault]]:
    """Read `NAME` or `NAME:AMOUNT`; the fault is made anew for each request, since some hold the time.

    Raises:
        ConfigError: no such fault, one that takes no amount, or an amount that is no number.
    """
    name, colon, amount = written.strip().partition(":")
    kind = next((one for one in KINDS if one.name == name), None)
    if kind is None:
        raise ConfigError(f"unknown fault {name!r}; there are {', '.join(one.name for one in KINDS)}")
    if colon and kind.amount is None:
        raise ConfigError(f"fault {written!r}: {name} takes no amount")
    try:
        number = float(amount) if colon else kind.amount or 0.0
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or (number < 0 and name != "429"):
        raise ConfigError(f"fault {written!r}: {amount!r} is no number such as {kind.amount:g}")
    return kind, partial(kind.make, number)


def _busy(value: str | None = None, header: str = "Retry-After") -> Fault:
    headers = {} if value is None else {header: value}
    error = {"message": "Rate limit reached.", "type": "requests", "code": "rate_limit_exceeded"}
    return Fault(429, {"error": error}, headers)


def _failed(number: int, message: str) -> Callable[[float], Fault]:
    return lambda _: status(number, message, type="server_error")


def _same(made: Fault) -> Callable[[float], Fault]:
    return lambda _: made


def _text(change: Callable[[str], str], finish: str = "", **message: object) -> Callable[[float], Fault]:
    return _same(Fault(edit=lambda answer: said(answer, change, finish, **message)))


def _cut(text: str) -> str:
    """A text that ends in the middle of an item, and of a word where that is possible."""
    end = max(len(text) * 2 // 3, 1)
    while end > 1 and not text[end - 1 : end + 1].isalnum():
        end -= 1
    return text[:end]


def _giant(megabytes: float) -> Fault:
    return Fault(edit=lambda answer: said(answer, lambda text: text + "!" * int(megabytes * 2**20), "length"))


KINDS = (
    Kind("429", "transport", "Too many requests. With an amount: `Retry-After` of so many seconds.",
         lambda s: _busy(f"{s:.15g}" if s else None), 0.0),
    Kind("429_ms", "transport", "Too many requests, with `retry-after-ms`; the amount is in milliseconds.",
         lambda ms: _busy(f"{ms:.15g}", "retry-after-ms"), 500.0),
    Kind("429_date", "transport", "Too many requests, with `Retry-After` as a date; the amount is in seconds.",
         lambda s: _busy(formatdate(math.ceil(time.time() + s), usegmt=True)), 1.0),
    Kind("408", "transport", "The request timed out.", _failed(408, "Request timeout.")),
    Kind("409", "transport", "A conflict.", _failed(409, "Conflict.")),
    Kind("500", "transport", "The server failed.", _failed(500, "Internal error.")),
    Kind("502", "transport", "A gateway failed, with a page instead of JSON.",
         _same(Fault(502, HTML.body, HTML.headers))),
    Kind("503", "transport", "The server is overloaded.", _failed(503, "Overloaded.")),
    Kind("slow", "transport", "The first byte comes late; the amount is in seconds.", slow, 2.0),
    Kind("drip", "transport", "The answer dribbles; the amount is the seconds it takes.",
         lambda s: Fault(drip_s=s), 2.0),
    Kind("dropped", "transport", "The connection closes without a word.", _same(DROPPED)),
    Kind("half", "transport", "The connection breaks within the answer.", _same(BROKEN_OFF)),
    Kind("invalid_json", "transport", "A body that is cut, complete by its length.", _same(CUT_JSON)),
    Kind("html", "transport", "A page with status 200.", _same(HTML)),
    Kind("html_as_json", "transport", "A page with status 200 that is called JSON.", _same(HTML_AS_JSON)),
    Kind("empty_choices", "transport", "`choices: []`.", _same(NO_CHOICES)),
    Kind("null_choices", "transport", "`choices: null`.", _same(NULL_CHOICES)),
    Kind("null_usage", "transport", "`usage: null`: the answer is good, its tokens and cost are unknown.",
         _same(NO_USAGE)),
    Kind("think", "content", "Reasoning in tags before the answer, with bullets in it.",
         _text(lambda text: f"<think>\n{THOUGHT}\n</think>\n\n{text}")),
    Kind("think_unclosed", "content", "Reasoning that is cut before it ends.",
         _text(lambda text: f"<think>\n{THOUGHT}", "length")),
    Kind("think_closed", "content", "Reasoning of which only the closing tag shows.",
         _text(lambda text: f"{THOUGHT}\n</think>\n\n{text}")),
    Kind("reasoning_content", "content", "Reasoning in a field of its own.",
         _text(lambda text: text, reasoning_content=THOUGHT)),
    Kind("cut_list", "content", "An answer cut in the middle of an item, with finish reason `length`.",
         _text(_cut, "length")),
    Kind("content_filter", "content", "No text, with finish reason `content_filter`.",
         _same(content("", "content_filter"))),
    Kind("giant", "content", "A last item that goes on and on; the amount is in MiB.", _giant, 2.0),
    Kind("too_large", "stop", "A body of blanks; the amount is in MiB.",
         lambda mib: Fault(body=b" " * int(mib * 2**20)), 20.0),
    Kind("endless", "stop", "A body without end.", _same(ENDLESS)),
    Kind("401", "stop", "The key is not accepted.",
         _same(status(401, "Incorrect API key provided.", code="invalid_api_key"))),
    Kind("402", "stop", "There is no credit left.", _same(status(402, "Insufficient credits.", type="billing"))),
    Kind("400_temperature", "stop", "The model takes no temperature.",
         _same(status(400, "Unsupported parameter: 'temperature' is not supported with this model.",
                      param="temperature", code="unsupported_parameter"))),
    Kind("400_max_tokens", "stop", "The model wants `max_completion_tokens`.",
         _same(status(400, "Unsupported parameter: 'max_tokens' is not supported with this model. "
                      "Use 'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter"))),
)  # fmt: skip


def table() -> str:
    """All faults in Markdown, as docs/rehearsal.md shows them."""
    rows = [
        f"| `{kind.name}`{f' (:{kind.amount:g})' if kind.amount else ''} | {kind.group} | {kind.what} |"
        for kind in KINDS
    ]
    return "\n".join(["| fault | group | what happens |", "|---|---|---|", *rows])
