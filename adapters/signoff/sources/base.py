"""What drives an agent: the contract between the engine and a run source (design §4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, TypeAlias

from ..commands import ClientContext
from ..decisions import DecisionMap
from ..events import RunEvent
from ..messages import Message, UserMessage
from ..outcomes import Outcome
from ..policy import Gate
from ..principal import Principal
from ..suspension import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """A person wrote something: the newest messages of the history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Every asked call of the open batch is answered.

    ``decisions`` holds the answers of all of them, also of an earlier pause of the same batch.
    ``messages`` came beside the answers: they are read after the batch's results.
    """

    decisions: DecisionMap
    messages: tuple[UserMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recover:
    """The process that ran this died; go on from the ledger and the history."""


RunInput: TypeAlias = UserTurn | Answers | Recover


class Ledger(Protocol):
    """The at-most-once record of a run's calls. Every server-side tool runs between the two."""

    async def begin(self, call: ToolCall) -> Outcome | None:
        """Commit that ``call`` is about to run, together with the model response that asked for it.

        Returns None when it may run now. Returns the outcome on record when it has run before; the
        tool must not run again then.

        Raises:
            NotApproved: the call was asked about and there is no approval of exactly these inputs.
        """
        ...

    async def finish(self, call_id: str, outcome: Outcome) -> None:
        """Commit how the call ended, before the model is told."""
        ...


class CancelSignal(Protocol):
    """Set when someone stopped the run."""

    def is_set(self) -> bool: ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Everything a source gets for one segment.

    Attributes:
        thread_id: the client's id of the thread.
        internal_id: the server's id of the thread, for a framework's own checkpointer.
        run_id: the durable run.
        input: what starts this segment.
        history: the thread's messages, the new user messages included.
        state: what the source gave with the last pause.
        client: tools, state, context and forwarded properties, as stored with the run.
        principal: whose thread it is.
        gate: judges calls.
        ledger: records them.
        cancel: set when the run was stopped; looked at before each model call and each tool.
        new_id: makes an id from a prefix, for messages and for calls that have none.
        used_call_ids: callIds the thread has used beside those in ``history``: what a regenerate
            superseded keeps its ids, and the ledger would take a new call for the old one.
        clock: aware UTC now, for messages that the source itself makes of its events.
    """

    thread_id: str
    internal_id: str
    run_id: str
    input: RunInput
    history: tuple[Message, ...]
    state: bytes | None
    client: ClientContext
    principal: Principal
    gate: Gate
    ledger: Ledger
    cancel: CancelSignal
    new_id: Callable[[str], str]
    used_call_ids: frozenset[str] = frozenset()
    clock: Callable[[], datetime] = _utc_now


class RunSource(Protocol):
    """Drives an agent for one segment: any number of events, then exactly one terminal.

    A stream that ends without a terminal, or raises, is a failed run.
    """

    def run(self, request: RunRequest) -> AsyncIterator[RunEvent]: ...
