"""Routes of the Vercel AI SDK, for ``useChat`` and its default transport.

| route | answer |
|---|---|
| ``POST {path}`` | the UI message stream of what the body asks for; the chat is its ``id`` |
| ``GET {path}/{id}`` | ``{"id", "messages"}``: what a page starts with |
| ``GET {path}/{id}/stream`` | reconnect: the message so far and the running segment; else 204 |
| ``POST {path}/{id}/stop`` | ``{"stopped": bool}`` |

An answer that cannot be taken, and a message while a call waits, get a stream that tells the truth
(design §7): after an HTTP error the page's cards would never post again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from signoff.commands import Command, Connect, Decide, Refuse, SendMessage
from signoff.decisions import same_decision
from signoff.errors import AlreadyDecided, Refusal
from signoff.json_text import JsonObject
from signoff.principal import Principal
from signoff.thread import Thread
from signoff.vercel_ai import (
    Page,
    Sdk,
    ThreadView,
    VercelAIAdapter,
    chat_id,
    read_body,
    read_page,
    shown_under,
    subject_of,
)

from ..engine import Attachment, Engine
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
from .refusals import Refusals, is_streamed, refuse

_PROTOCOL = "vercel"


def vercel_ai_routes(
    engine: Engine,
    authenticate: Authenticate,
    *,
    path: str = "/vercel/chat",
    sdk: Sdk = 7,
    refusals: Refusals = "stream",
    limits: Limits | None = None,
) -> list[Route]:
    """The routes, for any Starlette or FastAPI application.

    Args:
        engine: what runs the threads; it starts on first use.
        authenticate: who is asking. Threads belong to who it returns.
        path: the transport's ``api``.
        sdk: the pages' generation of the AI SDK; no request tells.
        refusals: ``error`` answers with problem JSON where ``stream`` puts the page right.
        limits: bounds on bodies.
    """
    routes = _VercelRoutes(engine, sdk, refusals, limits or Limits())

    def route(suffix: str, handler: Handler, method: str) -> Route:
        endpoint = guarded(handler, authenticate)
        return RawRoute(f"{path}{suffix}", endpoint, methods=[method])

    return [
        route("", routes.chat, "POST"),
        route("/{id}/stream", routes.reconnect, "GET"),
        route("/{id}/stop", routes.stop, "POST"),
        route("/{id}", routes.messages, "GET"),
    ]


@dataclass(frozen=True, slots=True)
class _VercelRoutes:
    engine: Engine
    sdk: Sdk
    refusals: Refusals
    limits: Limits

    async def chat(self, request: Request, principal: Principal) -> Response:
        body = read_body(await read_json(request, self.limits))
        thread_id = chat_id(body)
        thread = await self.engine.thread(principal, thread_id)
        command = VercelAIAdapter.translate(body, thread)
        try:
            match command:
                case SendMessage():
                    return await self._send(principal, thread_id, command)
                case Decide():
                    return await self._decide(principal, thread_id, command, body)
                case Connect():
                    attachment = await self.engine.attach(principal, thread_id)
                    return self._continued(attachment, body)
                case Refuse(refusal=refusal):
                    raise refusal
                case _:
                    assert_never(command)
        except Refusal as refusal:
            return await self._refuse(principal, thread_id, refusal, command, body)

    async def messages(self, request: Request, principal: Principal) -> Response:
        thread = await self.engine.thread(principal, _thread_id(request))
        return json_reply(VercelAIAdapter.hydrate(thread, sdk=self.sdk))

    async def reconnect(self, request: Request, principal: Principal) -> Response:
        attachment = await self.engine.attach(principal, _thread_id(request), linger=True)
        if attachment.segment is None:
            return Response(status_code=204)
        adapter = VercelAIAdapter(attachment.thread, sdk=self.sdk, replay=True)
        return stream(adapter, attachment)

    async def stop(self, request: Request, principal: Principal) -> Response:
        return json_reply({"stopped": await self.engine.stop(principal, _thread_id(request))})

    async def _send(self, principal: Principal, thread_id: str, command: SendMessage) -> Response:
        """The page's last message is the user's: it shows nothing of the answer."""
        attachment = await self.engine.chat(principal, thread_id, command, protocol=_PROTOCOL)
        run_id = ThreadView(attachment.thread).run_answering(command.messages[-1].id)
        adapter = VercelAIAdapter(attachment.thread, sdk=self.sdk, run_id=run_id, replay=True)
        return stream(adapter, _of_run(attachment, run_id))

    async def _decide(
        self, principal: Principal, thread_id: str, command: Decide, body: JsonObject
    ) -> Response:
        attachment = await self.engine.submit_decisions(
            principal, thread_id, command, protocol=_PROTOCOL
        )
        return self._continued(attachment, body, _contradiction(command, attachment.thread))

    def _continued(
        self, attachment: Attachment, body: JsonObject, refusal: Refusal | None = None
    ) -> Response:
        """Bring the assistant message that the page sent to the truth, and go on with it."""
        thread = attachment.thread
        page = _page(body)
        run_id = _shown_run(page, thread)
        adapter = VercelAIAdapter(
            thread,
            sdk=self.sdk,
            run_id=run_id,
            message_id=page.message_id,
            page=page,
            refusal=refusal,
        )
        return stream(adapter, _of_run(attachment, run_id))

    async def _refuse(
        self,
        principal: Principal,
        thread_id: str,
        refusal: Refusal,
        command: Command,
        body: JsonObject,
    ) -> Response:
        if not is_streamed(refusal, command, refusals=self.refusals):
            return await refuse(self.engine, principal, thread_id, refusal)
        if isinstance(command, SendMessage):
            return await self._ask_again(principal, thread_id, refusal, body)
        attachment = await self.engine.attach(principal, thread_id)
        return self._continued(attachment, body, refusal)

    async def _ask_again(
        self, principal: Principal, thread_id: str, refusal: Refusal, body: JsonObject
    ) -> Response:
        """A message while a call waits: the pending message again, below the refused one.

        Where the page shows it, it gets a new id: under the old one the cards would stay above the
        user's message, and a page posts answers only from its last message (proven-frames V4).
        """
        thread = await self.engine.thread(principal, thread_id)
        replaces = _pending_under(body, thread)
        if replaces is not None:
            await self.engine.renew_assistant_id(principal, thread_id)
        attachment = await self.engine.attach(principal, thread_id)
        adapter = VercelAIAdapter(
            attachment.thread, sdk=self.sdk, replay=True, refusal=refusal, replaces=replaces
        )
        return stream(adapter, attachment)


def _page(body: JsonObject) -> Page:
    return read_page(subject_of(body))


def _shown_run(page: Page, thread: Thread) -> str | None:
    """The run whose message the page continues: it may be an older one than the thread's newest."""
    by_id = {message_id: run_id for run_id, message_id in thread.assistant_ids.items()}
    return (
        ThreadView(thread).run_of(page.states) or by_id.get(page.message_id or "") or thread.run_id
    )


def _of_run(attachment: Attachment, run_id: str | None) -> Attachment:
    """The attachment without the segment of another run: its frames belong to another message."""
    if run_id == attachment.thread.run_id:
        return attachment
    return Attachment(thread=attachment.thread)


def _contradiction(command: Decide, thread: Thread) -> Refusal | None:
    """The first entry that the record contradicts: the page believes something untrue."""
    for call_id, decision in command.decisions.items():
        asked = thread.asked.get(call_id)
        recorded = asked.decision if asked else None
        if recorded is not None and not same_decision(recorded, decision):
            return AlreadyDecided(call_id=call_id)
    return None


def _pending_under(body: JsonObject, thread: Thread) -> str | None:
    """The id under which the page shows the pending message; None where it does not show it."""
    calls = thread.suspension.calls if thread.suspension else ()
    if "messages" in body:
        return shown_under(body, [call.call_id for call in calls])
    if body.get("trigger") == "regenerate-message" or thread.run_id is None:
        return None
    # A body of one message does not tell. A page that sends a new one shows what it had.
    return thread.assistant_ids.get(thread.run_id)


def _thread_id(request: Request) -> str:
    thread_id: str = request.path_params["id"]
    return thread_id
