"""The CopilotKit runtime's contract, so that a page needs no Node process.

| route | answer |
|---|---|
| ``GET {path}/info`` | the agents there are |
| ``POST {path}/agent/{id}/run`` | AG-UI events |
| ``POST {path}/agent/{id}/connect`` | the thread as AG-UI events; read-only |
| ``POST {path}/agent/{id}/stop/{threadId}`` | ``{"stopped": bool}`` |
| ``POST {path}`` | the same as ``{"method", "params", "body"}`` to a single endpoint |

Agents are the engine's sources. ``GET {path}`` is left free, for a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import signoff
from signoff.errors import AwaitingDecision, InvalidBody
from signoff.json_text import JsonObject, JsonValue
from signoff.principal import Principal

from ..engine import Engine
from ..http import Authenticate, Handler, Limits, RawRoute, guarded, json_reply, read_json
from .ag_ui import AGUIRuns


def copilotkit_routes(
    engine: Engine,
    authenticate: Authenticate,
    *,
    path: str = "/copilotkit",
    limits: Limits | None = None,
) -> list[Route]:
    """The routes, for any Starlette or FastAPI application.

    Args:
        engine: what runs the threads; its sources are the agents.
        authenticate: who is asking. Threads belong to who it returns.
        path: the provider's ``runtimeUrl``.
        limits: bounds on bodies.
    """
    runtime = _Runtime(
        engine, AGUIRuns(engine, "copilotkit", failures="finish"), limits or Limits()
    )

    def route(suffix: str, handler: Handler, method: str) -> Route:
        endpoint = guarded(_in_its_words(handler), authenticate)
        return RawRoute(f"{path}{suffix}", endpoint, methods=[method])

    return [
        route("/info", runtime.get_info, "GET"),
        route("/agent/{id}/run", runtime.post_run, "POST"),
        route("/agent/{id}/connect", runtime.post_connect, "POST"),
        route("/agent/{id}/stop/{threadId:path}", runtime.post_stop, "POST"),
        route("", runtime.post_any, "POST"),
    ]


@dataclass(frozen=True, slots=True)
class _Runtime:
    engine: Engine
    runs: AGUIRuns
    limits: Limits

    async def get_info(self, request: Request, principal: Principal) -> Response:
        return self._info()

    async def post_run(self, request: Request, principal: Principal) -> Response:
        agent_id: str = request.path_params["id"]
        return await self._run(principal, agent_id, await read_json(request, self.limits))

    async def post_connect(self, request: Request, principal: Principal) -> Response:
        agent_id: str = request.path_params["id"]
        return await self._connect(principal, agent_id, await read_json(request, self.limits))

    async def post_stop(self, request: Request, principal: Principal) -> Response:
        """The body names a run, which selects nothing: it is not read."""
        agent_id: str = request.path_params["id"]
        return await self._stop(principal, agent_id, request.path_params["threadId"])

    async def post_any(self, request: Request, principal: Principal) -> Response:
        envelope = await read_json(request, self.limits)
        if not isinstance(envelope, Mapping):
            raise InvalidBody("The request body is a JSON object.")
        match envelope:
            case {"method": "info"}:
                return self._info()
            case {"method": str(method), "params": params} if isinstance(params, Mapping):
                return await self._perform(principal, method, params, envelope.get("body"))
            case _:
                return _unknown_request()

    async def _perform(
        self, principal: Principal, method: str, params: JsonObject, body: JsonValue
    ) -> Response:
        match method, params:
            case "agent/run", {"agentId": str(agent_id)}:
                return await self._run(principal, agent_id, body)
            case "agent/connect", {"agentId": str(agent_id)}:
                return await self._connect(principal, agent_id, body)
            case "agent/stop", {"agentId": str(agent_id), "threadId": str(thread_id)}:
                return await self._stop(principal, agent_id, thread_id)
            case _:
                return _unknown_request()

    def _info(self) -> Response:
        agents = {name: _agent(name) for name in self.engine.source_names}
        return json_reply(
            {
                "version": signoff.__version__,
                "mode": "sse",
                "agents": agents,
                "audioFileTranscriptionEnabled": False,
            }
        )

    async def _run(self, principal: Principal, agent_id: str, body: JsonValue) -> Response:
        if agent_id not in self.engine.source_names:
            return _no_agent(agent_id)
        return await self.runs.run(principal, body, source=agent_id)

    async def _connect(self, principal: Principal, agent_id: str, body: JsonValue) -> Response:
        if agent_id not in self.engine.source_names:
            return _no_agent(agent_id)
        return await self.runs.connect(principal, body)

    async def _stop(self, principal: Principal, agent_id: str, thread_id: str) -> Response:
        if agent_id not in self.engine.source_names:
            return _no_agent(agent_id)
        try:
            stopped = await self.engine.stop(principal, thread_id)
        except AwaitingDecision:
            # The runtime's contract knows no refusal here, and nothing runs.
            stopped = False
        return json_reply({"stopped": stopped})


def _agent(name: str) -> JsonObject:
    approvals = {"supported": True, "approvals": True, "interrupts": True}
    return {
        "name": name,
        "description": "",
        "className": "HttpAgent",
        "capabilities": {"humanInTheLoop": approvals},
    }


def _in_its_words(handler: Handler) -> Handler:
    """Bodies that cannot be read are refused as the runtime does it."""

    @wraps(handler)
    async def speaking(request: Request, principal: Principal) -> Response:
        try:
            return await handler(request, principal)
        except InvalidBody as refusal:
            return json_reply(
                {
                    "error": "Invalid request body",
                    "details": refusal.message,
                    "code": refusal.code,
                },
                status=refusal.status,
            )

    return speaking


def _no_agent(agent_id: str) -> Response:
    return json_reply(
        {"error": "Agent not found", "message": f"There is no agent {agent_id!r}."}, status=404
    )


def _unknown_request() -> Response:
    return json_reply(
        {"error": "invalid_request", "message": "There is no such method."}, status=400
    )
