"""A server process that is killed at a named point, found from outside of the product: by what its
database connection is about to do, or has just committed.

    python -m support.doomed FOLDER POINT

It opens the folder's database, answers the two calls that wait there (approve c1, reject c2), lets
the run go on to a third, free call, and says ``survived`` if it was not killed. Each tool that runs
writes a line to FOLDER/executions before it returns.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine as SyncEngine

from signoff.decisions import Approve, Reject
from signoff.events import Completed, RunEvent, TextDelta, ToolCallReady, ToolCallStarted
from signoff.messages import ToolCallMessage, last_batch
from signoff.outcomes import Output, Rejected
from signoff.sources.base import Answers, RunRequest
from signoff.suspension import ToolCall

from .engines import ME, T, answer, ended, opened, send
from .sources import ask, call, ready, result

# What a transaction does is told by the statement that only it executes.
STATEMENTS = {
    "claim": "UPDATE suspensions SET state=?",
    "begin": "INSERT INTO executions",
    "finish": "UPDATE executions",
    "end": "UPDATE runs SET state=?",
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killer:
    """Kills at the point when it comes for the ``count``-th time."""

    def __init__(self, point: str, count: int = 1) -> None:
        self._point = point
        self._count = count
        self._inside: str | None = None
        event.listen(SyncEngine, "before_cursor_execute", self._statement)
        event.listen(SyncEngine, "commit", self._commit)
        event.listen(SyncEngine, "begin", self._begin)

    def reached(self, point: str) -> None:
        if point == self._point:
            self._count -= 1
            if self._count == 0:
                die()

    def _statement(self, _c: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        for name, statement in STATEMENTS.items():
            if text.startswith(statement) and self._inside in (None, "claim"):
                self._inside = name
                self.reached(f"at {name}")

    def _commit(self, _connection: Any) -> None:
        if self._inside is not None:
            self.reached(f"before commit of {self._inside}")

    def _begin(self, _connection: Any) -> None:
        # The next transaction begins: the one before is committed.
        committed, self._inside = self._inside, None
        if committed is not None:
            self.reached(f"after {committed}")


class DoomedSource:
    """Asks about c1 and c2; carries the answers out; runs a free c3; is done."""

    def __init__(self, folder: Path, killer: Killer | None = None) -> None:
        self._executions = folder / "executions"
        self._killer = killer

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        if not isinstance(request.input, Answers):
            if any(isinstance(item, ToolCallMessage) for item in request.history):
                yield TextDelta(message_id=request.new_id("msg"), delta="Still here.")
                yield Completed()
                return
            for event_ in ask("c1", "c2"):
                yield event_  # type: ignore[misc]  # ask() has events only
            return
        batch = last_batch(request.history)
        assert batch is not None
        for record in batch.calls:
            decision = request.input.decisions[record.call.call_id]
            if isinstance(decision, Reject):
                yield result(record.call.call_id, Rejected(reason=decision.reason))
                continue
            async for event_ in self._execute(record.call, request):
                yield event_
        for event_ in ready([call("c3")], message_id="second", free=["c3"]):
            assert isinstance(event_, ToolCallReady)
            yield event_
        async for event_ in self._execute(call("c3"), request):
            yield event_
        yield TextDelta(message_id="last", delta="Done.")
        yield Completed()

    async def _execute(self, called: ToolCall, request: RunRequest) -> AsyncIterator[RunEvent]:
        outcome = await request.ledger.begin(called)
        if outcome is None:
            yield ToolCallStarted(call_id=called.call_id)
            self._reached("before the tool")
            with self._executions.open("a") as lines:
                lines.write(called.call_id + "\n")
            self._reached("in the tool")
            outcome = Output(value=called.call_id)
            self._reached("after the tool")
            await request.ledger.finish(called.call_id, outcome)
        yield result(called.call_id, outcome)

    def _reached(self, point: str) -> None:
        if self._killer is not None:
            self._killer.reached(point)


async def main(folder: Path, point: str, count: int) -> None:
    killer = Killer(point, count)
    async with opened(DoomedSource(folder, killer), folder) as engine:
        await ended(await answer(engine, {"c1": Approve(), "c2": Reject(reason="no")}))
        status = (await engine.thread(ME, T)).status
        assert status == "completed", status
        await ended(await send(engine, "and then"))
        sys.stdout.write("survived\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
