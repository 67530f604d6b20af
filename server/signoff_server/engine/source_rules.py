"""What a run source may emit, and in which order. Sources can be anyone's code; a thread whose
history no model accepts could never be used again, so a source that breaks a rule fails its run."""

from __future__ import annotations

from collections.abc import Iterable

from signoff.errors import SignoffError
from signoff.events import (
    Activity,
    Custom,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.messages import Message, ToolCallMessage, last_batch

_OTHERS = (ToolCallDelta, StateSnapshot, StepStarted, StepFinished, Activity, Custom)


class SourceFault(SignoffError):
    """A source broke a rule of the run events."""


class SourceRules:
    """Checks the events of one segment, before anyone sees them.

    Args:
        history: the thread's messages.
        used_call_ids: callIds the thread has used beside those in ``history``.
    """

    def __init__(self, history: tuple[Message, ...], used_call_ids: Iterable[str] = ()) -> None:
        batches = [message for message in history if isinstance(message, ToolCallMessage)]
        self._call_ids = {record.call.call_id for batch in batches for record in batch.calls}
        self._call_ids |= set(used_call_ids)
        self._message_ids = {message.id for message in history}
        batch = last_batch(history)
        self._message_id = None if batch is None else batch.id
        self._open: set[str] = {record.call.call_id for record in batch.calls} if batch else set()
        self._started: set[str] = set()
        self._sealed = batch is not None

    def check(self, event: RunEvent) -> None:
        """Take note of the next event.

        Raises:
            SourceFault: it may not stand here.
        """
        match event:
            case TextDelta(message_id=message_id) | ReasoningDelta(message_id=message_id):
                self._writes(message_id)
            case ToolCallReady(message_id=message_id, call=call):
                self._writes(message_id)
                if not call.call_id or call.call_id in self._call_ids:
                    raise SourceFault("A source repeated a callId, or left it empty.")
                self._call_ids.add(call.call_id)
                self._open.add(call.call_id)
            case ToolCallStarted(call_id=call_id):
                self._acts_on(call_id)
                if call_id in self._started:
                    raise SourceFault("A source started a call twice.")
                self._started.add(call_id)
            case ToolResult(call_id=call_id):
                self._acts_on(call_id)
                self._open.discard(call_id)
            case _ if not isinstance(event, _OTHERS):
                raise SourceFault("A source emitted something that is no run event.")
            case _:
                pass

    def _writes(self, message_id: str) -> None:
        if message_id == self._message_id and not self._sealed:
            return
        if self._open:
            raise SourceFault("A source went on before every call of a batch had an outcome.")
        if not message_id or message_id in self._message_ids:
            raise SourceFault("A source used a message id twice, or left it empty.")
        self._message_ids.add(message_id)
        self._message_id = message_id
        self._sealed = False

    def _acts_on(self, call_id: str) -> None:
        if call_id not in self._open:
            raise SourceFault("A source named a call that is not an open call of the batch.")
        self._sealed = True
