"""Waiting for many calls at once without losing what was paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def settle(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Await all calls, then return their results in order or raise the first failure in order.

    A failure does not cancel the others: a request that is under way may already be billed, so its answer is let in
    and stored before the failure is reported.

    Raises:
        BaseException: the first failure in the order of `calls`.
    """
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
