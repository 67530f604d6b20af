"""A thread as it stands in the store: what every adapter hydrates from and starts a stream on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .decisions import Decision
from .json_text import JsonValue
from .messages import Message, UserMessage
from .suspension import PendingCall, Suspension

ThreadStatus: TypeAlias = Literal[
    "new",
    "running",
    "awaiting_approval",
    "awaiting_input",
    "awaiting_results",
    "completed",
    "failed",
    "cancelled",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """What a person was shown of one call, and the answer on record, if there is one."""

    pending: PendingCall
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One thread at one moment.

    While a segment runs, ``messages`` end where that segment began, ``suspension`` is the one it
    continues (None for a segment started by a message) and ``decisions`` are its answers: exactly
    what a late reader needs before the segment's first event.

    Attributes:
        thread_id: the client's id.
        internal_id: the server's id, made when the thread was; "" for a thread that does not exist
            (yet).
        status: see ``ThreadStatus``; ``new`` also for a thread that is not yours.
        messages: history in order, without what a regenerate superseded.
        run_id: the newest run.
        assistant_ids: run id → the one UIMessage id that run has on Vercel, for every run.
        suspension: the open suspension, or the one the running segment continues.
        decisions: answers to the calls of the open batch, complete or not.
        asked: callId → what was asked, for every call of the thread that a person was ever asked
            about, in the order of asking. Vercel's parts keep the request after the answer.
        queued: user messages that came beside the last answers and follow the batch's results.
        state: the client's shared state, None where no client ever sent one.
        failure: (code, message) of the newest run, if it failed.
    """

    thread_id: str
    internal_id: str = ""
    status: ThreadStatus = "new"
    messages: tuple[Message, ...] = ()
    run_id: str | None = None
    assistant_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    suspension: Suspension | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict[str, Decision])
    asked: Mapping[str, AskedCall] = field(default_factory=dict[str, AskedCall])
    queued: tuple[UserMessage, ...] = ()
    state: JsonValue = None
    failure: tuple[str, str] | None = None

    @property
    def open_calls(self) -> tuple[PendingCall, ...]:
        """The calls that still wait for a person, in the model's order; none while running."""
        if self.suspension is None or self.status == "running":
            return ()
        return tuple(call for call in self.suspension.calls if call.call_id not in self.decisions)

    @property
    def answered_calls(self) -> tuple[tuple[PendingCall, Decision], ...]:
        """The calls of an open suspension that have an answer; none while running, when the answers
        are being carried out."""
        if self.suspension is None or self.status == "running":
            return ()
        return tuple(
            (call, self.decisions[call.call_id])
            for call in self.suspension.calls
            if call.call_id in self.decisions
        )
