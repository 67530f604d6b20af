"""The calls of a stream: which the client has, which wait to be published, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..events import ToolCallDelta, ToolCallReady, ToolResult
from ..messages import CallRecord, ToolCallMessage, last_batch
from ..outcomes import outcome_text
from ..thread import Thread
from .hydrate import may_bind
from .wire import (
    Frame,
    arguments,
    call_args,
    call_end,
    call_result,
    call_start,
    held_message_id,
)


class CallStream:
    """A call is published with its batch when the first of it starts or ends, which says that the
    batch is not held back (R93, R95).

    Args:
        thread: its last batch, if it waits for results, is the one that the segment continues.
        tool_bound: held batches are published before they are answered.
    """

    __slots__ = (
        "_answered",
        "_batch",
        "_message_id",
        "_open",
        "_published",
        "_streamed",
        "_tool_bound",
        "revised",
    )

    def __init__(self, thread: Thread, *, tool_bound: bool) -> None:
        self._tool_bound = tool_bound
        self._batch: list[CallRecord] = []
        self._message_id = ""
        self._published: set[str] = set()
        self._answered: set[str] = set()
        self._streamed: dict[str, list[str]] = {}
        self._open: set[str] = set()
        self.revised: bool = False
        """Whether the client holds something of a call that did not come true."""
        held = last_batch(thread.messages)
        if held is not None:
            self._continue(held)

    @property
    def bound(self) -> bool:
        """Whether the newest batch may be published before it is answered."""
        return self._tool_bound and may_bind(self._batch)

    def stream(self, event: ToolCallDelta) -> Iterator[Frame]:
        """Arguments as the model writes them."""
        pieces = self._streamed.get(event.call_id)
        if pieces is None:
            pieces = self._streamed[event.call_id] = []
            self._open.add(event.call_id)
            yield call_start(event.call_id, event.name, event.message_id)
        if event.delta:
            pieces.append(event.delta)
            yield call_args(event.call_id, event.delta)

    def ready(self, event: ToolCallReady) -> Iterator[Frame]:
        """Take a call down. It is published later, unless its arguments were streamed."""
        if event.message_id != self._message_id:
            self._batch = []
            self._message_id = event.message_id
        self._batch.append(event.record)
        pieces = self._streamed.pop(event.call.call_id, None)
        if pieces is not None:
            self._published.add(event.call.call_id)
            self.revised |= "".join(pieces) != arguments(event.call)
            yield from self._end(event.call.call_id)

    def publish(self) -> Iterator[Frame]:
        """The calls of the newest batch that the client does not have, in the model's order."""
        held = any(record.asked for record in self._batch)
        parent = held_message_id(self._message_id) if held else self._message_id
        for record in self._batch:
            call = record.call
            if call.call_id not in self._published:
                self._published.add(call.call_id)
                yield call_start(call.call_id, call.name, parent)
                yield call_args(call.call_id, arguments(call))
                yield call_end(call.call_id)

    def suspend(self) -> Iterator[Frame]:
        """What a pause publishes: nothing, but for tool-bound interrupts."""
        if self.bound:
            yield from self.publish()

    def result(self, event: ToolResult) -> Iterator[Frame]:
        """A second result of a call would be a second tool message of the client (B27)."""
        known = any(record.call.call_id == event.call_id for record in self._batch)
        if known and event.call_id not in self._answered:
            self._answered.add(event.call_id)
            yield call_result(event.call_id, event.message_id, outcome_text(event.outcome))

    def close(self) -> Iterator[Frame]:
        """End the calls that a model began and never made: an open one is fatal at the end of the
        run (B04). The client keeps it until the next snapshot."""
        self.revised |= bool(self._streamed)
        for call_id in tuple(self._streamed):
            yield from self._end(call_id)
        self._streamed.clear()

    def _end(self, call_id: str) -> Iterable[Frame]:
        if call_id in self._open:
            self._open.discard(call_id)
            yield call_end(call_id)

    def _continue(self, batch: ToolCallMessage) -> None:
        self._batch = list(batch.calls)
        self._message_id = batch.id
        if self.bound:
            self._published.update(record.call.call_id for record in batch.calls)
