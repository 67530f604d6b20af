"""The beginning of a stream: what brings a page from what it shows to what is stored.

One function serves them all: a continuation (the page shows the batch, and gets the answers), a
replay (it shows nothing, and gets every step), a late or refused answer (it gets every answer and
outcome, the steps it has missed, and open calls once more).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..messages import FilePart, ReasoningPart, TextPart
from ..suspension import PendingCall
from .page import Page
from .parts import CallView, RunView, StepView
from .wire import (
    FINISH_STEP,
    START_STEP,
    Answer,
    Chunk,
    Sdk,
    automatic_request,
    block,
    outcome_chunk,
    request,
    response,
    tool_input,
)

_SETTLED = ("output-available", "output-error", "output-denied")


@dataclass(slots=True)
class Shown:
    """What a page shows by now; the encoder goes on from here.

    Attributes:
        calls: callIds that have a part.
        answers: answers that the page was told.
        requested: calls asked about in this stream.
    """

    calls: set[str] = field(default_factory=set[str])
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    requested: list[PendingCall] = field(default_factory=list[PendingCall])


def page_of(run: RunView) -> Page:
    """A page that shows all that is stored of a run, its open batch unanswered."""
    return Page(
        message_id=run.message_id,
        steps=len(run.steps),
        states={
            call.call_id: "approval-requested" if call.outcome is None else "output-available"
            for step in run.steps
            for call in step.calls
        },
        approvals=frozenset(asked.call_id for asked in run.asked),
    )


class Prologue:
    """Makes the chunks between ``start`` and the segment.

    Args:
        page: what the page shows.
        sdk: its generation.
        distrust: the page may believe anything: tell it also what it seems to know, and clear
            reasons that are not on record.
    """

    __slots__ = ("_distrust", "_page", "_sdk", "shown")

    def __init__(self, page: Page, *, sdk: Sdk, distrust: bool) -> None:
        self._page = page
        self._sdk: Sdk = sdk
        self._distrust = distrust
        self.shown: Shown = Shown(calls=set(page.states))

    def chunks(self, run: RunView) -> Iterator[Chunk]:
        known = self._known_steps(run)
        for step in run.steps[:known]:
            for call in step.calls:
                yield from self._catch_up(call, in_last_step=step is run.steps[known - 1])
        for step in run.steps[known:]:
            yield from self._whole(step)

    def _known_steps(self, run: RunView) -> int:
        """How many steps the page has: as many as it says, and none with a call that it shows is
        missing, whatever it says."""
        shows = self._page.states
        with_calls = [
            place
            for place, step in enumerate(run.steps, start=1)
            if any(call.call_id in shows for call in step.calls)
        ]
        return max([min(self._page.steps, len(run.steps)), *with_calls])

    def _catch_up(self, call: CallView, *, in_last_step: bool) -> Iterator[Chunk]:
        state = self._page.states.get(call.call_id)
        if state in _SETTLED and call.outcome is not None and not self._distrust:
            return
        unasked = call.asked is not None and call.call_id not in self._page.approvals
        made_up = call.open and state is not None and not state.startswith("approval-")
        if state is None or (in_last_step and (unasked or made_up)):
            # In the same step, an input takes an outcome that the page made up away.
            yield from self._input(call)
        if call.asked is not None and (unasked or (call.open and state != "approval-requested")):
            if self._is_requested(call):
                yield self._request(call.asked)
        yield from self._settle(call)

    def _whole(self, step: StepView) -> Iterator[Chunk]:
        """A step as it was streamed: of a batch that was held back the requests in the step, all
        that came after the answers behind it."""
        yield START_STEP
        yield from content_blocks(step)
        first = [call for call in step.calls if call.asked or not step.held_back]
        for call in first:
            yield from self._input(call)
        for call in first:
            if call.asked is not None and self._is_requested(call):
                yield self._request(call.asked)
        if step.held_back:
            yield FINISH_STEP
        for call in step.calls:
            if call not in first:
                yield from self._input(call)
            yield from self._settle(call)
        if not step.held_back:
            yield FINISH_STEP

    def _is_requested(self, call: CallView) -> bool:
        # 6.0 cannot be told the answer, and a settled part with an unanswered request is invalid.
        return self._sdk == 7 or call.outcome is None or call.denied

    def _input(self, call: CallView) -> Iterator[Chunk]:
        self.shown.calls.add(call.call_id)
        yield from tool_input(call.call, call.runs, self._sdk)

    def _request(self, pending: PendingCall) -> Chunk:
        self.shown.requested.append(pending)
        return request(pending, self._sdk)

    def _settle(self, call: CallView) -> Iterator[Chunk]:
        if call.answer is not None:
            self.shown.answers[call.call_id] = call.answer
        yield from settlement(call, self._sdk, clear=self._distrust)


def settlement(call: CallView, sdk: Sdk, *, clear: bool = False) -> Iterator[Chunk]:
    """The answer to a call and its outcome, as far as there are any.

    A denial without a request (a repeated rejection) is one step for 7, and an error for 6, where
    a denied part needs an answer that cannot be sent.
    """
    automatic = call.answer is not None and call.asked is None
    denied = call.denied and (sdk == 7 or not automatic)
    if call.answer is not None and sdk == 7:
        if automatic:
            yield automatic_request(call.call_id)
        yield response(call.call_id, call.answer, clear=clear)
    if call.outcome is not None:
        yield outcome_chunk(call.call_id, call.outcome, denied=denied)


def content_blocks(step: StepView) -> Iterator[Chunk]:
    """Text and files of a step, under the ids that the live stream gave them."""
    for place, part in enumerate(step.content, start=1):
        match part:
            case TextPart(text=text):
                yield from block("text", block_id(step.message_id, place), text)
            case ReasoningPart(text=text):
                yield from block("reasoning", block_id(step.message_id, place), text)
            case FilePart():
                yield {"type": "file", "mediaType": part.media_type, "url": file_url(part)}


def block_id(message_id: str, place: int) -> str:
    """The id of a message's part of text: derived, so that it is equal after a reload."""
    return f"{message_id}.{place}"


def file_url(part: FilePart) -> str:
    return part.url if part.url is not None else f"data:{part.media_type};base64,{part.data or ''}"
