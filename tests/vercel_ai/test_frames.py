"""The exact frames: those that the real clients were seen to accept (proven-frames V1, V2, V4)."""

from __future__ import annotations

from typing import Any

import pytest

from oracles import frames_of
from oracles.sse import JsonObject
from signoff.errors import AlreadyDecided, AwaitingDecision, InvalidDecision, NothingPending
from signoff.events import Cancelled, Completed, Custom, Failed, RunEvent, TextDelta
from signoff.thread import Thread
from signoff.vercel_ai import Page, VercelAIAdapter
from signoff.vercel_ai.wire import Sdk
from support.cases import C1, C2, STORIES
from support.stories import NO, REASON, YES, Moment, Segment, pending, play, said, stage, told

START = {"type": "start", "messageId": "m1"}
STEP = {"type": "start-step"}
STEP_END = {"type": "finish-step"}
STOP = {"type": "finish", "finishReason": "stop"}


def text(block: str, *pieces: str) -> list[JsonObject]:
    deltas = [{"type": "text-delta", "id": block, "delta": piece} for piece in pieces]
    return [{"type": "text-start", "id": block}, *deltas, {"type": "text-end", "id": block}]


def given_input(call_id: str, name: str = "delete_file", sdk: Sdk = 7) -> list[JsonObject]:
    start = {"type": "tool-input-start", "toolCallId": call_id, "toolName": name}
    inputs = '{"path":"/"}' if name == "list_files" else f'{{"path":"/{call_id}"}}'
    return [
        start | {"providerExecuted": True} if sdk == 7 else start,
        {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": inputs},
    ]


def request(call_id: str, sdk: Sdk = 7) -> JsonObject:
    bare = {"type": "tool-approval-request", "approvalId": call_id, "toolCallId": call_id}
    action = {C1.call_id: pending(C1), C2.call_id: pending(C2)}[call_id].to_json()
    return bare | {"reason": REASON, "approvalDescriptor": action} if sdk == 7 else bare


def response(call_id: str, approved: bool, **more: str) -> JsonObject:
    return {"type": "tool-approval-response", "approvalId": call_id, "approved": approved, **more}


def denied(call_id: str) -> JsonObject:
    return {"type": "tool-output-denied", "toolCallId": call_id}


def output(call_id: str, value: object = None) -> JsonObject:
    given = {"deleted": True} if value is None else value
    return {"type": "tool-output-available", "toolCallId": call_id, "output": given}


def paused(*call_ids: str) -> JsonObject:
    actions = {"c1": pending(C1).to_json(), "c2": pending(C2).to_json()}
    signoff = {call_id: actions[call_id] for call_id in call_ids}
    return {
        "type": "finish",
        "finishReason": "tool-calls",
        "messageMetadata": {"signoff": signoff},
    }


def refused(code: str, message: str, call_id: str | None = None) -> JsonObject:
    data = {"code": code, "message": message}
    if call_id is not None:
        data["callId"] = call_id
    return {"type": "data-signoff-refused", "data": data, "transient": True}


def frames(data: bytes) -> list[JsonObject]:
    assert data.endswith(b"data: [DONE]\n\n")
    assert data.count(b"[DONE]") == 1
    return frames_of(data.decode())


def closed(adapter: VercelAIAdapter) -> list[JsonObject]:
    return frames(adapter.open() + adapter.close())


def story(name: str) -> list[Moment]:
    return list(play(STORIES[name]))


ASKED = story("one approved, one rejected")[0]
ANSWERED = story("one approved, one rejected")[1]


@pytest.mark.req("R109", "R115")
@pytest.mark.parametrize("sdk", [7, 6])
def test_b14_v1_all_inputs_then_all_requests(sdk: Sdk) -> None:
    assert frames(ASKED.live(sdk=sdk)) == [
        START,
        STEP,
        *text("a1.1", "I will ", "delete."),
        *given_input("c1", sdk=sdk),
        *given_input("c2", sdk=sdk),
        request("c1", sdk),
        request("c2", sdk),
        STEP_END,
        paused("c1", "c2"),
    ]


@pytest.mark.req("R110", "R111", "R113")
def test_b10_b11_b70_v2_each_answer_is_carried_out() -> None:
    assert frames(ANSWERED.live()) == [
        START,
        response("c1", True),
        response("c2", False, reason="not now"),
        output("c1"),
        denied("c2"),
        STEP,
        *text("a2.1", "Finished."),
        STEP_END,
        STOP,
    ]


def test_b16_sdk_6_is_sent_nothing_that_it_lacks() -> None:
    assert frames(ANSWERED.live(sdk=6)) == [
        START,
        output("c1"),
        denied("c2"),
        STEP,
        *text("a2.1", "Finished."),
        STEP_END,
        STOP,
    ]


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_b16_no_story_sends_sdk_6_what_it_lacks(segments: list[Segment]) -> None:
    for moment in play(segments):
        for data in (moment.live(sdk=6), moment.replay(sdk=6)):
            for frame in frames(data):
                assert frame["type"] not in ("tool-approval-response", "reset-step")
                assert not frame.keys() & {"reason", "approvalDescriptor", "providerExecuted"}


def test_b17_free_siblings_come_with_the_answers_before_any_step() -> None:
    first, second = story("free siblings of a gated call")
    assert [frame.get("toolCallId") for frame in frames(first.live())] == [
        None, None, "c1", "c1", "c1", None, None,
    ]  # fmt: skip
    assert frames(second.live())[:8] == [
        START,
        response("c1", True),
        *given_input("f1", "list_files"),
        output("f1", ["x"]),
        output("c1"),
        *given_input("c2"),
    ]
    assert frames(second.live())[8]["type"] == "tool-output-error"


def test_b17_invalid_arguments_are_an_error_and_never_a_request() -> None:
    (moment,) = story("invalid arguments")
    kinds = [frame["type"] for frame in frames(moment.live())]
    assert kinds[2:5] == ["tool-input-start", "tool-input-delta", "tool-output-error"]
    assert "tool-approval-request" not in kinds


@pytest.mark.req("R109")
@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_tool_input_available_is_never_sent_for_a_server_tool(segments: list[Segment]) -> None:
    for moment in play(segments):
        for data in (moment.live(), moment.live(sdk=6), moment.replay()):
            assert b"tool-input-available" not in data


def test_b19_what_the_model_gave_up_does_not_stay_open() -> None:
    abandoned = STORIES["arguments rewritten"][0].events[:1]
    retried = STORIES["approved"][0].events
    moment = told([Segment(says="Delete", events=[*abandoned, *retried])])
    kinds = [(frame["type"], frame.get("toolCallId")) for frame in frames(moment.live())]
    assert kinds[2] == ("tool-input-start", "f1")
    assert kinds.count(("tool-output-error", "f1")) == 1
    assert kinds[-1][0] == "finish"


# Nothing follows an end.


@pytest.mark.req("R129")
@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_nothing_follows_the_end(segments: list[Segment]) -> None:
    for moment in play(segments):
        adapter = VercelAIAdapter(moment.before, replay=True)
        data = moment.frames(adapter)
        assert data.endswith(b"data: [DONE]\n\n")
        after: list[RunEvent] = [*said("a9", "more"), Failed(), Completed(), Cancelled()]
        assert [adapter.encode(event) for event in after] == [b""] * len(after)
        assert adapter.close() == b""


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_frames_are_whole_events_that_end_in_lf(segments: list[Segment]) -> None:
    for moment in play(segments):
        adapter = VercelAIAdapter(moment.before, replay=True)
        for data in [adapter.open(), *(adapter.encode(event) for event in moment.events)]:
            assert data == b"" or (data.startswith(b"data: ") and data.endswith(b"\n\n"))
            assert b"\r" not in data
            assert len(data.decode().splitlines()) == data.count(b"\n")  # B99


@pytest.mark.req("R118")
def test_a_failed_run_ends_in_a_neutral_error() -> None:
    moment = told([Segment(says="Hi", events=[*said("a1", "Hel"), Failed()])])
    assert frames(moment.live()) == [
        START,
        STEP,
        *text("a1.1", "Hel"),
        STEP_END,
        {"type": "error", "errorText": "The run failed."},
    ]


def test_a_cancelled_run_ends_in_something_visible_and_no_abort() -> None:
    moment = story("cancelled between two approved calls")[-1]
    assert frames(moment.live())[-6:] == [
        STEP,
        *text("m1.stopped", "Stopped."),
        STEP_END,
        STOP,
    ]


def test_a_run_that_ends_in_calls_gets_a_step_of_its_own() -> None:
    closing: JsonObject = STOP | {"messageMetadata": {"signoff": {}}}
    for name in ("approved and no word", "a free call and no word"):
        assert frames(story(name)[-1].live())[-3:] == [STEP, STEP_END, closing]


@pytest.mark.req("R127")
def test_portable_events_are_transient_data() -> None:
    (moment,) = story("portable events")
    data = [frame for frame in frames(moment.live()) if frame["type"].startswith("data-")]
    assert data == [
        {
            "type": "data-workflow-step",
            "data": {"name": "plan", "status": "started", "metadata": {"depth": 1}},
            "transient": True,
        },
        {
            "type": "data-workflow-activity",
            "id": "act",
            "data": {"type": "search", "data": {"hits": 2}},
            "transient": True,
        },
        {"type": "data-weather", "data": {"[__proto__]": 1}, "transient": True},
        {
            "type": "data-workflow-step",
            "data": {"name": "plan", "status": "finished"},
            "transient": True,
        },
    ]


def test_headers_name_the_protocol() -> None:
    headers = VercelAIAdapter(Thread(thread_id="t1")).headers
    assert headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["x-accel-buffering"] == "no"


@pytest.mark.req("R126")
def test_each_delta_is_one_frame() -> None:
    adapter = VercelAIAdapter(told(STORIES["text"]).before, replay=True)
    adapter.open()
    adapter.encode(TextDelta(message_id="a1", delta="Hel"))
    frame = adapter.encode(TextDelta(message_id="a1", delta='l"o'))
    assert frame == b'data: {"type":"text-delta","id":"a1.1","delta":"l\\"o"}\n\n'
    assert adapter.encode(TextDelta(message_id="a1", delta="")) == b""


def test_b99_line_separators_are_escaped_in_texts() -> None:
    adapter = VercelAIAdapter(told(STORIES["text"]).before, replay=True)
    frame = b"".join(adapter.encode(event) for event in said("a1", "a\u2028b", "\u0085\u2029"))
    assert b'"a\\u2028b"' in frame
    assert b'"\\u0085\\u2029"' in frame


def test_b101_numbers_that_are_none_never_reach_the_wire() -> None:
    adapter = VercelAIAdapter(told(STORIES["text"]).before, replay=True)
    frame = adapter.encode(Custom(name="n", value={"x": float("nan"), "y": float("inf")}))
    assert b'{"x":null,"y":null}' in frame


# Pages that know less (V4).


def late(moment: Moment, page: Page | None = None, **options: Any) -> list[JsonObject]:
    return closed(VercelAIAdapter(moment.after, page=page, **options))


def shows(first: str, second: str, approvals: str = "c1 c2") -> Page:
    """A page with the first step of ``ASKED``, its two calls in these states."""
    return Page(
        message_id="m1",
        steps=1,
        states={"c1": first, "c2": second},
        approvals=frozenset(approvals.split()),
    )


CLICKED = shows("approval-responded", "approval-responded")
ALREADY = AlreadyDecided(call_id="c1")
ALREADY_FRAME = refused("already_decided", "This call has been decided already.", "c1")


def test_a_late_answer_gets_answers_outcomes_and_later_steps() -> None:
    assert late(ANSWERED, CLICKED, refusal=ALREADY) == [
        START,
        ALREADY_FRAME,
        response("c1", True, reason=""),
        output("c1"),
        response("c2", False, reason="not now"),
        denied("c2"),
        STEP,
        *text("a2.1", "Finished."),
        STEP_END,
        STOP | {"messageMetadata": {"signoff": paused("c1", "c2")["messageMetadata"]["signoff"]}},
    ]


def test_a_late_answer_while_it_runs_attaches() -> None:
    adapter = VercelAIAdapter(ANSWERED.before, page=CLICKED, refusal=ALREADY)
    assert frames(ANSWERED.frames(adapter)) == [
        START,
        ALREADY_FRAME,
        response("c1", True, reason=""),
        response("c2", False, reason="not now"),
        output("c1"),
        denied("c2"),
        STEP,
        *text("a2.1", "Finished."),
        STEP_END,
        STOP,
    ]


def test_a_late_answer_meets_a_second_pause() -> None:
    second = story("a second pause")[1]
    sent = late(second, CLICKED, refusal=ALREADY)
    assert [frame["type"] for frame in sent][-9:] == [
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-approval-request",
        "finish-step",
        "finish",
    ]
    assert sent[-1]["finishReason"] == "tool-calls"
    assert sent[-1]["messageMetadata"]["signoff"].keys() == {"c3"}


def test_partly_decided_the_page_is_told_what_is_decided() -> None:
    thread = stage(ASKED.after, {"c1": YES})
    page = shows("approval-responded", "approval-requested")
    assert closed(VercelAIAdapter(thread, page=page)) == [START, response("c1", True), paused()]
    assert closed(VercelAIAdapter(thread)) == [START, response("c1", True), paused()]


def test_a_refused_answer_is_asked_for_again() -> None:
    refusal = InvalidDecision("Say yes or no.", call_id="c1")
    page = shows("approval-responded", "approval-requested")
    assert late(ASKED, page, refusal=refusal) == [
        START,
        refused("invalid_decision", "Say yes or no.", "c1"),
        request("c1"),
        paused("c1"),
    ]


def test_an_outcome_that_a_page_made_up_is_taken_away() -> None:
    page = shows("output-available", "approval-requested", approvals="c2")
    assert late(ASKED, page)[1:-1] == [*given_input("c1"), request("c1")]


def test_a_request_that_the_page_lost_is_made_before_it_is_answered() -> None:
    page = shows("output-available", "approval-responded", approvals="c2")
    assert late(ASKED, page, refusal=ALREADY)[2:4] == [*given_input("c1")]
    adapter = VercelAIAdapter(ANSWERED.before, page=page)
    assert frames(ANSWERED.frames(adapter))[1:5] == [
        *given_input("c1"),
        request("c1"),
        response("c1", True),
    ]


def test_a_reset_thread_ends_in_an_error() -> None:
    adapter = VercelAIAdapter(Thread(thread_id="t1"), page=CLICKED, refusal=NothingPending())
    message = "Nothing waits for an answer in this thread."
    assert closed(adapter) == [
        refused("nothing_pending", message),
        {"type": "error", "errorText": message},
    ]


@pytest.mark.req("R121")
def test_a_message_while_pending_moves_the_cards_below_it() -> None:
    refusal = AwaitingDecision()
    adapter = VercelAIAdapter(
        stage(ASKED.after, {"c2": NO}),
        message_id="m1b",
        replay=True,
        refusal=refusal,
        replaces="m1",
    )
    signoff = paused("c1", "c2")["messageMetadata"]
    assert closed(adapter) == [
        START,
        {"type": "start", "messageId": "m1b", "messageMetadata": signoff},
        refused("awaiting_decision", refusal.message),
        STEP,
        *text("a1.1", "I will delete."),
        *given_input("c1"),
        *given_input("c2"),
        request("c1"),
        request("c2"),
        STEP_END,
        response("c2", False, reason=""),
        paused("c1", "c2"),
    ]


def test_an_unknown_thread_is_an_empty_success() -> None:
    assert closed(VercelAIAdapter(Thread(thread_id="t1"))) == [STOP]
