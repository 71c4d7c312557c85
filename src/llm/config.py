"""What a model is, what it costs and where it is served: configuration, without a connection."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import field
from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue
from pydantic.dataclasses import dataclass

from src.errors import ConfigError
from src.identity import origin
from src.records import STRICT, Sampling, Usage

OURS = frozenset({"model", "messages", "prompt", "input", "stream", "n", "temperature", "top_p", "seed"}) | frozenset(
    {"max_tokens", "max_completion_tokens"}
)


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        raise ValueError(
            "api_key_env is the name of the environment variable that holds the key, such as OPENAI_API_KEY "
            "(A-Z, 0-9, _), never the key itself"
        )
    return name


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  reading it checks it
    except ValueError as error:
        raise ValueError(f"base_url is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(
            "base_url is an address such as https://api.openai.com/v1, without user name, key, '?' or '#'; "
            "the key belongs into the variable that api_key_env names"
        )
    return url.rstrip("/")


def _additions(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if clash := sorted(OURS & body.keys()):
        raise ValueError(f"extra_body cannot set {', '.join(clash)}: the model's own options or the client do")
    return body


ExtraBody = Annotated[dict[str, JsonValue], AfterValidator(_additions)]


@dataclass(frozen=True, config=STRICT)
class Price:
    """US dollars per million tokens, as published on the day `dated`."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    dated: str

    def __post_init__(self) -> None:
        date.fromisoformat(self.dated)

    def cost(self, usage: Usage) -> float | None:
        """US dollars for a request; None if a token count is unknown."""
        if usage.tokens_in is None or usage.tokens_out is None:
            return None
        return (self.input * usage.tokens_in + self.output * usage.tokens_out) / 1e6


@dataclass(frozen=True, config=STRICT)
class Model:
    """A chat model and how it is sampled.

    Attributes:
        id: the name that its server knows it by.
        revision: which weights are meant where `id` alone does not say; part of every ledger key.
        temperature: None leaves it to the server; 0 is greedy.
        top_p: None leaves it to the server.
        max_tokens: longest answer, in tokens.
        max_tokens_as: the field in which the endpoint expects max_tokens.
        style: chat, or completion for a base model, which goes on from the text of the messages.
        price: None is unknown; a money budget is refused then.
        parameters: size in billions, for studies over size.
    """

    id: Annotated[str, Field(min_length=1)]
    revision: str | None = None
    temperature: Annotated[float, Field(ge=0)] | None = 0.7
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] = 4096
    max_tokens_as: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    style: Literal["chat", "completion"] = "chat"
    price: Price | None = None
    parameters: Annotated[float, Field(gt=0)] | None = None

    def sampling(self, max_tokens: int, own: Sampling | None = None, *, top_k: bool = False) -> dict[str, JsonValue]:
        """The sampling fields of a request.

        Args:
            max_tokens: longest answer.
            own: what the prompt says of itself; None: as configured.
            top_k: whether the endpoint knows `top_k`.
        """
        fields: dict[str, JsonValue] = {self.max_tokens_as: max_tokens}
        temperature = own.temperature if own else self.temperature
        if temperature is not None:
            fields["temperature"] = temperature
        if own and own.stop:
            fields["stop"] = list(own.stop)
        if own and own.top_k and own.temperature and top_k:
            fields["top_k"] = own.top_k
        if self.top_p is not None and not own:
            fields["top_p"] = self.top_p
        return fields


@dataclass(frozen=True)
class Address:
    """Where a server listens and the key it wants; the key shows up in no representation."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, config=STRICT)
class Endpoint:
    """An OpenAI-compatible server.

    Attributes:
        name: names it in ledger keys and messages.
        base_url: address up to and including the version, as `https://api.openai.com/v1`.
        api_key_env: environment variable that holds the key; None for a server that wants none.
        timeout_s: seconds for one attempt.
        attempts: attempts per request, the first included; those rejected with 429 are not counted.
        deadline_s: seconds for one request, from its first attempt on.
        concurrency: most requests under way at once, over all roles that share the connection; how many there are
            is found out.
        requests_per_minute, tokens_per_minute: limits that are known beforehand, spread evenly over the minute; a
            request counts with all the tokens that its answer may have. None leaves it to what the endpoint rejects.
        extra_body: further fields of every request, part of every ledger key.
        seed: send a sampling seed, derived from the ledger key.
        top_k: it knows this limit, which OpenAI's own interface lacks; it is sent where a probe sets one.
    """

    name: Annotated[str, Field(min_length=1)]
    base_url: Annotated[str, AfterValidator(_address)]
    api_key_env: Annotated[str, AfterValidator(_variable)] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    attempts: Annotated[int, Field(gt=0)] = 5
    deadline_s: Annotated[float, Field(gt=0)] = 900.0
    concurrency: Annotated[int, Field(gt=0)] = 100
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = None
    extra_body: ExtraBody = Field(default_factory=dict)
    seed: bool = False
    top_k: bool = False

    @property
    def identity(self) -> dict[str, str]:
        """What a ledger key says of it."""
        return {"endpoint": self.name, "origin": origin(self.base_url)}

    @asynccontextmanager
    async def serve(self, key: str) -> AsyncIterator[Address]:
        """Give the address, with the key from the environment.

        Args:
            key: what configuration calls this endpoint, for messages.

        Raises:
            ConfigError: the variable is not set, or what it holds cannot be sent.
        """
        secret = os.environ.get(self.api_key_env, "").strip() if self.api_key_env else None
        if secret == "":
            raise ConfigError(
                f"Endpoint {self.name} takes its key from the environment variable {self.api_key_env}, which is not "
                f"set; set it, or {key}.api_key_env=null for a server that wants no key."
            )
        if secret and not (secret.isascii() and secret.isprintable()):
            raise ConfigError(
                f"The environment variable {self.api_key_env} holds characters that no key of endpoint {self.name} can "
                "have (a line break, a typographic dash); copy the key again."
            )
        yield Address(self.base_url, secret)
