"""What it means when an endpoint does not answer as asked: pure, from status and body to one named outcome."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from src.errors import EndpointError
from src.records import Role

LONGEST_REASON = 300
NAMELESS = frozenset({"model", "messages", "prompt", "input"})
"""Fields that every error may mention without being about them."""

_CONTEXT = re.compile(
    r"exceed_context_size|context[ _](length|window|size)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|reduce the length|string_above_max_length|must have less than \d+ tokens"
    r"|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"content_filter|content_policy|content management policy|flagged", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|(unknown|invalid|no such|not a valid) model|no endpoints found"
    r"|\bmodel\b.{0,120}(not found|does not exist|doesn't exist|not a valid|not exist|not available|unknown)",
    re.IGNORECASE | re.DOTALL,
)
_STYLE = re.compile(
    r"(?P<completion>not a chat model|(does not|doesn't) support chat|did you mean to use v1/completions|chat template)"
    r"|this is a chat model|did you mean to use v1/chat",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient (credit|balance|funds)|exceeded your current quota", re.IGNORECASE
)


class Transient(Exception):
    """This attempt failed and another may succeed.

    Attributes:
        free: surely nothing was billed.
        unreachable: nobody listens at the address.
        throttled: there were too many requests; the request itself is good.
        wait_s: seconds after which the endpoint wants to be asked again; None if it did not say.
    """

    def __init__(
        self,
        reason: str,
        *,
        free: bool = False,
        unreachable: bool = False,
        throttled: bool = False,
        wait_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.free = free
        self.unreachable = unreachable
        self.throttled = throttled
        self.wait_s = wait_s


class Declined(Exception):
    """The endpoint works but will not serve this request, however often it is asked.

    Attributes:
        kind: `context` (does not fit), `content` (a filter), `size` (more is sent than is taken), `request` (anything
            else).
        free: surely nothing was billed.
    """

    def __init__(
        self, kind: Literal["context", "content", "size", "request"], reason: str, *, free: bool = True
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.free = free


class ParameterRefused(EndpointError):
    """The endpoint does not take a field of the request, or not this value."""


@dataclass(frozen=True)
class Asked:
    """Who asked what where: all that a sentence about a failure has to name.

    Attributes:
        role: whose configuration is to be changed.
        model: its id.
        endpoint, base_url: name and address of the server.
        api_key_env: name of the variable that holds the key, or None.
        fields: names of the fields sent.
    """

    role: Role
    model: str
    endpoint: str
    base_url: str
    api_key_env: str | None
    fields: Collection[str]


def model_key(role: Role) -> str:
    """What configuration calls the model of a role."""
    return "model" if role == "subject" else role


def endpoint_key(role: Role) -> str:
    """What configuration calls the endpoint of a role."""
    return "endpoint" if role == "subject" else f"{role}.endpoint"


def short(text: str) -> str:
    """One line of bounded length."""
    line = " ".join(text[: 10 * LONGEST_REASON].split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a response asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    Args:
        headers: of the response; names in any case where the mapping allows it, otherwise in lower case.

    Returns:
        Seconds, 0 or more; 0 for what cannot be read; None if nothing is asked.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        if (value := headers.get(name)) is not None:
            try:
                seconds = float(value) / unit
            except ValueError:
                seconds = _until(value, headers.get("date"))
            return 0.0 if math.isnan(seconds) else max(seconds, 0.0)
    return None


def _until(moment: str, now: str | None) -> float:
    """Seconds between two HTTP dates, by the clock of the server where it told its time."""
    try:
        then = parsedate_to_datetime(moment)
    except ValueError:
        return 0.0
    try:
        start = parsedate_to_datetime(now or "")
    except ValueError:
        start = datetime.now(UTC)
    # A date without a zone is one in UTC.
    return (then.replace(tzinfo=then.tzinfo or UTC) - start.replace(tzinfo=start.tzinfo or UTC)).total_seconds()


def outcome(status: int, body: str, asked: Asked, wait_s: float | None = None) -> Transient | Declined | EndpointError:
    """Name what an HTTP status other than 2xx means.

    Args:
        status: HTTP status.
        body: the response's text, with secrets already taken out.
        asked: the request.
        wait_s: what :func:`wait_asked` read from its headers.
    """
    message, code, parameter = _said(body)
    said = short(f"HTTP {status}: {message}")
    text = f"{code} {message[:4000]}"
    model, endpoint = model_key(asked.role), endpoint_key(asked.role)
    where = f"Endpoint {asked.endpoint} ({asked.base_url})"
    key = f"the key in {asked.api_key_env}" if asked.api_key_env else "a request without a key"
    if status == 402 or (status == 429 and _NO_CREDIT.search(text)):
        return EndpointError(
            f"{where} says that there is no credit left for {key} ({said}); top it up or choose "
            "another endpoint, then run again: what is done is saved."
        )
    if status in (408, 409, 425, 429) or status >= 500:
        free = status not in (408, 504, 524)  # given up by a proxy, perhaps answered behind it
        return Transient(said, free=free, throttled=status == 429, wait_s=wait_s)
    if status == 401:
        remedy = f"put a valid key into {asked.api_key_env}" if asked.api_key_env else "name the variable that holds it"
        return EndpointError(f"{where} did not accept {key} ({said}); {remedy} ({endpoint}.api_key_env).")
    if _CONTENT.search(text):
        return Declined("content", said)
    if _CONTEXT.search(text) or status == 413:
        return Declined("context", said)
    if status == 403:
        return EndpointError(
            f"{where} does not allow {key} to use {asked.model!r} ({said}); check the account's rights, "
            f"or change {model}.id or {endpoint}.api_key_env."
        )
    if style := _STYLE.search(text):
        other = "completion" if style["completion"] else "chat"
        return EndpointError(f"{where} does not chat with {asked.model!r} ({said}); set {model}.style={other}.")
    # A parameter that the error names as such beats what its words may seem to say.
    parameter = re.split(r"[.\[]", parameter, maxsplit=1)[0]
    named = parameter if parameter in asked.fields and parameter not in NAMELESS else ""
    if not named and (status == 404 or _NO_MODEL.search(text)):
        return EndpointError(
            f"{where} has no model {asked.model!r}, or the address is wrong ({said}); correct {model}.id or "
            f"{endpoint}.base_url."
        )
    words = re.findall(r"\w+", message[:4000].replace(asked.model, ""))
    named = named or next((word for word in words if word in asked.fields and word not in NAMELESS), "")
    if not named:
        return Declined("request", said)
    remedy = _remedy(named, message, model, endpoint)
    return ParameterRefused(f"{where} refuses {named} for {asked.model!r} ({said}); set {remedy}.")


def _said(body: str) -> tuple[str, str, str]:
    """Message, code and parameter of an error body, whatever its shape."""
    try:
        data = json.loads(body)
    except ValueError:
        return body, "", ""
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return error if isinstance(error, str) else body, "", ""
    message = error.get("message") or error.get("detail") or body
    code = " ".join(str(error[name]) for name in ("code", "type") if error.get(name))
    return message if isinstance(message, str) else json.dumps(message), code, str(error.get("param") or "")


def _remedy(named: str, message: str, model: str, endpoint: str) -> str:
    """The configuration that stops a field from being refused."""
    if named in ("max_tokens", "max_completion_tokens"):
        other = "max_completion_tokens" if named == "max_tokens" else "max_tokens"
        if re.search(rf"\b{other}\b", message):
            return f"{model}.max_tokens_as={other}"
        return f"{model}.max_tokens (or the answer_tokens of the probe) lower, or {model}.max_tokens_as={other}"
    if named == "temperature":
        return f"{model}.temperature=null, or ask a model that takes one where the probe needs it"
    if named == "top_p":
        return f"{model}.top_p=null"
    if named == "top_k":
        return f"{endpoint}.top_k=false, and {endpoint}.extra_body without top_k"
    if named == "stop":
        return f"form=chat, which sends no stop, and {endpoint}.extra_body without stop"
    if named == "seed":
        return f"{endpoint}.seed=false"
    return f"{endpoint}.extra_body.{named} to what it takes, or {endpoint}.extra_body without {named}"
