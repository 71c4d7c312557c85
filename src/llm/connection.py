"""One endpoint in use: opened at the first live request, shared by the roles it serves, closed with the run."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Literal, Self, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient, Omit
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from src.errors import EndpointError
from src.llm.config import Address, Endpoint
from src.llm.faults import Asked, Declined, ParameterRefused, Transient, endpoint_key, outcome, short
from src.llm.local import Embedded
from src.records import Role

LARGEST_BODY = 16 * 2**20
"""Bytes of a response that are read: a thousand times a long answer, and enough for a batch of embeddings."""

WAIT = wait_random_exponential(multiplier=0.2, max=10)
"""Between attempts: a random time of up to 0.2 s, doubled with each attempt, ten seconds at most."""

T = TypeVar("T")


@dataclass(frozen=True)
class Received(Generic[T]):
    """What came back.

    Attributes:
        value: as read from the body.
        attempts: HTTP requests it took.
        latency_s: seconds spent in them, without the waits between them.
    """

    value: T
    attempts: int
    latency_s: float


class Failed(Exception):
    """A request was given up.

    Attributes:
        kind: `attempts` (used up), or why the endpoint declined: `context`, `content`, `request`.
        attempts, latency_s: as in :class:`Received`.
        free: surely nothing was billed.
    """

    def __init__(
        self,
        kind: Literal["attempts", "context", "content", "request"],
        reason: str,
        *,
        attempts: int,
        latency_s: float,
        free: bool,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.attempts = attempts
        self.latency_s = latency_s
        self.free = free


class Connection:
    """A connection to an endpoint: entered by everyone who uses it, closed when the last one leaves.

    Entering costs nothing. Key, server and network are needed by the first request only.
    """

    def __init__(self, endpoint: Endpoint | Embedded) -> None:
        self.endpoint = endpoint
        self._users = 0
        self._open: tuple[AsyncOpenAI, Address] | None = None
        self._reached = False
        self._unusable: EndpointError | None = None

    async def __aenter__(self) -> Self:
        if self._users == 0:  # made here because they belong to the running event loop
            self._resources = AsyncExitStack()
            self._slots = asyncio.Semaphore(self.endpoint.concurrency)
            self._opening = asyncio.Lock()
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._open = self._unusable = None
            await self._resources.aclose()

    async def post(
        self,
        path: str,
        body: Mapping[str, object],
        read: Callable[[bytes], T],
        *,
        role: Role,
        admit: Callable[[], None],
    ) -> Received[T]:
        """Send a request until it is answered or given up.

        Args:
            path: "/chat/completions" or "/embeddings".
            body: the JSON body; its `model` is named in messages.
            read: reads the response's body; raises Transient if it holds no answer.
            role: who asks, for messages.
            admit: called once, before the first attempt and when a slot is free; may refuse.

        Raises:
            Failed: attempts used up, or the endpoint declined.
            EndpointError: the endpoint cannot be used at all.
            ConfigError: the variable that holds the key is not set.
            DataMissing: the embedded model cannot be loaded.
        """
        if self._users == 0:
            raise RuntimeError("a live request needs its connection entered: use `async with`")
        attempts, latency_s, free = 0, 0.0, True

        async def attempt() -> T:
            nonlocal attempts, latency_s, free
            async with self._slots:  # held during an attempt, not during the wait for the next one
                if self._unusable:  # found out meanwhile, by a request that was sent before this one
                    raise self._unusable
                if attempts == 0:
                    admit()
                client, address = await self._opened(role)
                attempts += 1
                start = time.perf_counter()
                try:
                    return read(await self._send(client, address, path, body, role))
                except Transient as fault:
                    free = free and fault.free
                    raise
                finally:
                    latency_s += time.perf_counter() - start

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.endpoint.attempts),
            wait=WAIT,
            retry=retry_if_exception_type(Transient),
            reraise=True,
        )
        try:
            value: T = await retrying(attempt)
        except Transient as fault:
            many = f"{attempts} attempt{'s' if attempts > 1 else ''}"
            if fault.unreachable and not self._reached:
                raise EndpointError(
                    f"Endpoint {self.endpoint.name} cannot be reached ({fault}; {many}): start its server, or correct "
                    f"{endpoint_key(role)}.base_url."
                ) from None
            reason = f"endpoint {self.endpoint.name}: {fault} ({many})"
            raise Failed("attempts", reason, attempts=attempts, latency_s=latency_s, free=free) from None
        except ParameterRefused:
            raise  # about this request's length, perhaps; another one may be served
        except EndpointError as fault:
            self._unusable = fault
            raise
        except Declined as fault:
            reason, free = f"endpoint {self.endpoint.name}: {fault}", free and fault.free
            raise Failed(fault.kind, reason, attempts=attempts, latency_s=latency_s, free=free) from None
        return Received(value, attempts, latency_s)

    async def _opened(self, role: Role) -> tuple[AsyncOpenAI, Address]:
        async with self._opening:
            if self._open is None:
                address = await self._resources.enter_async_context(self.endpoint.serve(endpoint_key(role)))
                plain = address.base_url.startswith("http:")
                http = DefaultAioHttpClient(
                    event_hooks={"response": [_limit_size]},
                    trust_env=not _loopback(address.base_url),  # no proxy stands before this machine itself
                    verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,  # reading certificates is slow
                )
                client = AsyncOpenAI(
                    base_url=address.base_url,
                    api_key=address.api_key or "none",
                    timeout=None,  # per read; ours is per attempt
                    max_retries=0,  # one loop of retries, ours
                    http_client=http,
                )
                self._open = await self._resources.enter_async_context(client), address
            return self._open

    async def _send(
        self, client: AsyncOpenAI, address: Address, path: str, body: Mapping[str, object], role: Role
    ) -> bytes:
        """Make one attempt.

        Raises:
            Transient, Declined, EndpointError: as :func:`src.llm.faults.outcome`.
        """
        headers = {} if address.api_key else {"Authorization": Omit()}
        try:
            async with asyncio.timeout(self.endpoint.timeout_s):  # the client's own limit is per read
                response = await client.post(
                    path, cast_to=httpx2.Response, body=dict(body), options={"headers": headers}
                )
        except APIStatusError as error:
            self._reached = True
            text = error.response.text
            where = (self.endpoint.name, address.base_url, self.endpoint.api_key_env)
            asked = Asked(role, str(body["model"]), *where, body.keys())
            # `from None`: the cause holds what the server said, which may repeat the key.
            raise outcome(error.status_code, _without(text, address.api_key), asked) from None
        except TimeoutError:
            raise Transient(f"no answer from {address.base_url} within {self.endpoint.timeout_s:g} s") from None
        except (APIConnectionError, httpx2.HTTPError, aiohttp.ClientError) as error:
            causes = list(_chain(error))
            unreachable = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
            reason = short(f"{address.base_url}: {causes[-1] or type(causes[-1]).__name__}")
            raise Transient(_without(reason, address.api_key), free=unreachable, unreachable=unreachable) from None
        self._reached = True
        secret = (address.api_key or "").encode()
        return response.content.replace(secret, b"***") if secret else response.content


class _Limited(httpx2.AsyncByteStream):
    """A response body that ends in a failure instead of filling the memory."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_BODY:
                # Asked again it would be as long, and might be billed again.
                raise Declined("request", f"the response is longer than {LARGEST_BODY >> 20} MiB", free=False)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Limited(response.stream)


def _loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    return chain


def _without(text: str, secret: str | None) -> str:
    return text.replace(secret, "***") if secret else text
