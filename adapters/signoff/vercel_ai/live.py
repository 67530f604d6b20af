"""The events of a segment, as steps, texts and calls of one assistant message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from ..events import (
    Activity,
    Cancelled,
    Completed,
    Custom,
    Failed,
    ReasoningDelta,
    StateSnapshot,
    StepFinished,
    StepStarted,
    Suspended,
    Terminal,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from .calls import CallStream
from .texts import TextStream
from .wire import (
    FINISH_STEP,
    START_STEP,
    STOPPED_TEXT,
    Chunk,
    activity_data,
    block,
    error,
    finish,
    frames,
    metadata_of,
    step_data,
    transient,
)

Other: TypeAlias = (
    ToolCallDelta
    | ToolCallReady
    | ToolCallStarted
    | ToolResult
    | StateSnapshot
    | StepStarted
    | StepFinished
    | Activity
    | Custom
)
"""Every event but texts and terminals."""


class LiveMessage:
    """The assistant message that a segment goes on with.

    Args:
        message_id: its UIMessage id.
        calls: its calls, those of the stored part included.
        ends_in_calls: the last stored step has calls.
    """

    __slots__ = ("_calls", "_message_id", "_step", "_step_has_calls", "texts")

    def __init__(self, message_id: str, calls: CallStream, *, ends_in_calls: bool) -> None:
        self._message_id = message_id
        self._calls = calls
        self._step: str | None = None
        self._step_has_calls = ends_in_calls
        self.texts: TextStream = TextStream()

    def text(self, event: TextDelta | ReasoningDelta) -> bytes:
        if not event.delta:
            return b""
        return frames(self._enter(event.message_id)) + self.texts.write(event)

    def other(self, event: Other) -> Iterator[Chunk]:
        match event:
            case ToolCallDelta(message_id=message_id):
                yield from self._enter(message_id)
                self._step_has_calls = True
                yield from self._calls.stream(event)
            case ToolCallReady():
                self._calls.ready(event)
            case ToolCallStarted(call_id=call_id):
                yield from self._publish(call_id)
            case ToolResult(call_id=call_id, outcome=outcome):
                yield from self._publish(call_id)
                yield from self._calls.settle(call_id, outcome)
            case StepStarted() | StepFinished():
                yield step_data(event)
            case Activity():
                yield activity_data(event)
            case Custom(name=name, value=value):
                yield transient(name, value)
            case StateSnapshot():
                pass  # The SDK has no shared state.
            case _:
                assert_never(event)

    def _publish(self, call_id: str) -> Iterator[Chunk]:
        """The first sign of life of a batch publishes it: it was not held back. What was held back
        is published call by call, before any new step."""
        if (message_id := self._calls.waiting) is not None:
            yield from self.texts.close()
            yield from self._enter(message_id)
            self._step_has_calls = True
            yield from self._calls.publish_batch()
        else:
            yield from self._calls.publish(call_id)

    def terminal(self, event: Terminal) -> Iterator[Chunk]:
        match event:
            case Suspended():
                yield from self._suspended(event)
            case Completed():
                yield from self._completed()
            case Cancelled():
                yield from self._cancelled()
            case Failed(message=message):
                yield from self._close_step()
                yield error(message)
            case _:
                assert_never(event)

    def _suspended(self, event: Suspended) -> Iterator[Chunk]:
        """All inputs first, then all requests, then a clean end: an open stream would hold the
        answers back (proven-frames V1)."""
        asked = event.suspension.calls
        yield from self.texts.close()
        if self._calls.holds(event.suspension.message_id):
            yield from self._enter(event.suspension.message_id)
        yield from self._calls.suspend(asked)
        yield from self._close_step()
        yield finish("tool-calls", metadata_of(self._calls.requested))

    def _completed(self) -> Iterator[Chunk]:
        yield from self._close_step()
        if self._step_has_calls:
            # Calls that are all settled are what the tool predicate posts for; a new step is not.
            # It is published only along with metadata.
            yield START_STEP
            yield FINISH_STEP
            yield finish("stop", metadata_of(()))
        else:
            yield finish("stop")

    def _cancelled(self) -> Iterator[Chunk]:
        yield from self._close_step()
        yield START_STEP
        yield from block("text", f"{self._message_id}.stopped", STOPPED_TEXT)
        yield FINISH_STEP
        yield finish("stop")

    def _enter(self, message_id: str) -> Iterator[Chunk]:
        """A message of the model is a step."""
        if self._step == message_id:
            return
        yield from self._close_step()
        yield START_STEP
        self._step = message_id
        self._step_has_calls = False

    def _close_step(self) -> Iterator[Chunk]:
        yield from self.texts.close()
        yield from self._calls.abandon()
        if self._step is not None:
            self._step = None
            yield FINISH_STEP
