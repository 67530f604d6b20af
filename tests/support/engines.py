"""Engines on real files, and short words for what tests ask of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from signoff.commands import Decide, SendMessage, UserInput
from signoff.decisions import Approve, Decision, Reject
from signoff.events import RunEvent
from signoff.messages import TextPart, ToolCallMessage, ToolResultMessage
from signoff.principal import Principal
from signoff.sources.base import RunSource
from signoff.thread import Thread
from signoff_server.engine import Attachment, Engine
from signoff_server.store import audit, threads
from signoff_server.store.audit import AuditRow

ME = Principal(id="me")
T = "thread"

YES = Approve()
NO = Reject(reason="wrong file")


def url(folder: Path) -> str:
    return f"sqlite:///{folder}/signoff.db"


@asynccontextmanager
async def opened(
    source: RunSource | Mapping[str, RunSource], folder: Path, **options: Any
) -> AsyncIterator[Engine]:
    """An engine on the folder's one database file."""
    engine = Engine(source, store=url(folder), **options)
    async with engine.lifespan():
        yield engine


def message(text: str, id: str | None = None) -> UserInput:
    return UserInput(content=(TextPart(text=text),), id=id)


async def send(
    engine: Engine,
    text: str = "go",
    *,
    id: str | None = None,
    principal: Principal = ME,
    thread: str = T,
    **options: Any,
) -> Attachment:
    command = SendMessage(messages=(message(text, id),), **options)
    return await engine.chat(principal, thread, command, protocol="native")


async def answer(
    engine: Engine,
    decisions: Mapping[str, Decision],
    *,
    principal: Principal = ME,
    thread: str = T,
    protocol: str = "native",
    **options: Any,
) -> Attachment:
    command = Decide(decisions=decisions, **options)
    return await engine.submit_decisions(principal, thread, command, protocol=protocol)


async def events(attachment: Attachment) -> list[RunEvent]:
    """Everything the attached segment says, to its end."""
    assert attachment.segment is not None
    return [event async for batch in attachment.segment.read() for event in batch]


async def ended(attachment: Attachment) -> RunEvent:
    """The terminal of the attached segment."""
    return (await events(attachment))[-1]


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what only shows from outside: what is on record, what foreign code did."""
    while not await holds():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.001)


async def audited(engine: Engine, thread: str = T, principal: Principal = ME) -> list[AuditRow]:
    def read(connection: Connection) -> list[AuditRow]:
        row = threads.find(connection, principal, thread)
        assert row is not None
        return audit.read(connection, row.internal_id)

    return await engine._store.read(read)


async def tamper(engine: Engine, statement: str, values: Mapping[str, object] | None = None) -> Any:
    """Execute SQL behind the engine's back; gives the first column of the result, if it has one."""

    def execute(connection: Connection) -> Any:
        result = connection.execute(text(statement), values or {})
        return result.scalars().all() if result.returns_rows else None

    return await engine._store.write(execute)


def outcomes(thread: Thread) -> dict[str, str]:
    """Give how each call ended, by callId."""
    return {
        record.call.call_id: type(record.outcome).__name__
        for item in thread.messages
        if isinstance(item, ToolResultMessage)
        for record in item.results
    }


def check_history(thread: Thread) -> None:
    """Every model accepts it: each batch is followed by exactly one outcome for each of its calls,
    unless it is the one that waits. Ids and places are unique."""
    ids = [item.id for item in thread.messages]
    assert len(set(ids)) == len(ids)
    places = [item.seq for item in thread.messages]
    assert places == sorted(set(places))
    waiting = list(thread.messages)
    while waiting:
        item = waiting.pop(0)
        if not isinstance(item, ToolCallMessage):
            continue
        asked = [record.call.call_id for record in item.calls]
        if not waiting:
            assert thread.suspension is not None
            assert set(asked) >= {pending.call_id for pending in thread.suspension.calls}
            return
        results = waiting.pop(0)
        assert isinstance(results, ToolResultMessage)
        assert sorted(record.call.call_id for record in results.results) == sorted(asked)
