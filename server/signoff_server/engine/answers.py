"""What a submission of decisions means, given what is on record. Pure: the engine calls it inside
the transaction that carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from signoff.commands import Decide
from signoff.decisions import Approve, Decision, Reject, same_decision
from signoff.errors import (
    AlreadyDecided,
    IncompleteResume,
    InvalidDecision,
    NothingPending,
    UnknownCall,
    WrongKind,
)

from ..store.rows import AskedRow, SuspensionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlan:
    """What to do with a submission.

    Attributes:
        stage: answers to keep.
        completes: whether they are the last ones, so that the run goes on.
        skipped: callIds of echoes: entries that differ from the record and were left out.
    """

    stage: Mapping[str, Decision]
    completes: bool = False
    skipped: tuple[str, ...] = ()


def plan_answers(
    command: Decide,
    *,
    suspension: SuspensionRow | None,
    calls: Mapping[str, AskedRow],
    actor: str,
) -> AnswerPlan:
    """Judge every entry; one that cannot be taken refuses them all (R26).

    Args:
        command: the submission.
        suspension: the thread's open suspension, None where it has none.
        calls: every known call among the submission's ids, and every call of the suspension.
        actor: who answers. Only the author of an answer may revise it.

    Raises:
        InvalidDecision: no entries.
        NothingPending: an unknown id, and nothing is open.
        UnknownCall: an unknown id, or a call of the batch that nobody was asked about.
        WrongKind: the thread waits for something other than approvals.
        AlreadyDecided: an entry differs from a decision that stands.
        IncompleteResume: the submission has to answer every open call and does not.
    """
    if not command.decisions:
        raise InvalidDecision("Decisions are a non-empty object from callId to decision.")
    stage: dict[str, Decision] = {}
    skipped: list[str] = []
    for call_id, decision in command.decisions.items():
        record = calls.get(call_id)
        if record is None:
            raise (UnknownCall if suspension else NothingPending)(call_id=call_id)
        if record.decision is not None and same_decision(record.decision, decision):
            continue
        if _may_stage(record, suspension, actor, echo=command.echo):
            stage[call_id] = decision
        elif command.echo:
            skipped.append(call_id)
        else:
            raise _already_decided(call_id, record.decision)
    if suspension is None:
        return AnswerPlan(stage={}, skipped=tuple(skipped))
    if stage and suspension.kind != "approval":
        raise WrongKind()
    missing = _undecided(suspension, calls, stage)
    if missing and stage and command.complete:
        raise IncompleteResume(call_id=missing[0])
    return AnswerPlan(stage=stage, completes=not missing, skipped=tuple(skipped))


def _may_stage(
    record: AskedRow, suspension: SuspensionRow | None, actor: str, *, echo: bool
) -> bool:
    if suspension is None or record.suspension_id != suspension.id:
        return False
    if record.decision is None:
        return True
    return not echo and record.decided_by == actor


def _already_decided(call_id: str, decision: Decision | None) -> AlreadyDecided:
    """The conflict tells what stands (B106)."""
    match decision:
        case Approve():
            return AlreadyDecided("This call has been approved already.", call_id=call_id)
        case Reject():
            return AlreadyDecided("This call has been rejected already.", call_id=call_id)
        case None:
            return AlreadyDecided(call_id=call_id)


def _undecided(
    suspension: SuspensionRow, calls: Mapping[str, AskedRow], stage: Mapping[str, Decision]
) -> list[str]:
    return [
        call_id
        for call_id, record in calls.items()
        if record.suspension_id == suspension.id
        and record.decision is None
        and call_id not in stage
    ]
