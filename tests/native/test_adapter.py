"""The native protocol, both directions, without a server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.commands import Decide, SendMessage, UserInput
from signoff.decisions import Approve, Reject
from signoff.errors import (
    AmbiguousBody,
    InvalidBody,
    InvalidDecision,
    NothingPending,
    Refusal,
    WrongKind,
)
from signoff.events import (
    Activity,
    Cancelled,
    Completed,
    Custom,
    Failed,
    Progress,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    StepFinished,
    StepStarted,
    Suspended,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.json_text import JsonValue
from signoff.messages import AssistantMessage, TextPart, UserMessage
from signoff.native import NativeAdapter
from signoff.outcomes import ExpiredOutcome, Indeterminate, Output, Rejected, ToolError
from signoff.suspension import PendingCall, Suspension, SuspensionKind, ToolCall
from signoff.thread import Thread, ThreadStatus
from support.strategies import json_values

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
CALL = ToolCall(call_id="c1", name="delete_file", inputs={"path": "/tmp/x"}, description="Delete")
PENDING = PendingCall(call=CALL, reason="Irreversible", risk="destructive", fingerprint="f")
OTHER = PendingCall(
    call=ToolCall(call_id="c2", name="pay", inputs={}), reason="Money", risk="policy"
)
SUSPENSION = Suspension(kind="approval", message_id="m2", calls=(PENDING, OTHER))
HELLO = UserMessage(
    id="m1", seq=1, created_at=NOW, run_id="r1", content=(TextPart(text="Delete it"),)
)
THREAD = Thread(thread_id="t", internal_id="i", status="running", messages=(HELLO,), run_id="r1")


def adapter(thread: Thread = THREAD) -> NativeAdapter:
    return NativeAdapter(thread, clock=lambda: NOW)


def frame(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


PROGRESS = [
    (TextDelta(message_id="m2", delta="Hi"), "text_delta", '{"messageId":"m2","delta":"Hi"}'),
    (
        ReasoningDelta(message_id="m2", delta="Hm"),
        "reasoning_delta",
        '{"messageId":"m2","delta":"Hm"}',
    ),
    (
        ToolCallDelta(message_id="m2", call_id="c1", name="read", delta="{"),
        "tool_call_delta",
        '{"messageId":"m2","callId":"c1","name":"read","delta":"{"}',
    ),
    (
        ToolCallReady(message_id="m2", call=CALL, disposition="gated", reason="Irreversible"),
        "tool_call_ready",
        '{"messageId":"m2","call":{"callId":"c1","name":"delete_file","description":"Delete",'
        '"inputs":{"path":"/tmp/x"}},"disposition":"gated","reason":"Irreversible"}',
    ),
    (
        ToolCallReady(message_id="m2", call=OTHER.call, disposition="run"),
        "tool_call_ready",
        '{"messageId":"m2","call":{"callId":"c2","name":"pay","description":"","inputs":{}},'
        '"disposition":"run","reason":null}',
    ),
    (ToolCallStarted(call_id="c1"), "tool_call_started", '{"callId":"c1"}'),
    (
        ToolResult(message_id="result_c1", call_id="c1", outcome=Output(value=[2**70, None])),
        "tool_result",
        '{"messageId":"result_c1","callId":"c1","outcome":"output",'
        '"result":[1180591620717411303424,null]}',
    ),
    (
        ToolResult(message_id="result_c1", call_id="c1", outcome=ToolError(text="No.")),
        "tool_result",
        '{"messageId":"result_c1","callId":"c1","outcome":"error","error":"No."}',
    ),
    (StateSnapshot(value={"a": 1}), "state_snapshot", '{"value":{"a":1}}'),
    (StepStarted(name="s"), "step_started", '{"name":"s","metadata":null}'),
    (StepFinished(name="s", metadata={"k": 1}), "step_finished", '{"name":"s","metadata":{"k":1}}'),
    (
        Activity(id="a", type="search", data={"q": "x"}),
        "activity",
        '{"id":"a","type":"search","data":{"q":"x"}}',
    ),
    (Custom(name="n", value=[1]), "custom", '{"name":"n","value":[1]}'),
]


@pytest.mark.req("R127")
@pytest.mark.parametrize(
    ("event", "name", "data"),
    PROGRESS,
    ids=[f"{n}-{name}" for n, (_, name, _) in enumerate(PROGRESS)],
)
def test_an_event_is_one_frame_of_its_own_name(event: Progress, name: str, data: str) -> None:
    assert adapter().encode(event) == frame(name, data)


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (Rejected(reason="no"), "rejected"),
        (ExpiredOutcome(), "expired"),
        (Indeterminate(), "indeterminate"),
    ],
    ids=["rejected", "expired", "indeterminate"],
)
def test_outcomes_of_calls_that_gave_nothing_carry_what_the_model_reads(
    outcome: Rejected | ExpiredOutcome | Indeterminate, name: str
) -> None:
    sent = adapter().encode(ToolResult(message_id="r", call_id="c1", outcome=outcome))
    data = orjson.loads(sent.partition(b"data: ")[2])
    assert data["outcome"] == name
    assert data["result"].startswith(("TOOL NOT EXECUTED.", "OUTCOME UNKNOWN."))


@pytest.mark.req("R106")
@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta])
def test_empty_deltas_are_dropped(kind: type[TextDelta | ReasoningDelta]) -> None:
    assert adapter().encode(kind(message_id="m", delta="")) == b""


def test_b99_line_ends_of_other_languages_are_escaped() -> None:
    sent = adapter().encode(TextDelta(message_id="m", delta="a\u2028b\u2029c\u0085d"))
    assert sent.decode().count("\n") == 3
    assert len(sent.decode().splitlines()) == 3
    assert orjson.loads(sent.partition(b"data: ")[2])["delta"] == "a\u2028b\u2029c\u0085d"


def test_b98_text_forges_no_frame() -> None:
    sent = adapter().encode(TextDelta(message_id="m\r\nevent: completed", delta="\n\ndata: {}\r"))
    assert sent.count(b"\n") == 3
    assert b"\r" not in sent


def encoded(events: list[RunEvent], thread: Thread = THREAD) -> tuple[list[bytes], NativeAdapter]:
    made = adapter(thread)
    return [made.open(), *(made.encode(event) for event in events)], made


TEXT = TextDelta(message_id="m2", delta="Hi")
ANSWER = {
    "id": "m2",
    "seq": 2,
    "createdAt": "2026-12-01T09:30:00.000Z",
    "runId": "r1",
    "role": "assistant",
    "content": [{"type": "text", "content": "Hi"}],
}


@pytest.mark.parametrize(
    ("terminal", "name", "reply"),
    [
        pytest.param(
            Completed(),
            "completed",
            {"status": "completed", "message": ANSWER, "pending": [], "answered": []},
            id="completed",
        ),
        pytest.param(
            Cancelled(),
            "cancelled",
            {"status": "cancelled", "message": ANSWER, "pending": [], "answered": []},
            id="cancelled",
        ),
        pytest.param(
            Failed(code="too_many_turns", message="Too many."),
            "failed",
            {
                "status": "failed",
                "message": ANSWER,
                "pending": [],
                "answered": [],
                "error": {"code": "too_many_turns", "message": "Too many."},
            },
            id="failed",
        ),
    ],
)
def test_the_last_event_is_the_reply(
    terminal: RunEvent, name: str, reply: dict[str, object]
) -> None:
    frames, made = encoded([TEXT, terminal])
    head, _, data = frames[-1].partition(b"\ndata: ")
    assert head == b"event: " + name.encode()
    assert orjson.loads(data) == reply
    assert made.reply == reply


def test_a_pause_lists_what_waits_and_shows_the_batch() -> None:
    ready = ToolCallReady(message_id="m2", call=CALL, disposition="gated", reason="Irreversible")
    _, made = encoded([TEXT, ready, Suspended(suspension=SUSPENSION)])
    assert made.reply["status"] == "awaiting_approval"
    assert made.reply["pending"] == [PENDING.to_json(), OTHER.to_json()]
    assert made.reply["answered"] == []
    assert made.reply["message"] == ANSWER | {
        "type": "tool_call",
        "tools": [
            {
                "callId": "c1",
                "name": "delete_file",
                "description": "Delete",
                "inputs": {"path": "/tmp/x"},
                "approval": "pending",
                "approvalReason": "Irreversible",
                "rejectReason": None,
            }
        ],
    }


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("approval", "awaiting_approval"),
        ("input", "awaiting_input"),
        ("browser", "awaiting_results"),
    ],
)
def test_the_status_says_what_is_waited_for(kind: SuspensionKind, status: str) -> None:
    suspension = Suspension(kind=kind, message_id="m2", calls=(PENDING,))
    _, made = encoded([Suspended(suspension=suspension)])
    assert made.reply["status"] == status


def test_the_stored_message_is_preferred_to_the_folded_one() -> None:
    made = adapter()
    stored = AssistantMessage(
        id="m2", seq=7, created_at=NOW, run_id="r1", content=(TextPart(text="Hi"),)
    )
    made.encode(TEXT)
    made.recorded([HELLO, stored])
    made.encode(Completed())
    assert made.reply["message"] == ANSWER | {"seq": 7}


def test_an_earlier_runs_answer_is_not_this_runs() -> None:
    old = AssistantMessage(id="m0", seq=1, created_at=NOW, run_id="r0")
    thread = Thread(thread_id="t", status="running", messages=(old, HELLO), run_id="r1")
    _, made = encoded([Cancelled()], thread)
    assert made.reply["message"] is None


@pytest.mark.req("R129")
def test_nothing_follows_a_terminal() -> None:
    frames, made = encoded([Completed(), TEXT, Failed(), Completed()])
    assert frames[2:] == [b"", b"", b""]
    assert made.close() == b""
    assert made.reply["status"] == "completed"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("awaiting_approval", "suspended"),
        ("completed", "completed"),
        ("failed", "failed"),
        ("cancelled", "cancelled"),
    ],
)
def test_a_thread_that_stands_still_is_said_in_one_frame(status: ThreadStatus, name: str) -> None:
    waits = status == "awaiting_approval"
    thread = Thread(
        thread_id="t",
        status=status,
        messages=(HELLO,),
        run_id="r1",
        suspension=SUSPENSION if waits else None,
        decisions={"c2": Approve()} if waits else {},
        failure=("run_failed", "The run failed.") if status == "failed" else None,
    )
    made = adapter(thread)
    assert made.open() == b""
    head, _, data = made.close().partition(b"\ndata: ")
    assert head == b"event: " + name.encode()
    assert orjson.loads(data) == made.reply
    assert made.reply["pending"] == ([PENDING.to_json()] if waits else [])
    assert [action["id"] for action in made.reply["answered"]] == (["c2"] if waits else [])
    assert made.reply.get("error") == (
        {"code": "run_failed", "message": "The run failed."} if status == "failed" else None
    )
    assert made.close() == b""


@pytest.mark.req("R62")
def test_a_thread_hydrates_with_its_history_and_what_is_open() -> None:
    thread = Thread(
        thread_id="t",
        internal_id="i",
        status="awaiting_approval",
        messages=(HELLO,),
        run_id="r1",
        suspension=SUSPENSION,
        decisions={"c1": Approve()},
    )
    hydrated: object = NativeAdapter.hydrate(thread)
    assert hydrated == {
        "id": "t",
        "status": "awaiting_approval",
        "messages": [
            {
                "id": "m1",
                "seq": 1,
                "createdAt": "2026-12-01T09:30:00.000Z",
                "runId": "r1",
                "role": "user",
                "content": [{"type": "text", "content": "Delete it"}],
            }
        ],
        "pending": [OTHER.to_json()],
        "answered": [PENDING.to_json() | {"decision": "approve", "feedback": None}],
    }


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        pytest.param(Approve(), {"decision": "approve", "feedback": None}, id="approved"),
        pytest.param(Approve(note="ok"), {"decision": "approve", "feedback": None}, id="noted"),
        pytest.param(Reject(), {"decision": "reject", "feedback": None}, id="rejected"),
        pytest.param(
            Reject(reason="keep it"), {"decision": "reject", "feedback": "keep it"}, id="reason"
        ),
    ],
)
def test_a_partial_answer_is_shown_until_the_last_one(
    decision: Approve | Reject, said: dict[str, JsonValue]
) -> None:
    thread = Thread(
        thread_id="t",
        status="awaiting_approval",
        messages=(HELLO,),
        run_id="r1",
        suspension=SUSPENSION,
        decisions={"c1": decision, "of-an-earlier-pause": Approve()},
    )
    made = adapter(thread)
    shown = [PENDING.to_json() | said]
    data = orjson.loads(made.close().partition(b"\ndata: ")[2])
    assert (data["pending"], data["answered"]) == ([OTHER.to_json()], shown)
    assert (made.reply["pending"], made.reply["answered"]) == ([OTHER.to_json()], shown)
    carried_out = replace(thread, status="running", decisions={"c1": decision, "c2": Approve()})
    assert NativeAdapter.open_actions(carried_out) == {"pending": [], "answered": []}


def test_an_unknown_thread_is_empty() -> None:
    hydrated: object = NativeAdapter.hydrate(Thread(thread_id="t"))
    assert hydrated == {
        "id": "t",
        "status": "new",
        "messages": [],
        "pending": [],
        "answered": [],
    }


def message(text: str, message_id: str | None = None) -> SendMessage:
    return SendMessage(messages=(UserInput(content=(TextPart(text=text),), id=message_id),))


@pytest.mark.req("R124")
@pytest.mark.parametrize(
    ("body", "command"),
    [
        pytest.param({"message": "Hi"}, message("Hi"), id="message"),
        pytest.param({"message": "Hi", "id": "m1"}, message("Hi", "m1"), id="with-id"),
        pytest.param({"message": " Hi \n"}, message(" Hi \n"), id="untrimmed"),
        pytest.param({"message": " "}, message(" "), id="a-space"),
        pytest.param({"message": "null"}, message("null"), id="null-as-text"),
        pytest.param({"message": "Hi", "more": 1}, message("Hi"), id="unknown-fields"),
        pytest.param(
            {"decisions": {"c1": "approve", "c2": "reject", "c3": ["reject", " no "]}},
            Decide(decisions={"c1": Approve(), "c2": Reject(), "c3": Reject(reason=" no ")}),
            id="decisions",
        ),
        pytest.param(
            {"decisions": {"c1": ["reject", ""]}},
            Decide(decisions={"c1": Reject()}),
            id="empty-reason",
        ),
        pytest.param(
            {"decisions": {"__proto__": "approve", "constructor": "reject"}},
            Decide(decisions={"__proto__": Approve(), "constructor": Reject()}),
            id="b88-names-are-data",
        ),
    ],
)
def test_a_body_becomes_a_command(body: JsonValue, command: SendMessage | Decide) -> None:
    assert NativeAdapter.translate(body) == command


AWAITING = Thread(thread_id="t", status="awaiting_approval", suspension=SUSPENSION)


@pytest.mark.req("R120", "R123")
@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        pytest.param(None, InvalidBody, id="null"),
        pytest.param([], InvalidBody, id="list"),
        pytest.param("message", InvalidBody, id="string"),
        pytest.param({}, InvalidBody, id="empty"),
        pytest.param({"text": "Hi"}, InvalidBody, id="none-of-the-four"),
        pytest.param({"message": ""}, InvalidBody, id="empty-message"),
        pytest.param({"message": None}, InvalidBody, id="null-message"),
        pytest.param({"message": ["Hi"]}, InvalidBody, id="message-list"),
        pytest.param({"message": "Hi", "id": 1}, InvalidBody, id="number-id"),
        pytest.param({"message": "Hi", "id": ""}, InvalidBody, id="empty-id"),
        pytest.param({"message": "a", "decisions": {"c1": "approve"}}, AmbiguousBody, id="both"),
        pytest.param({"message": None, "decisions": {}}, AmbiguousBody, id="both-though-null"),
        pytest.param({"results": {}, "inputs": {}}, AmbiguousBody, id="results-and-inputs"),
        pytest.param({"decisions": {}}, InvalidDecision, id="no-decisions"),
        pytest.param({"decisions": ["approve"]}, InvalidDecision, id="decision-list"),
        pytest.param({"decisions": {"c1": True}}, InvalidDecision, id="true"),
        pytest.param({"decisions": {"c1": "Approve"}}, InvalidDecision, id="capital"),
        pytest.param({"decisions": {"c1": ["approve"]}}, InvalidDecision, id="approve-list"),
        pytest.param({"decisions": {"c1": ["reject", 1]}}, InvalidDecision, id="number-reason"),
        pytest.param(
            {"decisions": {"c1": {"decision": "approve", "inputs": {}}}},
            InvalidDecision,
            id="long-form-not-allowed",
        ),
        pytest.param(
            {"decisions": {"c1": {"__class__": "Approve"}}}, InvalidDecision, id="b87-type-marker"
        ),
        pytest.param({"results": {"c1": {"result": 1}}}, WrongKind, id="results"),
        pytest.param({"inputs": {"c1": {}}}, WrongKind, id="inputs"),
    ],
)
def test_another_body_is_refused(body: JsonValue, refusal: type[Refusal]) -> None:
    with pytest.raises(refusal):
        NativeAdapter.translate(body, AWAITING)


@pytest.mark.req("R26")
@given(
    st.one_of(
        json_values,
        st.dictionaries(
            st.sampled_from(["message", "id", "decisions", "results", "inputs"]), json_values
        ),
        st.fixed_dictionaries({"decisions": st.dictionaries(st.text(), json_values)}),
    )
)
def test_any_json_translates_or_is_refused(body: JsonValue) -> None:
    try:
        command = NativeAdapter.translate(body, AWAITING)
    except Refusal:
        return
    assert isinstance(command, SendMessage | Decide)


@pytest.mark.parametrize("body", [{"results": {}}, {"inputs": {}}], ids=["results", "inputs"])
def test_other_answers_to_a_thread_that_waits_for_nothing(body: JsonValue) -> None:
    with pytest.raises(NothingPending):
        NativeAdapter.translate(body, Thread(thread_id="t"))


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        pytest.param({"message": "Hi"}, InvalidBody, id="message"),
        pytest.param([], InvalidBody, id="list"),
        pytest.param({"decisions": {"c": "approve"}, "message": "Hi"}, AmbiguousBody, id="both"),
        pytest.param({"decisions": {}}, InvalidDecision, id="empty"),
    ],
)
def test_answers_from_elsewhere_are_decisions_only(body: JsonValue, refusal: type[Refusal]) -> None:
    with pytest.raises(refusal):
        NativeAdapter.translate_decisions(body)
