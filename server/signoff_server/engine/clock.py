"""Time, and work that a caller's departure cannot interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

Clock: TypeAlias = Callable[[], datetime]
T = TypeVar("T")


def utc_now() -> datetime:
    """Now, in whole milliseconds: what is stored reads back equal."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


class DurableWork:
    """Work that goes to its end even if whoever awaits it is cancelled meanwhile.

    A client that leaves cancels its handler; a half-written transaction or an answer that was taken
    but whose run never started would be the price.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    async def run(self, work: Coroutine[object, object, T]) -> T:
        task: asyncio.Task[T] = asyncio.ensure_future(work)
        self._tasks.add(task)  # the loop keeps only a weak reference
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def landed(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)
