"""Stories of runs as AG-UI clients are sent them, and as their agents end up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

from oracles import AgentFold, Oracle
from oracles.options import AgentVersion
from oracles.sse import JsonObject, frames_of
from signoff.ag_ui import AGUIAdapter, Profile
from signoff.commands import ClientContext
from signoff.errors import Refusal
from signoff.events import RunEvent
from signoff.thread import Thread
from support.stories import Moment

PROFILES: dict[AgentVersion, Profile] = {"1.0.0": "1.0", "0.0.59": "0.0"}
VERSIONS: list[AgentVersion] = ["1.0.0", "0.0.59"]

STATE = ClientContext(state={"mine": 1}, has_state=True)


def encoded(adapter: AGUIAdapter, events: Sequence[RunEvent]) -> bytes:
    """What a client is sent: the segment's frames, or how the thread stands where there is none."""
    opening = adapter.open()
    if not events:
        return opening + adapter.close()
    return opening + b"".join(adapter.encode(event) for event in events)


class Options(TypedDict, total=False):
    client: ClientContext | None
    refusal: Refusal | None
    restate: bool
    tool_bound_interrupts: bool


def sent(
    moment: Moment, *, profile: Profile = "1.0", **options: Unpack[Options]
) -> list[JsonObject]:
    """The frames to the client that started a segment."""
    chosen: Options = {"restate": False, "client": STATE, **options}
    adapter = AGUIAdapter(moment.before, run_id="r1", profile=profile, **chosen)
    return frames_of(encoded(adapter, moment.events).decode())


def types(frames: Sequence[JsonObject]) -> list[str]:
    return [frame["type"] for frame in frames]


def only(frames: Sequence[JsonObject], kind: str) -> JsonObject:
    found = [frame for frame in frames if frame["type"] == kind]
    assert len(found) == 1, found
    return found[0]


def hydrated(thread: Thread, profile: Profile, *, tool_bound: bool = False) -> Any:
    return AGUIAdapter.hydrate(thread, profile=profile, tool_bound_interrupts=tool_bound)


@dataclass
class Page:
    """What one client holds, folded by the real one from stream to stream."""

    oracle: Oracle
    version: AgentVersion
    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    pending: list[JsonObject] = field(default_factory=list[JsonObject])
    state: Any = field(default_factory=lambda: {"mine": 1})

    @property
    def profile(self) -> Profile:
        return PROFILES[self.version]

    @property
    def said(self) -> list[JsonObject]:
        """The messages without activities, which are the page's alone."""
        return [message for message in self.messages if message["role"] != "activity"]

    def live(self, moment: Moment, *, tool_bound: bool = False) -> AgentFold:
        """Start the moment's segment: by a message, or by answers to what is pending."""
        if not moment.before.decisions:
            self.messages.append(hydrated(moment.before, self.profile)["messages"][-1])
        adapter = AGUIAdapter(
            moment.before,
            run_id="r1",
            profile=self.profile,
            client=STATE,
            restate=False,
            tool_bound_interrupts=tool_bound,
        )
        return self.fold(encoded(adapter, moment.events))

    def fold(self, frames: bytes) -> AgentFold:
        fold = self.oracle.agui_fold(
            frames,
            version=self.version,
            initial_messages=self.messages,
            initial_pending=self.pending,
            initial_state=self.state,
        )
        self.messages, self.pending = fold.messages, fold.pending_interrupts
        self.state = fold.state
        return fold
