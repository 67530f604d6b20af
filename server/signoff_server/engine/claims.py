"""The writing transactions of the engine: a message starts a run, answers continue one. Each
decides and claims in one transaction, so that of several requests exactly one wins (B106)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import Connection

from signoff.commands import Decide, SendMessage, UserInput
from signoff.decisions import Approve, Decision
from signoff.errors import AwaitingDecision, InvalidBody, NothingPending, RunInProgress
from signoff.messages import UserMessage
from signoff.principal import Principal
from signoff.sources.base import Answers, RunInput, UserTurn
from signoff.suspension import SuspensionEvent
from signoff.thread import Thread, ThreadStatus

from ..store import asking, audit, secrets, threads, transcript
from ..store.rows import AskedRow, RunRow, SuspensionRow, ThreadRow
from .answers import plan_answers
from .clock import Clock
from .views import load_suspension, load_thread_of_run, reveal

_BUSY: frozenset[ThreadStatus] = frozenset(
    {"running", "awaiting_approval", "awaiting_input", "awaiting_results"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A segment that was won and has to be run.

    Attributes:
        row: the claimed thread, with the new fence.
        base: the thread before the segment's first event.
        run: the run.
        input: what the source gets.
        next_seq: place of the segment's first message.
        used_call_ids: callIds of superseded messages.
        skipped: callIds of echoes.
    """

    row: ThreadRow
    base: Thread
    run: RunRow
    input: RunInput
    next_seq: int
    used_call_ids: frozenset[str]
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Nothing was started: the thread stands as it is. ``skipped`` are callIds of echoes."""

    skipped: tuple[str, ...] = ()


class Claims:
    """Made once by the engine."""

    def __init__(self, *, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._clock = clock
        self._new_id = new_id

    def send(
        self,
        connection: Connection,
        principal: Principal,
        thread_id: str,
        command: SendMessage,
        *,
        source: str,
        protocol: str,
    ) -> Claim | Standing:
        """Store new user messages and claim the thread for a run.

        Raises:
            RunInProgress, AwaitingDecision: the thread is busy, and this is no repeat.
            InvalidBody: no messages, or an id that belongs to another kind of message.
        """
        if not command.messages:
            raise InvalidBody("There is no message to send.")
        now = self._clock()
        row = threads.find_or_create(
            connection, principal, thread_id, internal_id=self._new_id("thread"), now=now
        )
        relation = self._relation(connection, row, command)
        if relation == "repeat":
            return Standing()
        _require_idle(row)
        run_id = self._new_id("run")
        self._append_users(connection, row, run_id, command)
        row = _with_state(connection, row, command)
        threads.create_run(
            connection,
            row.internal_id,
            id=run_id,
            source=source,
            assistant_id=self._new_id("msg"),
            client=command.client,
            now=now,
        )
        audit.write(
            connection,
            row,
            "run_started",
            now=now,
            run_id=run_id,
            actor=principal.id,
            means="person",
            protocol=protocol,
        )
        return self._claim(connection, row, run_id, load_suspension(connection, row))

    def decide(
        self,
        connection: Connection,
        principal: Principal,
        thread_id: str,
        command: Decide,
        *,
        protocol: str,
    ) -> Claim | Standing:
        """Keep answers; the last one claims the thread in the same transaction (design §6.2).

        Raises:
            Refusal: see ``plan_answers``.
        """
        row = threads.find(connection, principal, thread_id)
        if row is None:
            raise NothingPending()
        current = load_suspension(connection, row)
        suspension = current if row.status != "running" else None
        calls = asking.find_calls(
            connection, row.internal_id, command.decisions, suspension.id if suspension else None
        )
        plan = plan_answers(command, suspension=suspension, calls=calls, actor=principal.id)
        if suspension is None or not plan.stage:
            return Standing(skipped=plan.skipped)
        self._stage(connection, row, principal, plan.stage, calls, protocol)
        if not plan.completes:
            asking.move(connection, suspension, SuspensionEvent.ANSWERED_IN_PART, self._clock())
            return Standing(skipped=plan.skipped)
        claim = self._continue(connection, row, suspension, command)
        return replace(claim, skipped=plan.skipped)

    def _continue(
        self,
        connection: Connection,
        row: ThreadRow,
        suspension: SuspensionRow,
        command: Decide,
    ) -> Claim:
        run_id = row.run_id
        if run_id is None:
            raise LookupError("A suspended thread has a run.")
        claimed = asking.move(connection, suspension, SuspensionEvent.ANSWERED, self._clock())
        row = _with_state(connection, row, command)
        if command.messages:
            self._queue_behind_results(connection, row, run_id, command.messages)
        return self._claim(connection, row, run_id, claimed)

    def _queue_behind_results(
        self,
        connection: Connection,
        row: ThreadRow,
        run_id: str,
        inputs: tuple[UserInput, ...],
    ) -> None:
        queued = threads.get_run(connection, run_id).queued
        known = {message.id for message in queued}
        new = tuple(item for item in inputs if item.id not in known)
        beside = self._unknown(connection, row, run_id, new)
        threads.set_queued(connection, run_id, (*queued, *beside))

    def _stage(
        self,
        connection: Connection,
        row: ThreadRow,
        principal: Principal,
        decisions: Mapping[str, Decision],
        calls: dict[str, AskedRow],
        protocol: str,
    ) -> None:
        now = self._clock()
        asking.stage(
            connection, row.internal_id, decisions, actor=principal.id, protocol=protocol, now=now
        )
        for call_id, decision in decisions.items():
            approved = isinstance(decision, Approve)
            audit.write(
                connection,
                row,
                "approved" if approved else "rejected",
                now=now,
                call=calls[call_id].pending.call,
                actor=principal.id,
                means="person",
                protocol=protocol,
                detail=decision.note if isinstance(decision, Approve) else decision.reason,
            )

    def _claim(
        self,
        connection: Connection,
        row: ThreadRow,
        run_id: str,
        suspension: SuspensionRow | None,
    ) -> Claim:
        claimed = threads.claim(connection, row, run_id, self._clock())
        run = threads.get_run(connection, run_id)
        base = load_thread_of_run(connection, claimed, run, suspension)
        base = reveal(base, secrets.take(connection, row.internal_id))
        answers = Answers(decisions=base.decisions, messages=base.queued)
        return Claim(
            row=claimed,
            base=base,
            run=run,
            input=UserTurn() if base.suspension is None else answers,
            next_seq=transcript.next_seq(connection, row.internal_id),
            used_call_ids=transcript.superseded_call_ids(connection, row.internal_id),
        )

    def _relation(
        self, connection: Connection, row: ThreadRow, command: SendMessage
    ) -> Literal["new", "repeat"]:
        """Whether the newest message was sent before, and change or repeat it."""
        newest = command.messages[-1]
        if newest.id is None:
            return "new"
        known = transcript.find(connection, row.internal_id, newest.id)
        if known is None:
            known = self._find_queued(connection, row, newest.id)
            return "new" if known is None or known.content != newest.content else "repeat"
        if not isinstance(known, UserMessage):
            raise InvalidBody("The message's id is taken.")
        same = known.content == newest.content
        if same and (not command.regenerate or row.status == "running"):
            return "repeat"
        _require_idle(row)
        transcript.supersede(connection, row.internal_id, known.seq + 1 if same else known.seq)
        return "new"

    def _find_queued(
        self, connection: Connection, row: ThreadRow, message_id: str
    ) -> UserMessage | None:
        """The message beside answers that waits for the results of a batch."""
        if row.run_id is None or row.status not in _BUSY:
            return None
        run = threads.get_run(connection, row.run_id)
        return next((message for message in run.queued if message.id == message_id), None)

    def _append_users(
        self, connection: Connection, row: ThreadRow, run_id: str, command: SendMessage
    ) -> None:
        new = self._unknown(connection, row, run_id, command.messages)
        # With the fence of the segment before: the message belongs to what the new segment's
        # readers are given first.
        transcript.append(connection, row.internal_id, row.fence, new)

    def _unknown(
        self,
        connection: Connection,
        row: ThreadRow,
        run_id: str,
        inputs: tuple[UserInput, ...],
    ) -> tuple[UserMessage, ...]:
        seq = transcript.next_seq(connection, row.internal_id)
        new: list[UserMessage] = []
        for item in inputs:
            if item.id is not None and transcript.find(connection, row.internal_id, item.id):
                continue
            new.append(
                UserMessage(
                    id=item.id or self._new_id("msg"),
                    seq=seq + len(new),
                    created_at=self._clock(),
                    run_id=run_id,
                    content=item.content,
                )
            )
        return tuple(new)


def _with_state(connection: Connection, row: ThreadRow, command: SendMessage | Decide) -> ThreadRow:
    """Keep the client's shared state, where it sent one."""
    if not command.client.has_state:
        return row
    threads.set_state(connection, row.internal_id, command.client.state)
    return replace(row, state=command.client.state)


def _require_idle(row: ThreadRow) -> None:
    if row.status == "running":
        raise RunInProgress(retry_after_seconds=1)
    if row.status in _BUSY:
        raise AwaitingDecision()
