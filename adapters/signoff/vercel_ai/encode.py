"""Run events to the AI SDK's UI message stream: one reader, one segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..adapter import StreamAdapter
from ..commands import Headers
from ..errors import NothingPending, Refusal, UnknownCall
from ..events import (
    Cancelled,
    Completed,
    Failed,
    ReasoningDelta,
    RunEvent,
    Suspended,
    TextDelta,
)
from ..json_text import encode
from ..thread import Thread
from . import hydrate as hydration
from . import translate as translation
from .calls import CallStream
from .live import LiveMessage
from .page import Page
from .parts import RunView, ThreadView
from .prologue import Prologue, page_of
from .texts import TAIL
from .wire import DONE, HEADERS, Chunk, Sdk, error, finish, frames, metadata_of, refused, start

_NO_PAGE = Page()
_FAILED = Failed()


class VercelAIAdapter(StreamAdapter):
    """One response to a page of the AI SDK.

    Every ending is one at which the page's ``sendAutomaticallyWhen`` stays quiet, be it the
    approval predicate, the tool predicate or both: else a page posts for ever (vercel-ai.md §3).

    Args:
        thread: as it stood before the segment, or as it stands.
        sdk: the page's generation of the AI SDK.
        run_id: the run to show; the newest if it is None.
        message_id: the UIMessage id to answer under; the run's own if it is None. A continuation
            echoes the page's.
        page: what the page shows of the message, as its request says. None: all that is stored, its
            open batch unanswered.
        replay: the page shows nothing, or is about to forget it: the stream begins with every
            stored step.
        refusal: why the request was not taken; the page is told, and put right.
        replaces: the UIMessage id under which the page shows the pending message. It is emptied
            there first, and shown again under ``message_id``, below the refused user message.
    """

    translate: Final = staticmethod(translation.translate)
    hydrate: Final = staticmethod(hydration.hydrate)

    __slots__ = (
        "_calls",
        "_done",
        "_hopeless",
        "_live",
        "_message_id",
        "_page",
        "_refusal",
        "_replaces",
        "_run",
        "_sdk",
        "_texts",
        "_thread",
    )

    def __init__(
        self,
        thread: Thread,
        *,
        sdk: Sdk = 7,
        run_id: str | None = None,
        message_id: str | None = None,
        page: Page | None = None,
        replay: bool = False,
        refusal: Refusal | None = None,
        replaces: str | None = None,
    ) -> None:
        self._thread = thread
        self._sdk: Sdk = sdk
        view = ThreadView(thread)
        shown_run = run_id or thread.run_id
        self._run = None if shown_run is None else view.run(shown_run)
        self._message_id = message_id or (self._run.message_id if self._run else None)
        self._page = _NO_PAGE if replay else page
        self._refusal = refusal
        self._replaces = replaces
        self._hopeless = isinstance(refusal, UnknownCall | NothingPending)
        self._calls = CallStream(view, sdk=sdk)
        steps = self._run.steps if self._run else ()
        self._live = LiveMessage(
            self._message_id or "",
            self._calls,
            ends_in_calls=bool(steps) and bool(steps[-1].calls),
        )
        self._texts = self._live.texts
        self._done = False

    @property
    def headers(self) -> Headers:
        return HEADERS

    def open(self) -> bytes:
        return frames(self._opening())

    def encode(self, event: RunEvent, /) -> bytes:
        texts = self._texts
        if type(event) is TextDelta and event.message_id == texts.continues and event.delta:
            return texts.head + encode(event.delta) + TAIL
        if self._done:
            return b""
        match event:
            case Completed() | Suspended() | Failed() | Cancelled():
                return self._end(self._live.terminal(event))
            case TextDelta() | ReasoningDelta():
                return self._live.text(event)
            case _:
                return frames(self._live.other(event))

    def close(self) -> bytes:
        """How the thread stands, where no segment runs."""
        if self._done:
            return b""
        return self._end(self._standing_end())

    # The beginning

    def _opening(self) -> Iterator[Chunk]:
        if self._message_id is not None:
            if self._replaces is not None:
                yield start(self._replaces)
            yield start(self._message_id, self._opening_metadata())
        if self._refusal is not None:
            yield refused(self._refusal)
        if self._run is not None:
            yield from self._catch_up(self._run)

    def _opening_metadata(self) -> Chunk | None:
        """A page that shows nothing gets the stored requests of the message at once."""
        if self._run is None or self._page is not _NO_PAGE or self._run.metadata is None:
            return None
        return dict(self._run.metadata)

    def _catch_up(self, run: RunView) -> Iterator[Chunk]:
        page = self._page or page_of(run)
        prologue = Prologue(page, sdk=self._sdk, distrust=self._refusal is not None)
        yield from prologue.chunks(run)
        self._calls.begin(prologue.shown)

    # The end

    def _end(self, chunks: Iterator[Chunk]) -> bytes:
        body = frames(chunks)
        self._done = True
        return body + DONE

    def _standing_end(self) -> Iterator[Chunk]:
        if self._hopeless and self._refusal is not None:
            # No frame settles what the page shows: after a finish it would post for ever.
            yield error(self._refusal.message)
        elif self._run is None:
            yield finish("stop")
        elif not self._run.finished:
            yield finish("tool-calls", metadata_of(self._calls.requested))
        elif self._failure is not None:
            yield error(self._failure)
        else:
            yield finish("stop", self._run.metadata)

    @property
    def _failure(self) -> str | None:
        newest = self._run is not None and self._run.run_id == self._thread.run_id
        if not newest or self._thread.status != "failed":
            return None
        return self._thread.failure[1] if self._thread.failure else _FAILED.message
