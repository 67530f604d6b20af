"""Ids in paths may hold any character, in an application of its own and in a mounted one."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount

from signoff_server.http import RawRoute

pytestmark = pytest.mark.anyio


async def thread(request: Request) -> Response:
    return JSONResponse(["thread", request.path_params["id"]])


async def stream(request: Request) -> Response:
    return JSONResponse(["stream", request.path_params["id"]])


ROUTES = [RawRoute("/threads/{id}", thread), RawRoute("/threads/{id}/stream", stream)]
PLAIN = Starlette(routes=ROUTES)
MOUNTED = Starlette(routes=[Mount("/my api", app=Starlette(routes=ROUTES))])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/threads/t1", ["thread", "t1"], id="plain"),
        pytest.param("/threads/a%2Fb", ["thread", "a/b"], id="slash"),
        pytest.param("/threads/x%2Fstream", ["thread", "x/stream"], id="looks-like-another-route"),
        pytest.param("/threads/x%2Fstream/stream", ["stream", "x/stream"], id="both"),
        pytest.param("/threads/%252F", ["thread", "%2F"], id="decoded-once"),
        pytest.param("/threads/100%25", ["thread", "100%"], id="percent"),
        pytest.param("/threads/gr%C3%BCn%20%F0%9F%8C%B1", ["thread", "grün 🌱"], id="unicode"),
        pytest.param("/threads/__proto__?x=1", ["thread", "__proto__"], id="query"),
        pytest.param("/threads/a%3Fb", ["thread", "a?b"], id="question-mark"),
    ],
)
@pytest.mark.parametrize(
    ("app", "prefix"),
    [pytest.param(PLAIN, "", id="top"), pytest.param(MOUNTED, "/my%20api", id="mounted")],
)
async def test_ids_arrive_as_they_are(
    app: Starlette, prefix: str, path: str, expected: list[str]
) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        assert (await client.get(prefix + path)).json() == expected


async def test_b98_a_line_break_is_a_character_like_any_other() -> None:
    # Not in a mounted application: there Starlette's own `Mount` matches no line break.
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(PLAIN), base_url="http://test"
    ) as client:
        response = await client.get("/threads/a%0D%0Ab")
    assert response.json() == ["thread", "a\r\nb"]


async def test_other_paths_and_methods_are_not_taken() -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(MOUNTED), base_url="http://test"
    ) as client:
        assert (await client.get("/my%20api/threads/a/b/c")).status_code == 404
        assert (await client.get("/threads/a")).status_code == 404
        assert (await client.post("/my%20api/threads/a")).status_code == 405


async def test_a_server_without_raw_paths_still_works() -> None:
    scope = {"type": "http", "method": "GET", "path": "/threads/grün", "headers": []}
    match, child = ROUTES[0].matches(scope)
    assert match.name == "FULL"
    assert child["path_params"] == {"id": "grün"}
