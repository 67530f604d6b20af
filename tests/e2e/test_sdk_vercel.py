"""The real `Chat` of the AI SDK against the whole server: how often it posts, and what it holds.

`sendAutomaticallyWhen` is asked again after every reply, without a cap: a continuation that leaves
it true is posted again for ever. So every continuation has an exact number of posts here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from oracles import ChatState, ChatTab, Oracle
from oracles.options import Predicate
from support.demo_server import DemoServer, JsonObject

pytestmark = pytest.mark.oracle

Answer = bool | str  # a text rejects, and is the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation with one user message, and how it must end.

    Attributes:
        pauses: the answers to each pause, in order.
        ends: outcomes by callId.
        executed: what ran, in order.
        status: of the page; `error` where the model failed.
    """

    words: str
    pauses: Sequence[Mapping[str, Answer]]
    ends: Mapping[str, str]
    executed: Sequence[str] = field(default_factory=tuple)
    status: str = "ready"


RAN, NO, ERROR = "output-available", "output-denied", "output-error"

CASES = {
    "answered": Case(words="delete one", pauses=[{"c1": True}], ends={"c1": RAN}, executed=["c1"]),
    "without words": Case(
        words="no words", pauses=[{"c1": True}], ends={"c1": RAN}, executed=["c1"]
    ),
    "nothing said afterwards": Case(
        words="say nothing", pauses=[{"c1": True}], ends={"c1": RAN}, executed=["c1"]
    ),
    "rejected": Case(words="delete one", pauses=[{"c1": False}], ends={"c1": NO}),
    "rejected with a reason": Case(words="delete one", pauses=[{"c1": "Keep it"}], ends={"c1": NO}),
    "rejected, nothing said": Case(words="say nothing", pauses=[{"c1": False}], ends={"c1": NO}),
    "mixed": Case(
        words="two calls",
        pauses=[{"c1": "Not today", "c2": True}],
        ends={"c1": NO, "c2": RAN},
        executed=["c2"],
    ),
    "all rejected": Case(
        words="two calls", pauses=[{"c2": False, "c1": False}], ends={"c1": NO, "c2": NO}
    ),
    "second pause": Case(
        words="twice",
        pauses=[{"c1": True}, {"c2": True}],
        ends={"c1": RAN, "c2": RAN},
        executed=["c1", "c2"],
    ),
    "second pause at once": Case(
        words="second at once",
        pauses=[{"c1": False}, {"c2": True}],
        ends={"c1": NO, "c2": RAN},
        executed=["c2"],
    ),
    "free sibling": Case(
        words="free sibling",
        pauses=[{"c1": True}],
        ends={"f1": RAN, "c1": RAN},
        executed=["f1", "c1"],
    ),
    "free sibling of a rejected call": Case(
        words="free sibling", pauses=[{"c1": False}], ends={"f1": RAN, "c1": NO}, executed=["f1"]
    ),
    "nothing to ask": Case(words="free call", pauses=[], ends={"f1": RAN}, executed=["f1"]),
    "failing tool": Case(
        words="failing tool", pauses=[{"c1": True}], ends={"c1": ERROR}, executed=["c1"]
    ),
    "failing model": Case(words="failing model", pauses=[], ends={}, status="error"),
    "model fails after the answer": Case(
        words="fail afterwards",
        pauses=[{"c1": True}],
        ends={"c1": RAN},
        executed=["c1"],
        status="error",
    ),
    "model fails without a word": Case(
        words="fail silently",
        pauses=[{"c1": True}],
        ends={"c1": RAN},
        executed=["c1"],
        status="error",
    ),
    "model fails after a rejection": Case(
        words="fail silently", pauses=[{"c1": False}], ends={"c1": NO}, status="error"
    ),
    "odd values": Case(
        words="odd values", pauses=[{"c1": True}], ends={"x1": ERROR, "c1": RAN}, executed=["c1"]
    ),
}
PREDICATES: list[Predicate] = ["approvals", "approvals-or-tools"]


@pytest.mark.req("R109", "R111", "R113", "R114")
@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_posts_of_every_continuation(
    oracle: Oracle, server: DemoServer, thread: str, case: Case, predicate: Predicate
) -> None:
    with oracle.vercel_open(
        server.base_url, chat_id=thread, send_automatically_when=predicate
    ) as tab:
        state = tab.send(case.words)
        for number, answers in enumerate(case.pauses, start=1):
            assert (state.status, state.posts, state.looped) == ("ready", number, False)
            state = answer(tab, answers)
        assert_ended(state, case, posts=1 + len(case.pauses))
        assert server.executed(thread) == list(case.executed)
        assert_hydrated_equals(state, oracle, server, thread)

        # Nothing is left that a later reply could set off.
        state = tab.send("hello")
        assert (state.posts, state.looped) == (2 + len(case.pauses), False)
        assert state.text() == "Hello. What should I do?"
    assert server.executed(thread) == list(case.executed)


@pytest.mark.req("R98", "R99")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_b41_reloaded_at_every_pause(
    oracle: Oracle, server: DemoServer, thread: str, case: Case
) -> None:
    """Each answer comes from a page of its own, which knows only what it was reloaded with."""
    with oracle.vercel_open(server.base_url, chat_id=thread) as tab:
        state = tab.send(case.words)
    for answers in case.pauses:
        assert_hydrated_equals(state, oracle, server, thread)
        with oracle.vercel_open(server.base_url, chat_id=thread, hydrate=True, resume=True) as tab:
            reloaded = tab.state()
            assert (reloaded.posts, reloaded.invalid) == (0, None)
            state = answer(tab, answers)
            assert (state.posts, state.looped) == (1, False)
    with oracle.vercel_open(server.base_url, chat_id=thread, hydrate=True, resume=True) as tab:
        ended = tab.state()
        assert (ended.posts, ended.invalid, ended.status) == (0, None, case.status)
        assert {one["toolCallId"]: one["state"] for one in ended.tool_parts()} == case.ends
    assert server.executed(thread) == list(case.executed)


@pytest.mark.req("R112")
def test_b48_one_message_from_the_question_to_the_answer(
    oracle: Oracle, server: DemoServer, thread: str
) -> None:
    with oracle.vercel_open(server.base_url, chat_id=thread) as tab:
        asked = tab.send("twice")
        tab.answer("c1", approved=True)
        ended = tab.answer("c2", approved=True)
    kept = asked.messages[-1]["id"]
    assert [one["role"] for one in ended.messages] == ["user", "assistant"]
    assert [one.body.get("messageId") for one in ended.posted()] == [None, kept, kept]
    for messages in (ended.messages, hydrated(oracle, server, thread)):
        assert [one["id"] for one in messages if one["role"] == "assistant"] == [kept]
        parts = [part.get("toolCallId") for one in messages for part in one["parts"]]
        assert (parts.count("c1"), parts.count("c2")) == (1, 1)


def test_b55_ids_outlive_reloads_and_restarts(
    oracle: Oracle, server: DemoServer, thread: str
) -> None:
    with oracle.vercel_open(server.base_url, chat_id=thread) as tab:
        tab.send("twice")
        tab.answer("c1", approved=True)
    before = everything(server, thread)
    assert everything(server, thread) == before
    server.restart()
    assert everything(server, thread) == before


@pytest.mark.req("R115")
def test_the_reason_stands_in_the_part(oracle: Oracle, server: DemoServer, thread: str) -> None:
    with oracle.vercel_open(server.base_url, chat_id=thread) as tab:
        tab.send("two calls")
        state = answer(tab, {"c1": "Not today", "c2": True})
    assert state.part("c1")["approval"]["reason"] == "Not today"
    assert state.part("c1")["approval"]["requestReason"] == "Deleting a file is irreversible"
    assert "reason" not in state.part("c2")["approval"]


def test_b101_odd_values_end_no_stream(oracle: Oracle, server: DemoServer, thread: str) -> None:
    with oracle.vercel_open(server.base_url, chat_id=thread) as tab:
        tab.send("odd values")
        state = tab.answer("c1", approved=True)
    assert (state.status, state.invalid) == ("ready", None)
    assert state.part("x1")["errorText"].startswith("INVALID ARGUMENTS.")
    output = state.part("c1")["output"]
    assert (output["lines"], output["nul"]) == ("a\u2028b\u2029c\u0085d", "\0")
    # Newlines of Unicode would cut a frame in two in some line readers (B101, B102).
    raw = "".join(one.text for one in state.posted())
    assert not {"\u2028", "\u2029", "\u0085"} & set(raw)
    assert "9007199254740993" in raw


def answer(tab: ChatTab, answers: Mapping[str, Answer]) -> ChatState:
    state = tab.state()
    before = state.posts
    for given, (call_id, wanted) in enumerate(answers.items(), start=1):
        reason = wanted if isinstance(wanted, str) else None
        state = tab.answer(call_id, approved=wanted is True, reason=reason)
        assert state.posts == before + (given == len(answers)), "posted before the last answer"
    return state


def assert_ended(state: ChatState, case: Case, *, posts: int) -> None:
    assert (state.posts, state.looped, state.failure) == (posts, False, None)
    assert (state.status, state.invalid) == (case.status, None)
    assert {one["toolCallId"]: one["state"] for one in state.tool_parts()} == case.ends
    assert state.tool_calls == []


def assert_hydrated_equals(
    state: ChatState, oracle: Oracle, server: DemoServer, thread: str
) -> None:
    """What a reloaded page holds is what the live one does, `rawInput` of live parts aside."""
    live = [
        {**one, "parts": [_without_raw(part) for part in one["parts"]]} for one in state.messages
    ]
    assert hydrated(oracle, server, thread) == live


def hydrated(oracle: Oracle, server: DemoServer, thread: str) -> list[JsonObject]:
    """The stored messages as a page holds them: JavaScript rounds large numbers."""
    with oracle.vercel_open(server.base_url, chat_id=thread, hydrate=True) as tab:
        return tab.state().messages


def _without_raw(part: JsonObject) -> JsonObject:
    return {name: value for name, value in part.items() if name != "rawInput"}


def everything(server: DemoServer, thread: str) -> list[object]:
    addresses = (f"/threads/{thread}", f"/vercel/chat/{thread}", f"/ag-ui/threads/{thread}")
    return [server.http.get(address).json() for address in addresses]
