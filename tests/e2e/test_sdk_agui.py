"""The real `@ag-ui/client`, both generations, against the whole server.

After every step the page holds what `GET /ag-ui/threads/{id}` says: messages, state, interrupts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from e2e.chat_page import NO_REASON, REJECTED
from oracles import AgentState, AgentTab, Oracle
from oracles.options import AgentVersion
from support.demo_server import DemoServer, JsonObject, outcomes

pytestmark = pytest.mark.oracle

YES: JsonObject = {"approved": True}
NO: JsonObject = {"approved": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation with one user message; a payload of None cancels the interrupt."""

    words: str
    pauses: Sequence[Mapping[str, JsonObject | None]]
    results: Mapping[str, str]
    executed: Sequence[str] = field(default_factory=tuple)
    fails: bool = False


DELETED = '{"deleted":true}'
CASES = {
    "approved": Case(
        words="delete one", pauses=[{"c1": YES}], results={"c1": DELETED}, executed=["c1"]
    ),
    "without words": Case(
        words="no words", pauses=[{"c1": YES}], results={"c1": DELETED}, executed=["c1"]
    ),
    "rejected": Case(
        words="delete one", pauses=[{"c1": NO}], results={"c1": REJECTED.format(NO_REASON)}
    ),
    "rejected with a reason": Case(
        words="delete one",
        pauses=[{"c1": {**NO, "reason": "Keep it"}}],
        results={"c1": REJECTED.format("Keep it")},
    ),
    "cancelled by the page": Case(
        words="delete one", pauses=[{"c1": None}], results={"c1": REJECTED.format(NO_REASON)}
    ),
    "two interrupts": Case(
        words="two calls",
        pauses=[{"c2": YES, "c1": {**NO, "reason": "Not today"}}],
        results={"c1": REJECTED.format("Not today"), "c2": "sent"},
        executed=["c2"],
    ),
    "second pause": Case(
        words="twice",
        pauses=[{"c1": YES}, {"c2": YES}],
        results={"c1": DELETED, "c2": DELETED},
        executed=["c1", "c2"],
    ),
    "second pause at once": Case(
        words="second at once",
        pauses=[{"c1": NO}, {"c2": YES}],
        results={"c1": REJECTED.format(NO_REASON), "c2": DELETED},
        executed=["c2"],
    ),
    "free sibling": Case(
        words="free sibling",
        pauses=[{"c1": YES}],
        results={"f1": "12 lines", "c1": DELETED},
        executed=["f1", "c1"],
    ),
    "nothing to ask": Case(
        words="free call", pauses=[], results={"f1": "12 lines"}, executed=["f1"]
    ),
    "failing tool": Case(
        words="failing tool",
        pauses=[{"c1": YES}],
        results={"c1": "The disk is locked."},
        executed=["c1"],
    ),
    "failing model": Case(words="failing model", pauses=[], results={}, fails=True),
    "model fails after the answer": Case(
        words="fail afterwards",
        pauses=[{"c1": YES}],
        results={"c1": DELETED},
        executed=["c1"],
        fails=True,
    ),
}


@pytest.fixture(params=["1.0.0", "0.0.59"])
def version(request: pytest.FixtureRequest) -> AgentVersion:
    version: AgentVersion = request.param
    return version


class Agents:
    """Opens agents on one thread."""

    def __init__(
        self, oracle: Oracle, server: DemoServer, thread: str, version: AgentVersion
    ) -> None:
        self.oracle, self.server, self.thread, self.version = oracle, server, thread, version

    def new(self, thread: str | None = None, *, cookie: str = "") -> AgentTab:
        return self.oracle.agui_open(
            f"{self.server.base_url}/ag-ui",
            thread_id=thread or self.thread,
            version=self.version,
            headers={"cookie": cookie} if cookie else {},
        )

    def truth(self) -> JsonObject:
        document: JsonObject = self.server.http.get(f"/ag-ui/threads/{self.thread}").json()
        return document

    def assert_true(self, state: AgentState, *pending: str) -> None:
        """The page holds the truth, and these interrupts are open."""
        assert (state.error, state.failure, state.warnings) == (None, None, [])
        truth = as_javascript(self.truth())
        assert state.messages == truth["messages"]
        assert state.pending_interrupts == truth["interrupts"]
        # The client's own state is empty where the server has none.
        assert state.state == (truth["state"] or {})
        assert tuple(state.pending_ids()) == pending
        assert self.server.pending(self.thread) == list(pending)


@pytest.fixture
def agents(oracle: Oracle, server: DemoServer, thread: str, version: AgentVersion) -> Agents:
    return Agents(oracle, server, thread, version)


def as_javascript(value: Any) -> Any:
    """JSON as a page holds it: large numbers are rounded."""
    match value:
        case dict():
            return {name: as_javascript(one) for name, one in value.items()}
        case list():
            return [as_javascript(one) for one in value]
        case int() if abs(value) > 2**53:
            return int(float(value))
        case _:
            return value


def refusals(state: AgentState) -> list[str]:
    return [one["value"]["code"] for one in state.customs if one["name"] == "signoff.refused"]


def results(state: AgentState) -> dict[str, str]:
    tools = [one for one in state.messages if one["role"] == "tool"]
    found = {one["toolCallId"]: one["content"] for one in tools}
    assert len(found) == len(tools), "a call has two results"
    return found


@pytest.mark.req("R32", "R93", "R98", "R103")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_conversation(agents: Agents, case: Case) -> None:
    with agents.new() as tab:
        # One run id for everything, as CopilotKit has it: it never selects a run.
        state = tab.send(case.words, run_id="run-1")
        for answers in case.pauses:
            agents.assert_true(state, *sorted(answers))
            for call_id in answers:
                assert f'"toolCallId":"{call_id}"' not in state.exchanges[-1].text
            state = tab.answer(answers)
        assert [one["message"] != "" for one in state.run_errors] == ([True] if case.fails else [])
        assert results(state) == case.results
        assert state.posts == 1 + len(case.pauses)
        if state.pending_ids():
            # RUN_ERROR leaves what the client holds as open; the same answers again end that.
            state = tab.answer(case.pauses[-1])
        agents.assert_true(state)
        state = tab.send("hello")
        agents.assert_true(state)
        assert state.messages[-1]["content"] == "Hello. What should I do?"
    assert agents.server.executed(agents.thread) == list(case.executed)


@pytest.mark.req("R98", "R99")
@pytest.mark.parametrize("how", ["connect", "empty run"])
@pytest.mark.parametrize("name", ["two interrupts", "second pause", "free sibling"])
def test_b37_reloaded_at_every_pause(agents: Agents, name: str, how: str) -> None:
    case = CASES[name]
    with agents.new() as tab:
        tab.send(case.words)
    for answers in case.pauses:
        with agents.new() as tab:
            state = tab.connect() if how == "connect" else tab.run()
            agents.assert_true(state, *sorted(answers))
            assert refusals(state) == []
            assert tab.answer(answers).posts == 2
    with agents.new() as tab:
        state = tab.connect() if how == "connect" else tab.run()
        agents.assert_true(state)
        assert results(state) == case.results
    assert agents.server.executed(agents.thread) == list(case.executed)


@pytest.mark.parametrize("how", ["connect", "empty run"])
def test_b38_reconnected_twice_without_the_end_of_the_stream(agents: Agents, how: str) -> None:
    with agents.new() as tab:
        tab.send("slow start", wait=False)
        tab.wait({"text": "Let me"})
        tab.abort()
        for _ in range(2):
            with agents.new() as again:
                state = again.connect() if how == "connect" else again.run()
                agents.assert_true(state, "c1")
    assert agents.server.executed(agents.thread) == []


@pytest.mark.parametrize("how", ["connect", "empty run"])
def test_a_thread_that_is_new(agents: Agents, how: str) -> None:
    with agents.new() as tab:
        state = tab.connect() if how == "connect" else tab.run()
        agents.assert_true(state)
        assert state.messages == []
        assert state.run_errors == []


@pytest.mark.req("R76")
@pytest.mark.parametrize("how", ["connect", "empty run", "the same answers"])
def test_reloaded_while_it_runs(agents: Agents, how: str) -> None:
    with agents.new() as tab:
        tab.send("slow tool")
        tab.answer({"c1": YES}, wait=False)
        agents.server.wait_for_begin(agents.thread, "c1")
        with agents.new() as late:
            if how == "the same answers":
                late.set(pending=believed("c1"))
                state = late.answer({"c1": YES})
            else:
                state = late.connect() if how == "connect" else late.run()
            assert refusals(state) == []
            agents.assert_true(state)
            assert results(state) == {"c1": DELETED}
        agents.assert_true(tab.wait())
    assert agents.server.executed(agents.thread) == ["c1"]


# --- refused -----------------------------------------------------------------------------------


def believed(*ids: str) -> list[JsonObject]:
    """What a page believes that is wrong: these are open."""
    return [{"id": one, "reason": "confirmation"} for one in ids]


@pytest.mark.parametrize(
    ("open_here", "answers", "code"),
    [
        pytest.param(["c1"], {"c1": YES}, "incomplete_resume", id="uncovered"),
        pytest.param(["zz"], {"zz": YES}, "unknown_call", id="unknown id"),
        pytest.param(
            ["c1", "c2", "zz"], {"c1": YES, "c2": YES, "zz": YES}, "unknown_call", id="one unknown"
        ),
        pytest.param(
            ["c1", "c2"],
            {"c1": {"approved": "yes"}, "c2": YES},
            "invalid_decision",
            id="no boolean",
        ),
        pytest.param(["c1", "c2"], {"c1": {}, "c2": YES}, "invalid_decision", id="no answer in it"),
    ],
)
def test_answers_that_cannot_be_taken(
    agents: Agents, open_here: list[str], answers: Mapping[str, JsonObject], code: str
) -> None:
    with agents.new() as tab:
        tab.send("two calls")
        # The client checks a resume against what it believes to be open.
        tab.set(pending=believed(*open_here))
        state = tab.answer(answers)
        assert refusals(state) == [code]
        agents.assert_true(state, "c1", "c2")
        assert agents.server.executed(agents.thread) == []
        state = tab.answer({"c1": NO, "c2": YES})
        agents.assert_true(state)
    assert agents.server.executed(agents.thread) == ["c2"]


@pytest.mark.req("R110")
@pytest.mark.parametrize("same", [True, False], ids=["same answer", "other answer"])
def test_b107_a_second_tab_answers_later(agents: Agents, same: bool) -> None:
    with agents.new() as first, agents.new() as late:
        first.send("delete one")
        late.connect()
        first.answer({"c1": YES})
        state = late.answer({"c1": YES if same else NO})
        assert refusals(state) == ([] if same else ["already_decided"])
        agents.assert_true(state)
        assert results(state) == {"c1": DELETED}
        agents.assert_true(late.send("hello", message_id="another"))
    assert agents.server.executed(agents.thread) == ["c1"]


@pytest.mark.req("R110")
def test_a_second_tab_answers_while_it_runs(agents: Agents) -> None:
    with agents.new() as first, agents.new() as late:
        first.send("slow tool")
        late.connect()
        first.answer({"c1": YES}, wait=False)
        agents.server.wait_for_begin(agents.thread, "c1")
        state = late.answer({"c1": NO})
        assert refusals(state) == ["already_decided"]
        agents.assert_true(state)
        agents.assert_true(first.wait())
    assert agents.server.executed(agents.thread) == ["c1"]


def test_a_second_tab_at_the_next_pause(agents: Agents) -> None:
    with agents.new() as first, agents.new() as late:
        first.send("twice")
        late.connect()
        first.answer({"c1": YES})
        state = late.answer({"c1": NO})
        agents.assert_true(state, "c2")
        agents.assert_true(late.answer({"c2": NO}))
    assert agents.server.executed(agents.thread) == ["c1"]


def test_one_of_two_was_decided_elsewhere(agents: Agents) -> None:
    with agents.new() as tab:
        tab.send("two calls")
        assert agents.server.decide(agents.thread, {"c1": "reject"}).status_code == 202
        with agents.new() as late:
            agents.assert_true(late.connect(), "c2")
        state = tab.answer({"c1": NO, "c2": YES})
        assert refusals(state) == []
        agents.assert_true(state)
    assert agents.server.executed(agents.thread) == ["c2"]


@pytest.mark.req("R29")
def test_a_decision_is_revised_by_its_author(agents: Agents) -> None:
    with agents.new() as tab:
        tab.send("two calls")
        assert agents.server.decide(agents.thread, {"c1": "approve"}).status_code == 202
        state = tab.answer({"c1": NO, "c2": YES})
        assert refusals(state) == []
        agents.assert_true(state)
        assert results(state) == {"c1": REJECTED.format(NO_REASON), "c2": "sent"}
    assert agents.server.executed(agents.thread) == ["c2"]


def test_a_message_while_pending(agents: Agents) -> None:
    with agents.new() as tab:
        tab.send("delete one")
        # Both clients refuse it by themselves; this one is made to forget.
        tab.set(pending=[])
        state = tab.send("hello")
        assert refusals(state) == ["awaiting_decision"]
        agents.assert_true(state, "c1")
        agents.assert_true(tab.answer({"c1": YES}))
    stored = agents.server.wait_for_status(agents.thread, "completed")
    assert outcomes(stored) == {"c1": "output"}
    assert agents.server.executed(agents.thread) == ["c1"]


def test_a_message_while_it_runs(agents: Agents) -> None:
    with agents.new() as tab, agents.new() as late:
        tab.send("slow start", wait=False)
        tab.wait({"text": "Let me"})
        state = late.send("hello", message_id="another")
        assert refusals(state) == ["run_in_progress"]
        agents.assert_true(state, "c1")
        agents.assert_true(tab.wait(), "c1")


def test_b107_the_same_message_twice(agents: Agents) -> None:
    with agents.new() as tab, agents.new() as again:
        tab.send("delete one", message_id="m1")
        agents.assert_true(again.send("delete one", message_id="m1"), "c1")
        agents.assert_true(tab.answer({"c1": YES}))
    with agents.new() as later:
        agents.assert_true(later.send("delete one", message_id="m1"))
    assert agents.server.executed(agents.thread) == ["c1"]


def test_answers_in_another_thread(agents: Agents) -> None:
    with agents.new() as tab:
        tab.send("delete one")
        with agents.new(f"{agents.thread}-b") as elsewhere:
            elsewhere.set(pending=believed("c1"))
            state = elsewhere.answer({"c1": YES})
            assert refusals(state) == ["nothing_pending"]
            assert state.pending_ids() == []
        with agents.new() as again:
            agents.assert_true(again.connect(), "c1")
    assert agents.server.executed(agents.thread) == []


@pytest.mark.req("R46")
def test_somebody_else_can_neither_see_nor_answer(agents: Agents) -> None:
    with agents.new() as tab:
        tab.send("delete one")
        with agents.new(cookie=agents.server.sign_in("visitor")) as foreign:
            claim: JsonObject = {"principal": "demo", "user": "demo", "owner": "demo"}
            foreign.set(pending=believed("c1"), forwarded_props=claim, state=claim)
            state = foreign.answer({"c1": {**YES, **claim}})
            assert refusals(state) == ["nothing_pending"]
            assert (state.messages, state.pending_ids()) == ([], [])
        assert agents.server.executed(agents.thread) == []
        agents.assert_true(tab.answer({"c1": NO}))
