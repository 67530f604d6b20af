"""The at-most-once ledger of one segment, in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection

from signoff.decisions import Approve
from signoff.errors import NotApproved, SignoffError
from signoff.history import Recorder
from signoff.message_json import outcome_to_json
from signoff.outcomes import Indeterminate, Outcome
from signoff.sources.base import CancelSignal
from signoff.suspension import PendingCall, ToolCall, call_hash

from ..store import Store, asking, audit, executions, threads, transcript
from ..store.rows import ThreadRow
from .clock import Clock, DurableWork
from .endings import fingerprint


class LostClaim(SignoffError):
    """The thread belongs to a later segment, or is gone: this one may not write any more."""


class Stopped(SignoffError):
    """The run was stopped; no call begins any more."""


class SegmentLedger:
    """Implements ``Ledger``.

    Args:
        store: where the record is kept.
        thread: the claimed thread; its fence goes with every write.
        run_id: the run.
        recorder: what the segment said so far: it is committed with the first call that follows.
        clock: aware UTC now.
        cancel: set when the run is stopped.
        key: of the published fingerprints.
    """

    def __init__(
        self,
        store: Store,
        thread: ThreadRow,
        run_id: str,
        recorder: Recorder,
        clock: Clock,
        cancel: CancelSignal,
        key: bytes,
    ) -> None:
        self._store = store
        self._thread = thread
        self._run_id = run_id
        self._recorder = recorder
        self._clock = clock
        self._cancel = cancel
        self._key = key
        self._work = DurableWork()
        # What the first of two begins stores, the second must not store again.
        self._one_at_a_time = asyncio.Lock()
        self._begun: dict[str, ToolCall] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Wait until no call has begun that has not finished."""
        await self._idle.wait()

    async def begin(self, call: ToolCall) -> Outcome | None:
        """See ``Ledger.begin``.

        Raises:
            NotApproved: the call is not an open call of the batch, or it was asked about and this
                is not what was approved.
            Stopped: the run was stopped.
            LostClaim: the segment may not write any more.
            Unavailable: the store cannot keep it, so the call must not run.
        """
        async with self._one_at_a_time:
            if self._cancel.is_set():
                raise Stopped("The run was stopped.")
            self._recorder.seal()
            # Before the commit: from then on a stop has to wait for the call.
            self._begun[call.call_id] = call
            self._idle.clear()
            try:
                recorded = await self._work.run(self._begin(call))
            except BaseException:
                self._forget(call.call_id)
                raise
        if recorded is not None:
            self._forget(call.call_id)
        return recorded

    async def finish(self, call_id: str, outcome: Outcome) -> None:
        """See ``Ledger.finish``.

        Raises:
            SignoffError: the call has not begun in this segment.
            LostClaim: the segment may not write any more; that the call ended late is on record.
            Unavailable: the store cannot keep it.
        """
        call = self._begun.get(call_id)
        if call is None:
            raise SignoffError("A source finished a call that it had not begun.")
        try:
            await self._work.run(self._finish(call, outcome))
        finally:
            self._forget(call_id)

    def _forget(self, call_id: str) -> None:
        self._begun.pop(call_id, None)
        if not self._begun:
            self._idle.set()

    async def landed(self) -> None:
        """Wait until nothing is being written: a begin goes on when its source is cancelled."""
        await self._work.landed()

    async def _begin(self, call: ToolCall) -> Outcome | None:
        recorded = await self._store.write(partial(self._record_begin, call))
        if recorded is None:
            self._recorder.mark_stored()
        return recorded

    def _record_begin(self, call: ToolCall, connection: Connection) -> Outcome | None:
        hold(connection, self._thread)
        known = executions.find(connection, self._thread.internal_id, [call.call_id])
        if call.call_id in known:
            return known[call.call_id].outcome or Indeterminate()
        self._check_announced(call)
        self._check_approval(connection, call)
        transcript.append(
            connection, self._thread.internal_id, self._thread.fence, self._recorder.unstored
        )
        now = self._clock()
        executions.begin(
            connection, self._thread.internal_id, self._run_id, self._thread.fence, call, now
        )
        audit.write(connection, self._thread, "began", now=now, run_id=self._run_id, call=call)
        return None

    async def _finish(self, call: ToolCall, outcome: Outcome) -> None:
        if not await self._store.write(partial(self._record_finish, call, outcome)):
            raise LostClaim("This segment has lost its thread.")

    def _record_finish(self, call: ToolCall, outcome: Outcome, connection: Connection) -> bool:
        now = self._clock()
        holds = holds_thread(connection, self._thread)
        if holds:
            executions.finish(connection, self._thread.internal_id, call.call_id, outcome, now)
        audit.write(
            connection,
            self._thread,
            "finished" if holds else "finished_late",
            now=now,
            run_id=self._run_id,
            call=call,
            detail=str(outcome_to_json(outcome)["outcome"]),
        )
        return holds

    def _check_announced(self, call: ToolCall) -> None:
        shown = {item.call_id: item for item in self._recorder.open_calls()}.get(call.call_id)
        if shown is None or _hash(shown) != _hash(call) or shown.secrets != call.secrets:
            raise NotApproved("A call was about to run that is not an open call of the batch.")

    def _check_approval(self, connection: Connection, call: ToolCall) -> None:
        asked = asking.find_calls(connection, self._thread.internal_id, [call.call_id], None)
        record = asked.get(call.call_id)
        if record is None:
            return
        if not isinstance(record.decision, Approve):
            raise NotApproved("A call was about to run without an approval.")
        if record.hash != _hash(call):
            raise NotApproved("A call was about to run with other inputs than the approved ones.")
        if call.masked and not self._bears(record.pending, call):
            raise NotApproved("A call was about to run with other secrets than the approved ones.")

    def _bears(self, pending: PendingCall, call: ToolCall) -> bool:
        """Whether the fingerprint that was published is that of the secrets which run now."""
        shown = replace(pending.call, secrets=call.secrets)
        return pending.fingerprint == fingerprint(self._key, self._thread.internal_id, shown)


def holds_thread(connection: Connection, thread: ThreadRow) -> bool:
    """Whether, inside a writing transaction, the segment still has its thread."""
    row = threads.get(connection, thread.internal_id)
    return row is not None and row.fence == thread.fence and row.status == "running"


def hold(connection: Connection, thread: ThreadRow) -> None:
    """Make sure that the segment still has its thread.

    Raises:
        LostClaim: a later segment has it, or it is gone.
    """
    if not holds_thread(connection, thread):
        raise LostClaim("This segment has lost its thread.")


def _hash(call: ToolCall) -> str:
    return call_hash(call.name, call.inputs)
