"""Run events: the only thing a source emits and an encoder takes (design §4).

A source's stream is any number of events and then exactly one terminal. Calls of one batch come
as ``ToolCallReady`` in the model's order, after the whole batch is judged; the first
``ToolCallStarted`` or ``ToolResult`` after them means that the batch was not held back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .json_text import JsonObject, JsonValue
from .messages import CallRecord
from .outcomes import Outcome
from .suspension import Suspension, ToolCall

Disposition: TypeAlias = Literal["run", "gated", "input", "browser"]
"""What happens to a call next. A ``run`` call still waits while a sibling is ``gated``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer. An empty delta means nothing and is dropped."""

    message_id: str
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    message_id: str
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """Raw argument text as the model writes it. Only for tools that can be neither gated, rewritten
    nor hold secrets, and only while no other tool of the run can hold the batch back: what was
    streamed cannot be taken back."""

    message_id: str
    call_id: str
    name: str
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallReady:
    """A call with its effective inputs. ``message_id`` is the assistant message that holds it;
    ``reason`` is why it is asked about, where the disposition is ``gated``."""

    message_id: str
    call: ToolCall
    disposition: Disposition
    reason: str | None = None

    @property
    def record(self) -> CallRecord:
        """The call as history keeps it."""
        return CallRecord(
            call=self.call,
            asked=self.disposition == "gated",
            reason=self.reason,
            runs="browser" if self.disposition == "browser" else "server",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """How a call ended. ``message_id`` is the id of its tool message on AG-UI:
    ``result_{callId}`` for what the server ran, the client's own id for a browser's result."""

    message_id: str
    call_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSnapshot:
    """The client's shared state, as the agent left it."""

    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    name: str
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    name: str
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Something the agent is doing; a later one with the same id replaces it."""

    id: str
    type: str
    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    name: str
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    state: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended:
    """The run waits. ``state`` is the source's own, opaque, given back on resume."""

    suspension: Suspension
    state: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run ended without an answer. Clients get the stable ``code`` and the neutral text."""

    code: str = "run_failed"
    message: str = "The run failed."
    state: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Someone stopped the run."""

    state: bytes | None = None


Terminal: TypeAlias = Completed | Suspended | Failed | Cancelled
Progress: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | ToolCallReady
    | ToolCallStarted
    | ToolResult
    | StateSnapshot
    | StepStarted
    | StepFinished
    | Activity
    | Custom
)
RunEvent: TypeAlias = Progress | Terminal


def is_terminal(event: RunEvent) -> bool:
    return isinstance(event, (Completed, Suspended, Failed, Cancelled))
