"""Events folded into messages: the one place where live and stored meet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given

from signoff.decisions import Approve, Decision, Reject
from signoff.events import (
    Completed,
    ReasoningDelta,
    RunEvent,
    Suspended,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
    is_terminal,
)
from signoff.history import Recorder
from signoff.messages import (
    AssistantMessage,
    CallRecord,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
)
from signoff.outcomes import ExpiredOutcome, Output, Rejected, ToolError
from signoff.suspension import PendingCall, Suspension, ToolCall
from support.strategies import segments

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
ONE = ToolCall(call_id="c1", name="look", inputs={})
TWO = ToolCall(call_id="c2", name="delete", inputs={"path": "a"})


def recorder(
    *,
    batch: ToolCallMessage | None = None,
    decisions: dict[str, Decision] | None = None,
    queued: tuple[UserMessage, ...] = (),
) -> Recorder:
    return Recorder(
        run_id="run_1",
        clock=lambda: NOON,
        next_seq=5,
        batch=batch,
        decisions=decisions,
        queued=queued,
    )


def fold(events: list[RunEvent], into: Recorder) -> tuple[Message, ...]:
    for event in events:
        into.record(event)
    return into.messages


def ready(call: ToolCall, *, asks: bool = False) -> ToolCallReady:
    return ToolCallReady(
        message_id="m1",
        call=call,
        disposition="gated" if asks else "run",
        reason="why" if asks else None,
    )


def result(call: ToolCall, outcome: Output | ToolError | Rejected | ExpiredOutcome) -> ToolResult:
    return ToolResult(message_id=f"result_{call.call_id}", call_id=call.call_id, outcome=outcome)


def test_text_and_calls_of_one_response_are_one_message() -> None:
    made = fold(
        [
            ReasoningDelta(message_id="m1", delta="hm"),
            TextDelta(message_id="m1", delta="I "),
            TextDelta(message_id="m1", delta=""),
            TextDelta(message_id="m1", delta="look."),
            ToolCallDelta(message_id="m1", call_id="c1", name="look", delta="{}"),
            ready(ONE),
            ready(TWO),
            ToolCallStarted(call_id="c1"),
            result(ONE, Output(value=1)),
            ToolCallStarted(call_id="c2"),
            result(TWO, ToolError(text="no")),
            TextDelta(message_id="m2", delta="Done."),
            Completed(),
        ],
        recorder(),
    )
    batch, results, said = made
    assert isinstance(batch, ToolCallMessage)
    assert batch.content == (ReasoningPart(text="hm"), TextPart(text="I look."))
    assert batch.text == "I look."
    assert [record.call for record in batch.calls] == [ONE, TWO]
    assert isinstance(results, ToolResultMessage)
    assert results.id == "m1.results"
    assert [record.outcome for record in results.results] == [Output(value=1), ToolError(text="no")]
    assert isinstance(said, AssistantMessage)
    assert [message.seq for message in made] == [5, 6, 7]


@pytest.mark.req("R60", "R61")
def test_a_pause_keeps_the_snapshot_and_results_follow_it() -> None:
    suspension = Suspension(
        kind="approval",
        message_id="m1",
        calls=(PendingCall(call=TWO, reason="why", risk="destructive"),),
    )
    (batch,) = fold(
        [ready(ONE), ready(TWO, asks=True), Suspended(suspension=suspension)], recorder()
    )
    assert isinstance(batch, ToolCallMessage)
    assert batch.calls == (
        CallRecord(call=ONE),
        CallRecord(call=TWO, asked=True, reason="why"),
    )
    beside = UserMessage(
        id="u9", seq=0, created_at=NOON, run_id="x", content=(TextPart(text="and quick"),)
    )
    made = fold(
        [
            ToolCallStarted(call_id="c1"),
            result(ONE, Output(value=1)),
            result(TWO, Rejected(reason="no")),
            TextDelta(message_id="m2", delta="ok"),
            Completed(),
        ],
        recorder(batch=batch, decisions={"c2": Reject(reason="no")}, queued=(beside,)),
    )
    results, user, said = made
    assert isinstance(results, ToolResultMessage)
    assert [(item.call.call_id, item.approval) for item in results.results] == [
        ("c1", None),
        ("c2", "rejected"),
    ]
    assert isinstance(user, UserMessage)
    assert (user.id, user.text, user.seq, user.run_id) == ("u9", "and quick", 6, "run_1")
    assert said.text == "ok"


@pytest.mark.parametrize(
    ("decision", "outcome", "approval"),
    [
        pytest.param(Approve(), Output(value=1), "approved", id="approved"),
        pytest.param(Approve(), ToolError(text="x"), "approved", id="approved-and-failed"),
        pytest.param(Reject(), Rejected(), "rejected", id="rejected"),
        pytest.param(None, ExpiredOutcome(), "expired", id="expired"),
        pytest.param(None, Output(value=1), None, id="not-asked"),
        pytest.param(None, Rejected(reason="before"), "rejected", id="repeat-of-a-rejected-call"),
    ],
)
def test_how_a_call_was_answered(
    decision: Decision | None, outcome: Output | ToolError | Rejected, approval: str | None
) -> None:
    folded = recorder(decisions={} if decision is None else {"c2": decision})
    made = fold([ready(TWO), result(TWO, outcome), Completed()], folded)
    results = made[-1]
    assert isinstance(results, ToolResultMessage)
    assert results.results[0].approval == approval


def test_a_result_counts_once_and_only_for_a_call_of_the_batch() -> None:
    stranger = ToolCall(call_id="c9", name="look", inputs={})
    folded = recorder()
    made = fold(
        [
            ready(ONE),
            result(stranger, Output(value="stranger")),
            result(ONE, Output(value="first")),
            result(ONE, Output(value="second")),
            Completed(),
        ],
        folded,
    )
    results = made[-1]
    assert isinstance(results, ToolResultMessage)
    assert [record.outcome for record in results.results] == [Output(value="first")]


def kinds(messages: tuple[Message, ...]) -> list[type[Message]]:
    return [type(message) for message in messages]


def test_what_is_open_what_is_sealed_and_what_is_stored() -> None:
    folded = recorder()
    folded.record(ready(ONE))
    folded.record(ready(TWO))
    assert folded.open_calls() == (ONE, TWO)
    assert kinds(folded.messages) == []
    folded.seal()
    assert folded.open_calls() == (ONE, TWO)
    assert kinds(folded.unstored) == [ToolCallMessage]
    folded.mark_stored()
    assert kinds(folded.unstored) == []
    folded.record(result(TWO, Output(value=2)))
    assert folded.open_calls() == (ONE,)
    folded.record(result(ONE, Output(value=1)))
    folded.settle()
    folded.settle()
    assert folded.open_calls() == ()
    assert folded.batch is None
    assert kinds(folded.unstored) == [ToolResultMessage]
    results = folded.messages[-1]
    assert isinstance(results, ToolResultMessage)
    # In recorded order, which need not be the model's.
    assert [record.call for record in results.results] == [TWO, ONE]


@pytest.mark.req("R59")
@given(segments())
def test_folding_loses_nothing(events: list[RunEvent]) -> None:
    made = fold(events, recorder())
    texts = "".join(event.delta for event in events if isinstance(event, TextDelta))
    assert "".join(message.text for message in made) == texts
    asked = [event.call for event in events if isinstance(event, ToolCallReady)]
    kept = [
        record.call
        for message in made
        if isinstance(message, ToolCallMessage)
        for record in message.calls
    ]
    assert kept == asked
    outcomes = {event.call_id: event.outcome for event in events if isinstance(event, ToolResult)}
    assert outcomes == {
        record.call.call_id: record.outcome
        for message in made
        if isinstance(message, ToolResultMessage)
        for record in message.results
    }
    assert [message.seq for message in made] == list(range(5, 5 + len(made)))
    assert [is_terminal(event) for event in events] == [False] * (len(events) - 1) + [True]
