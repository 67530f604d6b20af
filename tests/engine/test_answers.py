"""What a submission means, given what is on record: one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from signoff.commands import Decide
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import (
    AlreadyDecided,
    IncompleteResume,
    InvalidDecision,
    NothingPending,
    Refusal,
    UnknownCall,
    WrongKind,
)
from signoff.suspension import PendingCall, SuspensionKind, SuspensionState
from signoff_server.engine.answers import AnswerPlan, plan_answers
from signoff_server.store.rows import AskedRow, SuspensionRow
from support.sources import call

YES, NO = Approve(), Reject()
BECAUSE = Reject(reason="because")

Record = tuple[Decision | None, str | None]
OPEN: Record = (None, None)
MINE: Record = (YES, "me")
THEIRS: Record = (YES, "them")


def plan(
    decisions: Mapping[str, Decision],
    now: Mapping[str, Record],
    before: Mapping[str, Record] | None = None,
    *,
    suspended: bool = True,
    kind: SuspensionKind = "approval",
    **options: Any,
) -> AnswerPlan:
    """Plan a submission of mine. ``now`` are the calls of the open suspension (of the last one,
    where none is open), ``before`` those of an earlier one."""
    row = SuspensionRow(id="now", kind=kind, message_id="batch", state=SuspensionState.OPEN)
    calls = {
        call_id: AskedRow(
            pending=PendingCall(call=call(call_id), reason="r", risk="destructive"),
            suspension_id=suspension_id,
            message_id="batch",
            hash="",
            decision=decision,
            decided_by=by,
        )
        for suspension_id, records in (("before", before or {}), ("now", now))
        for call_id, (decision, by) in records.items()
    }
    command = Decide(decisions=decisions, **options)
    return plan_answers(command, suspension=row if suspended else None, calls=calls, actor="me")


TWO = {"a": OPEN, "b": OPEN}
HALF = {"a": MINE, "b": OPEN}
OTHERS = {"a": THEIRS, "b": OPEN}
DONE = {"a": MINE, "b": (NO, "them")}
ECHO = {"echo": True}
ALL = {"complete": True}

TAKEN = [
    # decisions, calls now, options, staged, completes, skipped
    pytest.param({"a": YES}, TWO, {}, {"a": YES}, False, (), id="the first of two"),
    pytest.param({"a": YES, "b": NO}, TWO, {}, {"a": YES, "b": NO}, True, (), id="both"),
    pytest.param({"b": NO}, HALF, {}, {"b": NO}, True, (), id="the last one"),
    pytest.param({"a": YES}, {"a": OPEN}, {}, {"a": YES}, True, (), id="the only one"),
    pytest.param({"a": YES}, HALF, {}, {}, False, (), id="a repeat"),
    pytest.param({"a": Approve(note="n")}, HALF, {}, {}, False, (), id="a repeat with a note"),
    pytest.param({"a": YES}, OTHERS, {}, {}, False, (), id="the same as somebody else's"),
    pytest.param({"a": YES, "b": NO}, OTHERS, {}, {"b": NO}, True, (), id="a repeat and the rest"),
    pytest.param({"a": NO}, HALF, {}, {"a": NO}, False, (), id="a revision"),
    pytest.param({"a": BECAUSE}, {"a": (NO, "me"), "b": OPEN}, {}, {"a": BECAUSE}, False, (),
                 id="a revised reason"),
    pytest.param({"a": NO, "b": YES}, HALF, {}, {"a": NO, "b": YES}, True, (),
                 id="a revision and the last one"),
    pytest.param({"a": NO, "b": YES}, HALF, ECHO, {"b": YES}, True, ("a",),
                 id="an echo and the last one"),
    pytest.param({"a": NO}, HALF, ECHO, {}, False, ("a",), id="only an echo"),
    pytest.param({"a": NO}, OTHERS, ECHO, {}, False, ("a",), id="an echo of somebody else's"),
    pytest.param({"a": YES, "b": YES}, TWO, ALL, {"a": YES, "b": YES}, True, (), id="all at once"),
    pytest.param({"b": YES}, HALF, ALL, {"b": YES}, True, (), id="all that was open"),
    pytest.param({"a": YES}, HALF, ALL, {}, False, (), id="a repeat that covers nothing open"),
]  # fmt: skip


@pytest.mark.req("R29", "R30", "R31", "R104")
@pytest.mark.parametrize(("decisions", "now", "options", "stage", "completes", "skipped"), TAKEN)
def test_what_is_taken(
    decisions: dict[str, Decision],
    now: dict[str, Record],
    options: dict[str, Any],
    stage: dict[str, Decision],
    completes: bool,
    skipped: tuple[str, ...],
) -> None:
    assert plan(decisions, now, **options) == AnswerPlan(
        stage=stage, completes=completes, skipped=skipped
    )


SETTLED = [
    pytest.param({"a": YES}, {}, (), id="one of them again"),
    pytest.param({"a": YES, "b": NO}, {}, (), id="all of them again"),
    pytest.param({"a": NO}, ECHO, ("a",), id="an echo"),
    pytest.param({"a": YES}, ALL, (), id="again, by a page that answers all"),
]


@pytest.mark.parametrize(("decisions", "options", "skipped"), SETTLED)
def test_what_is_taken_when_nothing_is_open(
    decisions: dict[str, Decision], options: dict[str, Any], skipped: tuple[str, ...]
) -> None:
    expected = AnswerPlan(stage={}, completes=False, skipped=skipped)
    assert plan(decisions, DONE, suspended=False, **options) == expected


REFUSED = [
    pytest.param({}, TWO, {}, InvalidDecision, None, id="nothing"),
    pytest.param({"x": YES}, TWO, {}, UnknownCall, "x", id="an unknown call"),
    pytest.param({"a": YES, "x": YES}, TWO, {}, UnknownCall, "x", id="one of them unknown"),
    pytest.param({"x": YES}, TWO, ECHO, UnknownCall, "x", id="an unknown call in a pages past"),
    pytest.param({"x": YES}, DONE, {"suspended": False}, NothingPending, "x", id="nothing open"),
    pytest.param({"a": NO}, DONE, {"suspended": False}, AlreadyDecided, "a", id="too late"),
    pytest.param({"a": NO}, OTHERS, {}, AlreadyDecided, "a", id="somebody else's answer"),
    pytest.param({"b": YES, "a": NO}, OTHERS, {}, AlreadyDecided, "a", id="and one to take"),
    pytest.param({"a": YES}, TWO, ALL, IncompleteResume, "b", id="not all"),
    pytest.param({"a": NO}, HALF, ALL, IncompleteResume, "b", id="a revision that is not all"),
    pytest.param({"a": YES}, TWO, {"kind": "browser"}, WrongKind, None, id="a browser's result"),
    pytest.param({"a": YES}, TWO, {"kind": "input"}, WrongKind, None, id="typed input"),
]


@pytest.mark.req("R26", "R104", "R108")
@pytest.mark.parametrize(("decisions", "now", "options", "error", "call_id"), REFUSED)
def test_what_is_refused(
    decisions: dict[str, Decision],
    now: dict[str, Record],
    options: dict[str, Any],
    error: type[Refusal],
    call_id: str | None,
) -> None:
    with pytest.raises(error) as refused:
        plan(decisions, now, **options)
    assert refused.value.call_id == call_id


def test_decisions_of_an_earlier_pause_stand() -> None:
    before: dict[str, Record] = {"old": MINE}
    taken = plan({"old": YES, "a": NO}, {"a": OPEN}, before)
    assert taken == AnswerPlan(stage={"a": NO}, completes=True)
    with pytest.raises(AlreadyDecided):
        plan({"old": NO, "a": NO}, {"a": OPEN}, before)
    echoed = plan({"old": NO, "a": NO}, {"a": OPEN}, before, echo=True)
    assert echoed == AnswerPlan(stage={"a": NO}, completes=True, skipped=("old",))


@pytest.mark.parametrize(
    ("record", "words"), [(YES, "approved already"), (BECAUSE, "rejected already")]
)
def test_b106_the_conflict_tells_what_stands(record: Decision, words: str) -> None:
    with pytest.raises(AlreadyDecided, match=words):
        plan({"a": Reject(reason="other")}, {"a": (record, "them"), "b": OPEN})
