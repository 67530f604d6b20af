"""Whatever a model calls and a person answers: nothing unapproved runs, and nothing runs twice."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.decisions import Approve, Decision, Reject
from signoff.events import Completed, Failed, RunEvent, Suspended, ToolResult, is_terminal
from signoff.message_json import message_from_json, message_to_json
from signoff.messages import ToolCallMessage, ToolResultMessage
from signoff.policy import Gate, Mode
from signoff.sources.models.base import ModelCall, ModelEvent, ModelText
from signoff.sources.tool_loop import ToolLoop
from support.agents import ListModel, MemoryThread
from support.shop import Shop

NAMES = ["free", "gated", "by_input", "unknown"]
ARGUMENTS = ["{}", '{"risky":true}', '{"risky":false}', "", "null", '{"cut']

calls = st.builds(
    ModelCall,
    id=st.sampled_from(["", "c1", "c2", "c3"]),
    name=st.sampled_from(NAMES),
    arguments=st.sampled_from(ARGUMENTS),
)
responses: st.SearchStrategy[list[ModelEvent]] = st.lists(
    calls | st.just(ModelText(delta="and ")), max_size=4
)
modes: st.SearchStrategy[Mode] = st.sampled_from(["off", "normal", "protective"])
decisions: st.SearchStrategy[Decision] = st.just(Approve()) | st.builds(
    Reject, reason=st.none() | st.just("no")
)


@pytest.mark.req("R13", "R57", "R76")
@given(st.lists(responses, max_size=4), modes, st.data())
def test_nothing_unapproved_runs_and_nothing_runs_twice(
    script: list[list[ModelEvent]], mode: Mode, data: st.DataObject
) -> None:
    asyncio.run(_play(script, mode, data))


async def _play(script: list[list[ModelEvent]], mode: Mode, data: st.DataObject) -> None:
    shop = Shop()
    tools = [
        shop.tool("free", False),
        shop.tool("gated", True),
        shop.tool("by_input", lambda inputs: bool(inputs.get("risky"))),
    ]
    loop = ToolLoop(ListModel(*script, *[[] for _ in range(5)]), tools=tools)
    thread = MemoryThread(loop, gate=Gate(mode=mode))
    said: list[RunEvent] = await thread.say("go")
    answers: dict[str, Decision] = {}
    while thread.suspension is not None:
        _check_segment(said)
        before = list(shop.ran)
        open_calls = [pending.call_id for pending in thread.suspension.calls]
        assert not set(open_calls) & set(answers), "a decided call is never asked about again"
        given_now = {call_id: data.draw(decisions) for call_id in open_calls}
        answers |= given_now
        thread.messages = tuple(
            message_from_json(message_to_json(message)) for message in thread.messages
        )
        said = await thread.answer(given_now)
        assert shop.ran[: len(before)] == before
    _check_segment(said)
    _check_history(thread, answers)


def _check_segment(events: list[RunEvent]) -> None:
    assert [is_terminal(event) for event in events] == [False] * (len(events) - 1) + [True]
    assert isinstance(events[-1], (Completed, Failed, Suspended))
    results = [event.call_id for event in events if isinstance(event, ToolResult)]
    assert len(results) == len(set(results))


def _check_history(thread: MemoryThread, answers: dict[str, Decision]) -> None:
    made = [
        record
        for message in thread.messages
        if isinstance(message, ToolCallMessage)
        for record in message.calls
    ]
    ended = [
        record.call.call_id
        for message in thread.messages
        if isinstance(message, ToolResultMessage)
        for record in message.results
    ]
    assert sorted(ended) == sorted(record.call.call_id for record in made)
    assert len(set(ended)) == len(ended)
    begun = Counter(call_id for what, call_id in thread.ledger.log if what == "begin")
    assert set(begun.values()) <= {1}
    for record in made:
        if record.asked:
            approved = isinstance(answers[record.call.call_id], Approve)
            assert (record.call.call_id in begun) is approved
