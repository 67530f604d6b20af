"""What a stream owes to the client that asked: tool-bound interrupts, and its own state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracles import Oracle
from oracles.sse import frames_of
from signoff.ag_ui import AGUIAdapter
from signoff.commands import ClientContext
from signoff.errors import AwaitingDecision
from signoff.events import StateSnapshot
from signoff.json_text import JsonValue
from signoff.messages import ToolCallMessage
from signoff.thread import Thread
from support.agui_pages import STATE, Page, encoded, hydrated, sent, types
from support.cases import STORIES
from support.stories import Segment, call, gated, pause, play, told

C1 = call("c1")
CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]
SNAPSHOTS = ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]


# --- tool-bound interrupts ----------------------------------------------------------------------


def test_tool_bound_interrupts_name_calls_that_were_published() -> None:
    paused, answered = play(STORIES["one approved, one rejected"])
    frames = sent(paused, tool_bound_interrupts=True)
    assert types(frames[5:]) == [*CALL, *CALL, *SNAPSHOTS, "RUN_FINISHED"]
    interrupts = frames[-1]["outcome"]["interrupts"]
    assert [(one["reason"], one["id"], one["toolCallId"]) for one in interrupts] == [
        ("tool_call", "c1", "c1"),
        ("tool_call", "c2", "c2"),
    ]
    view = hydrated(paused.after, "1.0", tool_bound=True)
    assert view["interrupts"] == interrupts
    frames = sent(answered, tool_bound_interrupts=True)
    assert "TOOL_CALL_START" not in types(frames)
    assert types(frames)[-3:] == [*SNAPSHOTS, "RUN_FINISHED"]


@pytest.mark.oracle
def test_the_answer_that_copilotkit_writes_as_a_result_does_not_stay(oracle: Oracle) -> None:
    """It puts a tool message of its own beside ``resume``; the closing snapshot puts that right."""
    paused, answered = play(STORIES["approved"])
    page = Page(oracle, "0.0.59")
    page.live(paused, tool_bound=True)
    page.messages.append(
        {"id": "fake", "role": "tool", "toolCallId": "c1", "content": '{"approved":true}'}
    )
    page.live(answered, tool_bound=True)
    assert page.messages == hydrated(answered.after, "0.0", tool_bound=True)["messages"]


def test_a_browser_tool_is_never_published_before_its_answer() -> None:
    paused = told([STORIES["approved"][0]])
    user, batch = paused.after.messages
    assert isinstance(batch, ToolCallMessage)
    calls = tuple(replace(record, runs="browser") for record in batch.calls)
    thread = replace(paused.after, messages=(user, replace(batch, calls=calls)))
    view = hydrated(thread, "1.0", tool_bound=True)
    assert [one["reason"] for one in view["interrupts"]] == ["confirmation"]
    assert not [one for one in view["messages"] if "toolCalls" in one]


# --- state --------------------------------------------------------------------------------------

NOTHING = ClientContext()
EMPTY = ClientContext(state={}, has_state=True)
STATES: dict[str, tuple[JsonValue, ClientContext, bool, list[JsonValue]]] = {
    "nobody has one": (None, NOTHING, False, []),
    "the client's": (None, STATE, False, [{"mine": 1}]),
    "the client's empty one": (None, EMPTY, False, [{}]),
    "the stored one": ({"a": 1}, NOTHING, False, [{"a": 1}]),
    "the stored one, to a page that reloads": ({"a": 1}, EMPTY, False, [{"a": 1}]),
    "never nothing over the client's": ({}, STATE, False, [{"mine": 1}]),
    "never nothing over what is not known": ({}, NOTHING, False, []),
    "refused: the client's": ({"a": 1}, STATE, True, [{"mine": 1}]),
    "refused, none sent: the stored one": ({"a": 1}, NOTHING, True, [{"a": 1}]),
}


@pytest.mark.req("R92")
@pytest.mark.parametrize(
    ("stored", "client", "is_refused", "expected"), STATES.values(), ids=STATES.keys()
)
def test_a_state_is_never_overwritten_with_nothing(
    stored: JsonValue, client: ClientContext, is_refused: bool, expected: list[JsonValue]
) -> None:
    thread = Thread(thread_id="t1", status="completed", state=stored)
    refusal = AwaitingDecision() if is_refused else None
    adapter = AGUIAdapter(thread, run_id="r1", client=client, refusal=refusal)
    frames = frames_of(encoded(adapter, []).decode())
    assert [frame["snapshot"] for frame in frames if "snapshot" in frame] == expected


def test_the_agents_state_is_what_later_snapshots_say() -> None:
    events = [StateSnapshot(value={"b": 2}), *gated("a1", C1), pause("a1", C1)]
    frames = sent(told([Segment(says="Go", events=events)]))
    assert [frame["snapshot"] for frame in frames if "snapshot" in frame] == [{"b": 2}, {"b": 2}]
