"""The Vercel routes over the real engine, its agent telling the stories of ``cases``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request

from signoff.events import Cancelled, Custom, RunEvent, Suspended, ToolCallStarted
from signoff.messages import UserMessage
from signoff.principal import Principal
from signoff.sources.base import Answers, RunRequest
from signoff.vercel_ai.wire import Sdk
from signoff_server.engine import Engine
from signoff_server.routes.native import native_routes
from signoff_server.routes.refusals import Refusals
from signoff_server.routes.vercel_ai import vercel_ai_routes
from support.loopback import serving
from support.stories import Segment

HOLD = Custom(name="hold", value=None)
"""Not emitted: the story goes on when ``Teller.go`` is set, or ends when it is stopped."""


@dataclass
class Teller:
    """A run source that tells stories: the user's text names one, answers go on with it.

    Attributes:
        stories: by name.
        go: lets what holds go on.
        executed: the calls that ran, in order.
    """

    stories: Mapping[str, Sequence[Segment]]
    go: threading.Event = field(default_factory=threading.Event)
    executed: list[str] = field(default_factory=list)

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        newest = [item for item in request.history if isinstance(item, UserMessage)][-1]
        number = _segment_number(request)
        for event in self.stories[newest.text][number].events:
            if event is HOLD:
                while not (self.go.is_set() or request.cancel.is_set()):  # noqa: ASYNC110 - set by another thread
                    await asyncio.sleep(0.005)
                if request.cancel.is_set():
                    yield Cancelled()
                    return
                continue
            if isinstance(event, ToolCallStarted):
                self.executed.append(event.call_id)
            yield _numbered(event, number)
            await asyncio.sleep(0)


def _segment_number(request: RunRequest) -> int:
    """Which segment of its story a run is at; a pause carries it, so it survives restarts."""
    if not isinstance(request.input, Answers):
        return 0
    return 1 if request.state is None else int(request.state)


def _numbered(event: RunEvent, number: int) -> RunEvent:
    """A pause remembers which segment follows."""
    if isinstance(event, Suspended):
        return replace(event, state=str(number + 1).encode())
    return event


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    url: str
    teller: Teller
    engine: Engine


def principal(request: Request) -> Principal:
    return Principal(id=request.headers.get("x-user", "me"))


def make_app(engine: Engine, *, sdk: Sdk = 7, refusals: Refusals = "stream") -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with engine.lifespan():
            yield

    routes = [
        *vercel_ai_routes(engine, principal, sdk=sdk, refusals=refusals),
        *native_routes(engine, principal),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


@contextmanager
def telling(
    stories: Mapping[str, Sequence[Segment]],
    store: Path,
    *,
    sdk: Sdk = 7,
    refusals: Refusals = "stream",
) -> Iterator[Live]:
    teller = Teller(stories=stories)
    engine = Engine(teller, store=f"sqlite:///{store}")
    with serving(make_app(engine, sdk=sdk, refusals=refusals)) as url:
        yield Live(url=url, teller=teller, engine=engine)
