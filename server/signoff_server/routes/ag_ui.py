"""Routes of AG-UI, for ``HttpAgent`` and its like.

| route | answer |
|---|---|
| ``POST {path}`` | the events of what the body asks for: a run, answers, or how the thread stands |
| ``POST {path}/connect`` | reload as a stream: the thread, and the running segment to its end |
| ``GET {path}/threads/{id}`` | reload as JSON: ``{"messages", "state", "interrupts"}`` |

The thread is the body's ``threadId``. An answer that cannot be taken, and a message that has to
wait, get a stream that tells the truth (design §7): after an HTTP error, or a ``RUN_ERROR``, the
client keeps what it had pending and starts no run any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from signoff.ag_ui import (
    AGUIAdapter,
    Failures,
    RunAgentInput,
    command_of,
    profile_of,
    read_input,
    shows_all,
)
from signoff.commands import Command, Connect, Decide, Refuse, SendMessage
from signoff.errors import IncompleteResume, Refusal, RunInProgress
from signoff.json_text import JsonValue
from signoff.principal import Principal

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
from .refusals import STICKING, Refusals, is_streamed, refuse

_STICKING = (*STICKING, IncompleteResume, RunInProgress)


def ag_ui_routes(
    engine: Engine,
    authenticate: Authenticate,
    *,
    path: str = "/ag-ui",
    refusals: Refusals = "stream",
    tool_bound_interrupts: bool = False,
    limits: Limits | None = None,
) -> list[Route]:
    """The routes, for any Starlette or FastAPI application.

    Args:
        engine: what runs the threads; it starts on first use.
        authenticate: who is asking. Threads belong to who it returns.
        path: the agent's ``url``.
        refusals: ``error`` answers with problem JSON where ``stream`` puts the page right.
        tool_bound_interrupts: interrupts of reason ``tool_call``, with the calls of server tools
            published before they are answered.
        limits: bounds on bodies.
    """
    limits = limits or Limits()
    runs = AGUIRuns(engine, "ag-ui", refusals, tool_bound_interrupts)

    async def run(request: Request, principal: Principal) -> Response:
        return await runs.run(principal, await read_json(request, limits))

    async def connect(request: Request, principal: Principal) -> Response:
        return await runs.connect(principal, await read_json(request, limits))

    async def thread(request: Request, principal: Principal) -> Response:
        """``?protocolVersion=1.0`` for what only such a client may be told."""
        view = AGUIAdapter.hydrate(
            await engine.thread(principal, request.path_params["id"]),
            profile=profile_of(request.query_params.get("protocolVersion")),
            tool_bound_interrupts=tool_bound_interrupts,
        )
        return json_reply(view)

    def route(suffix: str, handler: Handler, method: str) -> Route:
        return RawRoute(f"{path}{suffix}", guarded(handler, authenticate), methods=[method])

    return [
        route("", run, "POST"),
        route("/connect", connect, "POST"),
        route("/threads/{id:path}", thread, "GET"),
    ]


@dataclass(frozen=True, slots=True)
class AGUIRuns:
    """Requests of AG-UI clients, wherever they come in.

    Attributes:
        engine: what runs the threads.
        protocol: what the audit calls the way they came.
        refusals: see ``ag_ui_routes``.
        tool_bound_interrupts: see ``ag_ui_routes``.
        failures: see ``AGUIAdapter``.
    """

    engine: Engine
    protocol: str
    refusals: Refusals = "stream"
    tool_bound_interrupts: bool = False
    failures: Failures = "run_error"

    async def run(
        self, principal: Principal, body: JsonValue, *, source: str | None = None
    ) -> Response:
        """What a body asks for; ``source`` drives a run that it starts.

        Raises:
            Refusal: nothing that a stream would put right.
        """
        request = read_input(body)
        thread = await self.engine.thread(principal, request.thread_id)
        command = command_of(request, thread)
        try:
            attachment = await self._carry_out(principal, request, command, source)
        except Refusal as refusal:
            return await self._refuse(principal, request, command, refusal)
        seen = attachment.started and shows_all(attachment.thread, request.message_ids)
        return self._stream(request, attachment, restate=not seen)

    async def connect(self, principal: Principal, body: JsonValue) -> Response:
        """The thread as it is. Changes nothing, however often a page asks.

        Raises:
            Refusal: the body cannot be read, or the thread runs in another process.
        """
        request = read_input(body)
        return self._stream(request, await self.engine.attach(principal, request.thread_id))

    async def _carry_out(
        self, principal: Principal, request: RunAgentInput, command: Command, source: str | None
    ) -> Attachment:
        match command:
            case SendMessage():
                return await self.engine.chat(
                    principal, request.thread_id, command, protocol=self.protocol, source=source
                )
            case Decide():
                return await self.engine.submit_decisions(
                    principal, request.thread_id, command, protocol=self.protocol
                )
            case Connect():
                return await self.engine.attach(principal, request.thread_id)
            case Refuse(refusal=refusal):
                raise refusal
            case _:
                assert_never(command)

    async def _refuse(
        self, principal: Principal, request: RunAgentInput, command: Command, refusal: Refusal
    ) -> Response:
        if not is_streamed(refusal, command, refusals=self.refusals, sticking=_STICKING):
            return await refuse(self.engine, principal, request.thread_id, refusal)
        attachment = await self.engine.attach(principal, request.thread_id)
        return self._stream(request, attachment, refusal=refusal)

    def _stream(
        self,
        request: RunAgentInput,
        attachment: Attachment,
        *,
        refusal: Refusal | None = None,
        restate: bool = True,
    ) -> Response:
        adapter = AGUIAdapter(
            attachment.thread,
            run_id=request.run_id,
            profile=request.profile,
            client=request.client,
            refusal=refusal,
            restate=restate,
            seen=request.message_ids,
            tool_bound_interrupts=self.tool_bound_interrupts,
            failures=self.failures,
        )
        return stream(adapter, attachment)
