"""What can go wrong with one response, as data; and what the tests use ready made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

Chosen = Callable[[int, Body], "Fault | None"]
"""Decides what goes wrong with a request, by its number in order of arrival, from 0, and its body; None: nothing."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        status: HTTP status.
        body: sent as it is; a mapping as JSON; None sends the proper answer.
        headers: added to the response.
        delay_s: seconds before the response starts.
        edit: changes the proper answer.
        drip_s: seconds over which the body comes, bit by bit.
        cut: bytes of the body that are sent before the connection breaks, content length unchanged.
        drop: close the connection without a word.
        endless: send the body again and again until the client leaves.
    """

    status: int = 200
    body: bytes | Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    edit: Callable[[Body], object] | None = None
    drip_s: float = 0.0
    cut: int | None = None
    drop: bool = False
    endless: bool = False


def status(number: int, message: str = "scripted", /, **error: str) -> Fault:
    """An HTTP error with an OpenAI-like body."""
    return Fault(number, {"error": {"message": message, **error}})


def slow(seconds: float) -> Fault:
    """The proper answer, late."""
    return Fault(delay_s=seconds)


def content(text: str | None, finish: str = "stop", **message: object) -> Fault:
    """The proper answer with another text and finish reason."""
    return Fault(edit=lambda answer: said(answer, lambda _: text, finish, **message))


def said(answer: Body, change: Callable[[str], str | None], finish: str = "", /, **message: object) -> Body:
    """An answer whose text is changed; one without text, such as of vectors, stays as it is.

    Args:
        answer: the proper answer of a chat or a completion.
        change: from the proper text to the one to send.
        finish: finish reason; "" keeps the proper one.
        message: further fields of a chat's message.
    """
    if not answer.get("choices"):
        return answer
    choice = dict(answer["choices"][0])
    if "message" in choice:
        text = change(choice["message"]["content"])
        choice["message"] = {**choice["message"], "content": text, **message}
    else:
        choice["text"] = change(choice["text"])
    choice["finish_reason"] = finish or choice["finish_reason"]
    return {**answer, "choices": [choice]}


def with_field(name: str, value: object) -> Fault:
    """The proper answer with another value in a field that it has."""
    return Fault(edit=lambda answer: {**answer, name: value} if name in answer else answer)


PAGE = b"<!doctype html><title>Gateway</title>"

HTML = Fault(body=PAGE, headers={"Content-Type": "text/html"})
HTML_AS_JSON = Fault(body=PAGE)
CUT_JSON = Fault(body=b'{"choices": [{"message": {"content": "half a')
NO_CHOICES = with_field("choices", [])
NULL_CHOICES = with_field("choices", None)
NO_USAGE = with_field("usage", None)
DROPPED = Fault(drop=True)
BROKEN_OFF = Fault(cut=20)
ENDLESS = Fault(body=b" " * 65536, endless=True)
