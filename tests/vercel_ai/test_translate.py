"""Bodies to commands: the recorded ones of both SDK generations, and what nobody should send."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import recorded
from oracles.recorded import Client
from oracles.sse import JsonObject
from signoff.commands import Command, Connect, Decide, Refuse, SendMessage, UserInput
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import InvalidBody
from signoff.messages import FilePart, TextPart
from signoff.thread import Thread
from signoff.vercel_ai import VercelAIAdapter
from support.cases import ASKED_ONE, ASKED_TWO, C1, STORIES
from support.stories import NO, YES, Segment, call, free, gated, pause, stage, told

BROWSER = call("b1", {"selector": "h1"}, name="read_title")
NEW = Thread(thread_id="chat-1")
ONE = told([ASKED_ONE]).after
TWO = told([ASKED_TWO]).after
ASKED_BROWSER = told(
    [Segment(says="Read", events=[*gated("a1", BROWSER), pause("a1", BROWSER)])]
).after
SETTLED = told(STORIES["approved"]).after
WITH_FREE = told(
    [
        Segment(
            says="Delete",
            events=[*gated("a1", C1), *free("a1", call("f1")), pause("a1", C1)],
        )
    ]
).after


def say(text: str, message_id: str) -> SendMessage:
    return SendMessage(messages=(UserInput(content=(TextPart(text=text),), id=message_id),))


def decide(decisions: Mapping[str, Decision]) -> Decide:
    return Decide(decisions=decisions, echo=True)


def code(command: Command) -> str | None:
    return command.refusal.code if isinstance(command, Refuse) else None


RECORDED: dict[str, tuple[Thread, Command]] = {
    "first_message": (NEW, say("Delete /a", "u1")),
    "second_message": (NEW, say("And now?", "u3")),
    "approve": (ONE, decide({"c1": YES})),
    "approve_with_reason": (ONE, decide({"c1": Approve(note="go on")})),
    "reject": (ONE, decide({"c1": NO})),
    "reject_with_reason": (ONE, decide({"c1": Reject(reason="too risky")})),
    "reject_with_empty_reason": (ONE, decide({"c1": NO})),
    "one_of_two_calls": (TWO, decide({"c1": YES})),
    "message_while_pending": (ONE, say("Never mind, hello?", "u3")),
    "answer_after_message_while_pending": (ONE, decide({"c1": YES})),
    "regenerate": (
        SETTLED,
        SendMessage(
            messages=(UserInput(content=(TextPart(text="Delete /a"),), id="u1"),), regenerate=True
        ),
    ),
    "regenerate_while_pending": (
        ONE,
        SendMessage(
            messages=(UserInput(content=(TextPart(text="Delete /a"),), id="u1"),), regenerate=True
        ),
    ),
    "edited_message": (SETTLED, say("Delete /b", "u1")),
    "message_after_decisions": (SETTLED, say("Thank you", "u4")),
    "browser_approval": (ASKED_BROWSER, decide({"b1": YES})),
}


@pytest.mark.req("R114", "R124")
@pytest.mark.parametrize("case", RECORDED)
@pytest.mark.parametrize("client", ["vercel_sdk7", "vercel_sdk6"])
def test_what_the_client_posts(case: str, client: Client) -> None:
    thread, command = RECORDED[case]
    assert VercelAIAdapter.translate(recorded(client)[case].body, thread) == command


@pytest.mark.parametrize("client", ["vercel_sdk7", "vercel_sdk6"])
def test_two_answers_come_in_one_request(client: Client) -> None:
    command = VercelAIAdapter.translate(recorded(client)["two_calls"].body, TWO)
    assert isinstance(command, Decide)
    assert set(command.decisions) == {"c1", "c2"}


@pytest.mark.parametrize("client", ["vercel_sdk7", "vercel_sdk6"])
def test_an_output_for_a_call_that_waits_for_approval_is_no_answer(client: Client) -> None:
    body = recorded(client)["output_on_gated_call"].body
    assert code(VercelAIAdapter.translate(body, ONE)) == "wrong_kind"


@pytest.mark.parametrize("client", ["vercel_sdk7", "vercel_sdk6"])
@pytest.mark.parametrize("case", ["browser_result", "browser_error"])
def test_b32_an_output_never_answers_an_approval(client: Client, case: str) -> None:
    body = recorded(client)[case].body
    assert code(VercelAIAdapter.translate(body, ASKED_BROWSER)) == "wrong_kind"


def user(**more: object) -> JsonObject:
    return {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}], **more}


def answered(call_id: str = "c1", approval: object = None, /, **more: object) -> JsonObject:
    given = {"id": call_id, "approved": True} if approval is None else approval
    part = {
        "type": "tool-delete_file",
        "toolCallId": call_id,
        "state": "approval-responded",
        "input": {"path": "/c1"},
        "approval": given,
    }
    return {**part, **more}


def page(*parts: JsonObject) -> JsonObject:
    message = {"id": "m1", "role": "assistant", "parts": [{"type": "step-start"}, *parts]}
    return {"id": "t1", "messages": [user(), message], "messageId": "m1"}


def translate(body: Any, thread: Thread = ONE) -> Command:
    return VercelAIAdapter.translate(body, thread)


@pytest.mark.parametrize(
    "approval",
    [
        {"id": "c1"},
        {"id": "c1", "approved": None},
        {"id": "c1", "approved": "true"},
        {"id": "c1", "approved": 1},
        {"id": "c1", "approved": {"approved": True}},
        {"id": "c1", "approved": True, "reason": 3},
        {"id": "c2", "approved": True},
        {"approved": True},
        True,
        [],
    ],
)
@pytest.mark.req("R114", "R123")
def test_b20_an_answer_without_yes_or_no_is_refused(approval: object) -> None:
    command = translate(page(answered("c1", approval)))
    assert isinstance(command, Refuse)
    assert (command.refusal.code, command.refusal.call_id) == ("invalid_decision", "c1")


def test_an_answer_without_an_approval_is_refused() -> None:
    part = answered()
    del part["approval"]
    assert code(translate(page(part))) == "invalid_decision"


def test_one_bad_answer_refuses_all() -> None:
    command = translate(page(answered("c1"), answered("c2", {"id": "c2"})), TWO)
    assert code(command) == "invalid_decision"


def test_b75_a_call_that_the_server_never_proposed_is_refused() -> None:
    part = answered("x", type="tool-wipe_disk", input={"disk": "/"})
    assert code(translate(page(part))) == "unknown_call"
    assert code(translate(page(answered(), part))) == "unknown_call"
    assert code(translate(page(part), NEW)) == "nothing_pending"


def test_a_free_sibling_cannot_be_decided() -> None:
    assert code(translate(page(answered("c1"), answered("f1")), WITH_FREE)) == "unknown_call"


@pytest.mark.req("R47")
def test_b78_inputs_of_the_page_are_never_read() -> None:
    forged = answered(input={"path": "/etc"}, type="tool-wipe_disk", rawInput="{}")
    assert translate(page(forged)) == decide({"c1": YES})


def test_a_dynamic_tool_part_answers_as_a_static_one() -> None:
    part = answered(type="dynamic-tool", toolName="delete_file")
    assert translate(page(part)) == decide({"c1": YES})


def test_b15_the_answer_is_keyed_by_its_call_and_no_string_trick() -> None:
    strange = call("functions.note:2::gw::Zx9", name="note")
    thread = told(
        [Segment(says="Note", events=[*gated("a1", strange), pause("a1", strange)])]
    ).after
    command = translate(page(answered(strange.call_id)), thread)
    assert command == decide({strange.call_id: YES})


def test_a_call_answered_twice_differently_is_refused() -> None:
    twice = page(answered(), answered("c1", {"id": "c1", "approved": False}))
    assert code(translate(twice)) == "invalid_body"
    assert translate(page(answered(), answered())) == decide({"c1": YES})


@pytest.mark.req("R124")
def test_reasons_and_texts_stay_as_typed() -> None:
    reason = "  no\n\u2028 way "
    part = answered("c1", {"id": "c1", "approved": False, "reason": reason})
    assert translate(page(part)) == decide({"c1": Reject(reason=reason)})
    body = {"id": "t1", "messages": [user(parts=[{"type": "text", "text": " \n"}])]}
    assert translate(body) == say(" \n", "u1")


SETTLED_PARTS: dict[str, JsonObject] = {
    "denied, without an approval": {"state": "output-denied", "toolCallId": "c1"},
    "an error with an approval": {
        "state": "output-error",
        "toolCallId": "c1",
        "approval": {"id": "a1"},
    },
    "responded, without an answer": {"state": "approval-responded", "toolCallId": "c1"},
    "no state": {"toolCallId": "c1"},
    "no call": {"state": "output-available", "toolCallId": None, "output": 1},
    "nulls": {"state": None, "toolCallId": "c1", "input": None, "approval": None},
}


@pytest.mark.parametrize("part", SETTLED_PARTS.values(), ids=SETTLED_PARTS.keys())
def test_b13_b57_settled_parts_may_look_like_anything(part: JsonObject) -> None:
    assert translate(page({"type": "tool-delete_file", **part}), SETTLED) == Connect()


@pytest.mark.parametrize("part", SETTLED_PARTS.values(), ids=SETTLED_PARTS.keys())
def test_b50_a_message_is_taken_whatever_stands_before_it(part: JsonObject) -> None:
    old = {"role": "assistant", "parts": [{"type": "tool-gone", **part}]}
    body = {"id": "t1", "messages": [old, {"parts": 3}, user()]}
    assert translate(body, SETTLED) == say("Hi", "u1")


def test_b33_settled_siblings_are_neither_required_nor_an_error() -> None:
    partly = stage(TWO, {"c1": YES})
    assert translate(page(answered("c2")), partly) == decide({"c2": YES})
    both = page(answered("c1"), answered("c2", {"id": "c2", "approved": False}))
    assert translate(both, partly) == decide({"c1": YES, "c2": NO})


@pytest.mark.req("R123")
def test_an_assistant_message_without_answers_asks_how_the_thread_stands() -> None:
    untouched = {**answered(), "state": "approval-requested", "approval": {"id": "c1"}}
    assert translate(page(untouched)) == Connect()
    assert translate(page({"type": "text", "text": "Hello."}), NEW) == Connect()


def test_unknown_calls_in_the_last_step_cannot_be_settled() -> None:
    foreign = {"type": "tool-x", "toolCallId": "zz", "state": "output-available", "output": 1}
    assert code(translate(page(foreign))) == "unknown_call"
    assert translate(page(foreign, {"type": "step-start"})) == Connect()


def test_an_earlier_message_may_be_answered_by_its_id() -> None:
    body = page(answered())
    body["messages"].append(user(id="u2"))
    assert translate(body) == decide({"c1": YES})
    del body["messageId"]
    assert translate(body) == say("Hi", "u2")


def test_a_single_message_is_taken() -> None:
    assert translate({"id": "t1", "message": user()}) == say("Hi", "u1")
    body = page(answered())
    assert translate({"id": "t1", "message": body["messages"][-1]}) == decide({"c1": YES})


FILES: dict[str, tuple[JsonObject, FilePart]] = {
    "url": (
        {"mediaType": "image/png", "url": "https://x.test/a.png", "filename": "a.png"},
        FilePart(media_type="image/png", url="https://x.test/a.png", filename="a.png"),
    ),
    "data": (
        {"mediaType": "image/png", "url": "data:image/png;base64,iVBO"},
        FilePart(media_type="image/png", data="iVBO"),
    ),
    "other data": (
        {"mediaType": "text/plain", "url": "data:text/plain,hi"},
        FilePart(media_type="text/plain", url="data:text/plain,hi"),
    ),
}


@pytest.mark.parametrize(("raw", "part"), FILES.values(), ids=FILES.keys())
def test_files_come_and_go_as_they_are(raw: JsonObject, part: FilePart) -> None:
    raw = {"type": "file", **raw}
    command = translate({"id": "t1", "messages": [user(parts=[raw, {"type": "data-x"}])]})
    assert isinstance(command, SendMessage)
    (message,) = command.messages
    assert message.content == (part,)
    hydrated: Any = VercelAIAdapter.hydrate(_with_content(SETTLED, part))["messages"]
    assert hydrated[0]["parts"] == [raw]


def _with_content(thread: Thread, part: FilePart) -> Thread:
    first, *rest = thread.messages
    return replace(thread, messages=(replace(first, content=(part,)), *rest))


BAD: dict[str, object] = {
    "a list": [],
    "null": None,
    "no id": {"messages": [user()]},
    "an empty id": {"id": "", "messages": [user()]},
    "an id of another type": {"id": 3, "messages": [user()]},
    "no messages": {"id": "t1"},
    "empty messages": {"id": "t1", "messages": []},
    "messages of another type": {"id": "t1", "messages": "Hi"},
    "a message of another type": {"id": "t1", "messages": ["Hi"]},
    "a single message of another type": {"id": "t1", "message": "Hi"},
    "an unknown trigger": {"id": "t1", "messages": [user()], "trigger": "resume-stream"},
    "a messageId of another type": {"id": "t1", "messages": [user()], "messageId": 3},
    "a system message": {"id": "t1", "messages": [user(role="system")]},
    "no role": {"id": "t1", "messages": [{"id": "u1", "parts": []}]},
    "no parts": {"id": "t1", "messages": [{"id": "u1", "role": "user"}]},
    "parts of another type": {"id": "t1", "messages": [user(parts="Hi")]},
    "nothing said": {"id": "t1", "messages": [user(parts=[])]},
    "an empty text": {"id": "t1", "messages": [user(parts=[{"type": "text", "text": ""}])]},
    "a text that is none": {"id": "t1", "messages": [user(parts=[{"type": "text", "text": 3}])]},
    "a file without url": {
        "id": "t1",
        "messages": [user(parts=[{"type": "file", "mediaType": "image/png"}])],
    },
    "a message id of another type": {"id": "t1", "messages": [user(id=3)]},
    "an assistant without parts": {"id": "t1", "messages": [{"id": "m1", "role": "assistant"}]},
    "nothing to regenerate": {
        "id": "t1",
        "trigger": "regenerate-message",
        "messages": [{"id": "m1", "role": "assistant", "parts": []}],
    },
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_body_of_another_shape_is_refused_before_any_stream(body: object) -> None:
    with pytest.raises(InvalidBody):
        translate(body)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("c1"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
_part = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["tool-x", "dynamic-tool", "text", "step-start"]) | _json,
        "state": st.sampled_from(["approval-responded", "output-available"]) | _json,
        "toolCallId": st.sampled_from(["c1", "c2", "zz"]) | _json,
        "approval": st.fixed_dictionaries({"id": st.just("c1") | _json, "approved": _json}) | _json,
    }
)
_message = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]) | _json,
        "id": st.just("m1") | _json,
        "parts": st.lists(_part | _json, max_size=4) | _json,
    }
)
_body = st.fixed_dictionaries(
    {
        "id": st.just("t1") | _json,
        "messages": st.lists(_message | _json, max_size=3) | _json,
        "trigger": st.sampled_from(["submit-message", "regenerate-message"]) | _json,
        "messageId": st.just("m1") | _json,
    }
)


@given(body=_body | _json)
def test_any_json_translates_or_is_refused(body: Any) -> None:
    kept = deepcopy(body)
    try:
        command = translate(body, TWO)
    except InvalidBody:
        command = Connect()
    if isinstance(command, Decide):
        assert set(command.decisions) <= {"c1", "c2"}
    assert body == kept
