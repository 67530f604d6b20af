"""The pages without a mouse and without eyes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.chat_page import KINDS, REJECTED, ChatPage, Kind
from e2e.tabs import Tabs
from support.demo_server import DemoServer

pytestmark = pytest.mark.browser

_MOST_STOPS = 12
_IS_UPPERMOST = """one => {
  const box = one.getBoundingClientRect()
  const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
  return there !== null && one.contains(there)
}"""


def _say_by_keyboard(chat: ChatPage, text: str) -> None:
    chat.input.focus()
    chat.page.keyboard.type(text)
    chat.page.keyboard.press("Enter")


def _tab_to(page: Page, name: str) -> None:
    """Press Tab until the button of this name has the focus."""
    wanted = page.get_by_role("button", name=name, exact=True)
    for _ in range(_MOST_STOPS):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    focused = page.evaluate("() => document.activeElement.outerHTML")
    raise AssertionError(f"{_MOST_STOPS} stops, and never at {name!r}; now at {focused}")


def test_approve_by_keyboard(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    _say_by_keyboard(chat, "delete one")
    chat.expect_open("c1")
    heading = chat.card("c1").get_by_role("heading")
    expect(heading).to_be_focused()
    _tab_to(chat.page, "Approve delete_file")
    chat.page.keyboard.press("Enter")
    chat.expect_settled(c1="ran")
    # Whoever answered goes on writing.
    expect(chat.input).to_be_focused()
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R32")
def test_reject_by_keyboard(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    _say_by_keyboard(chat, "delete one")
    chat.expect_open("c1")
    _tab_to(chat.page, "Reject delete_file")
    chat.page.keyboard.press("Space")
    expect(chat.card("c1").get_by_test_id("reject-reason")).to_be_focused()

    chat.page.keyboard.press("Escape")
    expect(chat.card("c1").get_by_role("button", name="Reject delete_file")).to_be_focused()
    chat.page.keyboard.press("Enter")
    chat.page.keyboard.type("Keep it")
    chat.page.keyboard.press("Enter")
    chat.expect_said(REJECTED.format("Keep it"))
    chat.expect_settled(c1="rejected")
    assert server.executed(thread) == []


def test_what_a_screen_reader_is_told(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    page = chat.page
    expect(page.get_by_role("textbox", name="Message")).to_be_enabled()
    chat.ask("two calls", "c1", "c2")

    group = page.get_by_role("group", name="Needs your approval: delete_file")
    expect(group).to_have_accessible_description(re.compile("Deleting a file is irreversible"))
    expect(group.get_by_role("button", name="Approve delete_file")).to_be_enabled()
    expect(page.get_by_role("status").filter(has_text="0 of 2 answered")).to_have_count(1)
    locked = page.get_by_role("textbox", name="Message")
    expect(locked).to_have_accessible_description(re.compile("Answer the 2 requests above"))

    group.get_by_role("button", name="Reject delete_file").click()
    reason = page.get_by_role("textbox", name=re.compile("Reason or instruction for the agent"))
    reason.fill("No")
    page.get_by_role("form", name="Reject delete_file").get_by_role(
        "button", name="Reject delete_file"
    ).click()
    expect(page.get_by_role("group", name="Answered: delete_file")).to_be_visible()
    # The next open question has the focus now.
    expect(page.get_by_role("heading", name="Needs your approval: send_mail")).to_be_focused()
    assert server.pending(thread) == ["c1", "c2"]


@pytest.mark.parametrize("small", [False, True], ids=["wide", "small"])
def test_what_has_the_focus_is_in_view(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, small: bool
) -> None:
    """Two cards are higher than the screen, and the input lies over the end of the page."""
    chat = tabs.open(kind, thread, small=small)
    chat.ask("two calls", "c1", "c2")
    first = chat.card("c1").get_by_role("heading")
    expect(first).to_be_focused()
    _expect_in_view(first)

    chat.card("c1").get_by_test_id("reject").click()
    _expect_in_view(chat.card("c1").get_by_test_id("confirm-reject"))
    chat.card("c1").get_by_test_id("confirm-reject").click()
    second = chat.card("c2").get_by_role("heading")
    expect(second).to_be_focused()
    _expect_in_view(second)
    _expect_in_view(chat.input)
    if kind == "copilotkit":
        # The chat scrolls inside its frame; were the frame itself moved, its foot would hang.
        assert chat.page.evaluate("() => document.documentElement.scrollTop") == 0
    assert server.pending(thread) == ["c1", "c2"]


def _expect_in_view(locator: Locator) -> None:
    """Nothing lies over it, and the screen does not end before it."""
    handle = locator.element_handle()
    locator.page.wait_for_function(_IS_UPPERMOST, arg=handle, timeout=5_000)


def test_the_start_page_opens_both_chats_on_one_thread(
    tabs: Tabs, server: DemoServer, kind: Kind
) -> None:
    page = tabs.blank()
    page.goto("/")
    links = [page.get_by_test_id(f"open-{name}") for name in KINDS]
    threads = {(link.get_attribute("href") or "").partition("?thread=")[2] for link in links}
    assert len(threads) == 1
    links[KINDS.index(kind)].click()
    chat = tabs.adopt(page, kind, threads.pop())
    chat.ask("delete one", "c1")
    assert server.pending(chat.thread) == ["c1"]


def test_a_small_dark_screen(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread, colours="dark", small=True)
    chat.ask("two calls", "c1", "c2")
    wider = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert chat.page.evaluate(wider) == 0
    for call_id in ("c1", "c2"):
        chat.approve(call_id)
    chat.expect_settled(c1="ran", c2="ran")
    assert chat.page.evaluate(wider) == 0
    assert server.executed(thread) == ["c1", "c2"]
