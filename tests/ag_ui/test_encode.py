"""What a stream holds and what it leaves out, rule by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given

from oracles import Oracle
from oracles.sse import JsonObject, frames_of
from signoff.ag_ui import AGUIAdapter, Profile
from signoff.errors import ConfigurationError, IncompleteResume
from signoff.events import (
    Activity,
    Cancelled,
    Completed,
    Custom,
    Failed,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    StepFinished,
    StepStarted,
    Suspended,
    TextDelta,
    ToolCallDelta,
)
from signoff.outcomes import Indeterminate, Output, ToolError
from signoff.suspension import Suspension
from signoff.thread import Thread
from support.agui_pages import STATE, Page, encoded, hydrated, only, sent, types
from support.cases import ASKED_ONE, STORIES
from support.stories import (
    NO,
    YES,
    Segment,
    call,
    ended,
    free,
    gated,
    pause,
    pending,
    play,
    ran,
    said,
    told,
)
from support.strategies import segments as any_segment

C1, C2, C3 = call("c1"), call("c2"), call("c3")
CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]
TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
SNAPSHOTS = ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]


def run(*events: RunEvent, profile: Profile = "1.0") -> list[JsonObject]:
    """A run that a message started, without its first frame."""
    return sent(told([Segment(says="Go", events=events)]), profile=profile)[1:]


def thought(message_id: str, *pieces: str) -> list[RunEvent]:
    return [ReasoningDelta(message_id=message_id, delta=piece) for piece in pieces]


def delta(call_id: str, text: str) -> ToolCallDelta:
    return ToolCallDelta(message_id="a1", call_id=call_id, name="delete_file", delta=text)


# --- text ---------------------------------------------------------------------------------------


@pytest.mark.req("R106")
def test_empty_pieces_are_nothing() -> None:
    events = [*thought("a1", "", ""), *said("a1", "", ""), Completed()]
    assert types(run(*events)) == ["RUN_FINISHED"]


@pytest.mark.req("R106")
def test_reasoning_closes_before_text() -> None:
    frames = run(*thought("a1", "Hm"), *said("a1", "Hello"), Completed())
    assert types(frames) == [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        *TEXT,
        "RUN_FINISHED",
    ]
    assert {frame["messageId"] for frame in frames[:5]} == {"reasoning_a1"}


@pytest.mark.parametrize(
    "terminal", [Completed(), Failed(), Cancelled(), pause("a1", C1)], ids=lambda one: str(one)[:9]
)
@pytest.mark.parametrize("opened", [said("a1", "Hel"), thought("a1", "Hm")], ids=["text", "reason"])
def test_b04_what_is_open_is_closed_before_any_end(
    terminal: RunEvent, opened: list[RunEvent]
) -> None:
    events = [StepStarted(name="s1"), *opened, *gated("a1", C1)]
    if not isinstance(terminal, Suspended):
        events = [StepStarted(name="s1"), *opened, delta("c1", '{"path"')]
    counted = Counter(types(run(*events, terminal)))
    for kind in ("TEXT_MESSAGE", "REASONING", "REASONING_MESSAGE", "TOOL_CALL"):
        assert counted[f"{kind}_START"] == counted[f"{kind}_END"]
    assert counted["STEP_STARTED"] == counted["STEP_FINISHED"] == 1


# --- calls --------------------------------------------------------------------------------------


@pytest.mark.req("R93", "R99")
def test_no_call_is_published_before_it_is_approved() -> None:
    for name in ("approved", "free siblings of a gated call", "siblings asked about on the way"):
        for moment in play(STORIES[name]):
            frames = sent(moment)
            if moment.after.status == "awaiting_approval":
                assert not [kind for kind in types(frames) if kind.startswith("TOOL_CALL")]
                shown = only(frames, "MESSAGES_SNAPSHOT")["messages"]
                assert not [message for message in shown if "toolCalls" in message]
                assert shown == hydrated(moment.after, "1.0")["messages"]


@pytest.mark.req("R95")
def test_server_calls_are_published_when_the_first_of_them_starts() -> None:
    frames = run(*said("a1", "Go."), *free("a1", C1, C2), *ran("c1"), *ran("c2"), Completed())
    assert types(frames) == [*TEXT, *CALL, *CALL, *["TOOL_CALL_RESULT"] * 2, "RUN_FINISHED"]
    assert {frame["parentMessageId"] for frame in frames if "parentMessageId" in frame} == {"a1"}


@pytest.mark.req("R95")
def test_a_call_that_never_started_is_published_with_its_result() -> None:
    frames = run(*free("a1", C1), ended("c1", ToolError(text="No.")), Completed())
    assert types(frames) == [*CALL, "TOOL_CALL_RESULT", "RUN_FINISHED"]


@pytest.mark.req("R97")
@pytest.mark.parametrize("outcome", [ToolError(text="It failed."), Indeterminate()])
def test_an_error_stands_in_snapshots_only(outcome: ToolError | Indeterminate) -> None:
    paused = STORIES["approved"][0]
    segments = [paused, Segment(answers={"c1": YES}, events=[ended("c1", outcome), Completed()])]
    frames = sent(told(segments))
    assert "error" not in only(frames, "TOOL_CALL_RESULT")
    (result,) = [one for one in only(frames, "MESSAGES_SNAPSHOT")["messages"] if "error" in one]
    assert result["error"] == result["content"] == only(frames, "TOOL_CALL_RESULT")["content"]


def test_b27_a_call_has_one_result() -> None:
    twice = [
        ended("c1", Output(value=1)),
        ended("c1", Output(value=2)),
        ended("x", Output(value=3)),
    ]
    frames = run(*free("a1", C1), *twice, Completed())
    assert only(frames, "TOOL_CALL_RESULT")["content"] == "1"


def test_b58_a_continuation_starts_each_call_once_and_repeats_no_text() -> None:
    answered = list(play(STORIES["a second pause"]))[1]
    counted = Counter(
        frame.get("toolCallId") for frame in sent(answered) if "toolCallName" in frame
    )
    assert counted == {"c1": 1, "c2": 1}
    texts = [frame["messageId"] for frame in sent(answered) if frame["type"] == TEXT[0]]
    assert texts == ["a2"]


def test_arguments_are_shown_as_they_are_written() -> None:
    pieces = ['{"pa', "", 'th":"/c1"}']
    deltas = [delta("c1", piece) for piece in pieces]
    frames = run(*said("a1", "Go."), *deltas, *free("a1", C1), *ran("c1"), Completed())
    start, args, end = CALL
    assert types(frames) == [*TEXT, start, args, args, end, "TOOL_CALL_RESULT", "RUN_FINISHED"]


def test_b122_pieces_of_parallel_calls_are_told_apart() -> None:
    deltas = [
        delta("c1", '{"path":'),
        delta("c2", '{"path":'),
        delta("c1", '"/c1"}'),
        delta("c2", '"/c2"}'),
    ]
    frames = run(*deltas, *free("a1", C1, C2), *ran("c1"), *ran("c2"), Completed())
    texts: dict[str, str] = {}
    for frame in frames:
        if frame["type"] == "TOOL_CALL_ARGS":
            texts[frame["toolCallId"]] = texts.get(frame["toolCallId"], "") + frame["delta"]
    assert texts == {"c1": '{"path":"/c1"}', "c2": '{"path":"/c2"}'}


@pytest.mark.oracle
def test_b19_a_call_that_the_model_gave_up_leaves_nothing(oracle: Oracle) -> None:
    events = [delta("c9", '{"pa'), *gated("a2", C1), pause("a2", C1)]
    page = Page(oracle, "1.0.0")
    moment = told([Segment(says="Go", events=events)])
    assert page.live(moment).error is None
    assert page.messages == hydrated(moment.after, "1.0")["messages"]
    events = [delta("c9", '{"pa'), *said("a2", "No."), Completed()]
    page = Page(oracle, "1.0.0")
    moment = told([Segment(says="Go", events=events)])
    assert page.live(moment).error is None
    assert page.messages == hydrated(moment.after, "1.0")["messages"]


# --- batches ------------------------------------------------------------------------------------


def asked(events: Sequence[RunEvent]) -> list[str]:
    frames = run(*events)
    return [one["id"] for one in frames[-1]["outcome"]["interrupts"]]


def test_b61_only_the_calls_that_wait_ask() -> None:
    assert asked([*free("a1", C1), *gated("a1", C2), pause("a1", C2)]) == ["c2"]


@pytest.mark.req("R91")
def test_b62_every_call_asks_in_the_models_order() -> None:
    assert asked([*gated("a1", C3, C1, C2), pause("a1", C3, C1, C2)]) == ["c3", "c1", "c2"]


def test_b63_every_branch_asks() -> None:
    """A suspension is one list, whatever made it: there is no first branch to stop at."""
    other = call("c2", {"path": "/x"}, name="pay")
    assert asked([*gated("a1", C1, other), pause("a1", C1, other)]) == ["c1", "c2"]


def test_b64_equal_interrupt_ids_cannot_be() -> None:
    with pytest.raises(ConfigurationError):
        Suspension(kind="approval", message_id="a1", calls=(pending(C1), pending(C1)))


def test_b67_two_calls_of_one_tool_are_two() -> None:
    paused, answered = play(
        [
            Segment(says="x", events=[*gated("a1", C1, C2), pause("a1", C1, C2)]),
            Segment(
                answers={"c1": YES, "c2": NO},
                events=[*ran("c1", "one"), ended("c2", ToolError(text="two")), Completed()],
            ),
        ]
    )
    assert len(sent(paused)[-1]["outcome"]["interrupts"]) == 2
    results = [frame for frame in sent(answered) if frame["type"] == "TOOL_CALL_RESULT"]
    assert [(one["toolCallId"], one["content"]) for one in results] == [
        ("c1", "one"),
        ("c2", "two"),
    ]


def test_b70_a_rejection_leaves_its_siblings_alone() -> None:
    answered = told(STORIES["three, the middle one rejected"])
    results = [frame for frame in sent(answered) if frame["type"] == "TOOL_CALL_RESULT"]
    assert [one["toolCallId"] for one in results] == ["c1", "c2", "c3"]
    assert ["NOT EXECUTED" in one["content"] for one in results] == [False, True, False]


@pytest.mark.parametrize("kind", ["input", "browser"])
def test_b03_a_pause_that_cannot_be_answered_is_never_announced(kind: str) -> None:
    suspension = Suspension(kind=kind, message_id="a1", calls=(pending(C1),))  # type: ignore[arg-type]
    adapter = AGUIAdapter(Thread(thread_id="t1"), run_id="r1")
    with pytest.raises(ConfigurationError):
        encoded(adapter, [Suspended(suspension=suspension)])
    assert types(frames_of(adapter.encode(Failed()).decode())) == ["RUN_ERROR"]


# --- events of the agent's own ------------------------------------------------------------------


@pytest.mark.req("R127")
@pytest.mark.parametrize(
    ("event", "frame"),
    [
        (
            Activity(id="x", type="search", data={"hits": 2}),
            {
                "type": "ACTIVITY_SNAPSHOT",
                "messageId": "x",
                "activityType": "search",
                "content": {"hits": 2},
                "replace": True,
            },
        ),
        (
            Custom(name="weather", value=None),
            {"type": "CUSTOM", "name": "weather", "value": None},
        ),
        (StateSnapshot(value=[1]), {"type": "STATE_SNAPSHOT", "snapshot": [1]}),
    ],
    ids=["activity", "custom", "state"],
)
def test_portable_events_have_frames(event: RunEvent, frame: JsonObject) -> None:
    assert run(event, Completed())[0] == frame


@pytest.mark.req("R127")
@pytest.mark.parametrize(("profile", "more"), [("1.0", {"metadata": {"n": 1}}), ("0.0", {})])
def test_steps_have_frames(profile: Profile, more: JsonObject) -> None:
    events: list[RunEvent] = [
        StepStarted(name="s", metadata={"n": 1}),
        StepStarted(name="s"),
        StepFinished(name="s"),
        StepFinished(name="s", metadata={"n": 1}),
        StepFinished(name="s"),
        Completed(),
    ]
    assert run(*events, profile=profile)[:-1] == [
        {"type": "STEP_STARTED", "stepName": "s", **more},
        {"type": "STEP_FINISHED", "stepName": "s", **more},
    ]


def test_b05_steps_are_balanced_in_each_run() -> None:
    paused, answered = play(
        [
            Segment(
                says="x",
                events=[
                    StepStarted(name="outer"),
                    StepStarted(name="inner"),
                    *gated("a1", C1),
                    pause("a1", C1),
                ],
            ),
            Segment(
                answers={"c1": YES},
                events=[*ran("c1"), StepFinished(name="inner"), StepStarted(name="x"), Completed()],
            ),
        ]
    )
    first = [frame["stepName"] for frame in sent(paused) if "stepName" in frame]
    assert first == ["outer", "inner", "inner", "outer"]
    second = [frame["stepName"] for frame in sent(answered) if "stepName" in frame]
    assert second == ["x", "x"]


# --- endings ------------------------------------------------------------------------------------


@pytest.mark.req("R90", "R118", "R129")
@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_b06_a_run_starts_once_and_ends_once(segments: list[Segment]) -> None:
    for moment in play(segments):
        kinds = types(sent(moment))
        assert kinds[0] == "RUN_STARTED"
        assert kinds[-1] in ("RUN_FINISHED", "RUN_ERROR")
        assert sum(kind in ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR") for kind in kinds) == 2


@pytest.mark.req("R118")
def test_b06_a_failure_is_one_neutral_error() -> None:
    frames = run(*free("a1", C1), *ran("c1"), Failed(code="too_many_turns", message="Too many."))
    assert frames[-1] == {"type": "RUN_ERROR", "message": "Too many.", "code": "too_many_turns"}
    assert "RUN_FINISHED" not in types(frames)


def test_a_failure_after_answers_can_end_so_that_the_page_goes_on() -> None:
    failing = Segment(answers={"c1": YES}, events=[*ran("c1"), Failed()])
    _, moment = play([ASKED_ONE, failing])
    adapter = AGUIAdapter(moment.before, run_id="r2", failures="finish")
    sent_bytes = adapter.open() + b"".join(map(adapter.encode, failing.events))
    frames = frames_of(sent_bytes.decode())
    assert types(frames)[-3:] == ["CUSTOM", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert frames[-1]["outcome"] == {"type": "success"}
    said = next(frame for frame in frames if frame["type"] == "CUSTOM")
    assert said["name"] == "signoff.failed"
    assert said["value"] == {"code": "run_failed", "message": "The run failed."}


@pytest.mark.req("R91", "R92")
def test_snapshots_stand_before_the_end_of_every_run_that_paused_or_resumed() -> None:
    for segments in STORIES.values():
        for moment in play(segments):
            kinds = types(sent(moment))
            if moment.after.status == "failed" or not moment.after.asked:
                continue
            assert kinds[-3:-1] == SNAPSHOTS


def test_b01_a_pause_is_told_once() -> None:
    frames = run(*gated("a1", C1), pause("a1", C1))
    assert types(frames) == [*SNAPSHOTS, "RUN_FINISHED"]


def test_b47_the_last_event_alone_can_be_shown_and_answered() -> None:
    (interrupt,) = run(*gated("a1", C1), pause("a1", C1))[-1]["outcome"]["interrupts"]
    assert interrupt["metadata"]["name"] == "delete_file"
    assert interrupt["metadata"]["inputs"] == {"path": "/c1"}
    assert interrupt["responseSchema"]["properties"].keys() == {"approved", "reason"}


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["1.0.0", "0.0.59"])
@pytest.mark.parametrize("story", ["approved", "a second pause"])
def test_a_refused_answer_leaves_the_card_answerable(
    oracle: Oracle, version: str, story: str
) -> None:
    paused, answered, *_ = play(STORIES[story])
    page = Page(oracle, version)  # type: ignore[arg-type]
    page.live(paused)
    refused = AGUIAdapter(
        paused.after, run_id="r1", profile=page.profile, client=STATE, refusal=IncompleteResume()
    )
    before = list(page.pending)
    fold = page.fold(encoded(refused, []))
    assert (fold.error, page.pending) == (None, before)
    assert page.live(answered).error is None
    assert [one["id"] for one in page.pending] == [one.call_id for one in answered.after.open_calls]


@pytest.mark.oracle
@given(events=any_segment())
def test_any_run_is_legal_and_hydrates_as_it_was(oracle: Oracle, events: list[RunEvent]) -> None:
    moment = told([Segment(says="Go", events=events)])
    page = Page(oracle, "1.0.0")
    fold = page.live(moment)
    assert (fold.error, fold.failure) == (None, None)
    shown = [{**one, "error": None} for one in page.messages]
    assert shown == [{**one, "error": None} for one in hydrated(moment.after, "1.0")["messages"]]


def test_text_goes_on_after_reasoning_in_the_same_message() -> None:
    frames = run(
        TextDelta(message_id="a1", delta="One."),
        ReasoningDelta(message_id="a1", delta="Hm"),
        TextDelta(message_id="a1", delta="Two."),
        Completed(),
    )
    assert [frame["messageId"] for frame in frames if frame["type"] == TEXT[0]] == ["a1", "a1"]
