"""The whole application: operations, other origins, pages, and route lists in somebody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from signoff.errors import ConfigurationError
from signoff_server.app import create_app
from signoff_server.engine import Engine
from signoff_server.routes.copilotkit import copilotkit_routes
from signoff_server.routes.native import native_routes
from support.gated_source import GatedSource
from support.protocols import PROTOCOLS, Native, by_header

pytestmark = pytest.mark.anyio

LISTED = "https://chat.example"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = Engine(GatedSource(), store=f"sqlite:///{tmp_path / 'store.db'}")
    yield engine
    await engine.close()


def browser(app: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


async def test_health_and_readiness(engine: Engine) -> None:
    async with browser(create_app(engine, authenticate=by_header)) as client:
        for path in ("/healthz", "/readyz"):
            response = await client.get(path)
            assert (response.status_code, response.json()) == (200, {"status": "ok"})
        await engine.close()
        assert (await client.get("/healthz")).status_code == 200
        response = await client.get("/readyz")
        assert (response.status_code, response.json()["code"]) == (503, "unavailable")
        assert response.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "allow"),
    [
        pytest.param("GET", "/nothing", 404, "not_found", None, id="nothing"),
        pytest.param("GET", "/threads/t/nothing", 404, "not_found", None, id="nothing-below"),
        pytest.param(
            "PUT", "/threads/t", 405, "method_not_allowed", "DELETE, GET, HEAD", id="two-routes"
        ),
        pytest.param("GET", "/threads/t/chat", 405, "method_not_allowed", "POST", id="one-route"),
        pytest.param("PUT", "/ag-ui", 405, "method_not_allowed", "POST", id="ag-ui"),
        pytest.param("DELETE", "/healthz", 405, "method_not_allowed", "GET, HEAD", id="health"),
    ],
)
@pytest.mark.parametrize("below", ["", "/mounted"])
async def test_what_no_route_takes_is_problem_json(
    engine: Engine, method: str, path: str, status: int, code: str, allow: str | None, below: str
) -> None:
    app = create_app(engine, authenticate=by_header)
    outer = Starlette(routes=[Mount(below, app=app)]) if below else app
    async with browser(outer) as client:
        response = await client.request(method, below + path)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers.get("allow") == allow


async def test_the_engine_starts_on_first_use(engine: Engine) -> None:
    """A mounted application's lifespan does not run."""
    inner = Starlette(
        routes=[*native_routes(engine, by_header), *copilotkit_routes(engine, by_header)]
    )
    async with browser(Starlette(routes=[Mount("/api", app=inner)])) as client:
        response = await client.post(
            "/api/threads/a%2Fb/chat",
            json={"message": "hello"},
            headers={"accept": "application/json"},
        )
        assert response.json()["status"] == "completed"
        assert (await client.get("/api/threads/a%2Fb")).json()["id"] == "a/b"
        assert "default" in (await client.get("/api/copilotkit/info")).json()["agents"]


async def test_a_listed_origin_is_answered_as_browsers_want_it(engine: Engine) -> None:
    app = create_app(engine, authenticate=by_header, allowed_origins=[LISTED])
    async with browser(app) as client:
        preflight = await client.options(
            "/ag-ui",
            headers={
                "origin": LISTED,
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            },
        )
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == LISTED
        body = Native().message("t", "hello", "m1")
        for origin, status in ((LISTED, 200), ("https://evil.example", 403)):
            response = await client.post("/threads/t/chat", json=body, headers={"origin": origin})
            assert response.status_code == status
            allowed = response.headers.get("access-control-allow-origin")
            assert allowed == (LISTED if origin == LISTED else None)


async def test_without_a_list_no_other_origin_may_read(engine: Engine) -> None:
    async with browser(create_app(engine, authenticate=by_header)) as client:
        response = await client.get("/threads/t", headers={"origin": LISTED})
        assert "access-control-allow-origin" not in response.headers


async def test_the_pages_need_the_cookie_that_they_change(engine: Engine) -> None:
    with pytest.raises(ConfigurationError):
        create_app(engine, authenticate=by_header, pages=True)


async def test_sources_make_an_engine_of_their_own(tmp_path: Path) -> None:
    sources = {"one": GatedSource(), "two": GatedSource()}
    app = create_app(sources, authenticate=by_header, store=f"sqlite:///{tmp_path / 'store.db'}")
    async with app.router.lifespan_context(app), browser(app) as client:
        assert set((await client.get("/copilotkit/info")).json()["agents"]) == {"one", "two"}


@pytest.mark.req("R118")
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=[item.name for item in PROTOCOLS])
async def test_nobody_gets_past_authentication(engine: Engine, protocol: Native) -> None:
    async with browser(create_app(engine, authenticate=lambda request: None)) as client:  # type: ignore[arg-type, return-value]  # one that forgets to refuse
        reply = await protocol.send_message(client, "t", "hello")
        assert (reply.status, reply.code) == (401, "unauthenticated")
