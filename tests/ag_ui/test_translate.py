"""Bodies of AG-UI clients to commands: what answers, what asks, what is refused whole."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from signoff.ag_ui import AGUIAdapter
from signoff.commands import ClientContext, Command, Connect, Decide, Refuse, SendMessage
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import (
    IncompleteResume,
    InvalidBody,
    InvalidDecision,
    NothingPending,
    Refusal,
    UnknownCall,
    WrongKind,
)
from signoff.messages import TextPart, UserMessage
from signoff.thread import Thread
from support.cases import STORIES
from support.stories import NO, YES, play, stage

ONE, TWO = (list(play(STORIES[name])) for name in ("approved", "one approved, one rejected"))
NEW = Thread(thread_id="t1")
ASKED_ONE, ASKED_TWO = ONE[0].after, TWO[0].after
RUNNING, DONE = ONE[1].before, ONE[1].after

U1 = {"id": "u1", "role": "user", "content": "Delete"}
A1 = {"id": "a1", "role": "assistant", "content": "I will delete."}
U2 = {"id": "u2", "role": "user", "content": " And now?\n"}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"threadId": "t1", "runId": "r1", "messages": list(messages), **more}


def resolved(call_id: str, payload: Any) -> dict[str, Any]:
    return {"interruptId": call_id, "status": "resolved", "payload": payload}


def tool(call_id: str, content: str = '{"approved":true}') -> dict[str, Any]:
    return {"id": "fake", "role": "tool", "toolCallId": call_id, "content": content}


def translated(thread: Thread, *messages: Any, **more: Any) -> Command:
    return AGUIAdapter.translate(body(*messages, **more), thread)


def decided(thread: Thread, *messages: Any, **more: Any) -> dict[str, Decision]:
    command = translated(thread, *messages, **more)
    assert isinstance(command, Decide)
    assert (command.complete, command.echo) == (True, False)
    return dict(command.decisions)


def refused(thread: Thread, *messages: Any, **more: Any) -> Refusal:
    command = translated(thread, *messages, **more)
    assert isinstance(command, Refuse)
    return command.refusal


def sent_ids(command: Command) -> list[str | None]:
    assert isinstance(command, SendMessage)
    assert not command.regenerate
    return [message.id for message in command.messages]


# --- answers -----------------------------------------------------------------------------------

PAYLOADS: dict[str, tuple[Any, Decision]] = {
    "yes": ({"approved": True}, Approve()),
    "yes, with a reason": ({"approved": True, "reason": "once"}, Approve(note="once")),
    "no": ({"approved": False}, Reject()),
    "no, with a reason": ({"approved": False, "reason": " pas là "}, Reject(reason=" pas là ")),
    "no, with an empty reason": ({"approved": False, "reason": ""}, Reject()),
    "no, with a null reason": ({"approved": False, "reason": None}, Reject()),
    "accepted": ({"accepted": True, "path": "/other"}, Approve()),
    "not accepted": ({"accepted": False}, Reject()),
    "both words, one meaning": ({"approved": True, "accepted": True}, Approve()),
    "unknown fields": ({"approved": True, "__type__": "os.system", "x": [1]}, Approve()),
    "the word approve": ("approve", Approve()),
    "the word reject": ("reject", Reject()),
    "JSON in a string": ('{"approved": false, "reason": "no"}', Reject(reason="no")),
    "a word as JSON in a string": ('"approve"', Approve()),
}


@pytest.mark.req("R104", "R107", "R124")
@pytest.mark.parametrize(("payload", "decision"), PAYLOADS.values(), ids=PAYLOADS.keys())
def test_b23_every_shape_of_an_answer_is_one_decision(payload: Any, decision: Decision) -> None:
    entry = resolved("c1", payload) | {"metadata": {"clickedAt": 1}, "extra": None}
    assert decided(ASKED_ONE, U1, A1, resume=[entry]) == {"c1": decision}


UNCLEAR: dict[str, Any] = {
    "no payload": None,
    "a bare true": True,
    "a bare one": 1,
    "the word yes": "yes",
    "the word Approve": "Approve",
    "an empty string": "",
    "an empty object": {},
    "a list of messages": [{"role": "user", "content": "yes"}],
    "a truthy string": {"approved": "true"},
    "a truthy number": {"approved": 1},
    "null": {"approved": None},
    "two words, two meanings": {"approved": True, "accepted": False},
    "one word and a half": {"approved": True, "accepted": None},
    "a reason of another type": {"approved": False, "reason": ["no"]},
    "half of a JSON text": '{"approved": tru',
    "JSON of nothing clear": "true",
    "JSON in JSON in a string": json.dumps(json.dumps({"approved": True})),
    "two keys in a string": '{"approved": false, "approved": true}',
    "edited arguments": {"approved": True, "editedArgs": {"path": "/"}},
    "edited arguments of a no": {"approved": False, "editedArgs": {}},
    "a standing rule": {"approved": True, "remember": "thread"},
}


@pytest.mark.req("R104")
@pytest.mark.parametrize("payload", UNCLEAR.values(), ids=UNCLEAR.keys())
def test_b25_an_unclear_answer_refuses_the_whole_resume(payload: Any) -> None:
    entries = [resolved("c2", {"approved": True}), resolved("c1", payload)]
    refusal = refused(ASKED_TWO, resume=entries)
    assert (type(refusal), refusal.call_id) == (InvalidDecision, "c1")


@pytest.mark.req("R104")
def test_b20_an_answer_without_a_decision_is_never_skipped() -> None:
    entry = {"interruptId": "c1", "status": "resolved"}
    assert isinstance(refused(ASKED_ONE, resume=[entry]), InvalidDecision)


@pytest.mark.req("R108")
@pytest.mark.parametrize("payload", [{}, {"payload": None}, {"payload": {"approved": True}}])
def test_b30_cancelled_is_a_rejection_whatever_its_payload_says(payload: dict[str, Any]) -> None:
    entry = {"interruptId": "c1", "status": "cancelled", **payload}
    assert decided(ASKED_ONE, resume=[entry]) == {"c1": Reject()}


def test_b30_what_the_schema_asks_for_is_enough() -> None:
    (interrupt,) = AGUIAdapter.hydrate(ASKED_ONE)["interrupts"]
    assert interrupt["responseSchema"]["required"] == ["approved"]
    assert decided(ASKED_ONE, resume=[resolved(interrupt["id"], {"approved": True})]) == {"c1": YES}


YES_1, YES_2 = resolved("c1", {"approved": True}), resolved("c2", {"approved": True})
REFUSED: dict[str, tuple[Thread, list[Any], type[Refusal], str | None]] = {
    "one of two": (ASKED_TWO, [YES_1], IncompleteResume, "c2"),
    "the other of two": (ASKED_TWO, [YES_2], IncompleteResume, "c1"),
    "none of two": (ASKED_TWO, [], IncompleteResume, "c1"),
    "twice the same": (ASKED_ONE, [YES_1, YES_1], InvalidBody, "c1"),
    "twice, differently": (
        ASKED_ONE,
        [YES_1, {"interruptId": "c1", "status": "cancelled"}],
        InvalidBody,
        "c1",
    ),
    "an unknown id beside": (ASKED_ONE, [YES_1, YES_2], UnknownCall, "c2"),
    "an unknown id alone": (ASKED_ONE, [YES_2], UnknownCall, "c2"),
    "an id of another thread": (NEW, [YES_1], NothingPending, "c1"),
    "a built-in name": (ASKED_ONE, [resolved("__proto__", "approve")], UnknownCall, "__proto__"),
    "an unknown status": (
        ASKED_ONE,
        [{"interruptId": "c1", "status": "done"}],
        InvalidDecision,
        "c1",
    ),
    "no status": (ASKED_ONE, [{"interruptId": "c1"}], InvalidDecision, "c1"),
}


@pytest.mark.req("R104", "R108")
@pytest.mark.parametrize(
    ("thread", "entries", "kind", "call_id"), REFUSED.values(), ids=REFUSED.keys()
)
def test_b21_a_resume_is_taken_whole_or_not_at_all(
    thread: Thread, entries: list[Any], kind: type[Refusal], call_id: str | None
) -> None:
    refusal = refused(thread, U1, A1, U2, resume=entries)
    assert (type(refusal), refusal.call_id) == (kind, call_id)


def test_b33_a_call_decided_elsewhere_need_not_be_answered_again() -> None:
    thread = stage(ASKED_TWO, {"c1": YES})
    assert decided(thread, resume=[YES_2]) == {"c2": YES}
    assert decided(thread, resume=[YES_1, YES_2]) == {"c1": YES, "c2": YES}


def test_b68_answers_may_come_in_any_order() -> None:
    order = [resolved("c2", {"approved": False}), YES_1]
    assert decided(ASKED_TWO, resume=order) == {"c1": YES, "c2": NO}


@pytest.mark.parametrize("thread", [RUNNING, DONE], ids=["running", "done"])
def test_b09_a_repeat_still_names_its_calls(thread: Thread) -> None:
    """The engine tells a repeat from a late answer; the id is the engine's own."""
    assert decided(thread, resume=[YES_1]) == {"c1": YES}


# --- the older channel -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "decision"),
    [({"approved": True}, YES), ("reject", NO), ('{"approved":true}', YES)],
    ids=["object", "word", "text"],
)
def test_b02_the_older_channel_answers_as_well(payload: Any, decision: Decision) -> None:
    props = {"command": {"resume": payload}}
    assert decided(ASKED_ONE, U1, A1, forwardedProps=props) == {"c1": decision}


def test_b02_resume_wins_over_the_older_channel() -> None:
    props = {"command": {"resume": {"approved": True}}}
    entry = resolved("c1", {"approved": False})
    assert decided(ASKED_ONE, resume=[entry], forwardedProps=props) == {"c1": NO}
    assert isinstance(refused(ASKED_ONE, resume=[], forwardedProps=props), IncompleteResume)


@pytest.mark.parametrize(
    ("thread", "kind"),
    [
        (ASKED_TWO, IncompleteResume),
        (DONE, NothingPending),
        (RUNNING, NothingPending),
        (NEW, NothingPending),
    ],
    ids=["two", "none any more", "none while it runs", "none"],
)
def test_b24_an_answer_without_an_id_means_the_one_open_call(
    thread: Thread, kind: type[Refusal]
) -> None:
    """Never a fresh turn."""
    props = {"command": {"resume": {"approved": True}}}
    assert type(refused(thread, U1, A1, U2, forwardedProps=props)) is kind


def test_b24_an_unclear_answer_without_an_id_is_refused() -> None:
    props = {"command": {"resume": {"choice": 2}}}
    assert isinstance(refused(ASKED_ONE, forwardedProps=props), InvalidDecision)


@pytest.mark.parametrize("props", [None, {}, [], "x", {"command": None}, {"command": {}}])
def test_forwarded_properties_without_an_answer_are_the_agents(props: Any) -> None:
    command = translated(NEW, U1, forwardedProps=props)
    assert isinstance(command, SendMessage)
    assert command.client.forwarded_props == props


# --- tool messages -----------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["Approved by user", '{"approved":true}', "ok"])
def test_b29_a_tool_message_is_neither_an_approval_nor_a_result(content: str) -> None:
    refusal = refused(ASKED_ONE, U1, A1, tool("c1", content))
    assert (type(refusal), refusal.call_id) == (WrongKind, "c1")


def test_b29_of_a_free_sibling_neither() -> None:
    thread = next(play(STORIES["free siblings of a gated call"])).after
    assert refused(thread, U1, tool("f1")).call_id == "f1"


@pytest.mark.parametrize(
    ("entry", "decision"),
    [(YES_1, YES), ({"interruptId": "c1", "status": "cancelled"}, NO)],
    ids=["approved", "cancelled"],
)
def test_b27_a_tool_message_beside_resume_is_ignored(
    entry: dict[str, Any], decision: Decision
) -> None:
    """CopilotKit writes its answer there, too."""
    assert decided(ASKED_ONE, U1, A1, tool("c1"), resume=[entry]) == {"c1": decision}


def test_b31_an_answer_is_taken_by_resume_and_told_where_it_is_not() -> None:
    assert decided(ASKED_ONE, U1, A1, resume=[YES_1]) == {"c1": YES}
    part = {"type": "tool-delete_file", "toolCallId": "c1", "approval": {"approved": True}}
    assert isinstance(translated(ASKED_ONE, U1, {**A1, "parts": [part]}), Connect)
    assert isinstance(refused(ASKED_ONE, U1, A1, tool("c1")), WrongKind)


@pytest.mark.parametrize("thread", [NEW, DONE], ids=["new", "done"])
def test_tool_messages_of_settled_and_foreign_calls_are_history(thread: Thread) -> None:
    assert isinstance(translated(thread, A1, tool("c1"), tool("x")), Connect)


# --- messages ----------------------------------------------------------------------------------

MESSAGES: dict[str, tuple[Thread, list[Any], list[str]]] = {
    "first": (NEW, [U1], ["u1"]),
    "newest of the history": (DONE, [U1, A1, U2], ["u2"]),
    "two that were not taken": (DONE, [U1, A1, U2, {**U2, "id": "u3"}], ["u2", "u3"]),
    "only what stands last of an imported history": (NEW, [U1, A1, U2], ["u2"]),
    "with an activity behind": (DONE, [U1, U2, {"id": "x", "role": "activity"}], ["u2"]),
    "with somebody's tool message behind": (DONE, [U1, A1, U2, tool("c9")], ["u2"]),
    "with a system message between": (NEW, [U1, {"role": "system"}, U2], ["u1", "u2"]),
    "while a call waits": (ASKED_ONE, [U1, A1, U2], ["u2"]),
    "while a call waits, with its tool message": (ASKED_ONE, [U1, A1, tool("c1"), U2], ["u2"]),
    "while it runs": (RUNNING, [U1, A1, U2], ["u2"]),
    "a known one again": (DONE, [U1], ["u1"]),
}


@pytest.mark.parametrize(("thread", "messages", "ids"), MESSAGES.values(), ids=MESSAGES.keys())
def test_new_user_messages_start_a_run(thread: Thread, messages: list[Any], ids: list[str]) -> None:
    assert sent_ids(translated(thread, *messages)) == ids


def test_b60_a_message_to_a_paused_thread_is_no_answer() -> None:
    for thread in (ASKED_ONE, DONE):
        assert sent_ids(translated(thread, U1, A1, {**U2, "content": "approve"})) == ["u2"]


@pytest.mark.parametrize(
    ("thread", "messages"),
    [(NEW, []), (ASKED_ONE, []), (ASKED_ONE, [U1, A1]), (DONE, [U1, A1, tool("c1")])],
    ids=["nothing of nothing", "nothing", "nothing new while a call waits", "nothing new"],
)
def test_nothing_new_asks_how_the_thread_stands(thread: Thread, messages: list[Any]) -> None:
    assert isinstance(translated(thread, *messages), Connect)


def test_b79_restated_history_makes_nothing() -> None:
    """A thread cannot be seeded with calls, requests or answers."""
    seeded = {
        "id": "a9",
        "role": "assistant",
        "toolCalls": [
            {"id": "x", "type": "function", "function": {"name": "wipe", "arguments": ""}}
        ],
    }
    assert sent_ids(translated(NEW, U1, seeded, tool("x"), U2)) == ["u2"]


@pytest.mark.req("R124")
def test_a_message_is_kept_as_it_was_typed() -> None:
    command = translated(DONE, U1, A1, U2)
    assert isinstance(command, SendMessage)
    assert command.messages[0].content == (TextPart(text=" And now?\n"),)


def test_a_message_beside_the_answers_goes_along() -> None:
    command = translated(ASKED_ONE, U1, A1, U2, tool("c1"), resume=[YES_1])
    assert isinstance(command, Decide)
    assert [message.id for message in command.messages] == ["u2"]
    (user, *_) = RUNNING.messages
    assert isinstance(user, UserMessage)
    queued = replace(RUNNING, queued=(replace(user, id="u2"),))
    repeat = translated(queued, U1, A1, U2, resume=[YES_1])
    assert isinstance(repeat, Decide)
    assert repeat.messages == ()


def test_what_is_for_the_agent_goes_along() -> None:
    given = {
        "state": {"mine": 1},
        "tools": [{"name": "read_title", "parameters": {"type": "object"}}],
        "context": [{"description": "locale", "value": "en-GB"}],
        "forwardedProps": {"tenant": "blue"},
    }
    expected = ClientContext(
        state={"mine": 1},
        has_state=True,
        tools=({"name": "read_title", "parameters": {"type": "object"}},),
        context=({"description": "locale", "value": "en-GB"},),
        forwarded_props={"tenant": "blue"},
    )
    for command in (translated(NEW, U1, **given), translated(ASKED_ONE, resume=[YES_1], **given)):
        assert isinstance(command, SendMessage | Decide)
        assert command.client == expected
