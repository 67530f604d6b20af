"""The decision map: only the accepted forms, whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.decisions import (
    Approve,
    Decision,
    Reject,
    decision_json,
    parse_decision,
    parse_decisions,
    reject,
    rejection_text,
    same_decision,
)
from signoff.errors import InvalidDecision
from signoff.json_text import JsonValue
from support.strategies import json_values, texts

decisions: st.SearchStrategy[Decision] = st.just(Approve()) | st.builds(
    Reject, reason=st.none() | texts.filter(bool)
)

FORMS = [
    pytest.param("approve", Approve(), id="approve"),
    pytest.param("reject", Reject(), id="reject"),
    pytest.param(["reject", "no"], Reject(reason="no"), id="reject-with-reason"),
    pytest.param(["reject", ""], Reject(), id="empty-reason-is-none"),
    pytest.param(["reject", "  two\n"], Reject(reason="  two\n"), id="reason-as-typed"),
]


@pytest.mark.req("R25", "R124")
@pytest.mark.parametrize(("value", "decision"), FORMS)
def test_accepted_forms(value: JsonValue, decision: Decision) -> None:
    assert parse_decision("c1", value) == decision
    assert parse_decisions({"c1": value}) == {"c1": decision}


@pytest.mark.req("R25", "R26")
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(True, id="true"),
        pytest.param("yes", id="another-word"),
        pytest.param("Approve", id="another-case"),
        pytest.param(" approve", id="space"),
        pytest.param("", id="empty-text"),
        pytest.param(None, id="null"),
        pytest.param(1, id="number"),
        pytest.param([], id="empty-list"),
        pytest.param(["reject"], id="list-without-reason"),
        pytest.param(["reject", None], id="null-reason"),
        pytest.param(["reject", "a", "b"], id="two-reasons"),
        pytest.param(["approve", "why"], id="approve-with-reason"),
        pytest.param({}, id="empty-object"),
        pytest.param({"decision": "approve"}, id="long-form"),
        pytest.param({"decision": "approve", "inputs": {}}, id="edit"),
        pytest.param({"decision": "approve", "remember": "thread"}, id="standing-rule"),
        pytest.param({"__type__": "Approve"}, id="type-marker"),
    ],
)
def test_b86_anything_else_is_refused_by_name(value: JsonValue) -> None:
    with pytest.raises(InvalidDecision) as caught:
        parse_decisions({"good": "approve", "bad": value})
    assert caught.value.call_id == "bad"
    assert caught.value.code == "invalid_decision"


@pytest.mark.req("R27")
@pytest.mark.parametrize(
    "value",
    [
        pytest.param({}, id="empty"),
        pytest.param([], id="list"),
        pytest.param(None, id="null"),
        pytest.param("approve", id="text"),
        pytest.param([{"c1": "approve"}], id="list-of-maps"),
    ],
)
def test_a_map_that_decides_nothing_is_refused(value: JsonValue) -> None:
    with pytest.raises(InvalidDecision):
        parse_decisions(value)


@given(decisions)
def test_short_form_and_back(decision: Decision) -> None:
    assert parse_decision("c1", decision_json(decision)) == decision


@given(st.dictionaries(texts, json_values))
def test_any_object_is_a_whole_map_or_refused(body: dict[str, JsonValue]) -> None:
    try:
        parsed = parse_decisions(body)
    except InvalidDecision:
        return
    assert parsed.keys() == body.keys()
    assert all(isinstance(decision, (Approve, Reject)) for decision in parsed.values())


@given(decisions, decisions)
def test_the_same_answer_is_the_same_decision(first: Decision, second: Decision) -> None:
    assert same_decision(first, first)
    assert same_decision(first, second) == (decision_json(first) == decision_json(second))


def test_a_note_makes_no_other_decision() -> None:
    assert same_decision(Approve(note="only this once"), Approve())
    assert not same_decision(Approve(note="no"), Reject(reason="no"))
    assert not same_decision(Reject(reason="a"), Reject(reason="b"))


@pytest.mark.req("R32")
@pytest.mark.parametrize(
    ("reason", "instruction"),
    [
        pytest.param(None, "No specific instruction provided", id="none"),
        pytest.param("", "No specific instruction provided", id="empty"),
        pytest.param("use /tmp/new.log", "use /tmp/new.log", id="given"),
        pytest.param("だめ", "だめ", id="another-language"),
    ],
)
def test_b130_the_model_reads_the_rejection_to_the_letter(
    reason: str | None, instruction: str
) -> None:
    assert rejection_text(reason) == (
        "TOOL NOT EXECUTED. The user rejected this action. User instruction: "
        + instruction
        + ". Do not attempt this tool again. Follow the user's instruction or reconsider your plan."
    )


def test_reject_keeps_the_reason_as_it_was_typed() -> None:
    assert reject(" a ") == Reject(reason=" a ")
    assert reject("") == reject(None) == Reject()
