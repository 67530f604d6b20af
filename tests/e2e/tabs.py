"""Tabs of one browser, and what no page may do unseen: complain, or talk to somebody else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    WebError,
)

from e2e.chat_page import ChatPage, Kind

# Requests that carry a message or answers; not hydration, reconnect, stop or runtime info.
_CHAT_POST = re.compile(r"/(vercel/chat|copilotkit/agent/[^/]+/run)$")

_SMALL_SCREEN, _SCREEN = {"width": 360, "height": 740}, {"width": 1100, "height": 600}


@dataclass
class Watch:
    """What was seen of the pages of one browser context."""

    base_url: str
    complaints: list[str] = field(default_factory=list)
    posts: list[Request] = field(default_factory=list)

    def attach(self, context: BrowserContext) -> None:
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)
        context.on("response", self._response)

    def forgive(self, pattern: str) -> None:
        """Take back complaints of a kind that this test caused on purpose."""
        kept = [text for text in self.complaints if re.search(pattern, text) is None]
        self.complaints[:] = kept

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.complaints.append(f"uncaught: {error.error}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.base_url}/", "data:", "blob:")):
            self.complaints.append(f"external request: {request.url}")
        if request.method == "POST" and _CHAT_POST.search(request.url):
            self.posts.append(request)

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"status {response.status}: {response.url}")


class Tabs:
    """Opens pages. Tabs of one test share a browser profile."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.watch = Watch(base_url)

    def open(
        self,
        kind: Kind,
        thread: str,
        *,
        colours: Literal["light", "dark"] = "light",
        small: bool = False,
    ) -> ChatPage:
        chat = ChatPage(self.blank(colours=colours, small=small), kind, thread)
        chat.visit()
        return chat

    def blank(self, *, colours: Literal["light", "dark"] = "light", small: bool = False) -> Page:
        """An empty tab."""
        context = self._contexts[0] if self._contexts else self._profile(colours, small)
        return context.new_page()

    def adopt(self, page: Page, kind: Kind, thread: str) -> ChatPage:
        """A tab that went over to a page by a link."""
        page.wait_for_url(f"**/{kind}/?thread={thread}")
        return ChatPage(page, kind, thread)

    @property
    def posts(self) -> list[Request]:
        """What the pages posted to the chat, in order."""
        return self.watch.posts

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _profile(self, colours: Literal["light", "dark"], small: bool) -> BrowserContext:
        context = self._browser.new_context(
            base_url=self.watch.base_url,
            color_scheme=colours,
            reduced_motion="reduce",
            viewport=_SMALL_SCREEN if small else _SCREEN,  # type: ignore[arg-type]
        )
        self.watch.attach(context)
        self._contexts.append(context)
        return context
