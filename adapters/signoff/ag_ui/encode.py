"""Run events to AG-UI frames: one reader, one segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from ..adapter import StreamAdapter
from ..commands import ClientContext, Headers
from ..errors import Refusal
from ..events import (
    Activity,
    Cancelled,
    Completed,
    Custom,
    Failed,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    StepFinished,
    StepStarted,
    Suspended,
    Terminal,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from ..json_text import JsonValue
from ..sse import STREAM_HEADERS, data_frame
from ..thread import Thread
from . import hydrate as hydration
from . import translate as translation
from .calls import CallStream
from .steps import StepStream
from .texts import TextStream
from .transcript import Transcript
from .wire import (
    Failures,
    Frame,
    Profile,
    RunOutcome,
    activity,
    custom,
    failed,
    interrupts,
    messages_snapshot,
    refused,
    run_error,
    run_finished,
    run_started,
    state_snapshot,
)


class AGUIAdapter(StreamAdapter):
    """One response to an AG-UI client.

    Args:
        thread: as it stood before the segment, or as it stands.
        run_id: the client's ``runId``, echoed and never looked at (R103).
        profile: what the client understands.
        client: what its request sent along; its state is never overwritten with nothing.
        refusal: why the request was not taken; the client is told, and put right.
        restate: begin with the thread. False for the request that started the segment, from a
            client that has seen the rest.
        seen: the ids of the messages that the client has, in its order.
        tool_bound_interrupts: publish held calls of server tools before they are answered, with
            interrupts of reason ``tool_call``.
        failures: how a run ends that fails after answers. ``run_error`` is AG-UI's own word, but
            CopilotKit drops the card on it and starts no run any more until a reload
            (copilotkit.md §4). ``finish`` says it as ``CUSTOM signoff.failed`` and ends the run.
    """

    translate: Final = staticmethod(translation.translate)
    hydrate: Final = staticmethod(hydration.hydrate)

    __slots__ = (
        "_calls",
        "_ended",
        "_events",
        "_failures",
        "_profile",
        "_refusal",
        "_restate",
        "_run_id",
        "_seen",
        "_state",
        "_steps",
        "_texts",
        "_thread",
        "_tool_bound",
        "_transcript",
    )

    def __init__(
        self,
        thread: Thread,
        *,
        run_id: str,
        profile: Profile = "0.0",
        client: ClientContext | None = None,
        refusal: Refusal | None = None,
        restate: bool = True,
        seen: Sequence[str] = (),
        tool_bound_interrupts: bool = False,
        failures: Failures = "run_error",
    ) -> None:
        self._thread = thread
        self._run_id = run_id
        self._profile: Profile = profile
        self._refusal = refusal
        self._restate = restate or refusal is not None
        self._seen = seen
        self._tool_bound = tool_bound_interrupts
        self._failures: Failures = failures
        self._state = _state_of(thread, client or ClientContext(), refused=refusal is not None)
        self._transcript = Transcript(thread, tool_bound=tool_bound_interrupts)
        self._texts = TextStream()
        self._calls = CallStream(thread, tool_bound=tool_bound_interrupts)
        self._steps = StepStream(profile)
        self._events: list[RunEvent] = []
        self._ended = False

    @property
    def headers(self) -> Headers:
        return STREAM_HEADERS

    def open(self) -> bytes:
        frames: list[object] = [run_started(self._thread.thread_id, self._run_id)]
        if self._refusal is not None:
            frames.append(refused(self._refusal))
        if self._restate:
            frames += self._state_frames()
            frames += map(messages_snapshot, self._transcript.restated(self._seen))
        return _frames(frames)

    def encode(self, event: RunEvent, /) -> bytes:
        if self._ended:
            return b""
        # Folded into messages only if a snapshot is needed: folding every delta costs more than
        # encoding it.
        self._events.append(event)
        placed = self._place_queued() if self._transcript.queued else b""
        return placed + self._encode(event)

    def _encode(self, event: RunEvent) -> bytes:
        match event:
            case TextDelta():
                return self._texts.text(event)
            case ReasoningDelta():
                return self._texts.reasoning(event)
            case ToolCallDelta() | ToolCallReady() | ToolCallStarted() | ToolResult():
                return self._texts.close() + _frames(self._of_a_call(event))
            case Completed() | Suspended() | Failed() | Cancelled():
                return self._end(event)
            case _:
                return self._portable(event)

    def close(self) -> bytes:
        if self._ended:
            return b""
        pending = hydration.open_interrupts(
            self._thread, profile=self._profile, tool_bound_interrupts=self._tool_bound
        )
        outcome: RunOutcome = (
            {"type": "interrupt", "interrupts": pending} if pending else {"type": "success"}
        )
        closing = b"" if self._restate else self._snapshots()
        self._ended = True
        return closing + self._finish(outcome)

    # Progress

    def _of_a_call(
        self, event: ToolCallDelta | ToolCallReady | ToolCallStarted | ToolResult
    ) -> Iterator[Frame]:
        match event:
            case ToolCallDelta():
                yield from self._calls.stream(event)
            case ToolCallReady():
                yield from self._calls.ready(event)
            case ToolCallStarted():
                yield from self._calls.publish()
            case ToolResult():
                yield from self._calls.publish()
                yield from self._calls.result(event)
            case _:
                assert_never(event)

    def _portable(
        self, event: StateSnapshot | StepStarted | StepFinished | Activity | Custom
    ) -> bytes:
        match event:
            case StateSnapshot(value=value):
                frame = data_frame(state_snapshot(value))
                self._state = (value,)
                return frame
            case StepStarted():
                return _frames(self._steps.start(event))
            case StepFinished():
                return _frames(self._steps.finish(event))
            case Activity():
                return data_frame(activity(event.id, event.type, event.data))
            case Custom(name=name, value=value):
                return data_frame(custom(name, value))
            case _:
                assert_never(event)

    def _place_queued(self) -> bytes:
        snapshots = self._transcript.place_queued(self._events)
        # A snapshot destroys a text that is open.
        closing = self._texts.close() if snapshots else b""
        return closing + _frames(map(messages_snapshot, snapshots))

    # Endings

    def _end(self, terminal: Terminal) -> bytes:
        closing = self._texts.close() + _frames((*self._calls.close(), *self._steps.close()))
        match terminal:
            case Failed() if self._failures == "finish" and self._continues:
                closing += data_frame(failed(terminal.code, terminal.message))
                closing += self._snapshots() + self._finish({"type": "success"})
            case Failed(code=code, message=message):
                closing += data_frame(run_error(code, message))
            case Suspended():
                closing += self._suspend(terminal)
            case Completed() | Cancelled():
                if self._continues or self._refusal is not None or self._calls.revised:
                    closing += self._snapshots()
                stopped = isinstance(terminal, Cancelled) and self._profile == "1.0"
                closing += self._finish({"type": "cancelled"} if stopped else {"type": "success"})
            case _:
                assert_never(terminal)
        self._ended = True
        return closing

    def _suspend(self, terminal: Suspended) -> bytes:
        suspension = terminal.suspension
        pending = interrupts(
            suspension.kind,
            suspension.calls,
            profile=self._profile,
            tool_bound=self._calls.bound,
        )
        published = _frames(self._calls.suspend())
        finish = self._finish({"type": "interrupt", "interrupts": pending})
        return published + self._snapshots() + finish

    def _finish(self, outcome: RunOutcome) -> bytes:
        return data_frame(run_finished(self._thread.thread_id, self._run_id, outcome))

    @property
    def _continues(self) -> bool:
        """Whether the segment goes on after answers."""
        return self._thread.status == "running" and self._thread.suspension is not None

    def _snapshots(self) -> bytes:
        """The client's state, and the thread as it is after the events so far."""
        messages = messages_snapshot(self._transcript.messages(self._events))
        return _frames([*self._state_frames(), messages])

    def _state_frames(self) -> list[Frame]:
        return [] if self._state is None else [state_snapshot(self._state[0])]


def _frames(payloads: Iterable[object]) -> bytes:
    return b"".join(map(data_frame, payloads))


def _state_of(thread: Thread, client: ClientContext, *, refused: bool) -> tuple[JsonValue] | None:
    """What a STATE_SNAPSHOT says; None for nothing to say.

    A snapshot replaces the state of the page's application, so nothing is ever said over it: not
    the empty state that an unused client sends, and not what was stored before a refused request.
    """
    own = (client.state,) if client.has_state else None
    stored = None if thread.state is None or thread.state == {} else (thread.state,)
    return (own or stored) if refused else (stored or own)
