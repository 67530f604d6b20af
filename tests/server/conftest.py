"""A server with every protocol, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from signoff_server.app import create_app
from signoff_server.engine import Engine
from support.gated_source import GatedSource
from support.protocols import Start, World, by_header


@pytest.fixture
def start(tmp_path: Path) -> Start:
    @asynccontextmanager
    async def started() -> AsyncIterator[World]:
        source = GatedSource()
        engine = Engine(source, store=f"sqlite:///{tmp_path / 'store.db'}")
        app = create_app(engine, authenticate=by_header)
        transport = httpx.ASGITransport(app)
        async with (
            engine.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            yield World(app, client, source)

    return started


@pytest.fixture
async def world(start: Start) -> AsyncIterator[World]:
    async with start() as world:
        yield world
