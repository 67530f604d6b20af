"""Two tabs, two kinds of page, and requests sent again: one truth, shown to all."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Request, expect

from e2e.chat_page import Kind, other
from e2e.tabs import Tabs
from support.demo_server import DemoServer, outcomes

pytestmark = pytest.mark.browser


@pytest.mark.req("R110")
@pytest.mark.parametrize("mixed", [False, True], ids=["same page", "other page"])
def test_a_late_answer_is_told_the_truth(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, mixed: bool
) -> None:
    first = tabs.open(kind, thread)
    first.ask("delete one", "c1")
    second = tabs.open(other(kind) if mixed else kind, thread)
    second.expect_open("c1")
    second.approve("c1")
    second.expect_said("Finished:")

    first.reject("c1", "Stop")
    expect(first.refusal).to_be_visible()
    for named in ("delete_file", "path: /tmp/old.log"):
        expect(first.refusal.get_by_test_id("refusal-call")).to_contain_text(named)
    first.expect_settled(c1="ran")
    first.expect_said("Finished:")
    first.expect_usable()
    assert len(tabs.posts) == 3
    assert server.executed(thread) == ["c1"]
    assert outcomes(server.wait_for_status(thread, "completed")) == {"c1": "output"}

    for chat in (first, second):
        chat.reload()
        chat.expect_settled(c1="ran")


@pytest.mark.req("R110")
def test_a_late_approval_of_a_rejected_call(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    first = tabs.open(kind, thread)
    first.ask("delete one", "c1")
    second = tabs.open(kind, thread)
    second.expect_open("c1")
    second.reject("c1", "Keep it")
    second.expect_said("Finished:")

    first.approve("c1")
    expect(first.refusal).to_be_visible()
    first.expect_settled(c1="rejected")
    expect(first.settled("c1")).to_contain_text("Keep it")
    assert server.executed(thread) == []


def test_b107_the_same_answer_in_two_tabs(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    first = tabs.open(kind, thread)
    first.ask("delete one", "c1")
    second = tabs.open(kind, thread)
    for chat in (first, second):
        chat.expect_open("c1")
    for chat in (first, second):
        chat.approve("c1")
    for chat in (first, second):
        chat.expect_said("Finished:")
        chat.expect_settled(c1="ran")
        expect(chat.refusal).to_have_count(0)
        chat.expect_usable()
    assert len(tabs.posts) == 3
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R110")
def test_a_late_answer_while_the_tool_runs(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    first = tabs.open(kind, thread)
    first.ask("slow tool", "c1")
    second = tabs.open(kind, thread)
    second.expect_open("c1")
    second.approve("c1")
    server.wait_for_begin(thread, "c1")

    first.reject("c1")
    for chat in (first, second):
        chat.expect_said("Finished:")
        chat.expect_settled(c1="ran")
        chat.expect_usable()
    assert len(tabs.posts) == 3
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R29", "R110")
def test_one_of_two_was_decided_elsewhere(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    """A Vercel page restates its past with every post, so its differing entry is no new answer.
    A resume of AG-UI is one: its author may revise what they said while the batch is open."""
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    assert server.decide(thread, {"c1": ["reject", "Not today"]}).status_code == 202
    chat.approve("c1")
    chat.approve("c2")
    chat.expect_said("Finished:")
    if kind == "vercel":
        chat.expect_settled(c1="rejected", c2="ran")
        expect(chat.settled("c1")).to_contain_text("Not today")
        assert server.executed(thread) == ["c2"]
    else:
        chat.expect_settled(c1="ran", c2="ran")
        assert server.executed(thread) == ["c1", "c2"]


def test_a_message_from_a_tab_that_knows_of_no_question(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    behind = tabs.open(kind, thread)
    asking = tabs.open(kind, thread)
    asking.ask("delete one", "c1")

    behind.send("hello")
    expect(behind.refusal).to_have_attribute("data-code", "awaiting_decision")
    behind.expect_open("c1")
    assert server.pending(thread) == ["c1"]

    behind.approve("c1")
    behind.expect_said("Finished:")
    behind.expect_settled(c1="ran")
    assert server.executed(thread) == ["c1"]
    stored = server.wait_for_status(thread, "completed")
    assert [one["role"] for one in stored["messages"] if "type" not in one] == ["user", "assistant"]
    behind.expect_usable()


def test_b107_every_request_sent_again_afterwards(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    chat.approve("c1")
    chat.reject("c2", "No")
    chat.expect_settled(c1="ran", c2="rejected")
    before = server.wait_for_status(thread, "completed")

    for post in tuple(tabs.posts):
        assert _again(post).status_code == 200
    assert server.thread(thread) == before
    assert server.executed(thread) == ["c1"]
    chat.reload()
    chat.expect_settled(c1="ran", c2="rejected")


def test_b107_a_message_sent_again_while_pending(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    before = server.thread(thread)
    reply = _again(tabs.posts[0])
    assert reply.status_code == 200
    assert "c1" in reply.text
    assert server.thread(thread) == before
    chat.approve("c1")
    chat.expect_settled(c1="ran")
    assert server.executed(thread) == ["c1"]


def test_b107_answers_sent_again_while_they_run(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("slow tool", "c1")
    chat.approve("c1")
    server.wait_for_begin(thread, "c1")
    reply = _again(tabs.posts[1])
    # It attached to the run, and told its end.
    assert reply.status_code == 200
    assert "Finished" in reply.text
    chat.expect_settled(c1="ran")
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R98")
def test_answered_on_the_other_page(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("twice", "c1")
    link = chat.page.get_by_test_id("other-page")
    link.click()
    elsewhere = tabs.adopt(chat.page, other(kind), thread)
    elsewhere.expect_open("c1")
    elsewhere.expect_said("First this.")
    elsewhere.approve("c1")
    expect(elsewhere.card("c2")).to_have_attribute("data-state", "open")

    chat.page.get_by_test_id("other-page").click()
    back = tabs.adopt(chat.page, kind, thread)
    expect(back.settled("c1")).to_have_attribute("data-outcome", "ran")
    back.reject("c2", "One is enough")
    back.expect_said("Finished:")
    back.expect_settled(c1="ran", c2="rejected")
    assert server.executed(thread) == ["c1"]
    server.wait_for_status(thread, "completed")


def test_b39_a_new_thread_shows_nothing_of_the_old(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    chat.page.get_by_test_id("new-thread").click()
    expect(chat.page.get_by_test_id("thread-id")).not_to_have_text(thread)
    expect(chat.page.get_by_test_id("approval-card")).to_have_count(0)
    chat.say("hello")
    chat.expect_said("Hello. What should I do?")
    assert server.pending(thread) == ["c1"]


def _again(request: Request) -> httpx.Response:
    """The same request once more, as a proxy or an impatient client would send it."""
    kept = ("content-type", "accept", "origin", "cookie")
    headers = {name: value for name, value in request.all_headers().items() if name in kept}
    return httpx.post(request.url, content=request.post_data_buffer, headers=headers, timeout=30)
