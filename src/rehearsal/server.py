"""The rehearsal over HTTP: an OpenAI-compatible server on 127.0.0.1, in an event loop of one's own or in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import NoReturn, Self

from aiohttp import web

from src.rehearsal.bodies import FINGERPRINT, Served, catalogue, proper, refusal
from src.rehearsal.faults import Body, Chosen, Fault, status

HEADER = "x-rehearsal"
"""Every response of a rehearsal server bears it, so that its answers are never taken for real ones."""

DRIPS = 20
"""Pieces in which an answer dribbles."""

CLOSING_S = 0.05
"""For requests that are under way when the server stops."""


@dataclass(frozen=True)
class Arrived:
    """A request as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body


class Rehearsal:
    """The server. In a test: `with Rehearsal() as server: ... server.base_url ...`, which runs it in a thread.

    Attributes:
        requests: the latest POST requests in order of arrival.
        arrived: how many there were.
        faulty: how many met a fault.
        most_at_once: the highest number of them under way together.
        port: where it listens; the one asked for, or the one found.
    """

    def __init__(
        self,
        *,
        faults: Sequence[Fault | None] | Chosen = (),
        answer: Callable[[Body], str] | None = None,
        port: int = 0,
        facts: int = 400,
        models: Collection[str] | None = None,
        context: int | None = None,
        key: str | None = None,
        dimension: int = 8,
        latency_s: float = 0.0,
        kept: int | None = None,
        without_name: bool = False,
    ) -> None:
        """Describe a server; nothing is opened.

        Args:
            faults: one per request in order of arrival (None: answer properly), or a function of number and body.
            answer: makes the text of an answer from the request.
            port: 0 finds a free one. The origin is part of ledger keys: a restart that expects replays needs the same.
            facts: size of the world that lists are drawn from.
            models: other model names are a 404; None knows all.
            context: longest prompt in words, refused beyond as llama.cpp does it.
            key: API key that it wants.
            dimension: of its vectors.
            latency_s: seconds before every response starts.
            kept: length of `requests`; None keeps all.
            without_name: leave out the header and the fingerprint by which it is known, to play a real endpoint in
                a test. No command offers this.
        """
        self.requests: deque[Arrived] = deque(maxlen=kept)
        self.arrived = self.faulty = self.most_at_once = 0
        self.port = port
        fingerprint = "" if without_name else FINGERPRINT
        self._served = Served(facts, models, context, key, dimension, fingerprint, answer)
        self._named: dict[str, str] = {} if without_name else {HEADER: "1"}
        self._choose = faults if callable(faults) else _in_order(faults)
        self._latency_s = latency_s
        self._under_way = 0

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self.port}/v1"

    def count(self, body: Body | None = None) -> int:
        """How many requests arrived, or how many with this body."""
        return self.arrived if body is None else sum(arrived.body == body for arrived in list(self.requests))

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen while the block runs.

        Raises:
            OSError: the port is taken.
        """
        # A handler ends when its client leaves, so that a slow answer nobody waits for is not under way.
        server = web.Server(self._handle, access_log=None, handler_cancellation=True)
        runner = web.ServerRunner(server, shutdown_timeout=CLOSING_S)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
            await site.start()
            self.port = runner.addresses[0][1]
            yield
        finally:
            await runner.cleanup()

    def __enter__(self) -> Self:
        ready = threading.Event()
        failed: list[OSError] = []

        async def serve() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            try:
                async with self.listening():
                    ready.set()
                    await self._stop.wait()
            except OSError as error:
                failed.append(error)
            finally:
                ready.set()

        self._thread = threading.Thread(target=asyncio.run, args=(serve(),), name="rehearsal")
        self._thread.start()
        ready.wait()
        if failed:
            self._thread.join()
            raise failed[0]
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET" and request.path == "/v1/models":
            return self._plain(Fault(body=catalogue(self._served)))
        raw = await request.content.read()
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if request.method != "POST" or not isinstance(body, dict):
            return self._plain(status(400 if request.method == "POST" else 405, "POST a JSON object."))
        number, self.arrived = self.arrived, self.arrived + 1
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Arrived(request.path, headers, body))
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            response = self._respond(number, request.path, headers, body)
            if delay_s := response.delay_s + self._latency_s:
                await asyncio.sleep(delay_s)
            return await self._send(request, response)
        finally:
            self._under_way -= 1

    def _respond(self, number: int, path: str, headers: Mapping[str, str], body: Body) -> Fault:
        """The response to a request: a fault whose body is bytes, also when nothing is wrong."""
        fault = self._choose(number, body)
        self.faulty += fault is not None
        refused = refusal(self._served, path, headers.get("authorization"), body)
        if fault is None or (fault.body is None and refused):
            fault = refused or Fault()
        if isinstance(fault.body, bytes):
            return fault
        answer: object = fault.body
        if answer is None:
            answer = proper(self._served, path, body)
            answer = fault.edit(answer) if fault.edit else answer
        return replace(fault, body=json.dumps(answer).encode())

    async def _send(self, request: web.BaseRequest, response: Fault) -> web.StreamResponse:
        body = response.body
        assert isinstance(body, bytes)
        if response.drop:
            await _hang_up(request)
        if not (response.endless or response.drip_s or response.cut is not None):
            return self._plain(response)
        stream = web.StreamResponse(status=response.status, headers=self._headers(response))
        if response.endless:
            stream.force_close()
        else:
            stream.content_length = len(body)
        await stream.prepare(request)
        while response.endless:
            await stream.write(body)
        pieces = DRIPS if response.drip_s else 1
        sent = body[: response.cut]
        for piece in range(pieces):
            await stream.write(sent[len(sent) * piece // pieces : len(sent) * (piece + 1) // pieces])
            await asyncio.sleep(response.drip_s / pieces)
        if response.cut is not None:
            await _hang_up(request)
        await stream.write_eof()
        return stream

    def _plain(self, response: Fault) -> web.Response:
        body = response.body if isinstance(response.body, bytes) else json.dumps(response.body).encode()
        return web.Response(status=response.status, body=body, headers=self._headers(response))

    def _headers(self, response: Fault) -> dict[str, str]:
        return {"Content-Type": "application/json", **self._named, **response.headers}


async def _hang_up(request: web.BaseRequest) -> NoReturn:
    """Close the connection once what was written is sent; that cancels the handler, as if the client had left."""
    if request.transport:
        request.transport.close()
    await asyncio.get_running_loop().create_future()
    raise AssertionError("a handler outlived its connection")


def _in_order(faults: Sequence[Fault | None]) -> Chosen:
    return lambda number, body: faults[number] if number < len(faults) else None
