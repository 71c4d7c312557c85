"""Waiting for room in a budget: first come, first served, without asking over and over."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

POLL_S = 0.5
"""How often the first in line looks whether another process has made room."""

Result = TypeVar("Result")


class Line:
    """Those who wait: the first tries again when something was settled, the others rest until they are the first."""

    def __init__(self) -> None:
        self._places: deque[asyncio.Event] = deque()

    def move(self) -> None:
        """Tell the first that there may be room now."""
        if self._places:
            self._places[0].set()

    async def wait(self, attempt: Callable[[], Awaitable[Result]], done: Callable[[Result], bool]) -> Result:
        """Try until a result is `done`, in turn."""
        place = asyncio.Event()
        self._places.append(place)  # before the attempt, so that what is settled meanwhile is not missed
        try:
            while True:
                if self._places[0] is place:
                    result = await attempt()
                    if done(result):
                        return result
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S if self._places[0] is place else None):
                        await place.wait()
                place.clear()
        finally:
            self._places.remove(place)
            self.move()
