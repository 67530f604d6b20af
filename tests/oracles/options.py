"""What pages are opened with, and how that is told to the Node side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from oracles.sse import JsonObject

Sdk: TypeAlias = Literal["7", "6"]
AgentVersion: TypeAlias = Literal["1.0.0", "0.0.59"]
Predicate: TypeAlias = Literal["approvals", "tools", "approvals-or-tools", "none"]
Goal: TypeAlias = str | int | Mapping[str, Any]


class _WireOptions(TypedDict, total=False):
    headers: Mapping[str, str]
    """Sent with every request, hydration and reconnect included."""
    jar: str
    """Tabs that name the same jar share their cookies, for the life of the process."""
    max_posts: int
    """How often the client may post: 12. One more, and the state is `looped`."""


class ChatOptions(_WireOptions, total=False):
    """What a page of the AI SDK is opened with."""

    chat_id: str
    """The thread id; `chat-1` where it is left out."""
    sdk: Sdk
    messages: Sequence[JsonObject]
    hydrate: bool
    """Read the messages from `GET {api}/{id}` first, as a page does on load."""
    resume: bool
    """Reconnect on opening, as `useChat({resume: true})` does on mount."""
    wait: bool
    """False: do not wait for the end of the stream that `resume` attached to."""
    send_automatically_when: Predicate
    """`approvals-or-tools` where it is left out."""
    tool_outputs: Mapping[str, Any]
    """By tool name: what `onToolCall` answers by itself, through `addToolOutput`."""
    api: str
    """`{base_url}/vercel/chat` where it is left out."""
    body: Mapping[str, Any]
    """Extra members of every body posted."""
    id_prefix: str
    """Ids of messages and streams become `{prefix}1`, `{prefix}2`, … instead of random ones."""


class AgentOptions(_WireOptions, total=False):
    """What a page of `@ag-ui/client` is opened with."""

    thread_id: str
    """`thread-1` where it is left out."""
    version: AgentVersion
    messages: Sequence[JsonObject]
    state: Any
    pending: Sequence[JsonObject]
    tools: Sequence[JsonObject]
    context: Sequence[JsonObject]
    forwarded_props: Mapping[str, Any]


class AgentSettings(TypedDict, total=False):
    """What a page may change on its agent between two runs."""

    messages: Sequence[JsonObject]
    state: Any
    pending: Sequence[JsonObject]
    tools: Sequence[JsonObject]
    context: Sequence[JsonObject]
    forwarded_props: Mapping[str, Any]
    thread_id: str


def told(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was not given: to a client, null is a value."""
    kept = ("answers", "payload", "output", "approved")
    return {name: one for name, one in values.items() if one is not None or name in kept}


def camel(options: Mapping[str, Any]) -> dict[str, Any]:
    """Name options as the Node side does."""
    return {_camel_name(name): value for name, value in options.items()}


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def chat_params(options: Mapping[str, Any]) -> dict[str, Any]:
    """Name the options of a chat as the Node side does."""
    params = camel(options)
    return {"id": params.pop("chatId", "chat-1"), **params}
