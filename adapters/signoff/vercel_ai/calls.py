"""The calls of a stream: which the page shows, which wait to be shown, and how each ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..events import ToolCallDelta, ToolCallReady
from ..json_text import JsonTextError, dumps, parse
from ..messages import CallRecord, last_batch
from ..outcomes import Outcome
from ..suspension import PendingCall, ToolCall
from ..tools import RunsIn
from .parts import CallView, ThreadView
from .prologue import Shown, settlement
from .wire import (
    Chunk,
    Sdk,
    answer_to,
    browser_safe,
    request,
    tool_error,
    tool_input,
    tool_input_delta,
    tool_input_start,
)

_ABANDONED = "The model gave this call up."


class CallStream:
    """Args:
    view: the thread; its last batch is the one that a continuation goes on with.
    sdk: the page's generation of the AI SDK.
    """

    __slots__ = ("_batch", "_records", "_sdk", "_shown", "_streamed", "_view")

    def __init__(self, view: ThreadView, *, sdk: Sdk) -> None:
        self._view = view
        self._sdk: Sdk = sdk
        self._shown = Shown()
        self._batch: list[ToolCallReady] = []
        self._streamed: dict[str, list[str]] = {}
        held = last_batch(view.thread.messages)
        self._records: dict[str, CallRecord] = (
            {record.call.call_id: record for record in held.calls} if held else {}
        )

    def begin(self, shown: Shown) -> None:
        """Go on from what the page shows."""
        self._shown = shown

    @property
    def requested(self) -> list[PendingCall]:
        """The calls asked about in this stream."""
        return self._shown.requested

    @property
    def waiting(self) -> str | None:
        """The message of a batch that is known and not shown; it may still be held back."""
        return self._batch[0].message_id if self._batch else None

    def holds(self, message_id: str) -> bool:
        """Whether the batch of this message is new in this stream."""
        return self.waiting == message_id

    def ready(self, event: ToolCallReady) -> None:
        if self.waiting not in (None, event.message_id):
            self._batch.clear()
        self._batch.append(event)

    def stream(self, event: ToolCallDelta) -> Iterator[Chunk]:
        """Arguments as the model writes them."""
        pieces = self._streamed.get(event.call_id)
        if pieces is None:
            pieces = self._streamed[event.call_id] = []
            yield tool_input_start(event.call_id, event.name, "server", self._sdk)
        pieces.append(event.delta)
        yield tool_input_delta(event.call_id, event.delta)

    def publish_batch(self) -> Iterator[Chunk]:
        """Show every call of the waiting batch."""
        batch, self._batch = self._batch, []
        for event in batch:
            record = self._records[event.call.call_id] = event.record
            yield from self._input(record.call, record.runs)

    def publish(self, call_id: str) -> Iterator[Chunk]:
        """Show a call that was held back, if the page does not show it yet."""
        record = self._records.get(call_id)
        if record is not None and call_id not in self._shown.calls:
            yield from self._input(record.call, record.runs)

    def suspend(self, asked: Iterable[PendingCall]) -> Iterator[Chunk]:
        """Show and request what is asked about; the free siblings are not shown, since the page's
        predicates would wait for them."""
        self._batch = []
        calls = list(asked)
        for pending in calls:
            if pending.call_id not in self._shown.calls:
                yield from self._input(pending.call, "server")
        for pending in calls:
            self.requested.append(pending)
            yield request(pending, self._sdk)

    def settle(self, call_id: str, outcome: Outcome) -> Iterator[Chunk]:
        """How a call ended, and its answer where the page was not told that one."""
        record = self._records.get(call_id)
        if record is None:
            return
        pending = self._view.request_of(call_id)
        answer = answer_to(
            asked=pending is not None, decision=self._view.decision_on(call_id), outcome=outcome
        )
        told = answer is not None and self._shown.answers.get(call_id) == answer
        view = CallView(
            call=record.call, runs=record.runs, asked=pending, answer=answer, outcome=outcome
        )
        for chunk in settlement(view, self._sdk):
            if not (told and chunk["type"] == "tool-approval-response"):
                yield chunk

    def abandon(self) -> Iterator[Chunk]:
        """End the parts of calls that the model began and never made: an unsettled part keeps a
        page from ever posting (B19)."""
        streamed, self._streamed = self._streamed, {}
        for call_id in streamed:
            yield tool_error(call_id, _ABANDONED)

    def _input(self, call: ToolCall, runs: RunsIn) -> Iterator[Chunk]:
        self._shown.calls.add(call.call_id)
        streamed = self._streamed.pop(call.call_id, None)
        if streamed is None:
            yield from tool_input(call, runs, self._sdk)
        elif not _same("".join(streamed), call):
            # Rewritten, or no JSON: in the same step an input takes the place of the first one.
            yield from tool_input(call, runs, self._sdk)


def _same(text: str, call: ToolCall) -> bool:
    try:
        return dumps(parse(text)) == dumps(browser_safe(call.inputs))
    except JsonTextError:
        return False
