"""Why a run waits: pending calls, the hash that binds an answer, and a suspension's life."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given

from signoff.errors import ConfigurationError
from signoff.json_text import JsonObject, JsonValue
from signoff.suspension import (
    SUSPENSION_LIFE,
    ImpossibleTransition,
    PendingCall,
    Suspension,
    SuspensionEvent,
    SuspensionState,
    ToolCall,
    advance,
    call_hash,
    describe_inputs,
    format_time,
)
from support.strategies import json_objects, texts


def pending(call_id: str, name: str = "delete_file", **inputs: JsonValue) -> PendingCall:
    return PendingCall(
        call=ToolCall(call_id=call_id, name=name, inputs=inputs),
        reason="Deleting a file is irreversible",
        risk="destructive",
    )


def suspend(*calls: PendingCall) -> Suspension:
    return Suspension(kind="approval", message_id="msg_1", calls=calls)


@pytest.mark.req("R57")
@pytest.mark.parametrize(
    "calls",
    [
        pytest.param((), id="no-calls"),
        pytest.param((pending(""),), id="empty-id"),
        pytest.param((pending("c1"), pending("")), id="one-empty-id"),
        pytest.param((pending("c1"), pending("c2"), pending("c1")), id="repeated-id"),
    ],
)
def test_b64_calls_that_could_be_mistaken_cannot_be_suspended(
    calls: tuple[PendingCall, ...],
) -> None:
    with pytest.raises(ConfigurationError):
        suspend(*calls)


def test_b67_two_calls_of_one_tool_are_unrelated() -> None:
    suspension = suspend(pending("c1", room=1), pending("c2", room=2))
    first, second = suspension.get("c1"), suspension.get("c2")
    assert first is not None
    assert second is not None
    assert (first.call.inputs, second.call.inputs) == ({"room": 1}, {"room": 2})
    assert suspension.get("c3") is None
    assert suspension.get("delete_file") is None


def test_the_pending_action_as_everyone_is_shown_it() -> None:
    call = pending("toolu_01", path="/tmp/old.log")
    assert call.to_json() == {
        "id": "toolu_01",
        "name": "delete_file",
        "description": '{\n    "path": "/tmp/old.log"\n}',
        "decision": "pending",
        "feedback": None,
        "reason": "Deleting a file is irreversible",
        "inputs": {"path": "/tmp/old.log"},
        "risk": "destructive",
        "expiresAt": None,
        "allows": [],
        "preview": None,
        "fingerprint": "",
    }


def test_a_deadline_is_shown_with_its_zone() -> None:
    until = datetime(2026, 12, 1, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    call = PendingCall(
        call=ToolCall(call_id="c1", name="a", inputs={}),
        reason="r",
        risk="policy",
        expires_at=until,
        allows=("edit",),
    )
    assert call.to_json()["expiresAt"] == "2026-12-01T09:30:00.000Z"
    assert call.to_json()["allows"] == ["edit"]


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        pytest.param({}, "(no arguments)", id="none"),
        pytest.param({"a": [1]}, '{\n    "a": [\n        1\n    ]\n}', id="four-spaces"),
        pytest.param({"a": "ü"}, '{\n    "a": "ü"\n}', id="as-written"),
        pytest.param({"n": 9007199254740993}, '{\n    "n": 9007199254740993\n}', id="big-integer"),
    ],
)
def test_b121_inputs_for_a_person(inputs: JsonObject, text: str) -> None:
    assert describe_inputs(inputs) == text


def test_times_need_a_zone() -> None:
    assert format_time(datetime(2026, 12, 1, tzinfo=UTC)) == "2026-12-01T00:00:00.000Z"
    with pytest.raises(ConfigurationError):
        format_time(datetime(2026, 12, 1))  # noqa: DTZ001 - that is the case


@pytest.mark.req("R47")
def test_the_hash_is_over_the_compact_json_of_inputs_and_name() -> None:
    text = '{"inputs":{"a":[1,"ü"],"b":null},"name":"pay"}'
    assert call_hash("pay", {"b": None, "a": [1, "ü"]}) == hashlib.sha256(text.encode()).hexdigest()


@given(texts, json_objects)
def test_only_the_order_of_keys_makes_no_difference(
    name: str, inputs: dict[str, JsonValue]
) -> None:
    assert call_hash(name, inputs) == call_hash(name, dict(reversed(inputs.items())))
    assert call_hash(name, inputs) != call_hash(name + "x", inputs)
    assert call_hash(name, inputs) != call_hash(name, {"inputs": inputs})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"n": 1}, {"n": 1.0}, id="integer-and-float"),
        pytest.param({"n": 1}, {"n": True}, id="one-and-true"),
        pytest.param({"n": 2**53}, {"n": 2**53 + 1}, id="neighbours-beyond-2-to-53"),
        pytest.param({"s": "a"}, {"s": "a "}, id="space"),
        pytest.param({"s": "é"}, {"s": "e\u0301"}, id="unicode-forms"),
        pytest.param({"s": None}, {}, id="null-and-absent"),
        pytest.param({"l": [1, 2]}, {"l": [2, 1]}, id="order-in-a-list"),
    ],
)
def test_b78_inputs_that_differ_at_all_have_another_hash(
    one: JsonObject, other: JsonObject
) -> None:
    assert call_hash("pay", one) != call_hash("pay", other)


def test_b82_names_and_inputs_cannot_be_split_another_way() -> None:
    assert call_hash('a","x":1,"y":"', {}) != call_hash("a", {})
    assert call_hash("a\n", {}) != call_hash("a", {})


WAYS = [
    pytest.param(state, event, id=f"{state}-{event}")
    for state in SuspensionState
    for event in SuspensionEvent
]


@pytest.mark.req("R30")
@pytest.mark.parametrize(("state", "event"), WAYS)
def test_every_step_of_a_suspensions_life(state: SuspensionState, event: SuspensionEvent) -> None:
    following = SUSPENSION_LIFE.get((state, event))
    if following is None:
        with pytest.raises(ImpossibleTransition):
            advance(state, event)
    else:
        assert advance(state, event) is following
        assert (following, state) != (SuspensionState.OPEN, SuspensionState.CLAIMED)


@pytest.mark.req("R30")
def test_there_is_no_way_back() -> None:
    ends = {SuspensionState.SETTLED, SuspensionState.ABANDONED}
    assert not any(state in ends for state, _ in SUSPENSION_LIFE)
    assert [
        (state, event)
        for (state, event), following in SUSPENSION_LIFE.items()
        if following is SuspensionState.OPEN
    ] == [(SuspensionState.OPEN, SuspensionEvent.ANSWERED_IN_PART)]
