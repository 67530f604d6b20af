"""Pages reloaded and servers killed at every stage: nothing is lost, nothing runs twice."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from e2e.chat_page import Kind
from e2e.tabs import Tabs
from support.demo_server import DemoServer, outcomes

pytestmark = pytest.mark.browser

# What a page sees of a server that is not there.
GONE = (
    "ERR_(CONNECTION|CONTENT_LENGTH|EMPTY_RESPONSE|INCOMPLETE_CHUNKED)"
    "|Failed to fetch|network error"
)


@pytest.mark.req("R98")
def test_b37_reload_while_pending(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    before = [chat.facts("c1"), chat.facts("c2")]
    for _ in range(2):
        chat.reload()
        chat.expect_open("c1", "c2")
        chat.expect_said("Two things to do.")
        assert [chat.facts("c1"), chat.facts("c2")] == before
    assert (len(tabs.posts), server.executed(thread)) == (1, [])

    chat.approve("c1")
    chat.reject("c2", "Wrong address")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran", c2="rejected")
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1"]

    chat.reload()
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran", c2="rejected")
    expect(chat.settled("c2")).to_contain_text("Wrong address")
    chat.expect_usable()
    assert len(tabs.posts) == 2


@pytest.mark.req("R76", "R98")
@pytest.mark.parametrize("reload", [True, False], ids=["reloaded", "left open"])
def test_b38_server_killed_while_pending(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, reload: bool
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("twice", "c1")
    chat.approve("c1")
    expect(chat.card("c2")).to_have_attribute("data-state", "open")
    server.restart()
    if reload:
        chat.reload()
    expect(chat.card("c2")).to_have_attribute("data-state", "open")
    expect(chat.settled("c1")).to_have_attribute("data-outcome", "ran")
    assert server.executed(thread) == ["c1"]

    chat.approve("c2")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran", c2="ran")
    chat.expect_usable()
    assert server.executed(thread) == ["c1", "c2"]
    stored = server.wait_for_status(thread, "completed")
    assert outcomes(stored) == {"c1": "output", "c2": "output"}
    tabs.watch.forgive(GONE)


def test_an_answer_while_the_server_is_down(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    server.kill()
    chat.approve("c1")
    expect(chat.problem).to_be_visible()
    expect(chat.input).to_be_disabled()
    server.start()

    chat.problem.get_by_test_id("retry").click()
    chat.expect_open("c1")
    chat.approve("c1")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran")
    expect(chat.problem).to_have_count(0)
    assert server.executed(thread) == ["c1"]
    tabs.watch.forgive(GONE)


@pytest.mark.req("R76")
def test_server_killed_while_a_tool_runs(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("slow tool", "c1")
    chat.approve("c1")
    server.wait_for_begin(thread, "c1")
    server.restart()
    chat.reload()
    chat.expect_settled(c1="unknown")
    chat.expect_unfinished()
    chat.say("hello")
    chat.expect_said("Hello. What should I do?")
    expect(chat.unfinished).to_have_count(0)
    # Its line is written at the end of the tool, which never came.
    assert server.executed(thread) == []
    assert outcomes(server.wait_for_status(thread, "completed")) == {"c1": "indeterminate"}
    tabs.watch.forgive(GONE)


@pytest.mark.req("R76")
@pytest.mark.parametrize("reload", [True, False], ids=["reloaded", "retried"])
def test_server_killed_while_the_agent_speaks(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, reload: bool
) -> None:
    chat = tabs.open(kind, thread)
    chat.say("slow start")
    chat.expect_said("Let me")
    server.restart()
    if reload:
        chat.reload()
    else:
        chat.problem.get_by_test_id("retry").click()
    message = chat.page.get_by_test_id("message-user")
    expect(message).to_have_text("slow start")
    chat.expect_unfinished()
    assert server.thread(thread)["status"] == "failed"

    chat.say("hello")
    expect(chat.unfinished).to_have_count(0)
    chat.expect_said("Hello. What should I do?")
    server.wait_for_status(thread, "completed")
    chat.reload()
    chat.expect_said("Hello. What should I do?")
    expect(chat.unfinished).to_have_count(0)
    assert len(tabs.posts) == 2
    tabs.watch.forgive(GONE)


def test_reload_before_the_agent_asks(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.say("slow start")
    chat.expect_said("Let me")
    chat.reload()
    chat.expect_said("Let me")
    chat.expect_open("c1")
    chat.expect_said("Let me think about this for a moment before I do it.")
    expect(chat.page.get_by_test_id("message-user")).to_have_count(1)

    chat.approve("c1")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran")
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R76", "R110", "R112")
def test_reload_right_after_the_answer(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("slow answer", "c1")
    chat.approve("c1")
    server.wait_for_execution(thread, "c1")
    chat.reload()
    expect(chat.settled("c1")).to_have_attribute("data-outcome", "ran")
    chat.expect_said("It is gone, and I am writing that down with care.")
    chat.expect_settled(c1="ran")
    chat.expect_usable()
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1"]
    server.wait_for_status(thread, "completed")


@pytest.mark.req("R76", "R110")
def test_reload_while_the_tool_runs(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("slow tool", "c1")
    chat.approve("c1")
    server.wait_for_begin(thread, "c1")
    chat.reload()
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran")
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1"]


@pytest.mark.req("R110")
def test_reload_after_one_of_two_was_answered_elsewhere(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    assert server.decide(thread, {"c1": ["reject", "Not today"]}).status_code == 202
    chat.reload()
    chat.expect_open("c2")
    expect(chat.page.get_by_test_id("batch-progress")).to_contain_text("1 of 2 answered")
    expect(chat.card("c1")).to_have_attribute("data-state", "answered")
    for shown in ("delete_file", "/tmp/old.log", "You rejected this.", "Not today"):
        expect(chat.card("c1")).to_contain_text(shown)
    cards = chat.page.get_by_test_id("approval-card")
    assert cards.evaluate_all("all => all.map(one => one.dataset.callId)") == ["c1", "c2"]
    expect(chat.card("c2").get_by_test_id("approve")).to_be_in_viewport()
    chat.approve("c2")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="rejected", c2="ran")
    expect(chat.settled("c1")).to_contain_text("Not today")
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c2"]


def test_a_page_opened_after_it_was_answered_elsewhere(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    assert server.decide(thread, {"c1": "approve"}).status_code == 202
    server.wait_for_status(thread, "completed")
    chat.reload()
    chat.expect_settled(c1="ran")
    expect(chat.settled("c1")).to_contain_text("Approved and ran")
    chat.expect_said("Finished:")
    assert server.executed(thread) == ["c1"]
