"""An agent of a few lines, for tests of everything around it.

What a user message holds decides what happens:

| words | the agent |
|---|---|
| ``delete A B`` | asks about one ``delete_file`` call for each path, all in one batch |
| ``again`` beside ``delete`` | asks about one more call after the first batch's results |
| ``wait`` | says ``waiting``, then goes on when ``GatedSource.go`` is set, or stops when told to |
| ``fail`` | says ``half``, then fails |
| anything else | says ``Done.`` |
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from signoff.decisions import Reject
from signoff.events import (
    Cancelled,
    Completed,
    Failed,
    RunEvent,
    Suspended,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.json_text import JsonObject
from signoff.messages import ToolCallMessage, UserMessage, last_batch, result_message_id
from signoff.outcomes import Output, Rejected
from signoff.sources.base import Answers, RunRequest
from signoff.suspension import PendingCall, Suspension, ToolCall

REASON = "Deleting a file is irreversible"
DESCRIPTION = "Delete a file from the filesystem"


@dataclass
class GatedSource:
    """A run source.

    Attributes:
        executed: what really ran: callId and inputs.
        waiting: set once a run waits.
        go: lets it go on.
    """

    executed: list[tuple[str, JsonObject]] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        words = _words(request)
        if isinstance(request.input, Answers):
            async for event in self._answered(request, request.input):
                yield event
            asked = sum(isinstance(item, ToolCallMessage) for item in request.history)
            if "again" in words and asked == 1:
                for event in _asking(request, ["/again"]):
                    yield event
                return
            yield TextDelta(message_id=request.new_id("msg"), delta="Finished.")
            yield Completed()
        elif "delete" in words:
            for event in _asking(request, [word for word in words if word.startswith("/")]):
                yield event
        elif "wait" in words:
            async for event in self._wait(request):
                yield event
        elif "fail" in words:
            yield TextDelta(message_id=request.new_id("msg"), delta="half")
            yield Failed()
        else:
            yield TextDelta(message_id=request.new_id("msg"), delta="Done.")
            yield Completed()

    async def _wait(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        message_id = request.new_id("msg")
        yield TextDelta(message_id=message_id, delta="waiting")
        self.waiting.set()
        while not self.go.is_set():
            if request.cancel.is_set():
                yield Cancelled()
                return
            await asyncio.sleep(0.005)
        yield TextDelta(message_id=message_id, delta=", done")
        yield Completed()

    async def _answered(self, request: RunRequest, answers: Answers) -> AsyncIterator[RunEvent]:
        batch = last_batch(request.history)
        assert batch is not None
        for record in batch.calls:
            call = record.call
            decision = answers.decisions[call.call_id]
            result_id = result_message_id(call.call_id)
            if isinstance(decision, Reject):
                rejected = Rejected(reason=decision.reason)
                yield ToolResult(message_id=result_id, call_id=call.call_id, outcome=rejected)
                continue
            recorded = await request.ledger.begin(call)
            yield ToolCallStarted(call_id=call.call_id)
            outcome = recorded or Output(value={"deleted": True})
            if recorded is None:
                self.executed.append((call.call_id, call.inputs))
                await request.ledger.finish(call.call_id, outcome)
            yield ToolResult(message_id=result_id, call_id=call.call_id, outcome=outcome)


def _words(request: RunRequest) -> list[str]:
    newest = [item for item in request.history if isinstance(item, UserMessage)][-1]
    return newest.text.split()


def _asking(request: RunRequest, paths: list[str]) -> list[RunEvent]:
    message_id = request.new_id("msg")
    calls = [
        ToolCall(
            call_id=request.new_id("call"),
            name="delete_file",
            description=DESCRIPTION,
            inputs={"path": path},
        )
        for path in paths
    ]
    ready = [
        ToolCallReady(message_id=message_id, call=call, disposition="gated", reason=REASON)
        for call in calls
    ]
    pending = tuple(PendingCall(call=call, reason=REASON, risk="destructive") for call in calls)
    suspension = Suspension(kind="approval", message_id=message_id, calls=pending)
    text = TextDelta(message_id=message_id, delta="I will delete it.")
    return [text, *ready, Suspended(suspension=suspension)]
