"""From the body of a successful response to what was said: pure, and strict about shapes that are no answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from src.llm.faults import Transient, short
from src.records import State, Usage
from src.text.reasoning import strip_reasoning

CUT = frozenset({"length", "max_tokens", "model_length"})
"""Finish reasons that mean: the answer was as long as it was allowed to be."""

REASONING = ("reasoning_content", "reasoning")
"""Where a message holds what was thought before the content, depending on the server."""


@dataclass(frozen=True)
class Said:
    """What a chat endpoint said.

    Attributes:
        text: as received, reasoning included.
        state: ok, truncated, empty or refused.
        finish_reason: as the endpoint gave it.
        usage: tokens; None where it did not say.
        reason: why state is not ok.
    """

    text: str
    state: State
    finish_reason: str | None
    usage: Usage
    reason: str


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        Transient: HTML, JSON that is cut, bytes that are no UTF-8, or an error sent with status 200.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        start = body[:60].decode("utf-8", "replace")
        raise Transient(f"HTTP 200 without valid JSON: {short(start)!r}") from None
    if not isinstance(data, dict):
        raise Transient(f"HTTP 200 with {type(data).__name__} instead of an object")
    if data.get("error"):
        raise Transient(f"HTTP 200 with an error: {short(json.dumps(data['error']))}")
    return data


def read_chat(body: bytes) -> Said:
    """Read the body of a chat completion; reasoning that comes beside the content is kept before it, tagged.

    Raises:
        Transient: it holds no answer.
    """
    data = read_object(body)
    choice, finish = _choice(data, "message", dict)
    message: dict[str, Any] = choice["message"]
    text = _text(message.get("content"))
    reasoning = next((message[name] for name in REASONING if isinstance(message.get(name), str) and message[name]), "")
    if reasoning:
        # No end of reasoning inside it: all of it was marked as such by the endpoint.
        told = "<think>" + re.sub(r"(?<=[<\[◁])(?=[/|])", " ", reasoning)
        text = told if finish in CUT and not text.strip() else f"{told}</think>\n{text}"
    state, reason = _state(text, finish, message.get("refusal"))
    return Said(text, state, finish, read_usage(data), reason)


def read_completion(body: bytes) -> Said:
    """Read the body of a completion without chat.

    Raises:
        Transient: it holds no answer.
    """
    data = read_object(body)
    choice, finish = _choice(data, "text", str)
    text: str = choice["text"]
    state, reason = _state(text, finish, None)
    return Said(text, state, finish, read_usage(data), reason)


def _choice(data: dict[str, Any], holds: str, kind: type) -> tuple[dict[str, Any], str | None]:
    """The first choice, which holds an answer, and its finish reason."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get(holds), kind):
        raise Transient(f"HTTP 200 without a choice that holds a {holds}: choices is {short(json.dumps(choices))}")
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    if choice.get("error") or finish == "error":
        raise Transient(f"HTTP 200 with an error in its choice: {short(json.dumps(choice.get('error')))}")
    return choice, finish


def read_usage(data: dict[str, Any]) -> Usage:
    """Read the token counts of a response; what is missing or no count is None."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(content: object) -> str:
    """The content of a message: a string, nothing, or a list of parts of which those of type text count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    raise Transient(f"HTTP 200 whose message content is {type(content).__name__}")


def _state(text: str, finish: str | None, refusal: object) -> tuple[State, str]:
    if isinstance(refusal, str) and refusal.strip():
        return "refused", short(refusal)
    if finish == "content_filter":
        return "refused", "stopped by the endpoint's content filter"
    if not strip_reasoning(text).strip():
        if text.strip() and finish in CUT:
            return "truncated", "cut at max_tokens while reasoning"
        return "empty", "no text within max_tokens" if finish in CUT else "no text"
    return ("truncated", "cut at max_tokens") if finish in CUT else ("ok", "")
