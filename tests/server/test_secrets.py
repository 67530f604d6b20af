"""A secret input reaches the tool and nobody else: not through any protocol, record or file."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from signoff.function_tools import tool
from signoff.masking import MASK
from signoff.sources.models.base import ModelCall
from signoff.sources.previews import MAX_PREVIEW_BYTES, NO_PREVIEW, cut, make_preview
from signoff.sources.tool_loop import ToolLoop
from signoff.tools import ToolContext
from signoff_server.app import create_app
from signoff_server.engine import Engine
from support.agents import ListModel
from support.protocols import PROTOCOLS, Protocol, by_header
from support.shop import DONE

pytestmark = pytest.mark.anyio

VALUE = "sk-zebra-7781-quartz"
GETS = (
    "/threads/t",
    "/threads/t/messages",
    "/threads/t/approvals",
    "/vercel/chat/t",
    "/ag-ui/threads/t",
)


class Site:
    """One database and what ran; a new process for each ``started``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self.seen: list[str] = []

    @asynccontextmanager
    async def started(self) -> AsyncIterator[httpx.AsyncClient]:
        def preview(to: str, api_key: str) -> str:
            return f"Mails {to} with {api_key}"

        @tool(approval="Sends mail", destructive=True, secrets=["api_key"], preview=preview)
        def send_mail(to: str, api_key: str) -> str:
            """Send mail."""
            self.ran.append(api_key)
            return f"sent with {api_key}"

        inputs = json.dumps({"to": "ann", "api_key": VALUE})
        first = [ModelCall(id="c1", name="send_mail", arguments=inputs)]
        model = ListModel(DONE if self.seen else first, DONE)
        engine = Engine(
            ToolLoop(model, tools=[send_mail]), store=f"sqlite:///{self.folder / 'store.db'}"
        )
        transport = httpx.ASGITransport(create_app(engine, authenticate=by_header))
        async with (
            engine.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            yield client

    def stored(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.folder.glob("store.db*"))

    async def look(self, client: httpx.AsyncClient) -> None:
        for path in GETS:
            response = await client.get(path)
            assert response.status_code == 200
            self.seen.append(response.text)


@pytest.mark.req("R12", "R51")
@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=[item.name for item in PROTOCOLS])
async def test_a_secret_is_run_after_a_restart_and_stands_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, protocol: Protocol, approved: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    site = Site(tmp_path)
    async with site.started() as client:
        site.seen.append((await protocol.send_message(client, "t", "go")).text)
        await site.look(client)
        [action] = (await client.get("/threads/t/approvals")).json()
        assert action["inputs"] == {"to": "ann", "api_key": MASK}
        assert action["preview"] == f"Mails ann with {MASK}"
        assert action["masked"] == ["api_key"]
    async with site.started() as client:
        site.seen.append((await protocol.answer(client, "t", {"c1": approved})).text)
        assert (await client.get("/threads/t")).json()["status"] == "completed"
        await site.look(client)
    assert site.ran == ([VALUE] if approved else [])
    assert VALUE not in "".join(site.seen)
    assert VALUE not in caplog.text
    assert VALUE.encode() not in site.stored()


@pytest.mark.req("R50", "R79")
def test_a_preview_that_is_cut_fits_and_says_so() -> None:
    for text in ("é" * 9000, "\x00" * 9000, "a" * 9000):
        short = cut(text)
        assert len(json.dumps(short, ensure_ascii=False).encode()) <= MAX_PREVIEW_BYTES
        assert short.endswith("it was cut here.]")
    assert cut("short") == "short"


@pytest.mark.req("R79")
async def test_a_preview_that_fails_is_a_marked_line() -> None:

    def broken(path: str) -> str:
        raise ValueError(path)

    @tool(preview=broken)
    def wipe(path: str) -> None:
        """Wipe."""

    context = ToolContext(thread_id="t", run_id="r", call_id="c", principal_id="me")
    assert await make_preview(wipe, context, {"path": "/a"}, {}) == NO_PREVIEW
