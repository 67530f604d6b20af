"""Routes of the native protocol: plain JSON, and event streams with the run events' own names.

| route | answer |
|---|---|
| ``POST /threads/{id}/chat`` | an event stream, or one JSON reply (see ``prefers_json``) |
| ``GET /threads/{id}`` | ``{"id", "status", "messages", "pending", "answered"}`` |
| ``GET /threads/{id}/messages?before=SEQ&limit=N`` | ``{"messages", "before"}``, a page |
| ``GET /threads/{id}/approvals`` | the open actions, a plain list |
| ``POST /threads/{id}/approvals`` | 202 ``{"status", "pending", "answered"}`` |
| ``GET /threads/{id}/stream`` | the running segment from its first event, 204 when none runs |
| ``POST /threads/{id}/stop`` | ``{"stopped": bool}`` |
| ``DELETE /threads/{id}`` | 204; the thread is new again |

A run that goes on after ``POST /threads/{id}/approvals`` needs no reader. A refusal is problem JSON
here, with the open actions as ``pending`` where there are any.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from signoff.commands import Decide, SendMessage
from signoff.errors import InvalidBody, Refusal, Unavailable
from signoff.events import Failed, RunEvent, is_terminal
from signoff.json_text import JsonValue
from signoff.message_json import message_to_json
from signoff.native import NativeAdapter
from signoff.native.wire import Reply
from signoff.principal import Principal
from signoff.thread import Thread

from ..engine import Attachment, Engine, Segment
from ..faults import log_fault
from ..http import (
    Authenticate,
    Handler,
    Limits,
    RawRoute,
    guarded,
    json_reply,
    read_json,
    stream,
)
from .refusals import refuse

_PROTOCOL = "native"
_PAGE, _LONGEST_PAGE = 100, 500


def native_routes(
    engine: Engine,
    authenticate: Authenticate,
    *,
    path: str = "/threads",
    limits: Limits | None = None,
) -> list[Route]:
    """The routes, for any Starlette or FastAPI application.

    Args:
        engine: what runs the threads; it starts on first use.
        authenticate: who is asking. Threads belong to who it returns.
        path: where they stand.
        limits: bounds on bodies.
    """
    routes = _NativeRoutes(engine, limits or Limits())

    def route(suffix: str, handler: Handler, method: str) -> Route:
        endpoint = guarded(handler, authenticate)
        return RawRoute(f"{path}/{{id}}{suffix}", endpoint, methods=[method])

    return [
        route("/chat", routes.chat, "POST"),
        route("/messages", routes.messages, "GET"),
        route("/approvals", routes.approvals, "GET"),
        route("/approvals", routes.decide, "POST"),
        route("/stream", routes.follow, "GET"),
        route("/stop", routes.stop, "POST"),
        route("", routes.thread, "GET"),
        route("", routes.reset, "DELETE"),
    ]


@dataclass(frozen=True, slots=True)
class _NativeRoutes:
    engine: Engine
    limits: Limits

    async def chat(self, request: Request, principal: Principal) -> Response:
        thread_id = _thread_id(request)
        body = await read_json(request, self.limits)
        command = NativeAdapter.translate(body, await self._answered(principal, thread_id, body))
        try:
            attachment = await self._submit(principal, thread_id, command)
        except Refusal as refusal:
            return await refuse(self.engine, principal, thread_id, refusal)
        if prefers_json(request.headers.get("accept", "")):
            return json_reply(await self._reply(principal, attachment))
        return self._stream(principal, attachment)

    async def thread(self, request: Request, principal: Principal) -> Response:
        return json_reply(
            NativeAdapter.hydrate(await self.engine.thread(principal, _thread_id(request)))
        )

    async def messages(self, request: Request, principal: Principal) -> Response:
        before = _count(request, "before", default=None)
        limit = min(_count(request, "limit", default=_PAGE) or _PAGE, _LONGEST_PAGE)
        thread = await self.engine.thread(principal, _thread_id(request))
        earlier = [item for item in thread.messages if before is None or item.seq < before]
        page = earlier[-limit:]
        return json_reply(
            {
                "messages": [message_to_json(message) for message in page],
                "before": page[0].seq if len(earlier) > len(page) else None,
            }
        )

    async def approvals(self, request: Request, principal: Principal) -> Response:
        pending = await self.engine.pending_approvals(principal, _thread_id(request))
        return json_reply([call.to_json() for call in pending])

    async def decide(self, request: Request, principal: Principal) -> Response:
        thread_id = _thread_id(request)
        command = NativeAdapter.translate_decisions(await read_json(request, self.limits))
        try:
            attachment = await self._submit(principal, thread_id, command)
        except Refusal as refusal:
            return await refuse(self.engine, principal, thread_id, refusal)
        thread = attachment.thread
        reply = {"status": thread.status, **NativeAdapter.open_actions(thread)}
        return json_reply(reply, status=202)

    async def follow(self, request: Request, principal: Principal) -> Response:
        attachment = await self.engine.attach(principal, _thread_id(request))
        if attachment.segment is None:
            return Response(status_code=204)
        return self._stream(principal, attachment)

    async def stop(self, request: Request, principal: Principal) -> Response:
        thread_id = _thread_id(request)
        try:
            stopped = await self.engine.stop(principal, thread_id)
        except Refusal as refusal:
            return await refuse(self.engine, principal, thread_id, refusal)
        return json_reply({"stopped": stopped})

    async def reset(self, request: Request, principal: Principal) -> Response:
        await self.engine.reset(principal, _thread_id(request))
        return Response(status_code=204)

    async def _answered(
        self, principal: Principal, thread_id: str, body: JsonValue
    ) -> Thread | None:
        """The thread, where the body answers something other than approvals."""
        if isinstance(body, Mapping) and ("results" in body or "inputs" in body):
            return await self.engine.thread(principal, thread_id)
        return None

    async def _submit(
        self, principal: Principal, thread_id: str, command: SendMessage | Decide
    ) -> Attachment:
        if isinstance(command, SendMessage):
            return await self.engine.chat(principal, thread_id, command, protocol=_PROTOCOL)
        return await self.engine.submit_decisions(principal, thread_id, command, protocol=_PROTOCOL)

    def _stream(self, principal: Principal, attachment: Attachment) -> Response:
        adapter = NativeAdapter(attachment.thread)
        return stream(adapter, self._recorded(principal, attachment, adapter))

    async def _reply(self, principal: Principal, attachment: Attachment) -> Reply:
        adapter = NativeAdapter(attachment.thread)
        segment = self._recorded(principal, attachment, adapter).segment
        if segment is not None:
            async for batch in segment.read():
                for event in batch:
                    adapter.encode(event)
            adapter.encode(Failed())
        return adapter.reply

    def _recorded(
        self, principal: Principal, attachment: Attachment, adapter: NativeAdapter
    ) -> _Followed:
        if attachment.segment is None:
            return _Followed(None, attachment.on_left)

        async def load() -> Thread:
            return await self.engine.thread(principal, attachment.thread.thread_id)

        return _Followed(_Recorded(attachment.segment, adapter, load), attachment.on_left)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A segment whose last event finds the adapter with the messages as they were stored.

    The terminal is announced after everything is committed, so they are there.
    """

    inner: Segment
    adapter: NativeAdapter
    load: Callable[[], Awaitable[Thread]]

    async def read(self) -> AsyncIterator[list[RunEvent]]:
        async for batch in self.inner.read():
            if batch and is_terminal(batch[-1]):
                await self._take_stored()
            yield batch

    async def _take_stored(self) -> None:
        try:
            self.adapter.recorded((await self.load()).messages)
        except Unavailable:
            return  # the server stops, and this is the last thing it says
        except Exception as error:  # noqa: BLE001 - the folded messages say the same, but for their times
            log_fault(error, doing="reading what a segment left behind")


@dataclass(frozen=True, slots=True)
class _Followed:
    segment: _Recorded | None
    on_left: Callable[[], None]


def prefers_json(accept: str) -> bool:
    """Whether an ``Accept`` header asks for one JSON reply.

    It does where ``application/json`` is named with a greater weight than ``text/event-stream``.
    Without the header, for ``*/*`` and for equal weights the answer is the event stream.
    """
    weights = dict(_weight(item) for item in accept.split(","))
    return weights.get("application/json", 0.0) > weights.get("text/event-stream", 0.0)


def _weight(item: str) -> tuple[str, float]:
    media_type, *parameters = (piece.strip().lower() for piece in item.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return media_type, float(value)
            except ValueError:
                return media_type, 0.0
    return media_type, 1.0


def _thread_id(request: Request) -> str:
    thread_id: str = request.path_params["id"]
    return thread_id


def _count(request: Request, name: str, *, default: int | None) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) > 0):
        raise InvalidBody(f"{name} is a positive whole number.")
    return int(text)
