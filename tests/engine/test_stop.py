"""Stop, reset and shutdown: what had begun is told truthfully, and the thread can be used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from signoff.errors import AwaitingDecision, RunInProgress, SignoffError, Unavailable
from signoff.events import Cancelled, Completed, Failed, RunEvent, Suspended, TextDelta, ToolResult
from signoff.outcomes import Output
from signoff.sources.base import RunRequest
from signoff_server.engine import Engine
from support.engines import (
    ME,
    YES,
    T,
    answer,
    audited,
    check_history,
    ended,
    events,
    opened,
    outcomes,
    send,
    until,
    url,
)
from support.sources import Execute, ListSource, Wait, ask, asking, call, ready, result, say

pytestmark = pytest.mark.anyio

TWO = [call("c1"), call("c2")]


async def test_a_model_call_is_given_up_at_once(tmp_path: Path) -> None:
    source = ListSource([[TextDelta(message_id="a", delta="half"), Wait()], say("Done.")])
    async with opened(source, tmp_path, stop_grace_seconds=3600) as engine:
        running = await send(engine)
        await source.busy.wait()
        assert await engine.stop(ME, T) is True
        assert [type(event) for event in await events(running)] == [TextDelta, Cancelled]
        assert source.closed == 1
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.messages[-1].text) == ("cancelled", "half")
        assert await engine.stop(ME, T) is False
        assert [row.event for row in await audited(engine)] == [
            "run_started",
            "stop_asked",
            "run_ended",
        ]
        assert isinstance(await ended(await send(engine)), Completed)


async def test_a_tool_that_ends_within_the_grace_is_waited_for_and_the_next_does_not_begin(
    tmp_path: Path,
) -> None:
    takes = asyncio.Event()
    steps = [*ready(TWO, free=["c1", "c2"]), Execute(TWO[0], takes), Execute(TWO[1]), *say("x")]
    source = ListSource([steps])
    async with opened(source, tmp_path, stop_grace_seconds=3600) as engine:
        running = await send(engine)
        await source.busy.wait()
        await engine.stop(ME, T)
        takes.set()
        assert isinstance(await ended(running), Cancelled)
        assert source.ran == ["c1"]
        thread = await engine.thread(ME, T)
        assert outcomes(thread) == {"c1": "Output", "c2": "ToolError"}
        check_history(thread)


async def test_a_tool_that_does_not_end_within_the_grace_is_indeterminate(tmp_path: Path) -> None:
    steps = [*ready(TWO, free=["c1", "c2"]), Execute(TWO[0], asyncio.Event()), Execute(TWO[1])]
    source = ListSource([steps])
    async with opened(source, tmp_path, stop_grace_seconds=0.05) as engine:
        running = await send(engine)
        await source.busy.wait()
        await engine.stop(ME, T)
        told = await events(running)
        assert isinstance(told[-1], Cancelled)
        results = {event.call_id for event in told if isinstance(event, ToolResult)}
        assert results == {"c1", "c2"}
        thread = await engine.thread(ME, T)
        assert outcomes(thread) == {"c1": "Indeterminate", "c2": "ToolError"}
        check_history(thread)


async def test_a_run_that_would_pause_after_a_stop_is_cancelled(tmp_path: Path) -> None:
    class Stubborn:
        """Takes its cancellation for a reason to ask at once."""

        async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
            try:
                yield TextDelta(message_id="a", delta="x")
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                pass
            for event in ask("c1"):
                yield event  # type: ignore[misc]  # ask() has events only

    async with opened(Stubborn(), tmp_path) as engine:
        running = await send(engine)
        assert running.segment is not None
        await anext(aiter(running.segment.read()))
        await engine.stop(ME, T)
        assert isinstance(await ended(running), Cancelled)
        assert (await engine.thread(ME, T)).open_calls == ()


async def test_a_source_that_will_not_end_is_left_to_itself_and_writes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signoff_server.engine.driver._UNWILLING_SECONDS", 0.05)
    let_go = asyncio.Event()
    errors: list[BaseException] = []

    class Unwilling:
        async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
            for event in ready(TWO, free=["c1", "c2"]):
                yield event  # type: ignore[misc]  # ready() has events only
            assert await request.ledger.begin(TWO[0]) is None
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue
            for late in (
                request.ledger.finish("c1", Output(value=1)),
                request.ledger.begin(TWO[1]),
            ):
                try:
                    await late
                except SignoffError as error:
                    errors.append(error)
            yield result("c1", Output(value=1))

    async with opened(Unwilling(), tmp_path, stop_grace_seconds=0) as engine:
        running = await send(engine)

        async def has_begun() -> bool:
            return (await audited(engine))[-1].event == "began"

        await until(has_begun)
        await engine.stop(ME, T)
        told = await events(running)
        assert isinstance(told[-1], Cancelled)
        let_go.set()

        async def has_tried() -> bool:
            return len(errors) == 2

        await until(has_tried)
        assert [type(error).__name__ for error in errors] == ["LostClaim", "Stopped"]
        assert await events(running) == told
        thread = await engine.thread(ME, T)
        assert outcomes(thread) == {"c1": "Indeterminate", "c2": "ToolError"}
        # The late end of the call is on record, and not in the history.
        assert "finished_late" in [row.event for row in await audited(engine)]


async def test_a_suspended_thread_cannot_be_stopped(tmp_path: Path) -> None:
    async with opened(asking("c1"), tmp_path) as engine:
        assert await engine.stop(ME, T) is False
        await ended(await send(engine))
        with pytest.raises(AwaitingDecision):
            await engine.stop(ME, T)
        assert isinstance(await ended(await answer(engine, {"c1": YES})), Completed)


async def test_a_running_thread_cannot_be_reset(tmp_path: Path) -> None:
    source = ListSource([[Wait(), *say("x")]])
    async with opened(source, tmp_path) as engine:
        running = await send(engine)
        with pytest.raises(RunInProgress) as refused:
            await engine.reset(ME, T)
        assert refused.value.retry_after_seconds == 1
        await engine.stop(ME, T)
        await ended(running)
        await engine.reset(ME, T)
        assert (await engine.thread(ME, T)).status == "new"


async def test_shutdown_ends_what_runs_and_the_threads_are_usable_afterwards(
    tmp_path: Path,
) -> None:
    source = ListSource([[Wait()], say("Done.")])
    async with opened(source, tmp_path) as engine:
        running = await send(engine)
        await source.busy.wait()
    assert await ended(running) == Failed(
        code="interrupted", message="The server stopped before the run had ended."
    )
    async with opened(source, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.failure) == (
            "failed",
            ("interrupted", "The server stopped before the run had ended."),
        )
        assert isinstance(await ended(await send(engine)), Completed)


async def test_shutdown_lets_a_call_that_began_finish_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signoff_server.engine.segments._CLOSE_GRACE_SECONDS", 0.2)
    takes = asyncio.Event()
    source = ListSource(
        [
            [*ready([call("c1")], free=["c1"]), Execute(call("c1"), takes), Wait()],
            [*ready([call("c2")], free=["c2"], message_id="b2"), Execute(call("c2"), Wait().until)],
        ]
    )
    async with opened(source, tmp_path, stop_grace_seconds=3600) as engine:
        first = await send(engine, thread="one")
        await source.busy.wait()
        source.busy.clear()
        second = await send(engine, thread="two")
        await source.busy.wait()
        # A stop with a long grace is under way; the shutdown does not wait for it.
        await engine.stop(ME, "two")
        closing = asyncio.create_task(engine.close())
        await asyncio.sleep(0.01)
        takes.set()
        await closing
    assert isinstance(await ended(first), Failed)
    assert isinstance(await ended(second), Cancelled)
    async with opened(source, tmp_path) as engine:
        assert outcomes(await engine.thread(ME, "one")) == {"c1": "Output"}
        assert outcomes(await engine.thread(ME, "two")) == {"c2": "Indeterminate"}


async def test_a_pause_reached_while_shutting_down_is_kept(tmp_path: Path) -> None:
    takes = asyncio.Event()
    again = ask("c2", message_id="b2")
    source = ListSource([[*ready([call("c1")], free=["c1"]), Execute(call("c1"), takes), *again]])
    async with opened(source, tmp_path) as engine:
        running = await send(engine)
        await source.busy.wait()
        closing = asyncio.create_task(engine.close())
        await asyncio.sleep(0)
        takes.set()
        await closing
    # Either it was interrupted before the pause, or the pause is there: never half of it.
    last = await ended(running)
    async with opened(source, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        assert thread.status == ("awaiting_approval" if isinstance(last, Suspended) else "failed")
        check_history(thread)


async def test_requests_at_and_after_the_shutdown_are_refused_and_leave_nothing_running(
    tmp_path: Path,
) -> None:
    source = ListSource([say("Done.", f"a{number}") for number in range(20)])
    engine = Engine(source, store=url(tmp_path))
    async with engine.lifespan():
        sent = [asyncio.create_task(send(engine, thread=str(number))) for number in range(20)]
        await asyncio.sleep(0.02)
    results = await asyncio.gather(*sent, return_exceptions=True)
    assert {type(item).__name__ for item in results} <= {"Attachment", "Unavailable"}
    with pytest.raises(Unavailable):
        await engine.thread(ME, T)
    with pytest.raises(Unavailable):
        await send(engine)
    async with opened(source, tmp_path) as engine:
        for number, item in enumerate(results):
            status = (await engine.thread(ME, str(number))).status
            assert status in ("completed", "failed") if hasattr(item, "thread") else "new"
