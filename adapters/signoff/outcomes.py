"""How one call ended. Every call of a batch has exactly one outcome, also those that never ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from .decisions import rejection_text
from .json_text import JsonValue, dumps

EXPIRED_TEXT = (
    "TOOL NOT EXECUTED. Nobody answered the approval request in time. "
    "Do not attempt this tool again unless the user asks for it."
)
INDETERMINATE_TEXT = (
    "OUTCOME UNKNOWN. The tool was started, but its result was lost. Do not run it again. "
    "Tell the user, and how to check."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The tool ran and returned ``value``."""

    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolError:
    """The call failed, or could not be made; ``text`` is fit for model and person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A person said no. The tool did not run."""

    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredOutcome:
    """Nobody answered in time. The tool did not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indeterminate:
    """The tool was started and its result was lost. It is not run again."""


Outcome: TypeAlias = Output | ToolError | Rejected | ExpiredOutcome | Indeterminate


def outcome_text(outcome: Outcome) -> str:
    """What the model reads, and what an AG-UI ``TOOL_CALL_RESULT`` carries: text as it is, any
    other output as compact JSON."""
    match outcome:
        case Output(value=value):
            return value if isinstance(value, str) else dumps(value)
        case ToolError(text=text):
            return text
        case Rejected(reason=reason):
            return rejection_text(reason)
        case ExpiredOutcome():
            return EXPIRED_TEXT
        case Indeterminate():
            return INDETERMINATE_TEXT
        case _:
            assert_never(outcome)
