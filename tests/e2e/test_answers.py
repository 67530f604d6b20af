"""A person answers on each page: what they see, what ran, and what the server holds."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from e2e.chat_page import NO_REASON, REJECTED, Kind
from e2e.tabs import Tabs
from support.demo_server import DemoServer, outcomes, said

pytestmark = pytest.mark.browser


@pytest.mark.req("R1", "R93", "R109", "R114")
def test_approve(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    card = chat.card("c1")
    for shown in ("delete_file", "/tmp/old.log", "Deleting a file is irreversible", "Destructive"):
        expect(card).to_contain_text(shown)
    expect(chat.page.get_by_test_id("lock")).to_have_text(re.compile("Answer the request above"))
    assert server.executed(thread) == []
    assert server.pending(thread) == ["c1"]

    chat.approve("c1")
    chat.expect_said('Finished: [["c1"')
    chat.expect_settled(c1="ran")
    expect(chat.settled("c1")).to_contain_text("Approved and ran")
    chat.expect_usable()
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1"]
    assert outcomes(server.wait_for_status(thread, "completed")) == {"c1": "output"}


@pytest.mark.req("R32", "R111", "R115")
@pytest.mark.parametrize(
    ("reason", "told"),
    [
        pytest.param("Keep it: the audit needs it.", "Keep it: the audit needs it.", id="reason"),
        pytest.param("", NO_REASON, id="no reason"),
    ],
)
def test_reject(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, reason: str, told: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("delete one", "c1")
    chat.reject("c1", reason)
    chat.expect_said(REJECTED.format(told))
    chat.expect_settled(c1="rejected")
    if reason:
        expect(chat.settled("c1")).to_contain_text(reason)
    chat.expect_usable()
    assert len(tabs.posts) == 2
    assert server.executed(thread) == []
    stored = server.wait_for_status(thread, "completed")
    assert outcomes(stored) == {"c1": "rejected"}
    assert REJECTED.format(told) in said(stored)


@pytest.mark.req("R1", "R110", "R113")
def test_two_calls_answered_differently(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    # Beyond 2^53: a page that read it as a number would show another amount than the one that runs.
    expect(chat.card("c2")).to_contain_text("9007199254740993")
    progress = chat.page.get_by_test_id("batch-progress")

    chat.reject("c1", "Not today")
    expect(progress).to_contain_text("1 of 2 answered")
    expect(chat.card("c1")).to_have_attribute("data-state", "answered")
    expect(chat.card("c2")).to_have_attribute("data-state", "open")
    expect(chat.input).to_be_disabled()
    assert (len(tabs.posts), server.executed(thread)) == (1, [])

    chat.approve("c2")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="rejected", c2="ran")
    expect(chat.settled("c1")).to_contain_text("Not today")
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c2"]
    stored = server.wait_for_status(thread, "completed")
    assert outcomes(stored) == {"c1": "rejected", "c2": "output"}


@pytest.mark.req("R113")
def test_a_second_pause_in_the_same_run(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("twice", "c1")
    chat.approve("c1")
    expect(chat.settled("c1")).to_have_attribute("data-outcome", "ran")
    expect(chat.card("c2")).to_have_attribute("data-state", "open")
    expect(chat.input).to_be_disabled()
    assert server.executed(thread) == ["c1"]
    assert server.pending(thread) == ["c2"]

    chat.reject("c2", "One is enough")
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran", c2="rejected")
    assert len(tabs.posts) == 3
    assert server.executed(thread) == ["c1"]
    stored = server.wait_for_status(thread, "completed")
    assert outcomes(stored) == {"c1": "output", "c2": "rejected"}


@pytest.mark.parametrize(
    "twice",
    [
        pytest.param("one => { one.click(); one.click() }", id="at once"),
        pytest.param(None, id="by mouse"),
    ],
)
def test_double_click(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str, twice: str | None
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("two calls", "c1", "c2")
    for call_id in ("c1", "c2"):
        button = chat.card(call_id).get_by_test_id("approve")
        if twice is None:
            button.dblclick()
        else:
            button.evaluate(twice)
    chat.expect_said("Finished:")
    chat.expect_settled(c1="ran", c2="ran")
    chat.expect_usable()
    assert len(tabs.posts) == 2
    assert server.executed(thread) == ["c1", "c2"]


def test_a_call_without_words_and_one_beside_a_free_call(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("no words", "c1")
    chat.approve("c1")
    chat.expect_said("Finished:")

    # The script uses c1 again: within a thread the second one has another id.
    chat.say("free sibling")
    card = chat.page.locator('[data-testid="approval-card"][data-state="open"]')
    expect(card).to_have_count(1)
    expect(card).not_to_have_attribute("data-call-id", "c1")
    assert server.executed(thread) == ["c1"]
    card.get_by_test_id("approve").click()
    expect(chat.page.get_by_test_id("settled-call")).to_have_count(3)
    chat.expect_usable()
    renamed = server.executed(thread)[-1]
    assert server.executed(thread) == ["c1", "f1", renamed]
    assert outcomes(server.wait_for_status(thread, "completed")) == {
        "c1": "output",
        "f1": "output",
        renamed: "output",
    }


def test_a_failing_tool(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("failing tool", "c1")
    expect(chat.card("c1")).to_contain_text("No inputs")
    chat.approve("c1")
    chat.expect_said('Finished: [["c1","The disk is locked."')
    chat.expect_settled(c1="error")
    for shown in ("Approved, but failed", "The disk is locked."):
        expect(chat.settled("c1")).to_contain_text(shown)
    chat.expect_usable()
    assert outcomes(server.wait_for_status(thread, "completed")) == {"c1": "error"}

    chat.reload()
    chat.expect_settled(c1="error")
    expect(chat.settled("c1")).to_contain_text("Approved, but failed")


def test_a_failing_model(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    chat.say("failing model")
    expect(chat.problem).to_be_visible()
    chat.expect_said("Half a thought")
    assert server.wait_for_status(thread, "failed")["pending"] == []
    expect(chat.unfinished).to_have_count(0)

    chat.reload()
    chat.expect_said("Half a thought")
    chat.expect_unfinished()
    chat.say("hello")
    chat.expect_said("Hello. What should I do?")
    expect(chat.failure.or_(chat.unfinished)).to_have_count(0)
    server.wait_for_status(thread, "completed")


def test_a_model_that_fails_after_the_answer(
    tabs: Tabs, server: DemoServer, kind: Kind, thread: str
) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("fail silently", "c1")
    chat.approve("c1")
    expect(chat.failure).to_be_visible()
    chat.expect_settled(c1="ran")
    assert len(tabs.posts) == 2
    assert outcomes(server.wait_for_status(thread, "failed")) == {"c1": "output"}

    chat.reload()
    chat.expect_settled(c1="ran")
    chat.expect_unfinished()
    chat.say("hello")
    chat.expect_said("Hello. What should I do?")
    assert server.executed(thread) == ["c1"]


def test_the_vercel_page_posts_one_message_at_a_time(
    tabs: Tabs, server: DemoServer, thread: str
) -> None:
    """Its past is at the server: a request holds the message it is about."""
    chat = tabs.open("vercel", thread)
    chat.say("hello")
    chat.expect_said("Hello. What should I do?")
    chat.ask("delete one", "c1")
    chat.approve("c1")
    chat.expect_said("Finished:")
    bodies = [json.loads(post.post_data or "") for post in tabs.posts]
    assert all("messages" not in body for body in bodies)
    assert [body["message"]["role"] for body in bodies] == ["user", "user", "assistant"]
    assert bodies[2]["messageId"] == bodies[2]["message"]["id"]
    assert server.executed(thread) == ["c1"]


def test_stop(tabs: Tabs, server: DemoServer, kind: Kind, thread: str) -> None:
    chat = tabs.open(kind, thread)
    chat.ask("very slow", "c1")
    chat.approve("c1")
    server.wait_for_execution(thread, "c1")
    chat.stop()
    chat.expect_settled(c1="ran")
    chat.expect_usable()
    assert outcomes(server.wait_for_status(thread, "cancelled")) == {"c1": "output"}
    assert server.executed(thread) == ["c1"]
