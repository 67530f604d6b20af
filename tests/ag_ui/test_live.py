"""The real clients over HTTP: every story, reloads, second tabs, late clicks. Each page ends true
and can be used on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from oracles import AgentState, AgentTab, Oracle
from oracles.options import AgentVersion
from oracles.sse import JsonObject
from signoff.decisions import Approve, Decision
from signoff.events import Completed, Failed
from signoff.outcomes import Rejected
from support.agui_pages import VERSIONS
from support.agui_server import telling
from support.cases import ASKED_ONE, ASKED_TWO, FINISHED, STORIES
from support.stories import YES, Segment, ended, ran, said
from support.vercel_server import HOLD, Live

pytestmark = pytest.mark.oracle

AFTER_BOTH = [*ran("c1"), ended("c2", Rejected(reason="not now")), *FINISHED]
LATE = {
    "one": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), *FINISHED])],
    "two": [ASKED_TWO, Segment(events=AFTER_BOTH)],
    "two, slowly": [ASKED_TWO, Segment(events=[*ran("c1"), HOLD, *AFTER_BOTH[2:]])],
    "fails": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), Failed()])],
    "bye": [Segment(says="bye", events=[*said("b1", "Bye."), Completed()])],
    "hello": [Segment(says="hello", events=[*said("h1", "Hello."), Completed()])],
}
APPROVED, DENIED = {"approved": True}, {"approved": False, "reason": "not now"}
BOTH = {"c1": APPROVED, "c2": DENIED}

each_version = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with telling(STORIES, tmp_path_factory.mktemp("ag_ui") / "store.db") as live:
        yield live


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with telling(LATE, tmp_path / "store.db") as live:
        yield live


def tab_of(oracle: Oracle, live: Live, version: AgentVersion, thread: str = "t") -> AgentTab:
    return oracle.agui_open(f"{live.url}/ag-ui", thread_id=thread, version=version)


def stored(live: Live, thread: str = "t") -> dict[str, Any]:
    view: dict[str, Any] = httpx.get(f"{live.url}/ag-ui/threads/{thread}").json()
    return view


def without_errors(messages: list[JsonObject]) -> list[JsonObject]:
    """`error` of a result stands in snapshots only, and activities on the page that saw them."""
    return [
        {key: value for key, value in message.items() if key != "error"}
        for message in messages
        if message["role"] != "activity"
    ]


def payload(decision: Decision) -> JsonObject:
    approved = isinstance(decision, Approve)
    reason = decision.note if isinstance(decision, Approve) else decision.reason
    return {"approved": approved} | ({} if reason is None else {"reason": reason})


def entries(answers: Mapping[str, Any]) -> list[JsonObject]:
    return [
        {"interruptId": call_id, "status": "resolved", "payload": given}
        for call_id, given in answers.items()
    ]


def usable(tab: AgentTab, live: Live, expected: str = "success") -> None:
    """The page ends like the thread, and nothing is in the way of its next message."""
    state = tab.state()
    view = stored(live)
    assert (state.error, state.failure, state.warnings) == (None, None, [])
    assert without_errors(state.messages) == without_errors(view["messages"])
    assert state.pending_ids() == [one["id"] for one in view["interrupts"]]
    assert state.finishes[-1].outcome == expected


def refusals(state: AgentState) -> list[str]:
    return [one["value"]["code"] for one in state.customs if one["name"] == "signoff.refused"]


@pytest.mark.req("R90", "R91", "R96")
@each_version
@pytest.mark.parametrize("name", [name for name in STORIES if name != "two turns"])
def test_every_story_ends_as_it_is_stored(
    oracle: Oracle, stories: Live, version: AgentVersion, name: str
) -> None:
    thread = f"{name} {version}"
    with tab_of(oracle, stories, version, thread) as tab:
        state = tab.send(name, message_id="u1")
        for segment in STORIES[name][1:]:
            state = tab.answer({one: payload(given) for one, given in segment.answers.items()})
        view = stored(stories, thread.replace("/", "%2F"))
        assert (state.error, state.failure, state.warnings) == (None, None, [])
        assert without_errors(state.messages) == without_errors(view["messages"])
        assert len(state.posted()) == len(STORIES[name])
    with tab_of(oracle, stories, version, thread) as reloaded:
        assert reloaded.connect().messages == view["messages"]


@pytest.mark.req("R98", "R103")
@each_version
@pytest.mark.parametrize("way", ["connect", "run"])
def test_b37_a_reloaded_page_can_answer(
    oracle: Oracle, live: Live, version: AgentVersion, way: str
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("two")
    with tab_of(oracle, live, version) as tab:
        state = tab.connect() if way == "connect" else tab.run()
        assert state.pending_ids() == ["c1", "c2"]
        state = tab.answer(BOTH)
        usable(tab, live)
    assert live.teller.executed == ["c1"]


@each_version
def test_b38_a_page_that_connects_twice_has_the_interrupts_once(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("one")
    with tab_of(oracle, live, version) as tab:
        tab.run()
        assert tab.run(resume=[]).error is not None  # the client itself knows that one waits
        tab.set(pending=[])
        assert tab.run().pending_ids() == ["c1"]


@pytest.mark.req("R108", "R122")
@each_version
def test_b107_a_second_tab_that_answers_late_is_put_right(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as one, tab_of(oracle, live, version) as two:
        one.send("two")
        two.connect()
        one.answer(BOTH)
        state = two.answer({"c1": DENIED, "c2": APPROVED})
        assert refusals(state) == ["already_decided"]
        usable(two, live)
        assert two.send("hello").messages[-1]["content"] == "Hello."
        assert refusals(two.state()) == []
    assert live.teller.executed == ["c1"]


@each_version
def test_b91_the_same_answers_twice_run_once(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as one, tab_of(oracle, live, version) as two:
        one.send("two")
        two.connect()
        one.answer(BOTH)
        state = two.answer(BOTH)
        assert refusals(state) == []
        usable(two, live)
    assert live.teller.executed == ["c1"]


@each_version
def test_a_late_answer_while_the_run_goes_on_follows_it_to_its_end(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as one, tab_of(oracle, live, version) as two:
        one.send("two, slowly")
        two.connect()
        one.answer(BOTH, wait=False)
        one.wait({"event": "TOOL_CALL_RESULT"})
        two.answer({"c1": DENIED, "c2": DENIED}, wait=False)
        two.wait({"event": "TOOL_CALL_RESULT"})
        with tab_of(oracle, live, version) as three:
            three.connect(wait=False)
            three.wait({"event": "TOOL_CALL_RESULT"})
            live.teller.go.set()
            for tab in (one, two, three):
                tab.wait("idle")
                usable(tab, live)
            assert refusals(two.state()) == ["already_decided"]
    assert live.teller.executed == ["c1"]


@each_version
def test_answers_from_elsewhere_reach_a_page_that_waits(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("two")
        url = f"{live.url}/threads/t/chat"
        first = httpx.post(url, json={"decisions": {"c1": "approve"}})
        assert first.status_code == 200
        refused = tab.answer({"c1": APPROVED, "c2": DENIED})
        assert refusals(refused) == []
        usable(tab, live)
    assert live.teller.executed == ["c1"]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "uncovered": ({"c1": APPROVED}, "incomplete_resume"),
    "an unknown id": ({**BOTH, "c9": APPROVED}, "unknown_call"),
    "no clear word": ({"c1": {"choice": 2}, "c2": DENIED}, "invalid_decision"),
    "edited": ({"c1": {**APPROVED, "editedArgs": {"path": "/"}}, "c2": DENIED}, "invalid_decision"),
}


@pytest.mark.req("R104", "R108")
@each_version
@pytest.mark.parametrize(("answers", "code"), BAD.values(), ids=BAD.keys())
def test_b21_a_refused_answer_leaves_the_page_able_to_answer(
    oracle: Oracle, live: Live, version: AgentVersion, answers: dict[str, Any], code: str
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("two")
        tab.set(pending=[])  # what a page does that lost its memory: nothing is checked
        state = tab.run(resume=entries(answers))
        assert refusals(state) == [code]
        usable(tab, live, "interrupt")
        assert live.teller.executed == []
        tab.answer(BOTH)
        usable(tab, live)
    assert live.teller.executed == ["c1"]


@each_version
def test_a_message_while_a_call_waits_asks_again(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("one")
        assert tab.send("hello").error is not None  # refused by the client, and kept by it
        tab.set(pending=[])
        state = tab.run()
        assert refusals(state) == ["awaiting_decision"]
        usable(tab, live, "interrupt")
        assert [one["role"] for one in tab.state().messages] == ["user", "assistant"]
        tab.answer({"c1": APPROVED})
        usable(tab, live)


@each_version
def test_a_message_that_the_client_kept_is_read_after_the_answers(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("one")
        assert tab.send("And its size?", message_id="u2").error is not None
        tab.answer({"c1": APPROVED})
        usable(tab, live)
        ids = [one["id"] for one in tab.state().messages]
        assert ids[ids.index("result_c1") + 1] == "u2"


@each_version
def test_a_tab_that_missed_a_turn_ends_in_order(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as one, tab_of(oracle, live, version) as two:
        one.send("hello", message_id="m1")
        two.connect()
        one.send("one", message_id="m2")
        one.answer({"c1": APPROVED})
        two.send("bye", message_id="m3")
        usable(two, live)


@each_version
def test_a_page_that_left_finds_its_run_again(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        tab.send("two, slowly")
        tab.answer(BOTH, wait=False)
        tab.wait({"event": "TOOL_CALL_RESULT"})
    with tab_of(oracle, live, version) as tab:
        tab.connect(wait=False)
        tab.wait({"event": "TOOL_CALL_RESULT"})
        live.teller.go.set()
        tab.wait("idle")
        usable(tab, live)
    assert live.teller.executed == ["c1"]


@each_version
def test_an_empty_thread_is_an_empty_success(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    with tab_of(oracle, live, version) as tab:
        state = tab.connect()
        assert (state.messages, state.pending_interrupts, state.error) == ([], [], None)
        assert state.finishes[-1].outcome == "success"


@each_version
def test_a_failed_continuation_is_cleared_by_answering_again(
    oracle: Oracle, live: Live, version: AgentVersion
) -> None:
    """A RUN_ERROR leaves what the client had pending; a repeated answer says how things stand."""
    with tab_of(oracle, live, version) as tab:
        tab.send("fails")
        state = tab.answer({"c1": APPROVED})
        assert [one["code"] for one in state.run_errors] == ["run_failed"]
        state = tab.answer({"c1": APPROVED})
        assert (state.pending_ids(), state.run_errors) == ([], [])
        usable(tab, live)
        assert tab.send("hello").messages[-1]["content"] == "Hello."
