"""Bodies as a whole: what is no ``RunAgentInput``, what fuzzing finds, what real clients post."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import recorded
from oracles.recorded import Client
from signoff.ag_ui import AGUIAdapter
from signoff.commands import ClientContext, Connect, Decide, Refuse, SendMessage
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import InvalidBody
from signoff.thread import Thread
from support.cases import STORIES
from support.stories import NO, YES, play
from support.strategies import json_values

ASKED_ONE, ASKED_TWO = (
    next(play(STORIES[name])).after for name in ("approved", "one approved, one rejected")
)
NEW = Thread(thread_id="t1")
U1 = {"id": "u1", "role": "user", "content": "Delete"}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"threadId": "t1", "runId": "r1", "messages": list(messages), **more}


MALFORMED: dict[str, Any] = {
    "no object": [],
    "no thread": {"runId": "r1", "messages": []},
    "no run": {"threadId": "t1", "messages": []},
    "an empty thread": body() | {"threadId": ""},
    "a thread of another type": body() | {"threadId": 1},
    "a run of another type": body() | {"runId": None},
    "messages of another type": body() | {"messages": {}},
    "a message of another type": body("hello"),
    "a message without an id": body({"role": "user", "content": "x"}),
    "a message with an id of another type": body({**U1, "id": 1}),
    "two messages of one id": body(U1, U1),
    "a message without text": body({**U1, "content": ""}),
    "a message with nothing": body({"id": "u1", "role": "user"}),
    "a part of another type": body({**U1, "content": ["x"]}),
    "an unknown part": body({**U1, "content": [{"type": "hologram"}]}),
    "tools of another type": body(U1, tools={"name": "x"}),
    "a tool of another type": body(U1, tools=["x"]),
    "context of another type": body(U1, context="x"),
    "a version of another type": body(U1, protocolVersion=1),
    "resume of another type": body(U1, resume={"c1": "approve"}),
    "an entry of another type": body(U1, resume=["c1"]),
    "an entry without an id": body(U1, resume=[{"status": "resolved", "payload": "approve"}]),
    "an entry with an id of another type": body(U1, resume=[{"interruptId": 1}]),
}


@pytest.mark.req("R104")
@pytest.mark.parametrize("document", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("thread", [NEW, ASKED_ONE], ids=["new", "waiting"])
def test_malformed_bodies_are_refused_before_any_stream(document: Any, thread: Thread) -> None:
    if thread is ASKED_ONE:
        document = json.loads(json.dumps(document).replace('"u1"', '"u9"'))
    with pytest.raises(InvalidBody):
        AGUIAdapter.translate(document, thread)


@pytest.mark.parametrize("absent", ["tools", "context", "forwardedProps", "state", "resume"])
def test_null_is_absent(absent: str) -> None:
    command = AGUIAdapter.translate(body(U1, **{absent: None}), NEW)
    assert isinstance(command, SendMessage)
    assert command.client == ClientContext()


@given(json_values)
def test_every_body_is_read_or_refused(document: Any) -> None:
    try:
        command = AGUIAdapter.translate(document, ASKED_ONE)
    except InvalidBody:
        return
    assert isinstance(command, Connect)


@given(
    st.fixed_dictionaries(
        {"threadId": st.just("t1"), "runId": st.just("r1")},
        optional={
            "messages": st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "id": st.sampled_from(["u1", "u2", "c1", 7]),
                        "role": st.sampled_from(["user", "assistant", "tool", None]),
                        "content": json_values,
                        "toolCallId": st.sampled_from(["c1", "c2"]),
                    },
                ),
                max_size=3,
            ),
            "resume": st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "interruptId": st.sampled_from(["c1", "c2", ""]),
                        "status": st.sampled_from(["resolved", "cancelled", 1]),
                        "payload": json_values | st.just({"approved": True}),
                    },
                ),
                max_size=3,
            ),
            "forwardedProps": json_values,
        },
    )
)
def test_nothing_but_a_clear_yes_approves(document: dict[str, Any]) -> None:
    try:
        command = AGUIAdapter.translate(document, ASKED_TWO)
    except InvalidBody:
        return
    if isinstance(command, Decide):
        assert set(command.decisions) == {"c1", "c2"}
        for entry in document["resume"]:
            approved = isinstance(command.decisions[entry["interruptId"]], Approve)
            clear = entry["status"] == "resolved" and entry["payload"] == {"approved": True}
            assert approved == clear


# --- what real clients post --------------------------------------------------------------------

RECORDED: dict[str, type] = {
    "first_run": SendMessage,
    "second_run": SendMessage,
    "reload_empty_messages": Connect,
    "connect": Connect,
    "message_while_pending": SendMessage,
    "uncovered_resume": Refuse,
}
ANSWERS: dict[str, dict[str, Decision]] = {
    "approve": {"c1": YES},
    "approve_beside_message": {"c1": YES},
    "reject": {"c1": NO},
    "reject_with_reason": {"c1": Reject(reason="too risky")},
    "cancel": {"c1": NO},
    "two_interrupts": {"c1": YES, "c2": Reject(reason="not now")},
    "approve_after_reload": {"c1": YES},
    "approve_without_history": {"c1": YES},
    "approve_with_refused_message": {"c1": YES},
    "tool_bound_approve": {"c1": YES},
    "tool_bound_cancel": {"c1": NO},
}
CLIENTS: list[Client] = ["ag_ui_1.0.0", "ag_ui_0.0.59", "copilotkit_noted"]


def recorded_thread(case: str) -> Thread:
    if case in ("first_run", "second_run"):
        return NEW
    return ASKED_TWO if case in ("two_interrupts", "uncovered_resume") else ASKED_ONE


@pytest.mark.req("R103")
@pytest.mark.parametrize("client", CLIENTS)
def test_recorded_answers_reach_their_calls(client: Client) -> None:
    """CopilotKit reuses run ids; what is worked on follows from the thread alone."""
    cases = {case: one for case, one in recorded(client).items() if case in ANSWERS}
    assert len(cases) >= 6
    for case, one in cases.items():
        command = AGUIAdapter.translate(one.body, recorded_thread(case))
        assert isinstance(command, Decide)
        assert command.decisions == ANSWERS[case]
        beside = (
            ["u2"] if case in ("approve_beside_message", "approve_with_refused_message") else []
        )
        assert [message.id for message in command.messages] == beside


@pytest.mark.parametrize("client", CLIENTS)
def test_recorded_requests_are_understood(client: Client) -> None:
    cases = {case: one for case, one in recorded(client).items() if case in RECORDED}
    assert cases
    for case, one in cases.items():
        assert isinstance(AGUIAdapter.translate(one.body, recorded_thread(case)), RECORDED[case])
