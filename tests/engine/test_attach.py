"""Readers: they come late, leave early, and never decide what runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from signoff.adapter import StreamAdapter
from signoff.events import Cancelled, Completed, RunEvent, Suspended, TextDelta
from signoff.thread import Thread
from signoff_server.journal import LINGER_SECONDS, MemoryJournal
from signoff_server.streaming import stream
from support.engines import ME, NO, YES, T, answer, ended, events, opened, send
from support.sources import CarryOut, Execute, ListSource, Step, Wait, ask, asking, call, ready, say

pytestmark = pytest.mark.anyio


class Bytes(StreamAdapter):
    """Encodes nothing worth reading."""

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def open(self) -> bytes:
        return b"open"

    def encode(self, event: RunEvent, /) -> bytes:
        return type(event).__name__.encode()

    def close(self) -> bytes:
        return b""


async def test_a_late_reader_gets_every_event_from_the_first(tmp_path: Path) -> None:
    go = asyncio.Event()
    steps: list[Step] = [TextDelta(message_id="a", delta=str(number)) for number in range(100)]
    rest: list[Step] = [TextDelta(message_id="a", delta="!"), Completed()]
    source = ListSource([[*steps, Wait(until=go), *rest]])
    async with opened(source, tmp_path) as engine:
        first = await send(engine, id="u1")
        await source.busy.wait()
        late = await engine.attach(ME, T)
        assert late.segment is first.segment
        assert [item.id for item in late.thread.messages] == ["u1"]
        assert late.thread.status == "running"
        go.set()
        told = await events(late)
        assert told == await events(first)
        assert told[:100] == steps
        assert len(told) == 102


async def test_two_readers_of_a_continuation_start_on_the_batch_it_continues(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    source = ListSource([ask("c1", "c2"), [Wait(until=go), CarryOut(), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await answer(engine, {"c1": NO})
        first = await answer(engine, {"c2": YES})
        late = await engine.attach(ME, T)
        for attached in (first, late):
            assert attached.thread.decisions == {"c1": NO, "c2": YES}
            assert attached.thread.suspension is not None
            assert attached.thread.open_calls == ()
            assert attached.thread.messages[-1].id == "batch"
        go.set()
        assert await events(late) == await events(first)


async def test_a_run_goes_on_when_its_client_leaves(tmp_path: Path) -> None:
    go = asyncio.Event()
    source = ListSource([[Wait(until=go), *ask("c1")], [CarryOut(), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        request = asyncio.create_task(ended(await send(engine)))
        await source.busy.wait()
        request.cancel()
        go.set()
        assert isinstance(await ended(await engine.attach(ME, T, linger=True)), Suspended)
        assert (await engine.thread(ME, T)).status == "awaiting_approval"


@pytest.mark.parametrize("turns", range(12))
async def test_b90_a_client_that_leaves_while_it_is_answering_loses_nothing(
    tmp_path: Path, turns: int
) -> None:
    """Cancelled at any moment: the answer is taken and carried out, or was never given."""
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        request = asyncio.create_task(answer(engine, {"c1": YES}))
        for _ in range(turns):
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.wait([request])
        again = await answer(engine, {"c1": YES})
        if again.segment is not None:
            await ended(again)
        assert (await engine.thread(ME, T)).status == "completed"
        assert source.ran == ["c1"]


async def test_a_segment_that_ended_can_be_replayed_until_something_happens(
    tmp_path: Path,
) -> None:
    async with opened(asking("c1", "c2"), tmp_path) as engine:
        first = await send(engine)
        told = await events(first)
        assert (await engine.attach(ME, T)).segment is None
        again = await engine.attach(ME, T, linger=True)
        assert (await events(again), again.thread) == (told, first.thread)
        await answer(engine, {"c1": YES})
        assert (await engine.attach(ME, T, linger=True)).segment is None


async def test_the_replay_ends_after_thirty_seconds() -> None:
    now = 100.0
    journal = MemoryJournal(lambda: now)
    segment = journal.open(Thread(thread_id="t", internal_id="thread_1"))
    now += 10 * LINGER_SECONDS
    assert journal.get("thread_1") is segment  # it still runs
    segment.append([Completed()])
    segment.end()
    now += LINGER_SECONDS - 0.01
    assert journal.get("thread_1") is segment
    now += 0.02
    assert journal.get("thread_1") is None
    journal.open(Thread(thread_id="u", internal_id="thread_2"))
    assert list(journal._segments) == ["thread_2"]


async def test_a_newer_segment_is_not_dropped_with_an_older_one() -> None:
    journal = MemoryJournal(lambda: 0.0)
    base = Thread(thread_id="t", internal_id="thread_1")
    old, new = journal.open(base), journal.open(base)
    journal.drop("thread_1", old)
    assert journal.get("thread_1") is new
    journal.drop("thread_1", new)
    assert journal.get("thread_1") is None


@pytest.mark.req("R119")
@pytest.mark.parametrize("on_disconnect", ["continue", "cancel"])
async def test_a_reader_that_leaves_stops_its_run_only_where_that_is_asked_for(
    tmp_path: Path, on_disconnect: str
) -> None:
    go = asyncio.Event()
    source = ListSource([[TextDelta(message_id="a", delta="half"), Wait(until=go), *say("x")]])
    async with opened(source, tmp_path, on_disconnect=on_disconnect) as engine:
        attachment = await send(engine)
        onlooker = await engine.attach(ME, T)
        await source.busy.wait()
        for who in (onlooker, attachment):
            await leave(who)
            assert (await engine.thread(ME, T)).status in ("running", "cancelled")
            if who is onlooker:
                assert (await engine.thread(ME, T)).status == "running"
        if on_disconnect == "continue":
            go.set()
            assert isinstance(await ended(attachment), Completed)
        else:
            assert isinstance(await ended(attachment), Cancelled)
            assert (await engine.thread(ME, T)).status == "cancelled"


async def test_a_reader_that_stays_to_the_end_stops_nothing(tmp_path: Path) -> None:
    async with opened(asking("c1"), tmp_path, on_disconnect="cancel") as engine:
        await ended(first := await send(engine))
        first.on_left()
        second = await answer(engine, {"c1": YES})
        first.on_left()
        assert isinstance(await ended(second), Completed)


async def leave(attachment: object) -> None:
    """Open a stream and drop the connection after the first bytes."""
    opened_up = asyncio.Event()

    async def send_bytes(part: object) -> None:
        if part["type"] == "http.response.body" and part["body"]:  # type: ignore[index]  # ASGI
            opened_up.set()

    async def receive() -> dict[str, str]:
        await opened_up.wait()
        return {"type": "http.disconnect"}

    response = stream(Bytes(), attachment)  # type: ignore[arg-type]  # an Attachment
    await response({"type": "http", "method": "POST"}, receive, send_bytes)


async def test_a_source_that_never_waits_lets_others_run(tmp_path: Path) -> None:
    class Chatter:
        async def run(self, request: object) -> AsyncIterator[RunEvent]:
            for number in range(2000):
                yield TextDelta(message_id="a", delta=str(number))
            yield Completed()

    async with opened(Chatter(), tmp_path) as engine:
        attachment = await send(engine)
        assert attachment.segment is not None
        sizes = [len(batch) async for batch in attachment.segment.read()]
        assert sum(sizes) == 2001
        assert len(sizes) > 10


async def test_readers_get_what_waits_in_one_batch(tmp_path: Path) -> None:
    batch = ready([call("c1")], free=["c1"])
    source = ListSource([[*batch, Execute(call("c1")), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        attachment = await send(engine)
        told = await events(attachment)
        again = await engine.attach(ME, T, linger=True)
        assert again.segment is not None
        assert [batch async for batch in again.segment.read()] == [told]
