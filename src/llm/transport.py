"""One attempt over HTTP: bounded in time, bounded in size, and every way in which it can fail is named."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient, Omit

from src.errors import EndpointError
from src.llm.config import Address
from src.llm.faults import Asked, Declined, Transient, endpoint_key, outcome, short, wait_asked
from src.records import Role

LARGEST_BODY = 16 * 2**20
"""Bytes of a response that are read: a thousand times a long answer, and enough for a batch of embeddings."""

REHEARSAL = "rehearsal"
"""Name of the endpoint whose answers are made up; its server says so in this header of every response:"""
REHEARSED = "x-rehearsal"


class Transport:
    """An HTTP client for one address; used inside `async with`.

    Attributes:
        reached: whether anything was ever received.
    """

    def __init__(self, name: str, api_key_env: str | None, address: Address) -> None:
        """Make a client; nothing is opened.

        Args:
            name: of the endpoint.
            api_key_env: name of the variable that holds its key, for messages.
            address: where it is, and its key.
        """
        self.reached = False
        self._name = name
        self._api_key_env = api_key_env
        self._address = address
        plain = address.base_url.startswith("http:")
        http = DefaultAioHttpClient(
            event_hooks={"response": [self._hide_key, _limit_size]},
            trust_env=not _loopback(address.base_url),  # no proxy stands before this machine itself
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,  # reading certificates is slow
        )
        self._client = AsyncOpenAI(
            base_url=address.base_url,
            api_key=address.api_key or "none",
            timeout=None,  # per read; ours is per attempt
            max_retries=0,  # one loop of retries, ours
            http_client=http,
        )
        self._headers: dict[str, str | Omit] = {"Accept-Encoding": "identity"}
        if not address.api_key:
            self._headers["Authorization"] = Omit()

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def send(self, path: str, body: Mapping[str, object], role: Role, timeout_s: float) -> bytes:
        """Make one attempt; return the body of the response.

        Args:
            path: below the address.
            body: sent as JSON.
            role: who asks, for messages.
            timeout_s: seconds for all of it.

        Raises:
            Transient, Declined, EndpointError: as :func:`src.llm.faults.outcome`.
        """
        secret = self._address.api_key or ""
        try:
            async with asyncio.timeout(timeout_s):  # the client's own limit is per read
                response = await self._client.post(
                    path, cast_to=httpx2.Response, body=dict(body), options={"headers": self._headers}
                )
        except APIStatusError as error:
            self.reached = True
            self._check(error.response.headers, role, ok=False)
            where = (self._name, self._address.base_url, self._api_key_env)
            asked = Asked(role, str(body["model"]), *where, body.keys())
            said = error.response.content.decode("utf-8", "replace")
            # `from None`: the cause holds what the server said, which may repeat the key.
            raise outcome(
                error.status_code, _without(said, secret), asked, wait_asked(error.response.headers)
            ) from None
        except TimeoutError:
            raise Transient(f"no answer from {self._address.base_url} within {timeout_s:.4g} s") from None
        except (APIConnectionError, httpx2.HTTPError, aiohttp.ClientError) as error:
            causes = _chain(error)
            for cause in causes:  # ours, from reading the body
                if isinstance(cause, Transient | Declined):
                    raise cause from None
            unreachable = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
            reason = short(f"{self._address.base_url}: {causes[-1] or type(causes[-1]).__name__}")
            raise Transient(_without(reason, secret), free=unreachable, unreachable=unreachable) from None
        self.reached = True
        self._check(response.headers, role, ok=True)
        return response.content.replace(secret.encode(), b"***") if secret else response.content

    async def _hide_key(self, response: httpx2.Response) -> None:
        """Take our key out of the headers, which the client's debug log shows; a server may send it back."""
        secret = self._address.api_key
        for name, value in list(response.headers.items()) if secret else []:
            if secret and secret in value:
                response.headers[name] = value.replace(secret, "***")

    def _check(self, headers: Mapping[str, str], role: Role, *, ok: bool) -> None:
        """Keep made-up answers and real ones apart."""
        made_up = REHEARSED in headers
        if made_up and self._name != REHEARSAL:
            raise EndpointError(
                f"Endpoint {self._name} ({self._address.base_url}) is a rehearsal server, whose answers are made up; "
                f"choose endpoint=rehearsal, or correct {endpoint_key(role)}.base_url. Nothing of it is stored."
            )
        if ok and not made_up and self._name == REHEARSAL:
            raise EndpointError(
                f"Endpoint rehearsal ({self._address.base_url}) is a real server: start `python -m src.rehearse` and "
                f"correct {endpoint_key(role)}.base_url, or choose the server's own endpoint. Nothing of it is stored."
            )


class _Limited(httpx2.AsyncByteStream):
    """A response body that ends in a failure instead of filling the memory, compressed or not."""

    def __init__(self, stream: httpx2.AsyncByteStream, encoding: str, *, failed: bool) -> None:
        self._stream = stream
        self._encoding = encoding
        self._failed = failed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        unpack = zlib.decompressobj(wbits=47) if self._encoding else None  # gzip or zlib, whichever it is
        async for chunk in self._stream:
            if unpack:
                try:
                    chunk = unpack.decompress(chunk, LARGEST_BODY - size + 1)
                except zlib.error as error:
                    raise Transient(f"HTTP body that is not {self._encoding}: {error}") from None
            size += len(chunk)
            if size > LARGEST_BODY:
                reason = f"the response is longer than {LARGEST_BODY >> 20} MiB"
                if self._failed:
                    raise Transient(reason, free=True)
                # An answer: asked again it would be as long, and would be billed again.
                raise Declined("size", reason, free=False)
            yield chunk
        if unpack and not unpack.eof:
            raise Transient(f"HTTP body in {self._encoding} that is cut")

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise Transient(f"HTTP body in {short(encoding)}, although none was asked for")
    packed = "" if encoding == "identity" else encoding
    response.stream = _Limited(response.stream, packed, failed=response.status_code >= 400)


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


def _without(text: str, secret: str) -> str:
    return text.replace(secret, "***") if secret else text
