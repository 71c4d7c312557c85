"""One endpoint in use: opened at the first live request, shared by the roles it serves, closed with the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type

from src.errors import EndpointError
from src.llm.config import Endpoint
from src.llm.faults import Declined, ParameterRefused, Transient, endpoint_key
from src.llm.local import Embedded, Reading
from src.llm.pace import Pace
from src.llm.transport import REHEARSAL, Transport
from src.llm.tries import Tries, spoken
from src.records import Role

T = TypeVar("T")


@dataclass(frozen=True)
class Received(Generic[T]):
    """What came back.

    Attributes:
        value: as read from the body.
        attempts: requests it took; that an embedded model reads a prompt apart belongs to its attempt.
        latency_s: seconds spent in them, without the waits between them.
    """

    value: T
    attempts: int
    latency_s: float


class Connection:
    """A connection to an endpoint: entered by everyone who uses it, closed when the last one leaves.

    Entering costs nothing. Key, server and network are needed by the first request only.

    Attributes:
        endpoint: what it connects to.
        pace: how fast it sends; made anew when it is entered after everyone had left.
    """

    def __init__(self, endpoint: Endpoint | Embedded) -> None:
        self.endpoint = endpoint
        self.pace = self._new_pace()
        self._users = 0
        self._transport: Transport | Reading | None = None
        self._reached = False
        self._unusable: EndpointError | None = None

    async def __aenter__(self) -> Self:
        if self._users == 0:  # made here because they belong to the running event loop
            self._resources = AsyncExitStack()
            self.pace = self._new_pace()
            self._opening = asyncio.Lock()
            self._stopped = asyncio.Event()
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._transport = self._unusable = None
            await self._resources.aclose()

    async def post(
        self, path: str, body: Mapping[str, object], read: Callable[[bytes], T], *, role: Role, tokens: int
    ) -> Received[T]:
        """Send a request until it is answered or given up.

        Rejections with 429 are waited out until the deadline; other faults that may pass also count as attempts.

        Args:
            path: "/chat/completions", "/completions" or "/embeddings".
            body: the JSON body; its `model` is named in messages.
            read: reads the response's body; raises Transient if it holds no answer.
            role: who asks, for messages.
            tokens: what the request can take, for the limit of tokens per minute.

        Raises:
            Failed: attempts used up, the deadline passed, the endpoint declined, or it cannot be used at all.
            EndpointError: it could not be used before this request was sent.
            ConfigError: the variable that holds the key is not set.
            DataMissing: the embedded model cannot be loaded.
        """
        if self._users == 0:
            raise RuntimeError("a live request needs its connection entered: use `async with`")
        tries = Tries(self.endpoint.attempts, self.endpoint.deadline_s)

        async def attempt() -> T:
            try:
                async with asyncio.timeout(tries.left_s() if tries.fault else None):
                    ticket = await self.pace.enter(tokens, again=tries.fault is not None)
            except TimeoutError:
                assert tries.fault is not None
                raise tries.fault from None  # the deadline passed while it waited for its turn
            try:  # the turn is held during an attempt, not during the wait for the next one
                if self._unusable:  # found out meanwhile, by a request that was sent before this one
                    raise self._unusable
                return await self._try(ticket, tries, path, body, read, role)
            finally:
                self.pace.leave()

        retrying = AsyncRetrying(
            stop=tries.stop,
            wait=tries.wait,
            retry=retry_if_exception_type(Transient),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            value: T = await retrying(attempt)
        except Transient as fault:
            many = f"{tries.attempts} attempt{'s' if tries.attempts > 1 else ''}"
            if tries.goes_on(fault):
                many += f" until {endpoint_key(role)}.deadline_s={self.endpoint.deadline_s:g} had passed"
            if not fault.unreachable or self._reached:
                raise tries.failed("attempts", f"{self._called}: {fault} ({many})") from None
            server = "`python -m src.rehearse`" if self.endpoint.name == REHEARSAL else "its server"
            stop = EndpointError(
                f"Endpoint {self.endpoint.name} cannot be reached ({fault}; {many}): start {server}, or correct "
                f"{endpoint_key(role)}.base_url."
            )
            self._stop(stop)
            raise tries.failed("stop", str(stop), stop) from None
        except Declined as fault:
            tries.free = tries.free and fault.free
            raise tries.failed(fault.kind, f"{self._called}: {fault}") from None
        except EndpointError as fault:
            if not isinstance(fault, ParameterRefused):  # that is about this request's length, perhaps
                self._stop(fault)
            if tries.attempts == 0:
                raise
            raise tries.failed("stop", str(fault), fault) from None
        return Received(value, tries.attempts, tries.latency_s)

    async def _try(
        self,
        ticket: int,
        tries: Tries,
        path: str,
        body: Mapping[str, object],
        read: Callable[[bytes], T],
        role: Role,
    ) -> T:
        transport = await self._opened(role)
        start = tries.begin()
        try:
            value = read(await transport.send(path, body, role, min(self.endpoint.timeout_s, tries.left_s())))
        except Transient as fault:
            tries.note(fault)
            if fault.throttled:
                self.pace.throttled(ticket)
            elif transport.reached or not fault.unreachable:
                self.pace.faulted()
            if fault.wait_s is not None and fault.wait_s > tries.left_s() and tries.goes_on(fault):
                raise EndpointError(
                    f"Endpoint {self.endpoint.name} asks to wait {spoken(fault.wait_s)} ({fault}), longer than this "
                    f"request may take ({endpoint_key(role)}.deadline_s={self.endpoint.deadline_s:g}); run again "
                    "later, or raise it: what is done is saved."
                ) from None
            raise
        except (Declined, ParameterRefused):
            self.pace.answered(ticket)
            raise
        else:
            self.pace.answered(ticket)
            return value
        finally:
            self._reached = self._reached or transport.reached
            tries.latency_s += time.monotonic() - start

    async def _opened(self, role: Role) -> Transport | Reading:
        async with self._opening:
            if self._transport is None:
                key = endpoint_key(role)
                address = await self._resources.enter_async_context(self.endpoint.serve(key))
                transport = Transport(self.endpoint.name, self.endpoint.api_key_env, address)
                await self._resources.enter_async_context(transport)
                self._transport = Reading(transport) if isinstance(self.endpoint, Embedded) else transport
            return self._transport

    async def _sleep(self, seconds: float) -> None:
        """Wait for the next attempt, unless there is none any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    def _stop(self, fault: EndpointError) -> None:
        """Let whoever waits find out that nothing can be sent any more."""
        self._unusable = self._unusable or fault
        self._stopped.set()
        self.pace.stop()

    @property
    def _called(self) -> str:
        return f"endpoint {self.endpoint.name}"

    def _new_pace(self) -> Pace:
        served = self.endpoint
        return Pace(served.concurrency, served.requests_per_minute, served.tokens_per_minute)
