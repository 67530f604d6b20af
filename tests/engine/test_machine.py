"""Any order of messages, answers, repeats, stops and restarts: no call runs that was not approved,
none runs twice, and the thread can always be brought to an end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from signoff.decisions import Approve, Decision, Reject
from signoff.errors import Refusal
from signoff.events import (
    Cancelled,
    Completed,
    RunEvent,
    Suspended,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
)
from signoff.messages import CallRecord, ToolCallMessage, last_batch
from signoff.outcomes import Output, Rejected
from signoff.sources.base import Answers, RunRequest
from signoff.suspension import PendingCall, Suspension, ToolCall
from signoff.thread import Thread
from signoff_server.engine import Engine
from support.engines import ME, T, answer, check_history, ended, outcomes, send, url
from support.sources import REASON, result

V = TypeVar("V")

BATCHES = 2
"""How often a run asks before it is done."""


class Asker:
    """Asks about some calls of a batch, runs what was approved, asks again, is done."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []
        self.next_batch: tuple[int, int] = (1, 0)
        self.slow = False
        self.go = asyncio.Event()

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        if isinstance(request.input, Answers):
            async for event in self._carry_out(request, request.input):
                yield event
        if self.slow:
            await self.go.wait()
        batches = [
            item
            for item in request.history
            if isinstance(item, ToolCallMessage) and item.run_id == request.run_id
        ]
        if request.cancel.is_set():
            yield Cancelled()
        elif len(batches) < BATCHES:
            for event in self._ask(request):
                yield event
        else:
            yield TextDelta(message_id=request.new_id("msg"), delta="Done.")
            yield Completed()

    def _ask(self, request: RunRequest) -> list[RunEvent]:
        asked, free = self.next_batch
        message_id = request.new_id("msg")
        ready, pending = [], []
        for number in range(asked + free):
            call = ToolCall(call_id=request.new_id("call"), name="act", inputs={"n": number})
            gated = number < asked
            ready.append(
                ToolCallReady(
                    message_id=message_id, call=call, disposition="gated" if gated else "run"
                )
            )
            if gated:
                pending.append(PendingCall(call=call, reason=REASON, risk="policy"))
        suspension = Suspension(kind="approval", message_id=message_id, calls=tuple(pending))
        return [*ready, Suspended(suspension=suspension)]

    async def _carry_out(self, request: RunRequest, answers: Answers) -> AsyncIterator[RunEvent]:
        batch = last_batch(request.history)
        assert batch is not None
        for record in batch.calls:
            async for event in self._settle(request, record, answers):
                yield event

    async def _settle(
        self, request: RunRequest, record: CallRecord, answers: Answers
    ) -> AsyncIterator[RunEvent]:
        call = record.call
        decision = answers.decisions.get(call.call_id)
        if isinstance(decision, Reject):
            yield result(call.call_id, Rejected(reason=decision.reason))
            return
        outcome = await request.ledger.begin(call)
        if outcome is None:
            yield ToolCallStarted(call_id=call.call_id)
            self.ran.append((request.thread_id, call.call_id))
            outcome = Output(value=1)
            await request.ledger.finish(call.call_id, outcome)
        yield result(call.call_id, outcome)


choices: st.SearchStrategy[Decision] = st.sampled_from(
    [Approve(), Reject(), Reject(reason="because")]
)


class Approvals(RuleBasedStateMachine):
    """The model: what was taken of every answer, by callId."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory()
        self._asker = Asker()
        self._engine = self._new_engine()
        self._taken: dict[str, Decision] = {}
        self._free: set[str] = set()
        self._asked: set[str] = set()
        self._messages = 0

    def _new_engine(self) -> Engine:
        return Engine(self._asker, store=url(Path(self._folder.name)), stop_grace_seconds=5)

    def _do(self, work: Coroutine[Any, Any, V]) -> V:
        return self._runner.run(work)

    def _attempt(self, work: Coroutine[Any, Any, V]) -> V | Refusal:
        try:
            return self._do(work)
        except Refusal as refusal:
            return refusal

    def _thread(self) -> Thread:
        return self._do(self._engine.thread(ME, T))

    async def _settled(self) -> None:
        """Until nothing runs, unless a run is held up on purpose."""
        while not self._asker.slow:
            attached = await self._engine.attach(ME, T)
            if attached.segment is None:
                return
            await ended(attached)

    @rule(asked=st.integers(1, 3), free=st.integers(0, 1), slow=st.booleans())
    def message(self, asked: int, free: int, slow: bool) -> None:
        before = self._thread()
        if before.status != "running":
            self._asker.slow = slow
            self._asker.go = asyncio.Event()
        self._asker.next_batch = (asked, free)
        self._messages += 1
        sent = self._attempt(send(self._engine, id=f"u{self._messages}"))
        if isinstance(sent, Refusal):
            assert sent.code in ("run_in_progress", "awaiting_decision")
            assert self._thread().messages == before.messages or before.status == "running"
        else:
            assert sent.started
        self._do(self._settled())

    @precondition(lambda self: self._messages)
    @rule()
    def message_again(self) -> None:
        known = [item.id for item in self._thread().messages if item.id.startswith("u")]
        if known:
            assert not self._do(send(self._engine, id=known[-1])).started

    @rule(data=st.data())
    def answers(self, data: st.DataObject) -> None:
        thread = self._thread()
        known = [*self._taken, *(call.call_id for call in thread.open_calls), "unknown"]
        decisions = data.draw(
            st.dictionaries(st.sampled_from(sorted(set(known))), choices, max_size=4)
        )
        echo = data.draw(st.booleans())
        self._submit(thread, decisions, echo=echo)

    @precondition(lambda self: self._taken)
    @rule()
    def answers_again(self) -> None:
        """A repeat of everything is safe, at any time."""
        attached = self._do(answer(self._engine, dict(self._taken)))
        assert not attached.started

    @precondition(lambda self: self._taken)
    @rule(data=st.data())
    def too_late(self, data: st.DataObject) -> None:
        thread = self._thread()
        over = sorted(set(self._taken) - set(thread.decisions))
        if over:
            call_id = data.draw(st.sampled_from(over))
            other = Reject(reason="changed my mind")
            refused = self._attempt(answer(self._engine, {call_id: other}))
            assert isinstance(refused, Refusal)
            assert refused.code == "already_decided"

    @rule()
    def let_go(self) -> None:
        self._asker.slow = False
        self._asker.go.set()
        self._do(self._settled())

    @rule()
    def stop(self) -> None:
        before = self._thread().status
        stopped = self._attempt(self._engine.stop(ME, T))
        if isinstance(stopped, Refusal):
            assert (stopped.code, before) == ("awaiting_decision", "awaiting_approval")
        elif stopped:
            self._asker.slow = False
            self._do(self._settled())
            assert self._thread().status in ("cancelled", "completed")

    @rule()
    def restart(self) -> None:
        before = self._thread()
        self._do(self._engine.close())
        self._asker.slow = False
        self._engine = self._new_engine()
        after = self._thread()
        if before.status == "running":
            assert after.status != "running"
        else:
            assert after == before

    @rule(to_the_end=choices)
    def bring_to_an_end(self, to_the_end: Decision) -> None:
        self.let_go()
        for _ in range(BATCHES + 1):
            thread = self._thread()
            if not thread.open_calls:
                break
            self._submit(thread, {call.call_id: to_the_end for call in thread.open_calls})
        assert self._thread().status in ("new", "completed", "failed", "cancelled")

    def _submit(
        self, thread: Thread, decisions: dict[str, Decision], *, echo: bool = False
    ) -> None:
        attached = self._attempt(answer(self._engine, decisions, echo=echo))
        if isinstance(attached, Refusal):
            assert attached.code in (
                "invalid_decision",
                "unknown_call",
                "nothing_pending",
                "already_decided",
            )
            assert self._thread().decisions == thread.decisions
            return
        for call_id, decision in decisions.items():
            if call_id not in attached.skipped:
                self._taken[call_id] = decision
        self._do(self._settled())

    @invariant()
    def nothing_ran_that_was_not_approved(self) -> None:
        thread = self._thread()
        for message in thread.messages:
            if isinstance(message, ToolCallMessage):
                self._asked |= {item.call.call_id for item in message.calls if item.asked}
        for _, call_id in self._asker.ran:
            if call_id in self._asked:
                assert isinstance(self._taken.get(call_id), Approve)

    @invariant()
    def nothing_ran_twice(self) -> None:
        assert len(set(self._asker.ran)) == len(self._asker.ran)

    @invariant()
    def the_history_is_valid(self) -> None:
        thread = self._thread()
        if thread.status != "running":
            check_history(thread)
            ran = {call_id for _, call_id in self._asker.ran}
            for call_id, outcome in outcomes(thread).items():
                assert (outcome in ("Output", "Indeterminate")) == (call_id in ran)

    def teardown(self) -> None:
        self._asker.go.set()
        self._do(self._engine.close())
        self._runner.close()
        self._folder.cleanup()


TestApprovals = Approvals.TestCase
TestApprovals.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
