"""The tries of one request: how often, how long and after which waits; and what is left when it is given up."""

from __future__ import annotations

import time
from typing import Literal

from tenacity import RetryCallState, wait_random_exponential

from src.errors import EndpointError
from src.llm.faults import Transient

WAIT = wait_random_exponential(multiplier=0.2, max=10)
"""Between attempts: a random time of up to 0.2 s, doubled with each attempt, ten seconds at most."""


class Failed(Exception):
    """A request was given up after it had been sent.

    Attributes:
        kind: `attempts` (used up, or the deadline passed), `stop` (the endpoint cannot be used), or why the endpoint
            declined: `context`, `content`, `request`.
        attempts, latency_s: as in :class:`Received`.
        free: surely nothing was billed.
        stop: to be raised once the attempts are written down; with kind `stop` only.
    """

    def __init__(
        self,
        kind: Literal["attempts", "stop", "context", "content", "size", "request"],
        reason: str,
        *,
        attempts: int,
        latency_s: float,
        free: bool,
        stop: EndpointError | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.attempts = attempts
        self.latency_s = latency_s
        self.free = free
        self.stop = stop


class Tries:
    """What was tried for one request, and whether and when it is tried again.

    Attributes:
        attempts, latency_s, free: as in :class:`Failed`.
        fault: of the latest attempt; None before it.
    """

    def __init__(self, most: int, deadline_s: float) -> None:
        """Begin with none.

        Args:
            most: attempts; rejections with 429 are not counted.
            deadline_s: seconds from the first attempt on.
        """
        self.attempts, self.latency_s, self.free = 0, 0.0, True
        self.fault: Transient | None = None
        self._most = most
        self._deadline_s = deadline_s
        self._faults = 0
        self._ends = 0.0

    def begin(self) -> float:
        """Count an attempt; return the time."""
        now = time.monotonic()
        if self.attempts == 0:
            self._ends = now + self._deadline_s
        self.attempts += 1
        return now

    def left_s(self) -> float:
        """Seconds until the deadline; not before the first attempt."""
        return max(self._ends - time.monotonic(), 0.0)

    def note(self, fault: Transient) -> None:
        """Take down that the attempt failed."""
        self.fault = fault
        self.free = self.free and fault.free
        self._faults += not fault.throttled

    def goes_on(self, fault: Transient) -> bool:
        """Whether there is another attempt after a fault, if time allows."""
        return fault.throttled or self._faults < self._most

    def wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt; a rejection that names none only takes its place in the line again."""
        fault = self._of(state)
        if fault.wait_s is not None:
            return fault.wait_s
        return 0.0 if fault.throttled else WAIT(state)

    def stop(self, state: RetryCallState) -> bool:
        """Whether that was the last attempt."""
        return not self.goes_on(self._of(state)) or state.upcoming_sleep >= self.left_s()

    def failed(
        self,
        kind: Literal["attempts", "stop", "context", "content", "size", "request"],
        reason: str,
        stop: EndpointError | None = None,
    ) -> Failed:
        """The request as one that is given up now."""
        return Failed(kind, reason, attempts=self.attempts, latency_s=self.latency_s, free=self.free, stop=stop)

    def _of(self, state: RetryCallState) -> Transient:
        fault = state.outcome.exception() if state.outcome else None
        assert isinstance(fault, Transient)
        return fault


def spoken(seconds: float) -> str:
    """A time as a person says it."""
    return f"{seconds:.0f} s" + (f" ({seconds / 3600:.1f} hours)" if seconds >= 3600 else "")
