"""How fast one connection sends: requests under way at once, and requests per second as the endpoint takes them.

Nothing is known beforehand. The first request goes alone, because it finds out whether key, address and model are
right. Then the concurrency starts at 20 and grows by one with every answer that others wait behind. Rejections (429)
teach a rate. At a quota, the share that is not rejected times the rate is the quota, so one cut lands there; from then
on the rate follows the curve of TCP CUBIC: back to where it was, slowly past it, faster the longer nothing is rejected.
If everything is rejected the rate halves down to a floor and, once something is answered, doubles every second until it
is where it was.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

START, LEAST = 20, 4
"""Requests under way at once: after the first answer, and after any number of rejections."""

EPISODE_S = 15.0
"""Rejections within this time count once against the concurrency, which they lower to this share:"""
LOWERED = 0.8

PAUSE = 10
"""Answers after a fault of the endpoint that do not raise the concurrency."""

MEMORY = 50
"""Requests over which the share of rejections is averaged, and the share that is the price of knowing the limit:"""
TOLERATED = 0.05

LATELY_S = 5.0
"""Time over which the rate is measured at the first rejections, at most; one second at least."""

STEP = 0.02
"""A cut leaves the rate this share below what the endpoint takes."""
BACK_S = 2.0
"""Time after which the curve is back there; it is as far beyond after twice this time, and 27 times as far after four
times this time."""

FLOOR, SLOWEST = 0.5, 0.1
"""Requests per second: while everything is rejected, and at the smallest quota."""

CATCH_UP_S = 0.02
"""A late request may be followed sooner by the next one, by this much."""

KEPT = 1000
"""Length of the history."""


@dataclass(frozen=True)
class Step:
    """How the pace changed.

    Attributes:
        seconds: since the start.
        concurrency: requests under way at once, at most.
        rate: requests per second; None while nothing limits them.
        why: what happened.
    """

    seconds: float
    concurrency: int
    rate: float | None
    why: str


class Pace:
    """The pace of one connection, in one event loop.

    Attributes:
        history: how it changed, the latest thousand steps.
    """

    def __init__(
        self, most: int, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        """Start anew.

        Args:
            most: most requests under way at once.
            requests_per_minute: a limit that is known beforehand; None is none.
            tokens_per_minute: likewise.
        """
        self.history: deque[Step] = deque(maxlen=KEPT)
        self._begun = time.monotonic()
        self._most = most
        self._limits = (_PerMinute(requests_per_minute), _PerMinute(tokens_per_minute))
        # One line for all and, before it, one for those that come for the first time: of these only one at a time
        # stands in the line of all, so that what was rejected goes first.
        self._line, self._first_line = asyncio.Lock(), asyncio.Lock()
        self._freed = asyncio.Event()
        self._over = False

        self._alone = True
        self._level = 1.0
        self._under_way = 0
        self._crowded = False
        self._pause = 0
        self._episode = -EPISODE_S

        self._rate: float | None = None
        self._next = 0.0
        self._paced = False  # whether it is the rate that limits
        self._goal = math.inf  # what the endpoint is believed to take
        self._clock = 0.0  # seconds on the curve
        self._ticket = 0  # of the latest request
        self._since = 0  # the ticket at the last cut; what was sent before says nothing about the rate after it
        self._rejected = self._answered = 0  # since then
        self._share = 0.0  # of rejections, averaged over the latest requests
        self._lately: deque[float] = deque()
        self._note("start")

    @property
    def concurrency(self) -> int:
        """Requests under way at once, at most."""
        return int(self._level)

    @property
    def rate(self) -> float | None:
        """Requests per second; None while nothing limits them."""
        return self._rate

    async def enter(self, tokens: int, *, again: bool) -> int:
        """Wait for a turn; whoever got it must :meth:`leave`.

        Args:
            tokens: what the request can take, for the limit of tokens per minute.
            again: the request was tried before and goes before new ones.

        Returns:
            A ticket for :meth:`answered` and :meth:`throttled`; they are numbered as they were let through.
        """
        async with nullcontext() if again else self._first_line, self._line:
            while self._under_way >= int(self._level) and not self._over:
                self._crowded = True
                self._freed.clear()
                await self._freed.wait()
            if not self._over:
                await self._space()
                for limit, amount in zip(self._limits, (1, tokens), strict=True):
                    await limit.take(amount)
            self._crowded = self._crowded and self._under_way + 1 >= int(self._level)
            self._under_way += 1
        self._ticket += 1
        self._share *= 1 - 1 / MEMORY
        if self._rate is None:
            self._lately.append(time.monotonic())
            while self._lately[0] < self._lately[-1] - LATELY_S:
                self._lately.popleft()
        return self._ticket

    def leave(self) -> None:
        """Give the turn back, whatever came of it."""
        self._under_way -= 1
        self._freed.set()

    def stop(self) -> None:
        """Let everyone through: nothing will be sent any more."""
        self._over = True
        self._freed.set()

    def answered(self, ticket: int) -> None:
        """Note that a request was answered."""
        if ticket > self._since:
            self._answered += 1
            if self._rate is not None and self._paced and self._rate < self._goal * (1 - STEP):
                # One more per second with every answer is twice as many after a second; two until a quota was met.
                self._rate = min(self._rate + (2 if self._goal == math.inf else 1), self._goal * (1 - STEP))
                self._note("recovering", slightly=True)
        if self._alone:
            self._begin("first answer")
        elif self._pause:
            self._pause -= 1
        elif self._crowded and self._level < self._most:
            self._level = min(self._level + 1, self._most)
            self._freed.set()
            self._note("growing", slightly=True)

    def faulted(self) -> None:
        """Note that the endpoint failed to answer, for a reason other than too many requests."""
        if self._alone:
            self._begin("first response")
        self._pause = PAUSE

    def throttled(self, ticket: int) -> None:
        """Note that a request was one too many."""
        if ticket <= self._since:
            return
        self._rejected += 1
        self._share += 1 / MEMORY
        if self._share <= TOLERATED:
            return
        now = time.monotonic()
        self._pause = PAUSE
        if now - self._episode >= EPISODE_S and not self._alone:
            self._episode = now
            self._level = max(self._level * LOWERED, min(LEAST, self._most))
        if self._rate is None:
            span = min(max(now - self._lately[0], 1.0), LATELY_S) if self._lately else 1.0
            # The start was a burst: this is where to begin, and the goal is yet to be found.
            self._rate = max(len(self._lately) / span, SLOWEST)
            why = "too many requests"
            self._lately.clear()
        elif self._answered or self._rejected < ticket - self._since:  # of those sent up to this one
            # Seen at a rejection, the share of rejections is this, without bias.
            share = (self._rejected - 1) / max(ticket - self._since - 1, 1)
            self._goal = max(self._rate * max(0.5, 1 - share), SLOWEST)
            self._rate = self._goal * (1 - STEP)
            self._clock = 0.0
            why = "too many requests"
        else:  # says nothing about a quota: the goal stays
            self._rate = max(self._rate / 2, min(self._rate, FLOOR))
            why = "everything rejected"
        self._since, self._next = self._ticket, max(self._next, now + 1 / self._rate)
        self._rejected = self._answered = 0
        self._share = 0.0
        self._note(why)

    def _begin(self, why: str) -> None:
        self._alone = False
        self._level = float(min(START, self._most))
        self._freed.set()
        self._note(why)

    async def _space(self) -> None:
        """Keep the distance to the request before."""
        if self._rate is None:
            return
        wait = self._next - time.monotonic()
        self._paced = wait > 0
        if self._paced:
            await asyncio.sleep(wait)
            if self._rate >= self._goal * (1 - STEP) * (1 - 1e-9):
                self._clock += 1 / self._rate
                self._rate = self._goal * (1 + STEP * (self._clock / BACK_S - 1) ** 3)
                self._note("trying more", slightly=True)
        now = time.monotonic()
        self._next = max(self._next, now - max(CATCH_UP_S, 1 / self._rate)) + 1 / self._rate

    def _note(self, why: str, *, slightly: bool = False) -> None:
        """Keep a step; one that is slight only if it adds up to a tenth since the last one."""
        if slightly:
            last = self.history[-1]
            before, after = last.rate or 0.0, self._rate or 0.0
            if abs(after - before) <= before / 10 and abs(self._level - last.concurrency) <= last.concurrency / 10:
                return
        seconds = round(time.monotonic() - self._begun, 3)
        self.history.append(Step(seconds, int(self._level), self._rate, why))


class _PerMinute:
    """A limit per minute without a burst at its start: a second's worth may go at once."""

    def __init__(self, most: float | None) -> None:
        at_once = max(1.0, most / 60) if most else 1.0
        self._limiter = AsyncLimiter(at_once, 60 * at_once / most) if most else None

    async def take(self, amount: float) -> None:
        """Wait until `amount` fits, however large it is; used by one task at a time."""
        while self._limiter and amount > 0:
            part = min(amount, self._limiter.max_rate)
            await self._limiter.acquire(part)
            amount -= part
