"""What a request asks for, after a translator read its body: all that the engine is called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .decisions import DecisionMap
from .errors import Refusal
from .json_text import JsonObject, JsonValue
from .messages import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInput:
    """One message a person wrote. ``id`` is the client's; None where it has none."""

    content: tuple[Part, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientContext:
    """What a client sends along with a request; kept with the run, never trusted as history.

    Attributes:
        state: the client's shared state; ``has_state`` tells "none sent" from null.
        tools: browser tools the client declares, as JSON.
        context: pieces of context for the model, as JSON.
        forwarded_props: anything else for the agent.
    """

    state: JsonValue = None
    has_state: bool = False
    tools: tuple[JsonObject, ...] = ()
    context: tuple[JsonObject, ...] = ()
    forwarded_props: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage:
    """Start a run with one or more new user messages.

    A known id with the same content is a repeat; with other content, or with ``regenerate``, it
    supersedes what followed that message.
    """

    messages: tuple[UserInput, ...]
    regenerate: bool = False
    client: ClientContext = field(default_factory=ClientContext)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """Answer pending calls.

    Attributes:
        decisions: callId → decision; never empty.
        echo: entries that differ from what is recorded are echoes of a page's past, not
            revisions (Vercel restates everything): they are skipped.
        complete: every open call has to be answered (AG-UI's ``resume[]``).
        messages: user messages beside the answers, read in the same continuation.
    """

    decisions: DecisionMap
    echo: bool = False
    complete: bool = False
    messages: tuple[UserInput, ...] = ()
    client: ClientContext = field(default_factory=ClientContext)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Show the thread as it is, and follow the running segment if there is one. Changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """The request cannot be taken, and the page has to be told by a stream (design §7)."""

    refusal: Refusal


Command: TypeAlias = SendMessage | Decide | Connect | Refuse

Headers: TypeAlias = Mapping[str, str]
"""Response headers of a stream."""
