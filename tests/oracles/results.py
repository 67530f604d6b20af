"""What the oracles answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from oracles.sse import JsonObject, frames_of


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class ClientError(_Answer):
    """What a client threw: `name` is the class (`AI_TypeValidationError`, `Error`, …)."""

    name: str
    message: str
    status: int | None = None
    payload: Any = None


class Exchange(_Answer):
    """One request of a client and the reply to it."""

    method: str
    url: str
    request_headers: dict[str, str]
    body: Any
    """The body posted, as JSON."""
    status: int | None
    """`None` where no response came."""
    response_headers: dict[str, str]
    text: str
    """The reply as it arrived, also behind the point where the client gave up."""
    complete: bool
    """Whether the reply was read to its end."""
    failure: str | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def frames(self) -> list[JsonObject]:
        return frames_of(self.text)


class VercelFold(_Answer):
    message: JsonObject | None
    """The last UIMessage; the one given, where no frame changed it."""
    snapshots: int
    chunks: list[str]
    """The types of the chunks that passed the client's schema."""
    on_data: list[JsonObject]
    error: ClientError | None


class _Live(_Answer):
    posts: int
    """Posts to the chat itself: `stop` and hydration are not counted."""
    looped: bool
    """Whether the client would have posted more often than `max_posts` allows."""
    exchanges: list[Exchange]
    cookies: dict[str, str]
    warnings: list[str]

    def posted(self) -> list[Exchange]:
        """Return the posts in the order of their sending."""
        return [one for one in self.exchanges if one.method == "POST"]


class Finish(_Answer):
    is_abort: bool
    is_disconnect: bool
    is_error: bool
    finish_reason: str | None = None


class ChatState(_Live):
    """A tab of the AI SDK's `Chat`."""

    id: str
    status: str
    """`ready`, `submitted`, `streaming` or `error`."""
    error: ClientError | None
    """The chat's own error, which its page shows."""
    failure: ClientError | None
    """What the last action's promise was rejected with."""
    messages: list[JsonObject]
    invalid: ClientError | None
    """What `validateUIMessages` says of `messages` as JSON; `None` where they are valid."""
    on_data: list[JsonObject]
    tool_calls: list[JsonObject]
    """What `onToolCall` was called with."""
    finishes: list[Finish]

    def tool_parts(self) -> list[JsonObject]:
        """Return all tool parts of all messages."""
        parts = [part for message in self.messages for part in message["parts"]]
        return [part for part in parts if "toolCallId" in part]

    def part(self, call_id: str) -> JsonObject:
        """Return the one part of a call; more than one is what the client shows twice."""
        found = [part for part in self.tool_parts() if part["toolCallId"] == call_id]
        assert len(found) == 1, f"{len(found)} parts of {call_id}: {found}"
        return found[0]

    def text(self) -> str:
        """Return the text of the last message, without a break between its parts."""
        parts = self.messages[-1]["parts"]
        return "".join(part["text"] for part in parts if part["type"] == "text")


class RunFinish(_Answer):
    """What `onRunFinishedEvent` was called with."""

    outcome: str | None = None
    interrupts: list[JsonObject] | None = None
    pending_tool_call_ids: list[str] | None = None


class RunEnd(_Answer):
    resolved: bool | None
    error: ClientError | None
    finishes: list[RunFinish]


class AgentFold(_Answer):
    """An agent after one stream; the events are those that passed the client's verification."""

    messages: list[JsonObject]
    state: Any
    pending_interrupts: list[JsonObject]
    events: list[JsonObject]
    customs: list[JsonObject]
    run_errors: list[JsonObject]
    """RUN_ERROR events: `runAgent` resolves all the same."""
    finishes: list[RunFinish]
    failure: ClientError | None
    """What `onRunFailed` was called with: a stream that broke the protocol, or an HTTP error."""
    warnings: list[str]
    """What the client printed: 1.0.0 repairs some frames and says so only here."""
    resolved: bool | None
    """Whether the promise of `runAgent` was resolved; `None` while it is open."""
    error: ClientError | None
    """What the promise was rejected with."""

    def event_types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def pending_ids(self) -> list[str]:
        return [interrupt["id"] for interrupt in self.pending_interrupts]


class AgentState(AgentFold, _Live):
    """A tab with a live HttpAgent; events, errors and finishes are those of its newest run."""

    thread_id: str
    running: bool
    runs: list[RunEnd]
