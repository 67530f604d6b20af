"""One demo server and one browser for each file; a fresh profile and thread for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from e2e.chat_page import KINDS, Kind
from e2e.tabs import Tabs
from support.demo_server import DemoServer

SCENARIO = Path(__file__).with_name("scenario.json")
BUILT_PAGES = Path(__file__).parents[2] / "server" / "signoff_server" / "pages"

# Quiet: a browser that updates itself or looks for services makes external requests.
_FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    demo = DemoServer(directory=tmp_path_factory.mktemp("demo"), scenario=SCENARIO)
    try:
        yield demo
    finally:
        demo.close()


@pytest.fixture
def server(_demo: DemoServer) -> DemoServer:
    """A running demo server, also after a test that left it dead."""
    if not _demo.running:
        _demo.start()
    return _demo


@pytest.fixture
def thread() -> str:
    """The id of a thread that nobody used before."""
    return f"e2e-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser with the built pages to look at. Not for the session: Playwright's synchronous
    API holds an event loop, beside which no asyncio test of another file could run."""
    for kind in KINDS:
        assert (BUILT_PAGES / kind / "index.html").is_file(), "build the pages first: make pages"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tabs(browser: Browser, server: DemoServer) -> Iterator[Tabs]:
    """Tabs of one browser profile; afterwards no page may have complained."""
    expect.set_options(timeout=10_000)
    tabs = Tabs(browser, server.base_url)
    yield tabs
    tabs.close()
    assert tabs.watch.complaints == []


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each of the two pages."""
    kind: Kind = request.param
    return kind
