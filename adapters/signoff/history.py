"""Run events folded into history messages. The one place where the two meet: the store keeps what
it returns, and AG-UI's closing snapshot is made of it, so live and hydrated cannot drift apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypedDict

from .decisions import Approve, Decision
from .events import (
    ReasoningDelta,
    RunEvent,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
    is_terminal,
)
from .messages import (
    Approval,
    AssistantMessage,
    CallRecord,
    Message,
    Part,
    ReasoningPart,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
    last_batch,
)
from .outcomes import ExpiredOutcome, Outcome, Rejected
from .suspension import ToolCall
from .thread import Thread


class _Base(TypedDict):
    id: str
    seq: int
    created_at: datetime
    run_id: str


@dataclass(slots=True)
class _Draft:
    message_id: str
    texts: list[tuple[type[TextPart] | type[ReasoningPart], list[str]]] = field(
        default_factory=list[tuple[type[TextPart] | type[ReasoningPart], list[str]]]
    )
    calls: list[CallRecord] = field(default_factory=list[CallRecord])

    def write(self, kind: type[TextPart] | type[ReasoningPart], delta: str) -> None:
        if not self.texts or self.texts[-1][0] is not kind:
            self.texts.append((kind, []))
        self.texts[-1][1].append(delta)

    def content(self) -> tuple[Part, ...]:
        return tuple(kind(text="".join(pieces)) for kind, pieces in self.texts)


class Recorder:
    """Folds the events of one segment.

    Args:
        run_id: the run that the messages belong to.
        clock: gives the time a message is complete.
        next_seq: place of the first message made here.
        batch: the batch of calls that the segment continues, if it continues one.
        decisions: the answers to that batch.
        queued: user messages that came beside the answers; they follow the batch's results.
    """

    __slots__ = (
        "_batch",
        "_clock",
        "_decisions",
        "_draft",
        "_messages",
        "_next_seq",
        "_queued",
        "_results",
        "_run_id",
        "_stored",
    )

    def __init__(
        self,
        *,
        run_id: str,
        clock: Callable[[], datetime],
        next_seq: int,
        batch: ToolCallMessage | None = None,
        decisions: Mapping[str, Decision] | None = None,
        queued: tuple[UserMessage, ...] = (),
    ) -> None:
        self._run_id = run_id
        self._clock = clock
        self._next_seq = next_seq
        self._batch = batch
        self._decisions = decisions or {}
        self._queued = queued
        self._draft: _Draft | None = None
        self._results: dict[str, ResultRecord] = {}
        self._messages: list[Message] = []
        self._stored = 0

    @classmethod
    def after(
        cls, thread: Thread, *, clock: Callable[[], datetime], next_seq: int | None = None
    ) -> Recorder:
        """For the segment that goes on from ``thread``, which is as it stood before it.

        ``next_seq`` is the place behind the last message, unless superseded ones stand there.
        """
        if next_seq is None:
            next_seq = thread.messages[-1].seq + 1 if thread.messages else 1
        return cls(
            run_id=thread.run_id or "",
            clock=clock,
            next_seq=next_seq,
            batch=last_batch(thread.messages),
            decisions=thread.decisions,
            queued=thread.queued,
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that are complete."""
        return tuple(self._messages)

    @property
    def batch(self) -> ToolCallMessage | None:
        """The newest batch of calls, made here or continued."""
        return self._batch

    @property
    def queued(self) -> tuple[UserMessage, ...]:
        """The user messages that still wait for the batch's results."""
        return self._queued

    def seal(self) -> None:
        """Complete the message being written: what asked for a call is on record before it runs."""
        self._close_draft()

    def settle(self) -> None:
        """Complete the batch as well: each of its calls has an outcome, and the model is next."""
        self._close_draft()
        self._close_results()

    @property
    def unstored(self) -> tuple[Message, ...]:
        """The messages completed since ``mark_stored``."""
        return tuple(self._messages[self._stored :])

    def mark_stored(self) -> None:
        """Everything complete so far is in the store; called after the commit."""
        self._stored = len(self._messages)

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest batch that have no outcome yet."""
        if self._draft is not None and self._draft.calls:
            return tuple(record.call for record in self._draft.calls)
        if self._batch is None:
            return ()
        return tuple(
            record.call for record in self._batch.calls if record.call.call_id not in self._results
        )

    def record(self, event: RunEvent) -> None:
        match event:
            case TextDelta(message_id=message_id, delta=delta) if delta:
                self._open_draft(message_id).write(TextPart, delta)
            case ReasoningDelta(message_id=message_id, delta=delta) if delta:
                self._open_draft(message_id).write(ReasoningPart, delta)
            case ToolCallReady(message_id=message_id):
                self._open_draft(message_id).calls.append(event.record)
            case ToolCallStarted():
                self._close_draft()
            case ToolResult(call_id=call_id, message_id=message_id, outcome=outcome):
                self._close_draft()
                self._add_result(call_id, message_id, outcome)
            case _ if is_terminal(event):
                self._close_draft()
                self._close_results()
            case _:
                pass

    def _open_draft(self, message_id: str) -> _Draft:
        if self._draft is not None and self._draft.message_id == message_id:
            return self._draft
        self._close_draft()
        self._close_results()
        self._draft = _Draft(message_id)
        return self._draft

    def _close_draft(self) -> None:
        draft, self._draft = self._draft, None
        if draft is None:
            return
        if not draft.calls:
            self._append(AssistantMessage(**self._base(draft.message_id), content=draft.content()))
            return
        batch = ToolCallMessage(
            **self._base(draft.message_id), content=draft.content(), calls=tuple(draft.calls)
        )
        self._batch = batch
        self._results = {}
        self._append(batch)

    def _add_result(self, call_id: str, message_id: str, outcome: Outcome) -> None:
        record = next(
            (
                item
                for item in (self._batch.calls if self._batch else ())
                if item.call.call_id == call_id
            ),
            None,
        )
        if record is None or call_id in self._results:
            return
        self._results[call_id] = ResultRecord(
            call=record.call,
            outcome=outcome,
            message_id=message_id,
            approval=self._approval(call_id, outcome),
        )

    def _approval(self, call_id: str, outcome: Outcome) -> Approval | None:
        if isinstance(outcome, ExpiredOutcome):
            return "expired"
        if isinstance(outcome, Rejected):
            return "rejected"
        decision = self._decisions.get(call_id)
        if decision is None:
            return None
        return "approved" if isinstance(decision, Approve) else "rejected"

    def _close_results(self) -> None:
        if not self._results or self._batch is None:
            return
        results, self._results = tuple(self._results.values()), {}
        self._append(ToolResultMessage(**self._base(f"{self._batch.id}.results"), results=results))
        self._batch = None
        queued, self._queued = self._queued, ()
        for message in queued:
            self._append(replace(message, **self._base(message.id)))

    def _base(self, message_id: str) -> _Base:
        seq, self._next_seq = self._next_seq, self._next_seq + 1
        return {
            "id": message_id,
            "seq": seq,
            "created_at": self._clock(),
            "run_id": self._run_id,
        }

    def _append(self, message: Message) -> None:
        self._messages.append(message)
