"""A store that fails: what cannot be recorded is not run, and what ended badly says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine as SyncEngine
from sqlalchemy.exc import OperationalError

from signoff.errors import Unavailable
from signoff.events import Completed, Failed, RunEvent, Suspended
from signoff.suspension import ToolCall
from signoff_server.engine import Engine
from support.engines import (
    ME,
    YES,
    T,
    answer,
    check_history,
    ended,
    events,
    opened,
    outcomes,
    send,
    tamper,
)
from support.sources import ListSource, Wait, ask, asking, call, ready, say, suspended

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signoff_server.engine.closing._PAUSES_SECONDS", (0.001,) * 3)


@contextmanager
def failing(engine: Engine, statement: str, *, times: int = 10**6) -> Iterator[list[str]]:
    """Statements that begin so fail as on a full disk; returns those that did."""
    target: SyncEngine = engine._store._database._writer
    failed: list[str] = []

    def refuse(conn: Any, cursor: Any, text: str, *_: Any) -> None:
        if text.startswith(statement) and len(failed) < times:
            failed.append(text)
            raise OperationalError(text, {}, Exception("database or disk is full"))

    event.listen(target, "before_cursor_execute", refuse)
    try:
        yield failed
    finally:
        event.remove(target, "before_cursor_execute", refuse)


@pytest.mark.req("R76")
async def test_a_call_whose_begin_cannot_be_recorded_does_not_run(tmp_path: Path) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        with failing(engine, "INSERT INTO executions"):
            assert isinstance(await ended(await answer(engine, {"c1": YES})), Failed)
        assert source.ran == []
        thread = await engine.thread(ME, T)
        assert (thread.status, outcomes(thread)) == ("failed", {"c1": "ToolError"})
        check_history(thread)


async def test_a_call_whose_end_cannot_be_recorded_is_indeterminate(tmp_path: Path) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        with failing(engine, "UPDATE executions"):
            assert isinstance(await ended(await answer(engine, {"c1": YES})), Failed)
        assert source.ran == ["c1"]
        assert outcomes(await engine.thread(ME, T)) == {"c1": "Indeterminate"}


@pytest.mark.parametrize("statement", ["INSERT INTO runs", "UPDATE threads", "BEGIN"])
async def test_a_message_that_cannot_be_stored_starts_nothing(
    tmp_path: Path, statement: str
) -> None:
    source = ListSource([say("Done.")])
    async with opened(source, tmp_path) as engine:
        with failing(engine, statement), pytest.raises(Unavailable):
            await send(engine, id="u1")
        assert source.requests == []
        assert (await engine.thread(ME, T)).status == "new"
        assert isinstance(await ended(await send(engine, id="u1")), Completed)


async def test_an_answer_that_cannot_be_stored_is_not_acknowledged(tmp_path: Path) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        with failing(engine, "UPDATE suspensions"), pytest.raises(Unavailable):
            await answer(engine, {"c1": YES})
        assert (await engine.thread(ME, T)).decisions == {}
        assert isinstance(await ended(await answer(engine, {"c1": YES})), Completed)
        assert source.ran == ["c1"]


async def test_a_commit_that_fails_starts_nothing(tmp_path: Path) -> None:
    source = ListSource([say("Done.", "a1"), say("Done.", "a2")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        target = engine._store._database._writer

        def fail(conn: Any) -> None:
            raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

        event.listen(target, "commit", fail)
        with pytest.raises(Unavailable):
            await send(engine, id="u2")
        event.remove(target, "commit", fail)
        assert len(source.requests) == 1
        assert (await engine.thread(ME, T)).status == "completed"
        assert isinstance(await ended(await send(engine, id="u2")), Completed)


@pytest.mark.req("R73")
async def test_an_end_is_announced_when_the_store_took_it_at_a_later_attempt(
    tmp_path: Path,
) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        with failing(engine, "INSERT INTO suspensions", times=2) as failed:
            told = await events(await send(engine))
        assert len(failed) == 2
        assert isinstance(told[-1], Suspended)
        assert (await engine.thread(ME, T)).status == "awaiting_approval"


async def test_results_of_an_end_are_announced_though_its_commit_took_two_attempts(
    tmp_path: Path,
) -> None:
    source = ListSource([[*ready([call("c1")], free=["c1"]), RuntimeError()]])
    async with opened(source, tmp_path) as engine:
        with failing(engine, "UPDATE threads SET status=?, updated_at", times=1) as failed:
            told = await events(await send(engine))
        assert len(failed) == 1
        assert [type(item).__name__ for item in told] == ["ToolCallReady", "ToolResult", "Failed"]
        check_history(await engine.thread(ME, T))


@pytest.mark.req("R73")
async def test_an_end_the_store_never_took_is_stored_when_it_can_be(tmp_path: Path) -> None:
    holds = asyncio.Event()
    source = ListSource([[Wait(until=holds), *ask("c1")], say("Fine.")])
    async with opened(source, tmp_path) as engine:
        running = await send(engine)
        with failing(engine, "BEGIN"):
            holds.set()
            told = await events(running)
            assert [type(item) for item in told][-1] is Failed
            assert not any(isinstance(item, Suspended) for item in told)
            # It cannot be told yet what the thread is; nothing pretends to know.
            assert (await engine.thread(ME, T)).status == "running"
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.open_calls) == ("failed", ())
        check_history(thread)
        assert isinstance(await ended(await send(engine)), Completed)


async def test_an_end_the_store_never_took_is_made_at_the_next_start(tmp_path: Path) -> None:
    holds = asyncio.Event()
    source = ListSource([[Wait(until=holds), *ask("c1")], say("Fine.")])
    async with opened(source, tmp_path) as engine:
        running = await send(engine)
        with failing(engine, "BEGIN"):
            holds.set()
            await ended(running)
    async with opened(source, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.failure and thread.failure[0]) == ("failed", "interrupted")
        assert isinstance(await ended(await send(engine)), Completed)


async def test_b124_a_full_disk(tmp_path: Path) -> None:
    """The real thing: SQLite itself says that it is full, in the middle of a suspension."""
    big = [ToolCall(call_id=f"c{n}", name="n", inputs={"x": "y" * 4000}) for n in range(200)]

    class Big:
        async def run(self, request: object) -> AsyncIterator[RunEvent]:
            for item in ready(big):
                yield item  # type: ignore[misc]  # ready() has events only
            yield suspended(big)

    async with opened(Big(), tmp_path) as engine:
        (pages,) = await tamper(engine, "PRAGMA page_count")
        await tamper(engine, f"PRAGMA max_page_count = {pages + 20}")
        told = await events(await send(engine))
        assert isinstance(told[-1], Failed)
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.open_calls) == ("failed", ())


async def test_a_start_that_fails_can_be_tried_again(tmp_path: Path) -> None:
    source = ListSource([say("Done.")])
    engine = Engine(source, store=f"sqlite:///{tmp_path}/signoff.db")
    real = engine._store.server_key

    async def fail() -> bytes:
        raise Unavailable

    engine._store.server_key = fail  # type: ignore[method-assign]  # a store that fails once
    with pytest.raises(Unavailable):
        await engine.thread(ME, T)
    engine._store.server_key = real  # type: ignore[method-assign]  # and then does not
    assert isinstance(await ended(await send(engine)), Completed)
    await engine.close()
