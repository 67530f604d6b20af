"""The decision map: callId → decision. Parsed, compared, completed; never executed here.

Short forms, which every channel accepts (design §6)::

    {"toolu_01": "approve", "toolu_02": "reject", "toolu_03": ["reject", "wrong folder"]}

Anything else is refused whole and nothing is staged. The long form (edits, standing rules) is
refused as ``invalid_decision`` until an action ``allows`` it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .errors import InvalidDecision
from .json_text import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Run exactly this call. ``note`` is kept on record; it reaches neither tool nor model."""

    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Do not run this call. ``reason`` is an instruction to the model."""

    reason: str | None = None


Decision: TypeAlias = Approve | Reject
DecisionMap: TypeAlias = Mapping[str, Decision]

_NO_REASON = "No specific instruction provided"


def parse_decisions(value: JsonValue) -> dict[str, Decision]:
    """Read a decision map from a request body.

    Raises:
        InvalidDecision: not an object, empty, or an entry in no accepted form; names the callId.
    """
    if not isinstance(value, Mapping) or not value:
        raise InvalidDecision("Decisions are a non-empty object from callId to decision.")
    return {call_id: parse_decision(call_id, entry) for call_id, entry in value.items()}


def parse_decision(call_id: str, value: JsonValue) -> Decision:
    """Read one short form. ``["reject", ""]`` is ``"reject"``.

    Raises:
        InvalidDecision: any other value.
    """
    match value:
        case "approve":
            return Approve()
        case "reject":
            return Reject()
        case ["reject", str() as reason] if isinstance(value, list):
            return reject(reason)
        case _:
            raise InvalidDecision(call_id=call_id)


def reject(reason: str | None) -> Reject:
    """A rejection; an empty reason is none. The reason is kept as it was typed (R124)."""
    return Reject(reason=reason or None)


def decision_json(decision: Decision) -> JsonValue:
    """The short form of a decision."""
    match decision:
        case Approve():
            return "approve"
        case Reject(reason=None):
            return "reject"
        case Reject(reason=reason):
            return ["reject", reason]


def same_decision(first: Decision, second: Decision) -> bool:
    """Whether two answers say the same of a call. A note on an approval does not make a difference:
    Vercel pages may send one, and a repeat without it is still a repeat."""
    if isinstance(first, Approve) and isinstance(second, Approve):
        return True
    return first == second


def rejection_text(reason: str | None) -> str:
    """What the model reads of a rejected call, to the letter (design §6.4, R32)."""
    return (
        "TOOL NOT EXECUTED. The user rejected this action. User instruction: "
        f"{reason or _NO_REASON}. Do not attempt this tool again. Follow the user's instruction "
        "or reconsider your plan."
    )
