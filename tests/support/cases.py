"""Every way in which a run can go that a page tells apart, as stories."""

from __future__ import annotations

from signoff.decisions import Approve, Reject
from signoff.events import (
    Activity,
    Cancelled,
    Completed,
    Custom,
    Failed,
    ReasoningDelta,
    StateSnapshot,
    StepFinished,
    StepStarted,
    ToolCallDelta,
)
from signoff.json_text import JsonValue
from signoff.outcomes import ExpiredOutcome, Indeterminate, Output, Rejected, ToolError
from support.stories import NO, YES, Segment, call, ended, free, gated, pause, ran, said

C1, C2, C3 = call("c1"), call("c2"), call("c3")
LOOK = call("f1", {"path": "/"}, name="list_files")
DONE = Completed()
VALUES: list[JsonValue] = [None, False, 0, "", {}, [{"a": None}]]

NASTY = call(
    "c:1/é\u2028",
    {
        "path": "a\u2028b\u2029c\u0085d\x00\n\r\ndata: x",
        "big": 2**70,
        "__proto__": {"admin": True},
        "constructor": {"prototype": 1},
        "nested": [{"__proto__": 1}],
    },
    name="tøøl with spaces",
)


def _think(message_id: str, *pieces: str) -> list[ReasoningDelta]:
    return [ReasoningDelta(message_id=message_id, delta=piece) for piece in pieces]


def _asks(*calls: object) -> Segment:
    first = [one for one in (C1, C2, C3) if one in calls]
    return Segment(
        says="Delete",
        events=[*said("a1", "I will ", "delete."), *gated("a1", *first), pause("a1", *first)],
    )


ASKED_ONE = _asks(C1)
ASKED_TWO = _asks(C1, C2)
FINISHED = [*said("a2", "Finished."), DONE]

STORIES: dict[str, list[Segment]] = {
    "text": [Segment(says="Hello", events=[*said("a1", "Hel", "", "lo."), DONE])],
    "reasoning before text": [
        Segment(says="Hi", events=[*_think("a1", "Hm", ""), *said("a1", "Hello."), DONE])
    ],
    "reasoning between text": [
        Segment(
            says="Hi",
            events=[
                *said("a1", "One."),
                *_think("a1", "Hm"),
                *said("a1", "Two."),
                *_think("a1", "So"),
                DONE,
            ],
        )
    ],
    "two turns": [
        Segment(says="Hello", events=[*said("a1", "Hello."), DONE]),
        Segment(says="And?", events=[*said("a2", "Well."), DONE]),
    ],
    "a free call": [
        Segment(
            says="Look",
            events=[*said("a1", "Looking."), *free("a1", LOOK), *ran("f1", ["x"]), *FINISHED],
        )
    ],
    "two free calls, one fails": [
        Segment(
            says="Look",
            events=[
                *free("a1", LOOK, C1),
                *ran("f1", False),
                ended("c1", ToolError(text="The tool failed.")),
                *FINISHED,
            ],
        )
    ],
    "a free call and no word": [
        Segment(says="Look", events=[*free("a1", LOOK), *ran("f1", 0), DONE])
    ],
    "invalid arguments": [
        Segment(
            says="Look",
            events=[
                *free("a1", call("f1", {}, name="list_files")),
                ended("f1", ToolError(text="INVALID ARGUMENTS. No JSON.")),
                *FINISHED,
            ],
        )
    ],
    "a repeated rejection": [
        Segment(
            says="Delete",
            events=[*free("a1", C1), ended("c1", Rejected(reason="never")), *FINISHED],
        )
    ],
    "arguments as they are written": [
        Segment(
            says="Look",
            events=[
                *said("a1", "Looking."),
                ToolCallDelta(message_id="a1", call_id="f1", name="list_files", delta='{"path"'),
                ToolCallDelta(message_id="a1", call_id="f1", name="list_files", delta=': "/"}'),
                *free("a1", LOOK),
                *ran("f1", "listing"),
                *FINISHED,
            ],
        )
    ],
    "arguments rewritten": [
        Segment(
            says="Look",
            events=[
                ToolCallDelta(message_id="a1", call_id="f1", name="list_files", delta='{"pa'),
                *free("a1", LOOK),
                *ran("f1"),
                *FINISHED,
            ],
        )
    ],
    "approved": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), *FINISHED])],
    "approved with a note": [
        ASKED_ONE,
        Segment(answers={"c1": Approve(note="go on")}, events=[*ran("c1"), *FINISHED]),
    ],
    "rejected": [
        ASKED_ONE,
        Segment(answers={"c1": NO}, events=[ended("c1", Rejected()), *FINISHED]),
    ],
    "rejected with a reason": [
        ASKED_ONE,
        Segment(
            answers={"c1": Reject(reason=" not now ")},
            events=[ended("c1", Rejected(reason=" not now ")), *FINISHED],
        ),
    ],
    "one approved, one rejected": [
        ASKED_TWO,
        Segment(
            answers={"c1": YES, "c2": Reject(reason="not now")},
            events=[*ran("c1"), ended("c2", Rejected(reason="not now")), *FINISHED],
        ),
    ],
    "three, the middle one rejected": [
        _asks(C1, C2, C3),
        Segment(
            answers={"c1": YES, "c2": NO, "c3": YES},
            events=[*ran("c1"), ended("c2", Rejected()), *ran("c3"), *FINISHED],
        ),
    ],
    "approved and no word": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), DONE])],
    "free siblings of a gated call": [
        Segment(
            says="Delete",
            events=[
                *free("a1", LOOK),
                *gated("a1", C1),
                *free("a1", C2),
                pause("a1", C1),
            ],
        ),
        Segment(
            answers={"c1": YES},
            events=[
                *ran("f1", ["x"]),
                *ran("c1"),
                ended("c2", ToolError(text="INVALID ARGUMENTS. No path.")),
                *FINISHED,
            ],
        ),
    ],
    "siblings asked about on the way": [
        Segment(
            says="Delete",
            events=[*free("a1", C3, LOOK), *gated("a1", C1), pause("a1", C1)],
        ),
        Segment(answers={"c1": YES}, events=[pause("a1", C3)]),
        Segment(
            answers={"c3": NO},
            events=[ended("c3", Rejected()), *ran("f1", None), *ran("c1"), *FINISHED],
        ),
    ],
    "a second pause": [
        ASKED_TWO,
        Segment(
            answers={"c1": YES, "c2": NO},
            events=[
                *ran("c1"),
                ended("c2", Rejected()),
                *said("a2", "One more."),
                *gated("a2", C3),
                pause("a2", C3),
            ],
        ),
        Segment(answers={"c3": YES}, events=[*ran("c3"), *said("a3", "All done."), DONE]),
    ],
    "a second pause without a word": [
        ASKED_ONE,
        Segment(answers={"c1": YES}, events=[*ran("c1"), *gated("a2", C2), pause("a2", C2)]),
        Segment(answers={"c2": YES}, events=[*ran("c2"), *said("a3", "All done."), DONE]),
    ],
    "approved, and it fails": [
        ASKED_ONE,
        Segment(
            answers={"c1": YES},
            events=[ended("c1", ToolError(text="The tool failed.")), *FINISHED],
        ),
    ],
    "approved, and the result is lost": [
        ASKED_ONE,
        Segment(answers={"c1": YES}, events=[ended("c1", Indeterminate()), *FINISHED]),
    ],
    "expired": [
        ASKED_ONE,
        Segment(answers={"c1": YES}, events=[ended("c1", ExpiredOutcome()), *FINISHED]),
    ],
    "cancelled in its text": [
        Segment(says="Hello", events=[*said("a1", "Hel"), Cancelled()]),
    ],
    "cancelled at once": [Segment(says="Hello", events=[Cancelled()])],
    "cancelled between two approved calls": [
        ASKED_TWO,
        Segment(
            answers={"c1": YES, "c2": YES},
            events=[*ran("c1"), ended("c2", ToolError(text="TOOL NOT EXECUTED.")), Cancelled()],
        ),
    ],
    "failed in its text": [
        Segment(says="Hello", events=[*said("a1", "Hel"), Failed()]),
    ],
    "failed after an approved call": [
        ASKED_ONE,
        Segment(answers={"c1": YES}, events=[*ran("c1"), Failed(message="The run failed.")]),
    ],
    "an output of every kind": [
        Segment(
            says="Look",
            events=[
                *free("a1", *(call(f"f{place}") for place in range(len(VALUES)))),
                *(ended(f"f{place}", Output(value=value)) for place, value in enumerate(VALUES)),
                *FINISHED,
            ],
        )
    ],
    "awkward strings, numbers and keys": [
        Segment(
            says="a\u2028b",
            events=[
                *said("a1", 'x\u2028"__proto__": {}\u0085', "\x00\U0001f600\r\n\n"),
                *gated("a1", NASTY),
                pause("a1", NASTY),
            ],
        ),
        Segment(
            answers={NASTY.call_id: Reject(reason="\u2029\n")},
            events=[ended(NASTY.call_id, Rejected(reason="\u2029\n")), *FINISHED],
        ),
    ],
    "portable events": [
        Segment(
            says="Hello",
            events=[
                StepStarted(name="plan", metadata={"depth": 1}),
                *said("a1", "Hel"),
                Activity(id="act", type="search", data={"hits": 2}),
                Custom(name="weather", value={"__proto__": 1}),
                StateSnapshot(value={"a": 1}),
                *said("a1", "lo."),
                StepFinished(name="plan"),
                DONE,
            ],
        )
    ],
}
