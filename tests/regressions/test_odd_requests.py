"""Requests that no browser sends, and that once were a 500 with a stack in the log."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from signoff.policy import Gate
from signoff_server.app import create_app
from signoff_server.auth import SignedCookie
from signoff_server.engine import Engine
from support.gated_source import GatedSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    engine = Engine(GatedSource(), store=f"sqlite:///{tmp_path / 'store.db'}", gate=Gate())
    return create_app(engine, authenticate=SignedCookie(engine.server_key), pages=True)


async def ask(app: Starlette, method: str, path: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        return await client.request(method, path, headers=headers)


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//[x]y"])
async def test_an_origin_that_is_no_address_is_another_site(app: Starlette, origin: str) -> None:
    reply = await ask(app, "POST", "/threads/t/stop", origin=origin)

    assert reply.status_code == 403
    assert reply.json()["code"] == "forbidden"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("page", ["vercel", "copilotkit"])
async def test_a_name_too_long_for_a_file_is_no_asset(
    app: Starlette, page: str, method: str
) -> None:
    reply = await ask(app, method, f"/{page}/assets/{'x' * 5000}")

    assert reply.status_code == 404
