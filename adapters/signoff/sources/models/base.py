"""What the tool loop asks a model, and what a model answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ...messages import Message
from ...tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One model call.

    Attributes:
        history: the thread's messages; every call in it has its outcome.
        tools: what the model may call.
        instructions: the system prompt, if there is one.
    """

    history: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelText:
    """A piece of the answer."""

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReasoning:
    """A piece of what the model thinks."""

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallDelta:
    """A piece of a call. Pieces belong together by ``key`` and by nothing else: those of parallel
    calls come interleaved, or one call after the other without an end between (B122).

    Attributes:
        key: tells the calls of one response apart, such as the provider's index.
        id: the model's id of the call; "" where this piece has none.
        name: the tool, whole; "" where this piece has none.
        arguments: the next piece of the argument text.
    """

    key: str
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A whole call. It replaces the pieces that came under the same ``key``.

    Attributes:
        id: the model's id of the call; may be empty.
        name: the tool.
        arguments: JSON text as the model wrote it; "" is no arguments.
        key: see ``ModelCallDelta``; None for a call that did not come in pieces.
    """

    id: str
    name: str
    arguments: str
    key: str | None = None


ModelEvent: TypeAlias = ModelText | ModelReasoning | ModelCallDelta | ModelCall


class Model(Protocol):
    """Answers one request with a stream that ends when the response is complete.

    A stream that raises is a failed response: what it said stays said, its calls are dropped.
    """

    def respond(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]: ...
