"""Who asks is settled first; refusals leave as problem JSON; faults leave neutral."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import cast

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from signoff.errors import (
    AlreadyDecided,
    InvalidBody,
    Refusal,
    RunInProgress,
    TooManyRequests,
    Unauthenticated,
)
from signoff.principal import Principal
from signoff.suspension import PendingCall, ToolCall
from signoff_server.http import Authenticate, Handler, RawRoute, guarded, json_reply, problem

pytestmark = pytest.mark.anyio

PENDING = PendingCall(
    call=ToolCall(call_id="c1", name="delete_file", inputs={"path": "/tmp/x"}),
    reason="Deleting is irreversible",
    risk="destructive",
)


def me(request: Request) -> Principal:
    return Principal(id="me")


async def whoami(request: Request, principal: Principal) -> Response:
    return json_reply(principal.id)


async def get(handler: Handler, authenticate: Authenticate = me) -> httpx.Response:
    app = Starlette(routes=[RawRoute("/here", guarded(handler, authenticate))])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        return await client.get("/here")


def raising(error: Exception) -> Handler:
    async def handler(request: Request, principal: Principal) -> Response:
        raise error

    return handler


async def test_an_authenticator_may_be_async() -> None:
    async def authenticate(request: Request) -> Principal:
        return Principal(id="somebody")

    assert (await get(whoami, authenticate)).json() == "somebody"


def nobody(request: Request) -> Principal:
    raise Unauthenticated


def forgetful(request: Request) -> Principal:
    return cast("Principal", None)


async def forgetful_later(request: Request) -> Principal:
    return cast("Principal", None)


def nameless(request: Request) -> Principal:
    return Principal(id="")


@pytest.mark.req("R125")
@pytest.mark.parametrize("authenticate", [nobody, forgetful, forgetful_later, nameless])
async def test_b76_nobody_gets_in(authenticate: Authenticate) -> None:
    response = await get(whoami, authenticate)
    assert response.status_code == 401
    assert response.json()["code"] == "unauthenticated"


async def test_b76_a_broken_authenticator_lets_nobody_in() -> None:
    def broken(request: Request) -> Principal:
        raise RuntimeError("the directory is down")

    response = await get(whoami, broken)
    assert response.status_code == 500
    assert response.json()["code"] == "internal"


async def test_another_frameworks_refusal_passes() -> None:
    def authenticate(request: Request) -> Awaitable[Principal]:
        raise HTTPException(401, headers={"www-authenticate": "Bearer"})

    response = await get(whoami, authenticate)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.req("R118")
async def test_a_fault_is_neutral_on_the_wire_and_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = await get(raising(ValueError("password hunter2 in /etc/shadow")))
    assert response.status_code == 500
    assert response.json() == {
        "type": "urn:signoff:problem:internal",
        "title": "Something went wrong on the server.",
        "status": 500,
        "code": "internal",
    }
    assert "ValueError while answering GET /here" in caplog.text
    assert "hunter2" not in caplog.text


async def test_a_client_that_left_while_sending_is_no_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await get(raising(ClientDisconnect()))
    assert not caplog.records


@pytest.mark.req("R116", "R128")
@pytest.mark.parametrize(
    ("refusal", "body", "retry_after"),
    [
        pytest.param(
            AlreadyDecided(call_id="c1"),
            {
                "type": "urn:signoff:problem:already_decided",
                "title": "This call has been decided already.",
                "status": 409,
                "code": "already_decided",
                "callId": "c1",
            },
            None,
            id="names-the-call",
        ),
        pytest.param(
            InvalidBody("Send an object."),
            {
                "type": "urn:signoff:problem:invalid_body",
                "title": "The request body is not what this route takes.",
                "detail": "Send an object.",
                "status": 400,
                "code": "invalid_body",
            },
            None,
            id="says-more",
        ),
        pytest.param(
            RunInProgress(),
            {
                "type": "urn:signoff:problem:run_in_progress",
                "title": "The thread is busy with an earlier message.",
                "status": 409,
                "code": "run_in_progress",
            },
            "1",
            id="busy",
        ),
        pytest.param(
            TooManyRequests(retry_after_seconds=7),
            {
                "type": "urn:signoff:problem:too_many_requests",
                "title": "Too many requests. Wait a moment.",
                "status": 429,
                "code": "too_many_requests",
            },
            "7",
            id="retry-after",
        ),
    ],
)
async def test_refusals_are_problem_json(
    refusal: Refusal, body: dict[str, object], retry_after: str | None
) -> None:
    response = await get(raising(refusal))
    assert response.status_code == refusal.status
    assert response.json() == body
    assert response.headers.get("retry-after") == retry_after
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"


def test_a_problem_lists_what_is_pending() -> None:
    response = problem(AlreadyDecided(), pending=[PENDING])
    assert b'"pending":[{"id":"c1","name":"delete_file"' in bytes(response.body)
