"""History as JSON: what is stored is what was said, and what cannot be read is never guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.errors import CorruptRecord
from signoff.events import RunEvent
from signoff.history import Recorder
from signoff.json_text import JsonValue, dumps, parse
from signoff.message_json import message_from_json, message_to_json, part_from_json, part_to_json
from signoff.messages import (
    AssistantMessage,
    CallRecord,
    FilePart,
    JsonMessage,
    Message,
    Part,
    ReasoningPart,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
    last_batch,
    result_message_id,
)
from signoff.outcomes import (
    EXPIRED_TEXT,
    INDETERMINATE_TEXT,
    ExpiredOutcome,
    Indeterminate,
    Outcome,
    Output,
    Rejected,
    ToolError,
    outcome_text,
)
from signoff.suspension import ToolCall
from support.strategies import calls, ids, outcomes, segments, texts

NOON = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
CALL = ToolCall(
    call_id="toolu_01",
    name="delete_file",
    description="Delete a file from the filesystem",
    inputs={"path": "/tmp/old.log"},
)
BATCH = ToolCallMessage(
    id="msg_2",
    seq=2,
    created_at=NOON,
    run_id="run_1",
    calls=(
        CallRecord(call=CALL, asked=True, reason="Deleting a file is irreversible"),
        CallRecord(call=ToolCall(call_id="c2", name="look", inputs={}, raw_arguments="{")),
    ),
)


def results(*records: ResultRecord) -> ToolResultMessage:
    return ToolResultMessage(
        id="msg_2.results", seq=3, created_at=NOON, run_id="run_1", results=records
    )


def entries(message: Message) -> list[JsonMessage]:
    tools = message_to_json(message)["tools"]
    assert isinstance(tools, list)
    return [cast("JsonMessage", item) for item in tools]


@pytest.mark.req("R60")
def test_the_pending_snapshot() -> None:
    assert message_to_json(BATCH) == {
        "id": "msg_2",
        "seq": 2,
        "createdAt": "2026-12-01T09:30:00.000Z",
        "runId": "run_1",
        "role": "assistant",
        "content": [],
        "type": "tool_call",
        "tools": [
            {
                "callId": "toolu_01",
                "name": "delete_file",
                "description": "Delete a file from the filesystem",
                "inputs": {"path": "/tmp/old.log"},
                "approval": "pending",
                "approvalReason": "Deleting a file is irreversible",
                "rejectReason": None,
            },
            {"callId": "c2", "name": "look", "description": "", "inputs": {}, "rawArguments": "{"},
        ],
    }


@pytest.mark.req("R61", "R32")
def test_outcomes_stand_on_the_result_message() -> None:
    message = results(
        ResultRecord(
            call=CALL, outcome=Rejected(reason="no"), message_id="result_1", approval="rejected"
        ),
        ResultRecord(call=CALL, outcome=Output(value={"a": 1}), message_id="result_2"),
        ResultRecord(
            call=CALL, outcome=ToolError(text="broken"), message_id="result_3", approval="approved"
        ),
    )
    document = message_to_json(message)
    assert (document["role"], document["type"]) == ("user", "tool_call_result")
    shown = entries(message)
    said = [{key: item[key] for key in item if key not in entries(BATCH)[0]} for item in shown]
    assert said == [
        {
            "messageId": "result_1",
            "outcome": "rejected",
            "result": outcome_text(Rejected(reason="no")),
        },
        {"messageId": "result_2", "outcome": "output", "result": {"a": 1}},
        {"messageId": "result_3", "outcome": "error", "error": "broken"},
    ]
    assert [item.get("approval") for item in shown] == ["rejected", None, "approved"]
    assert [item.get("rejectReason") for item in shown] == ["no", None, None]


parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=texts),
    st.builds(ReasoningPart, text=texts),
    st.builds(
        FilePart,
        media_type=texts,
        url=st.none() | texts,
        data=st.none() | texts,
        filename=st.none() | texts,
    ),
)


@given(parts)
def test_a_part_reads_back_the_same(part: Part) -> None:
    assert part_from_json(part_to_json(part)) == part


class Base(TypedDict):
    id: str
    seq: int
    created_at: datetime
    run_id: str
    content: tuple[Part, ...]


@st.composite
def messages(draw: st.DrawFn) -> Message:
    base: Base = {
        "id": draw(ids),
        "seq": draw(st.integers(1, 10**9)),
        "created_at": NOON,
        "run_id": draw(texts),
        "content": tuple(draw(st.lists(parts, max_size=3))),
    }
    made = [draw(calls(f"call_{n}")) for n in range(draw(st.integers(1, 3)))]
    kind = draw(st.sampled_from(["user", "assistant", "calls", "results"]))
    if kind == "user":
        return UserMessage(**base)
    if kind == "assistant":
        return AssistantMessage(**base)
    if kind == "calls":
        asked = draw(st.booleans())
        records = tuple(
            CallRecord(
                call=call,
                asked=asked,
                reason=draw(texts) if asked else None,
                runs=draw(st.sampled_from(["server", "browser"])),
            )
            for call in made
        )
        return ToolCallMessage(**base, calls=records)
    return ToolResultMessage(**base, results=tuple(_result(draw(outcomes), call) for call in made))


def _result(outcome: Outcome, call: ToolCall) -> ResultRecord:
    match outcome:
        case Rejected():
            return ResultRecord(call=call, outcome=outcome, message_id="m", approval="rejected")
        case ExpiredOutcome():
            return ResultRecord(call=call, outcome=outcome, message_id="m", approval="expired")
        case _:
            return ResultRecord(call=call, outcome=outcome, message_id="m")


@pytest.mark.req("R59")
@given(messages())
def test_b113_a_message_survives_the_store(message: Message) -> None:
    text = dumps(message_to_json(message))
    assert message_from_json(parse(text, max_depth=100)) == message


@pytest.mark.req("R59")
@given(segments())
def test_b113_what_a_run_said_survives_the_store(events: list[RunEvent]) -> None:
    recorder = Recorder(run_id="run_1", clock=lambda: NOON, next_seq=1)
    for event in events:
        recorder.record(event)
    for message in recorder.messages:
        text = dumps(message_to_json(message))
        assert message_from_json(parse(text, max_depth=100)) == message


@pytest.mark.req("R59")
def test_keys_that_are_optional_may_be_absent() -> None:
    document = message_to_json(BATCH)
    assert message_from_json({**document, "fromALaterVersion": 1}) == BATCH
    call: JsonValue = {"callId": "c", "name": "n", "description": "", "inputs": {}}
    read = message_from_json({**document, "tools": [call]})
    assert isinstance(read, ToolCallMessage)
    assert read.calls == (CallRecord(call=ToolCall(call_id="c", name="n", inputs={})),)


GOOD_CALL: JsonMessage = {"callId": "c", "name": "n", "description": "", "inputs": {}}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"id": None}, id="no-id"),
        pytest.param({"role": "system"}, id="unknown-role"),
        pytest.param({"type": "tool_calls"}, id="unknown-type"),
        pytest.param({"content": "hi"}, id="content-is-text"),
        pytest.param({"content": [{"type": "image"}]}, id="unknown-part"),
        pytest.param({"content": [{"type": "text", "content": None}]}, id="null-text"),
        pytest.param({"createdAt": "soon"}, id="time"),
        pytest.param({"tools": "[]"}, id="tools-encoded-twice"),
        pytest.param({"tools": None}, id="tools-null"),
        pytest.param({"tools": [{**GOOD_CALL, "inputs": "{}"}]}, id="inputs-are-text"),
        pytest.param({"tools": [{**GOOD_CALL, "inputs": None}]}, id="inputs-are-null"),
        pytest.param({"tools": [{**GOOD_CALL, "callId": 1}]}, id="call-id-is-a-number"),
        pytest.param({"tools": [{**GOOD_CALL, "approval": "approved"}]}, id="edited-snapshot"),
        pytest.param({"tools": [{**GOOD_CALL, "runs": "moon"}]}, id="runs-nowhere"),
    ],
)
def test_b112_a_message_of_another_shape_is_a_loud_error(change: JsonMessage) -> None:
    with pytest.raises(CorruptRecord):
        message_from_json({**message_to_json(BATCH), **change})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"outcome": "approved"}, id="unknown-outcome"),
        pytest.param({"outcome": None}, id="no-outcome"),
        pytest.param({"outcome": "error", "error": ["a"]}, id="error-is-a-list"),
        pytest.param({"outcome": "rejected", "rejectReason": True}, id="reason-is-a-bool"),
        pytest.param({"approval": "pending"}, id="still-pending"),
        pytest.param({"approval": "yes"}, id="unknown-approval"),
        pytest.param({"messageId": None}, id="no-message-id"),
    ],
)
def test_b112_a_decision_of_another_shape_is_never_pending_again(change: JsonMessage) -> None:
    record = ResultRecord(
        call=CALL, outcome=Rejected(reason=None), message_id="m", approval="rejected"
    )
    document = message_to_json(results(record))
    entry = entries(results(record))[0]
    assert message_from_json(document) == results(record)
    with pytest.raises(CorruptRecord):
        message_from_json({**document, "tools": [{**entry, **change}]})


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        pytest.param(Output(value="as it is"), "as it is", id="text"),
        pytest.param(Output(value=""), "", id="empty-text"),
        pytest.param(Output(value={"a": [1, None]}), '{"a":[1,null]}', id="json"),
        pytest.param(Output(value=None), "null", id="null"),
        pytest.param(Output(value=False), "false", id="false"),
        pytest.param(ToolError(text="broken"), "broken", id="error"),
        pytest.param(ExpiredOutcome(), EXPIRED_TEXT, id="expired"),
        pytest.param(Indeterminate(), INDETERMINATE_TEXT, id="indeterminate"),
    ],
)
def test_what_the_model_reads(outcome: Outcome, text: str) -> None:
    assert outcome_text(outcome) == text


@pytest.mark.req("R96")
def test_ids_are_derived_from_what_is_stored() -> None:
    assert result_message_id("toolu_01") == "result_toolu_01"


def test_the_newest_batch_until_its_results_are_on_record() -> None:
    user = UserMessage(id="u", seq=1, created_at=NOON, run_id="r")
    said = AssistantMessage(id="a", seq=4, created_at=NOON, run_id="r")
    done = results(ResultRecord(call=CALL, outcome=Output(value=1), message_id="m"))
    assert last_batch((user, BATCH)) is BATCH
    assert last_batch((user, BATCH, done)) is None
    assert last_batch((user, BATCH, done, said)) is None
    assert last_batch((user,)) is None
    assert last_batch(()) is None
