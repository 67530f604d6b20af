"""A thread as Vercel pages show it: one assistant message for each run, made of steps.

Both ways out of the store stand on this: the messages endpoint and the beginning of a stream. So
what a page was sent live and what it reads after a reload are the same parts in the same order.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ..decisions import Decision
from ..json_text import JsonObject
from ..messages import (
    AssistantMessage,
    CallRecord,
    Message,
    Part,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
)
from ..outcomes import Outcome
from ..suspension import PendingCall, ToolCall
from ..thread import AskedCall, Thread
from ..tools import RunsIn
from .wire import STOPPED_TEXT, Answer, answer_to, metadata_of

_Stored: TypeAlias = AssistantMessage | ToolCallMessage

_UNFINISHED = ("running", "awaiting_approval", "awaiting_input", "awaiting_results")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """One call that a page was shown.

    Attributes:
        call: the call.
        runs: where it runs.
        asked: the request, if a person was asked.
        answer: the answer to the request, or the denial of a call that nobody was asked about.
        outcome: how it ended; None before.
    """

    call: ToolCall
    runs: RunsIn
    asked: PendingCall | None
    answer: Answer | None
    outcome: Outcome | None

    @property
    def call_id(self) -> str:
        return self.call.call_id

    @property
    def open(self) -> bool:
        """Whether a person can still answer."""
        return self.asked is not None and self.answer is None

    @property
    def denied(self) -> bool:
        return self.answer is not None and not self.answer.approved


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One answer of the model. ``calls`` are in the order in which pages were shown them: of a
    batch that was held back first those asked about, as they were asked, then the free ones."""

    message_id: str
    content: tuple[Part, ...] = ()
    calls: tuple[CallView, ...] = ()

    @property
    def held_back(self) -> bool:
        return any(call.asked for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run, as one assistant message.

    Attributes:
        run_id: the run.
        message_id: its UIMessage id.
        steps: what is stored of it.
        finished: False for the run that is on its way or waits.
    """

    run_id: str
    message_id: str
    steps: tuple[StepView, ...] = ()
    finished: bool = True

    @property
    def asked(self) -> tuple[PendingCall, ...]:
        return tuple(
            call.asked for step in self.steps for call in step.calls if call.asked is not None
        )

    @property
    def metadata(self) -> JsonObject | None:
        """``metadata`` of the message: what was asked, and a bare mark where an empty step closes
        the message: the SDK publishes such a step only along with metadata."""
        asked = self.asked
        closes_empty = bool(self.steps) and not (self.steps[-1].content or self.steps[-1].calls)
        return metadata_of(asked) if asked or closes_empty else None


@dataclass(slots=True)
class _Group:
    """What stands between two assistant messages of a page."""

    run_id: str | None = None
    users: list[UserMessage] = field(default_factory=list[UserMessage])
    messages: list[_Stored] = field(default_factory=list[_Stored])


class ThreadView:
    """Reads a thread once, for any number of questions."""

    __slots__ = ("_asked", "_order", "_results", "thread")

    def __init__(self, thread: Thread) -> None:
        self.thread: Thread = thread
        self._asked = _asked_calls(thread)
        self._order = {call_id: place for place, call_id in enumerate(self._asked)}
        self._results: dict[str, ResultRecord] = {
            result.call.call_id: result
            for message in thread.messages
            if isinstance(message, ToolResultMessage)
            for result in message.results
        }

    def knows(self, call_id: str) -> bool:
        """Whether a person was ever asked about this call."""
        return call_id in self._asked

    def is_settled(self, call_id: str) -> bool:
        return call_id in self._results

    def request_of(self, call_id: str) -> PendingCall | None:
        """What was asked about this call."""
        asked = self._asked.get(call_id)
        return None if asked is None else asked.pending

    def decision_on(self, call_id: str) -> Decision | None:
        """The answer on record."""
        asked = self._asked.get(call_id)
        return None if asked is None else asked.decision

    def run_of(self, call_ids: Container[str]) -> str | None:
        """The newest run that has one of these calls."""
        for message in reversed(self.thread.messages):
            if isinstance(message, ToolCallMessage) and any(
                record.call.call_id in call_ids for record in message.calls
            ):
                return message.run_id
        return None

    def run_answering(self, message_id: str | None) -> str | None:
        """The run that answers a user message; the newest one where it has none yet."""
        found = False
        for message in self.thread.messages:
            if found and not isinstance(message, UserMessage):
                return message.run_id
            found = found or (isinstance(message, UserMessage) and message.id == message_id)
        return self.thread.run_id

    def run(self, run_id: str) -> RunView:
        """One run; a run without a stored answer has no steps."""
        return self._view(
            run_id,
            [
                message
                for message in self.thread.messages
                if message.run_id == run_id
                and isinstance(message, AssistantMessage | ToolCallMessage)
            ],
        )

    def entries(self) -> Iterator[UserMessage | RunView]:
        """What a page shows, in order.

        A run's user messages stand before its assistant message, also one that came beside answers:
        a page can answer only what is last.
        """
        for group in _groups((*self.thread.messages, *self.thread.queued)):
            yield from group.users
            run_id = group.run_id or self._cancelled_before_it_spoke(group)
            if run_id is not None:
                yield self._view(run_id, group.messages)

    def _cancelled_before_it_spoke(self, group: _Group) -> str | None:
        newest = self.thread.run_id
        stopped = self.thread.status == "cancelled" and group.users
        return newest if stopped and group.users[-1].run_id == newest else None

    def _view(self, run_id: str, messages: list[_Stored]) -> RunView:
        newest = run_id == self.thread.run_id
        finished = not (newest and self.thread.status in _UNFINISHED)
        steps = [self._step(message) for message in messages]
        if newest and self.thread.status == "cancelled":
            stopped = (TextPart(text=STOPPED_TEXT),)
            steps.append(StepView(message_id=f"{run_id}.stopped", content=stopped))
        elif (
            finished
            and steps
            and steps[-1].calls
            and not (newest and self.thread.status == "failed")
        ):
            # The model said nothing more. Pages were sent an empty step, so that they do not post.
            steps.append(StepView(message_id=f"{run_id}.end"))
        return RunView(
            run_id=run_id,
            message_id=self.thread.assistant_ids.get(run_id, run_id),
            steps=tuple(steps),
            finished=finished,
        )

    def _step(self, message: _Stored) -> StepView:
        calls: list[CallView] = []
        if isinstance(message, ToolCallMessage):
            views = [view for record in message.calls if (view := self._call(record))]
            asked = [view for view in views if view.asked]
            asked.sort(key=lambda view: self._order[view.call_id])
            calls = [*asked, *(view for view in views if not view.asked)]
        return StepView(message_id=message.id, content=message.content, calls=tuple(calls))

    def _call(self, record: CallRecord) -> CallView | None:
        """None for a call that no page was shown: a free one of a batch that still waits."""
        call_id = record.call.call_id
        asked, result = self._asked.get(call_id), self._results.get(call_id)
        if asked is None and result is None:
            return None
        outcome = None if result is None else result.outcome
        return CallView(
            call=record.call,
            runs=record.runs,
            asked=None if asked is None else asked.pending,
            answer=answer_to(
                asked=asked is not None,
                decision=None if asked is None else asked.decision,
                outcome=outcome,
                approved=result is not None and result.approval == "approved",
            ),
            outcome=outcome,
        )


def _asked_calls(thread: Thread) -> dict[str, AskedCall]:
    asked = dict(thread.asked)
    for pending in thread.suspension.calls if thread.suspension else ():
        if pending.call_id not in asked:
            asked[pending.call_id] = AskedCall(pending=pending)
    for call_id, decision in thread.decisions.items():
        if call_id in asked:
            asked[call_id] = AskedCall(pending=asked[call_id].pending, decision=decision)
    return asked


def _groups(messages: tuple[Message, ...]) -> Iterator[_Group]:
    group = _Group()
    for message in messages:
        if isinstance(message, ToolResultMessage):
            continue
        starts_anew = group.run_id is not None and message.run_id != group.run_id
        if starts_anew:
            yield group
            group = _Group()
        if isinstance(message, UserMessage):
            group.users.append(message)
        else:
            group.run_id = message.run_id
            group.messages.append(message)
    if group.users or group.messages:
        yield group
