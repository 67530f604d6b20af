"""Pages that are opened while something waits, runs, or has just ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from oracles import ChatState, Oracle
from oracles.options import Sdk as OracleSdk
from signoff.events import Completed, Failed
from signoff.outcomes import Rejected
from signoff.vercel_ai.wire import Sdk
from support.cases import ASKED_TWO, C3, LOOK
from support.stories import NO, YES, Segment, ended, free, gated, pause, ran, said
from support.vercel_server import HOLD, Live, telling

pytestmark = pytest.mark.oracle

NAMES: dict[Sdk, OracleSdk] = {7: "7", 6: "6"}
STORIES = {
    "hello": [Segment(says="hello", events=[*said("h1", "Hello."), Completed()])],
    "slow": [
        Segment(says="slow", events=[*said("s1", "Slow"), HOLD, *said("s1", "ly."), Completed()])
    ],
    "slow failure": [
        Segment(says="slow failure", events=[*said("s1", "Slow"), HOLD, Failed()]),
    ],
    "two": [
        ASKED_TWO,
        Segment(
            answers={"c1": YES, "c2": NO},
            events=[
                *ran("c1"),
                HOLD,
                ended("c2", Rejected()),
                *said("a2", "One more."),
                *free("a2", LOOK),
                *gated("a2", C3),
                pause("a2", C3),
            ],
        ),
        Segment(
            answers={"c3": YES},
            events=[*ran("f1", ["x"]), *ran("c3"), *said("a3", "All done."), Completed()],
        ),
    ],
}


@pytest.fixture(params=[7, 6], ids=["sdk 7", "sdk 6"])
def sdk(request: pytest.FixtureRequest) -> Sdk:
    chosen: Sdk = request.param
    return chosen


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def live(sdk: Sdk, store: Path) -> Iterator[Live]:
    with telling(STORIES, store, sdk=sdk) as live:
        yield live


def seen(state: ChatState) -> list[Any]:
    for part in state.tool_parts():
        part.pop("rawInput", None)
    return state.messages


def stream_status(live: Live, chat: str = "t") -> int:
    with httpx.stream("GET", f"{live.url}/vercel/chat/{chat}/stream") as reply:
        return reply.status_code


def options(sdk: Sdk, **more: Any) -> Any:
    return {"chat_id": "t", "sdk": NAMES[sdk], **more}


def reload(**more: Any) -> Any:
    return {"hydrate": True, "resume": True, **more}


@pytest.mark.req("R28", "R96")
def test_b41_b55_reload_at_every_point_of_two_pauses(oracle: Oracle, sdk: Sdk, store: Path) -> None:
    """Each page is a new one on a restarted server."""
    with (
        telling(STORIES, store, sdk=sdk) as live,
        oracle.vercel_open(live.url, **options(sdk)) as tab,
    ):
        asked = tab.send("two")
    with telling(STORIES, store, sdk=sdk) as live:
        assert stream_status(live) == 204
        with oracle.vercel_open(live.url, **options(sdk, **reload())) as tab:
            assert tab.state().messages == seen(asked)
            assert tab.state().posts == 0
            live.teller.go.set()
            tab.answer("c2", approved=False)
            second = tab.answer("c1", approved=True)
            assert second.posts == 1
    with telling(STORIES, store, sdk=sdk) as live:
        with oracle.vercel_open(live.url, **options(sdk, **reload())) as tab:
            assert tab.state().messages == seen(second)
            done = tab.answer("c3", approved=True)
    with telling(STORIES, store, sdk=sdk) as live:
        assert stream_status(live) == 204
        with oracle.vercel_open(live.url, **options(sdk, **reload())) as tab:
            state = tab.state()
    assert state.messages == seen(done)
    assert (state.posts, state.invalid, done.posts, done.invalid) == (0, None, 1, None)
    assert {message["id"] for message in state.messages} == {
        message["id"] for message in asked.messages
    }


def test_a_page_joins_the_first_turn_while_it_runs(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        tab.send("slow", wait=False)
        tab.wait({"text": "Slow"})
        with oracle.vercel_open(live.url, **options(sdk, **reload(wait=False))) as late:
            early = late.wait({"text": "Slow"})
            assert [one["role"] for one in early.messages][:1] == ["user"]
            live.teller.go.set()
            joined = late.wait()
        state = tab.wait()
    assert seen(joined) == seen(state)
    assert (joined.posts, joined.text()) == (0, "Slowly.")


@pytest.mark.req("R119")
def test_the_page_that_asked_leaves_and_the_run_goes_on(
    oracle: Oracle, live: Live, sdk: Sdk
) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        tab.send("slow", wait=False)
        tab.wait({"text": "Slow"})
        tab.stop()
    live.teller.go.set()
    with oracle.vercel_open(live.url, **options(sdk, **reload())) as late:
        state = late.state()
    assert (state.text(), state.posts, state.invalid) == ("Slowly.", 0, None)


def test_a_page_joins_a_continuation(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        tab.send("two")
        tab.answer("c1", approved=True)
        tab.answer("c2", approved=False, wait=False)
        tab.wait({"text": "output-available"})
        with oracle.vercel_open(live.url, **options(sdk, **reload(wait=False))) as late:
            late.wait({"text": "output-available"})
            live.teller.go.set()
            joined = late.wait()
            state = tab.wait()
            if sdk == 7:
                assert seen(joined) == seen(state)
            done = late.answer("c3", approved=True)
    assert (joined.posts, joined.looped) == (0, False)
    assert (done.posts, done.looped, done.text()) == (
        1,
        False,
        "I will delete.One more.All done.",
    )


@pytest.mark.parametrize("name", ["hello", "two", "slow failure"])
def test_for_a_while_after_its_end_a_segment_can_be_replayed(
    oracle: Oracle, live: Live, sdk: Sdk, name: str
) -> None:
    """The page read the messages while the run was on its way, and asks for the stream after it."""
    live.teller.go.set()
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        state = tab.send(name)
    user = state.messages[:1]
    with oracle.vercel_open(live.url, messages=user, **options(sdk, resume=True)) as late:
        replayed = late.state()
    assert seen(replayed) == seen(state)
    assert (replayed.posts, replayed.status) == (0, state.status)


def test_b48_replays_onto_what_is_shown_add_nothing(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        asked = tab.send("two")
        once = tab.resume()
        twice = tab.resume()
        assert seen(once) == seen(twice) == seen(asked)
        live.teller.go.set()
        tab.answer("c2", approved=False)
        state = tab.answer("c1", approved=True)
    assert (state.posts, state.looped) == (2, False)


def test_after_an_answer_the_pause_is_not_replayed(live: Live, oracle: Oracle, sdk: Sdk) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        tab.send("two")
        tab.answer("c1", approved=True)
        tab.act({"do": "continue"})
    assert stream_status(live) == 204


def test_a_lost_reply_is_restated(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    """The same message again, as a page does whose network failed."""
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        first = tab.send("hello", message_id="u1")
    with oracle.vercel_open(live.url, **options(sdk)) as again:
        state = again.send("hello", message_id="u1")
    assert seen(state) == seen(first)
    assert len(httpx.get(f"{live.url}/threads/t").json()["messages"]) == 2


def test_a_repeated_message_joins_its_run(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    with (
        oracle.vercel_open(live.url, **options(sdk)) as tab,
        oracle.vercel_open(live.url, **options(sdk)) as again,
    ):
        tab.send("slow", message_id="u1", wait=False)
        tab.wait({"text": "Slow"})
        again.send("slow", message_id="u1", wait=False)
        again.wait({"text": "Slow"})
        live.teller.go.set()
        assert seen(again.wait()) == seen(tab.wait())


def test_regenerate_and_edit_start_anew(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    live.teller.go.set()
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        first = tab.send("slow", message_id="u1")
        answered = first.messages[-1]["id"]
        anew = tab.regenerate()
        assert [one["role"] for one in anew.messages] == ["user", "assistant"]
        assert anew.messages[-1]["id"] != answered
        edited = tab.act({"do": "send", "text": "hello", "messageId": "u1"})
        with oracle.vercel_open(live.url, **options(sdk, hydrate=True)) as fresh:
            assert fresh.state().messages == seen(edited)
    assert edited.text() == "Hello."


def test_stop_ends_the_run_with_a_word(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    with oracle.vercel_open(live.url, **options(sdk)) as tab:
        tab.send("slow", wait=False)
        tab.wait({"text": "Slow"})
        assert httpx.post(f"{live.url}/vercel/chat/t/stop").json() == {"stopped": True}
        state = tab.wait()
        assert httpx.post(f"{live.url}/vercel/chat/t/stop").json() == {"stopped": False}
        with oracle.vercel_open(live.url, **options(sdk, hydrate=True)) as fresh:
            assert fresh.state().messages == seen(state)
        assert (state.posts, state.status, state.text()) == (1, "ready", "SlowStopped.")
        assert tab.send("hello").text() == "Hello."


@pytest.mark.parametrize("chat", ["a/b", "x/stream", "x/stop", "ü ?#%&+", "..%2f", "stream"])
def test_ids_may_hold_any_character(oracle: Oracle, live: Live, sdk: Sdk, chat: str) -> None:
    with oracle.vercel_open(live.url, chat_id=chat, sdk=NAMES[sdk]) as tab:
        asked = tab.send("two")
    again: Any = {"chat_id": chat, "sdk": NAMES[sdk], "hydrate": True, "resume": True}
    with oracle.vercel_open(live.url, **again) as tab:
        assert seen(tab.state()) == seen(asked)
        assert tab.cancel().posts == 0
