"""The frames themselves: exact bytes, the peer's own models, and what may never be in one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from oracles.sse import JsonObject
from signoff.ag_ui import AGUIAdapter, Profile
from signoff.decisions import Reject
from signoff.errors import AlreadyDecided
from signoff.events import Cancelled, Completed, Custom, Suspended, TextDelta
from signoff.outcomes import Output, Rejected
from signoff.suspension import PendingCall, Suspension
from signoff.thread import Thread
from support.agui_pages import STATE, encoded, only, sent
from support.cases import STORIES
from support.stories import (
    REASON,
    Segment,
    call,
    ended,
    gated,
    pause,
    pending,
    play,
    ran,
    said,
    told,
)

EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
PROFILES: list[Profile] = ["1.0", "0.0"]
# Values of these belong to an agent or an application: null is theirs to say.
FREE = ("snapshot", "value", "metadata", "content", "state")

each_profile = pytest.mark.parametrize("profile", PROFILES)
each_story = pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())

C1, C2 = call("c1"), call("c2")
PAUSED = [
    Segment(
        says="Delete",
        events=[*said("a1", "I will", ""), *gated("a1", C1, C2), pause("a1", C1, C2)],
    ),
    Segment(
        answers={"c1": Reject(reason="no"), "c2": Reject()},
        events=[
            ended("c2", Rejected()),
            ended("c1", Output(value=["é"])),
            *said("a2", "Done."),
            Completed(),
        ],
    ),
]
INTERRUPT = (
    b'{"id":"%(id)s","reason":"confirmation","message":"Deleting a file is irreversible",'
    b'"responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},'
    b'"reason":{"type":"string"}},"required":["approved"]},'
    b'"metadata":{"id":"%(id)s","name":"delete_file",'
    b'"description":"{\\n    \\"path\\": \\"/%(id)s\\"\\n}","decision":"pending","feedback":null,'
    b'"reason":"Deleting a file is irreversible","inputs":{"path":"/%(id)s"},'
    b'"risk":"destructive","expiresAt":null,"allows":[],"preview":null,"fingerprint":"f00d"}}'
)
STARTED = b'data: {"type":"RUN_STARTED","threadId":"t1","runId":"r1","protocolVersion":"1.0"}\n\n'
SUCCESS = (
    b'data: {"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"success"}}\n\n'
)
ASKING = [
    STARTED,
    b'data: {"type":"TEXT_MESSAGE_START","messageId":"a1","role":"assistant"}\n\n',
    b'data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"I will"}\n\n',
    b'data: {"type":"TEXT_MESSAGE_END","messageId":"a1"}\n\n',
    b'data: {"type":"STATE_SNAPSHOT","snapshot":{"mine":1}}\n\n',
    b'data: {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":"Delete"},'
    b'{"id":"a1","role":"assistant","content":"I will"}]}\n\n',
    b'data: {"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"interrupt",'
    b'"interrupts":[' + INTERRUPT % {b"id": b"c1"} + b"," + INTERRUPT % {b"id": b"c2"} + b"]}}\n\n",
]
CALLS = b"".join(
    b'data: {"type":"TOOL_CALL_START","toolCallId":"%(id)s","toolCallName":"delete_file",'
    b'"parentMessageId":"a1.calls"}\n\n'
    b'data: {"type":"TOOL_CALL_ARGS","toolCallId":"%(id)s",'
    b'"delta":"{\\"path\\":\\"/%(id)s\\"}"}\n\n'
    b'data: {"type":"TOOL_CALL_END","toolCallId":"%(id)s"}\n\n' % {b"id": one}
    for one in (b"c1", b"c2")
)
REJECTED = (
    b"TOOL NOT EXECUTED. The user rejected this action. User instruction: No specific instruction "
    b"provided. Do not attempt this tool again. Follow the user's instruction or reconsider your "
    b"plan."
)
ANSWERED = [
    STARTED,
    CALLS,
    b'data: {"type":"TOOL_CALL_RESULT","messageId":"result_c2","toolCallId":"c2",'
    b'"content":"' + REJECTED + b'","role":"tool"}\n\n',
    b'data: {"type":"TOOL_CALL_RESULT","messageId":"result_c1","toolCallId":"c1",'
    b'"content":"[\\"\xc3\xa9\\"]","role":"tool"}\n\n',
    b'data: {"type":"TEXT_MESSAGE_START","messageId":"a2","role":"assistant"}\n\n',
    b'data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"a2","delta":"Done."}\n\n',
    b'data: {"type":"TEXT_MESSAGE_END","messageId":"a2"}\n\n',
    b'data: {"type":"STATE_SNAPSHOT","snapshot":{"mine":1}}\n\n',
    b'data: {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":"Delete"},'
    b'{"id":"a1","role":"assistant","content":"I will"},'
    b'{"id":"a1.calls","role":"assistant","toolCalls":['
    b'{"id":"c1","type":"function","function":{"name":"delete_file",'
    b'"arguments":"{\\"path\\":\\"/c1\\"}"}},'
    b'{"id":"c2","type":"function","function":{"name":"delete_file",'
    b'"arguments":"{\\"path\\":\\"/c2\\"}"}}]},'
    b'{"id":"result_c2","role":"tool","toolCallId":"c2","content":"' + REJECTED + b'"},'
    b'{"id":"result_c1","role":"tool","toolCallId":"c1","content":"[\\"\xc3\xa9\\"]"},'
    b'{"id":"a2","role":"assistant","content":"Done."}]}\n\n',
    SUCCESS,
]


@pytest.mark.req("R91", "R93", "R95")
@each_profile
def test_a_pause_and_its_continuation_to_the_byte(profile: Profile) -> None:
    for moment, expected in zip(play(PAUSED), (ASKING, ANSWERED), strict=True):
        adapter = AGUIAdapter(
            moment.before, run_id="r1", profile=profile, client=STATE, restate=False
        )
        assert encoded(adapter, moment.events) == b"".join(expected)


def test_a_refusal_to_the_byte() -> None:
    thread = Thread(thread_id="t1", status="completed")
    adapter = AGUIAdapter(thread, run_id="r1", refusal=AlreadyDecided(call_id="c1"))
    assert encoded(adapter, []) == b"".join(
        [
            STARTED,
            b'data: {"type":"CUSTOM","name":"signoff.refused","value":{"code":"already_decided",'
            b'"message":"This call has been decided already.","callId":"c1"}}\n\n',
            b'data: {"type":"MESSAGES_SNAPSHOT","messages":[]}\n\n',
            SUCCESS,
        ]
    )


def nulls(value: Any, path: str = "") -> Iterator[str]:
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in FREE or (key == "content" and isinstance(inner, str | None)):
                yield from nulls(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from nulls(inner, f"{path}[]")


def all_frames(segments: list[Segment], profile: Profile) -> Iterator[JsonObject]:
    for moment in play(segments):
        for bound in (False, True):
            for restate in (False, True):
                yield from sent(
                    moment, profile=profile, restate=restate, tool_bound_interrupts=bound
                )


@each_profile
@each_story
def test_b07_frames_are_what_the_peers_models_take(
    segments: list[Segment], profile: Profile
) -> None:
    """The models are lenient: they take null and extra fields, which the JavaScript client does
    not take, so both are looked for."""
    for frame in all_frames(segments, profile):
        event = EVENTS.validate_python(frame)
        assert not list(nulls(frame)), frame
        again = event.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert set(again) == set(frame)
        assert not event.model_extra


@pytest.mark.parametrize(
    ("profile", "outcome"), [("1.0", {"type": "cancelled"}), ("0.0", {"type": "success"})]
)
def test_a_stopped_run_is_cancelled_where_the_client_knows_that(
    profile: Profile, outcome: JsonObject
) -> None:
    moment = told(STORIES["cancelled in its text"])
    assert sent(moment, profile=profile)[-1]["outcome"] == outcome


@each_profile
def test_success_is_exactly_success(profile: Profile) -> None:
    assert sent(told(STORIES["text"]), profile=profile)[-1]["outcome"] == {"type": "success"}


@pytest.mark.parametrize(("profile", "shown"), [("1.0", True), ("0.0", False)])
def test_a_deadline_is_on_the_wire_only_where_it_does_not_lock_the_thread(
    profile: Profile, shown: bool
) -> None:
    deadline = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
    asked = PendingCall(call=C1, reason=REASON, risk="destructive", expires_at=deadline)
    suspension = Suspension(kind="approval", message_id="a1", calls=(asked,))
    segment = Segment(says="x", events=[*gated("a1", C1), Suspended(suspension=suspension)])
    moment = told([segment])
    for interrupts in (
        only(sent(moment, profile=profile), "RUN_FINISHED")["outcome"]["interrupts"],
        AGUIAdapter.hydrate(moment.after, profile=profile)["interrupts"],
    ):
        (interrupt,) = interrupts
        assert interrupt.get("expiresAt") == ("2026-12-01T10:00:00.000Z" if shown else None)
        assert interrupt["metadata"]["expiresAt"] == "2026-12-01T10:00:00.000Z"


def test_a_call_without_a_reason_still_says_what_is_asked() -> None:
    asked = (pending(C1, reason=""), pending(C2, reason=""))
    suspension = Suspension(kind="approval", message_id="a1", calls=asked)
    segment = Segment(says="x", events=[*gated("a1", C1, C2), Suspended(suspension=suspension)])
    (first, _) = sent(told([segment]))[-1]["outcome"]["interrupts"]
    assert first["message"] == "2 tool call(s) require(s) approval before execution"


def test_b99_characters_that_end_a_line_for_some_readers_are_escaped() -> None:
    text = "a\u2028b\u2029c\u0085d\r\ne\x00"
    thread = Thread(thread_id=text)
    adapter = AGUIAdapter(thread, run_id=text)
    said_so = TextDelta(message_id=text, delta=text)
    data = encoded(adapter, [said_so, Custom(name=text, value=text), Completed()])
    frames = data.decode().split("\n\n")
    assert frames.pop() == ""
    assert all(len(frame.splitlines()) == 1 for frame in frames)
    assert not any(byte in data for byte in (b"\r", b"\x00"))


@pytest.mark.parametrize("value", [float("nan"), {"score": float("inf")}])
def test_b101_no_frame_is_invalid_json(value: Any) -> None:
    adapter = AGUIAdapter(Thread(thread_id="t1"), run_id="r1")
    data = encoded(adapter, [Custom(name="score", value=value), Completed()])
    assert not any(word in data for word in (b"NaN", b"Infinity"))


def test_b121_arguments_travel_as_text() -> None:
    big = call("c1", {"id": 9007199254740993, "n": 12345678901234567890123, "f": 1.0})
    segments = [
        Segment(says="x", events=[*gated("a1", big), pause("a1", big)]),
        Segment(answers={"c1": Reject()}, events=[ended("c1", Rejected()), Completed()]),
    ]
    paused, answered = play(segments)
    text = '{"id":9007199254740993,"n":12345678901234567890123,"f":1.0}'
    assert only(sent(answered), "TOOL_CALL_ARGS")["delta"] == text
    (interrupt,) = sent(paused)[-1]["outcome"]["interrupts"]
    assert "9007199254740993" in interrupt["metadata"]["description"]


def test_b06_nothing_follows_a_terminal() -> None:
    for terminal in (Completed(), Cancelled()):
        adapter = AGUIAdapter(Thread(thread_id="t1"), run_id="r1")
        encoded(adapter, [terminal])
        assert [adapter.encode(event) for event in (*said("a1", "x"), *ran("c1"), terminal)] == [
            b"",
            b"",
            b"",
            b"",
        ]
        assert adapter.close() == b""


def test_a_fresh_adapter_says_nothing_of_another() -> None:
    thread = Thread(thread_id="t1")
    one, two = (AGUIAdapter(thread, run_id=run_id) for run_id in ("r1", "r2"))
    encoded(one, [*said("a1", "x"), Completed()])
    assert b"r1" not in encoded(two, [Completed()])
