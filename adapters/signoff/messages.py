"""A thread's history: append-only messages, in the JSON that is stored and that clients read.

    {"id": "msg_1", "seq": 1, "createdAt": "2026-12-01T09:30:00.000Z", "runId": "run_1",
     "role": "user", "content": [{"type": "text", "content": "Delete the old log"}]}

    {"id": "msg_2", …, "role": "assistant", "content": [], "type": "tool_call", "tools": [
      {"callId": "toolu_01", "name": "delete_file", "description": "Delete a file …",
       "inputs": {"path": "/tmp/old.log"}, "approval": "pending",
       "approvalReason": "Deleting a file is irreversible", "rejectReason": null}]}

    {"id": "msg_2.results", …, "role": "user", "content": [], "type": "tool_call_result", "tools": [
      {"callId": "toolu_01", …, "approval": "approved", "outcome": "output",
       "result": {"deleted": true}, "messageId": "result_toolu_01"}]}

The pending snapshot is written once and never edited (R60); outcomes stand on the
``tool_call_result`` message after it, one entry per call (R61).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from .json_text import JsonValue
from .outcomes import Outcome
from .suspension import ToolCall
from .tools import RunsIn

Approval: TypeAlias = Literal["approved", "rejected", "expired"]
"""How a gated call was answered; None on a record means that nobody was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPart:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file by ``url``, or by ``data`` (base64)."""

    media_type: str
    url: str | None = None
    data: str | None = None
    filename: str | None = None


Part: TypeAlias = TextPart | ReasoningPart | FilePart


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBase:
    """What every message has.

    Attributes:
        id: unique in the thread; a user message keeps its client's id.
        seq: place in the thread, from 1.
        created_at: aware UTC, whole milliseconds.
        run_id: the run it belongs to.
        content: its parts, in order.
    """

    id: str
    seq: int
    created_at: datetime
    run_id: str
    content: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        match self.content:
            case (TextPart(text=text),):
                return text
            case content:
                return "".join(part.text for part in content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(MessageBase):
    """What a person wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage(MessageBase):
    """What the model said, without calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call as the model proposed it and the gate judged it.

    Attributes:
        call: the call with its effective inputs.
        asked: whether a person was asked about it when the batch was judged.
        reason: why, if asked.
        runs: where its tool runs.
    """

    call: ToolCall
    asked: bool = False
    reason: str | None = None
    runs: RunsIn = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallMessage(MessageBase):
    """A batch of calls; the text that came with them is its content."""

    calls: tuple[CallRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRecord:
    """How one call ended.

    Attributes:
        call: the call, as it ran or would have run.
        outcome: how it ended.
        message_id: the id its tool message has on AG-UI, ``result_{callId}`` for server results.
        approval: how a person answered, None where nobody was asked.
    """

    call: ToolCall
    outcome: Outcome
    message_id: str
    approval: Approval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultMessage(MessageBase):
    """The outcomes of a batch, in recorded order."""

    results: tuple[ResultRecord, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolCallMessage | ToolResultMessage


def last_batch(messages: tuple[Message, ...]) -> ToolCallMessage | None:
    """The newest batch of calls if no outcome of it is on record yet; None otherwise."""
    for message in reversed(messages):
        if isinstance(message, ToolCallMessage):
            return message
        if not isinstance(message, AssistantMessage):
            return None
    return None


def result_message_id(call_id: str) -> str:
    """The id of a server result's tool message on AG-UI: derived, so that it is equal after reload
    (R96)."""
    return f"result_{call_id}"


JsonMessage: TypeAlias = dict[str, JsonValue]
