"""Fakes of what surrounds a run source: the ledger, the request, a model, a thread that goes on."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from signoff.commands import ClientContext
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import NotApproved
from signoff.events import RunEvent, Suspended
from signoff.history import Recorder
from signoff.messages import Message, TextPart, ToolCallMessage, UserMessage, last_batch
from signoff.outcomes import Outcome
from signoff.policy import Gate
from signoff.principal import Principal
from signoff.sources.base import Answers, RunInput, RunRequest, RunSource, UserTurn
from signoff.sources.models.base import ModelEvent, ModelRequest
from signoff.suspension import Suspension, ToolCall, call_hash

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


class MemoryLedger:
    """A ledger with the rules of the real one, kept in a list.

    ``log`` is what happened, in order: ``("begin", callId)`` and ``("finish", callId)``.
    """

    def __init__(self) -> None:
        self.log: list[tuple[str, str]] = []
        self.outcomes: dict[str, Outcome] = {}
        self.asked: dict[str, tuple[ToolCall, Decision | None]] = {}

    async def begin(self, call: ToolCall) -> Outcome | None:
        if call.call_id in self.outcomes:
            return self.outcomes[call.call_id]
        if call.call_id in self.asked:
            shown, decision = self.asked[call.call_id]
            same = call_hash(shown.name, shown.inputs) == call_hash(call.name, call.inputs)
            if not isinstance(decision, Approve) or not same:
                raise NotApproved("not approved")
        self.log.append(("begin", call.call_id))
        return None

    async def finish(self, call_id: str, outcome: Outcome) -> None:
        self.log.append(("finish", call_id))
        self.outcomes[call_id] = outcome

    def ran(self) -> list[str]:
        return [call_id for what, call_id in self.log if what == "finish"]


class Flag:
    """A cancel signal."""

    def __init__(self) -> None:
        self.up = False

    def is_set(self) -> bool:
        return self.up


class ListModel:
    """A model that answers with the given lists of events, one list for each request.

    An exception in a list is raised there. ``requests`` holds what it was asked.
    """

    def __init__(self, *responses: Iterable[ModelEvent | Exception]) -> None:
        self._responses = iter(responses)
        self.requests: list[ModelRequest] = []

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        for item in next(self._responses):
            if isinstance(item, Exception):
                raise item
            yield item


def ids() -> Callable[[str], str]:
    counter = itertools.count(1)
    return lambda prefix: f"{prefix}_{next(counter)}"


class MemoryThread:
    """Runs a source over one thread, as the engine does, in memory.

    What is carried from one segment to the next is what the engine stores: messages, the open
    suspension, the answers, the ledger.
    """

    def __init__(
        self, source: RunSource, *, gate: Gate | None = None, thread_id: str = "t1"
    ) -> None:
        self.source = source
        self.gate = gate or Gate()
        self.thread_id = thread_id
        self.messages: tuple[Message, ...] = ()
        self.ledger = MemoryLedger()
        self.cancel = Flag()
        self.new_id = ids()
        self.run_id = ""
        self.suspension: Suspension | None = None
        self.decisions: dict[str, Decision] = {}
        self.used_call_ids: frozenset[str] = frozenset()

    async def say(self, text: str) -> list[RunEvent]:
        """Send a user message; the events of the segment."""
        self.run_id = self.new_id("run")
        self.decisions = {}
        self.messages = (
            *self.messages,
            UserMessage(
                id=self.new_id("user"),
                seq=len(self.messages) + 1,
                created_at=NOON,
                run_id=self.run_id,
                content=(TextPart(text=text),),
            ),
        )
        return await self._drive(UserTurn())

    async def answer(
        self, decisions: Mapping[str, Decision | str], *, beside: Sequence[UserMessage] = ()
    ) -> list[RunEvent]:
        """Answer the open calls; ``"yes"`` and ``"no"`` are short for a plain decision."""
        plain: dict[str, Decision] = {"yes": Approve(), "no": Reject()}
        given = {
            call_id: plain[decision] if isinstance(decision, str) else decision
            for call_id, decision in decisions.items()
        }
        self.decisions |= given
        for call_id, decision in given.items():
            if call_id in self.ledger.asked:
                self.ledger.asked[call_id] = (self.ledger.asked[call_id][0], decision)
        return await self._drive(Answers(decisions=self.decisions, messages=tuple(beside)))

    def request(self, run_input: RunInput) -> RunRequest:
        return RunRequest(
            thread_id=self.thread_id,
            internal_id=f"thread_{self.thread_id}",
            run_id=self.run_id,
            input=run_input,
            history=self.messages,
            state=None,
            client=ClientContext(),
            principal=Principal(id="demo"),
            gate=self.gate,
            ledger=self.ledger,
            cancel=self.cancel,
            new_id=self.new_id,
            used_call_ids=self.used_call_ids,
        )

    async def _drive(self, run_input: RunInput) -> list[RunEvent]:
        answers = run_input if isinstance(run_input, Answers) else Answers(decisions={})
        recorder = Recorder(
            run_id=self.run_id,
            clock=lambda: NOON,
            next_seq=len(self.messages) + 1,
            batch=last_batch(self.messages),
            decisions=answers.decisions,
            queued=answers.messages,
        )
        events: list[RunEvent] = []
        async for event in self.source.run(self.request(run_input)):
            recorder.record(event)
            events.append(event)
        self.messages = (*self.messages, *recorder.messages)
        last = events[-1]
        self.suspension = last.suspension if isinstance(last, Suspended) else None
        for pending in self.suspension.calls if self.suspension else ():
            self.ledger.asked[pending.call_id] = (pending.call, None)
        return events


def batches(messages: Iterable[Message]) -> list[ToolCallMessage]:
    return [message for message in messages if isinstance(message, ToolCallMessage)]
