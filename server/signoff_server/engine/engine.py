"""The engine: claim → run → store → announce. Everything a route may ask of threads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection

from signoff.commands import Decide, SendMessage
from signoff.errors import NotFound, Unavailable
from signoff.policy import Gate
from signoff.principal import Principal
from signoff.sources.base import RunSource
from signoff.suspension import PendingCall
from signoff.thread import Thread

from ..store import Store, threads
from .attachment import Attachment, OnDisconnect
from .claims import Claim, Claims, Standing
from .clock import Clock, DurableWork, utc_now
from .endings import Stamps
from .ids import check_id, check_message_ids, random_id
from .recovery import end_interrupted
from .segments import Segments
from .sources import checked_sources
from .upkeep import Upkeep
from .views import load_thread


class Engine:
    """Runs agents and keeps their threads.

    Args:
        sources: what drives the agents, by name; a single one is named ``default``. The first is
            used where a request names none.
        store: ``sqlite:///FILE``, or an unopened ``Store``.
        gate: who is asked before a call runs.
        on_disconnect: what a client's departure does to the run it started: nothing, or a stop.
        stop_grace_seconds: how long ``stop`` waits for a call that already began.
        clock: aware UTC now, in whole milliseconds.
        new_id: makes an id from a prefix.

    It starts on first use, or by ``lifespan``. One engine serves one process.

    Raises:
        ConfigurationError: no sources, one that is none, or a store URL that cannot be used.
    """

    def __init__(
        self,
        sources: RunSource | Mapping[str, RunSource],
        *,
        store: str | Store = "sqlite:///signoff.db",
        gate: Gate | None = None,
        on_disconnect: OnDisconnect = "continue",
        stop_grace_seconds: float = 10.0,
        clock: Clock = utc_now,
        new_id: Callable[[str], str] | None = None,
    ) -> None:
        self._sources: dict[str, RunSource] = checked_sources(sources)
        self._store = Store(store) if isinstance(store, str) else store
        self._gate = gate or Gate()
        self._on_disconnect = on_disconnect
        self._clock = clock
        self._new_id = new_id or random_id
        self._claims = Claims(clock=clock, new_id=self._new_id)
        self._segments = Segments(
            self._store, self._sources, self._gate, self._stamps, grace_seconds=stop_grace_seconds
        )
        self._upkeep = Upkeep(self._store, self._segments, clock=clock, new_id=self._new_id)
        self._work = DurableWork()
        self._starting = asyncio.Lock()
        self._key = b""
        self._closed = False

    @property
    def source_names(self) -> tuple[str, ...]:
        return tuple(self._sources)

    # Life

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Open the store and end what a dead process left behind; at the end, stop what runs.

        Raises:
            ConfigurationError: the store cannot be used.
        """
        await self._ready()
        try:
            yield
        finally:
            await self.close()

    async def close(self) -> None:
        """End the running segments as failed, with their threads usable; close the store."""
        self._closed = True
        await self._work.landed()
        await self._segments.close()
        await self._store.close()

    async def server_key(self) -> bytes:
        """32 bytes that belong to the store: for fingerprints and signed cookies."""
        return await self._ready()

    async def _ready(self) -> bytes:
        if self._closed:
            raise Unavailable()
        key = self._key or await self._work.run(self._open())
        if self._segments.has_unended:
            with contextlib.suppress(Unavailable):
                await self._work.run(self._segments.end_unended())
        return key

    async def _open(self) -> bytes:
        async with self._starting:
            if self._key:
                return self._key
            await self._store.open()
            try:
                key = await self._store.server_key()
                await end_interrupted(self._store, self._stamps(key))
            except BaseException:
                await self._store.close()
                raise
            self._key = key
            return key

    def _stamps(self, key: bytes = b"") -> Stamps:
        return Stamps(clock=self._clock, new_id=self._new_id, key=key or self._key)

    # Reading

    async def thread(self, principal: Principal, thread_id: str) -> Thread:
        """The principal's thread as it stands; one that is unknown or not theirs looks new."""
        await self._ready()
        return await self._store.read(partial(_load, principal, thread_id))

    async def pending_approvals(
        self, principal: Principal, thread_id: str
    ) -> tuple[PendingCall, ...]:
        """The calls that wait for a decision, in the model's order."""
        return (await self.thread(principal, thread_id)).open_calls

    async def attach(
        self, principal: Principal, thread_id: str, *, linger: bool = False
    ) -> Attachment:
        """The thread, and the segment that runs. Changes nothing.

        With ``linger``, also a segment that ended less than 30 s ago, if nothing has happened to
        the thread since.

        Raises:
            Unavailable: the thread runs, but not here.
        """
        thread = await self.thread(principal, thread_id)
        segment = self._segments.get(thread.internal_id)
        if thread.status == "running":
            if segment is None or segment.ended:
                # Claimed a moment ago: its segment is there right after the commit, and so before
                # the end of any later transaction.
                await self._store.write(_nothing)
                segment = self._segments.get(thread.internal_id)
            if segment is None:
                raise Unavailable(retry_after_seconds=1)
            return Attachment(thread=segment.base, segment=segment)
        if linger and segment is not None and not thread.decisions:
            return Attachment(thread=segment.base, segment=segment)
        return Attachment(thread=thread)

    # Writing

    async def chat(
        self,
        principal: Principal,
        thread_id: str,
        command: SendMessage,
        *,
        protocol: str,
        source: str | None = None,
    ) -> Attachment:
        """Start a run. A repeat of a known message attaches to, or restates, what it led to.

        Raises:
            RunInProgress: another message is being worked on.
            AwaitingDecision: the thread waits for a person.
            InvalidBody: the thread's or a message's id cannot be used.
            NotFound: there is no such source.
        """
        name = source or self.source_names[0]
        if name not in self._sources:
            raise NotFound()
        check_id(thread_id)
        check_message_ids(command.messages)
        await self._ready()
        claim = partial(
            self._claims.send,
            principal=principal,
            thread_id=thread_id,
            command=command,
            source=name,
            protocol=protocol,
        )
        return await self._work.run(self._claim(principal, thread_id, claim))

    async def submit_decisions(
        self, principal: Principal, thread_id: str, command: Decide, *, protocol: str
    ) -> Attachment:
        """Keep answers to pending calls; the last one continues the run at once.

        Raises:
            Refusal: see ``plan_answers``; nothing was staged.
            InvalidBody: the id of a message beside the answers cannot be used.
        """
        check_message_ids(command.messages)
        await self._ready()
        claim = partial(
            self._claims.decide,
            principal=principal,
            thread_id=thread_id,
            command=command,
            protocol=protocol,
        )
        return await self._work.run(self._claim(principal, thread_id, claim))

    async def stop(self, principal: Principal, thread_id: str) -> bool:
        """Stop the running segment before its next tool or model call. False if none runs.

        Raises:
            AwaitingDecision: the thread waits for a person; nothing runs that could be stopped.
        """
        await self._ready()
        return await self._work.run(self._upkeep.stop(principal, thread_id))

    async def reset(self, principal: Principal, thread_id: str) -> None:
        """Forget the thread: everything but its audit rows.

        Raises:
            RunInProgress: a segment runs; stop it first.
        """
        await self._ready()
        await self._work.run(self._upkeep.reset(principal, thread_id))

    async def renew_assistant_id(self, principal: Principal, thread_id: str) -> str:
        """Give the newest run a new UIMessage id, and return it: a Vercel page that sent a message
        while a call waits shows the pending message again under it (design §7). A run on its way
        keeps the one its readers have.

        Raises:
            NotFound: the thread has no run.
        """
        await self._ready()
        return await self._work.run(self._upkeep.renew_assistant_id(principal, thread_id))

    async def _claim(
        self,
        principal: Principal,
        thread_id: str,
        transact: Callable[[Connection], Claim | Standing],
    ) -> Attachment:
        if self._closed:
            raise Unavailable()
        result = await self._store.write(transact)
        if isinstance(result, Standing):
            return replace(await self.attach(principal, thread_id), skipped=result.skipped)
        segment = self._segments.launch(principal, result)
        attachment = Attachment(
            thread=result.base, segment=segment, started=True, skipped=result.skipped
        )
        if self._on_disconnect == "continue":
            return attachment
        return replace(attachment, on_left=partial(self._segments.leave, segment))


def _nothing(_connection: Connection) -> None:
    pass


def _load(principal: Principal, thread_id: str, connection: Connection) -> Thread:
    row = threads.find(connection, principal, thread_id)
    return Thread(thread_id=thread_id) if row is None else load_thread(connection, row)
