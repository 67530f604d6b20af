"""The real ``Chat`` over HTTP: every story, every predicate, no post too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oracles import ChatState, ChatTab, Oracle
from oracles.options import Predicate
from oracles.options import Sdk as OracleSdk
from signoff.decisions import Approve, Decision
from signoff.vercel_ai.wire import Sdk
from support.cases import STORIES
from support.stories import Segment
from support.vercel_server import Live, telling

pytestmark = pytest.mark.oracle

NAMES: dict[Sdk, OracleSdk] = {7: "7", 6: "6"}
FAILING = [name for name in STORIES if name.startswith("failed")]


@pytest.fixture(scope="module", params=[7, 6], ids=["sdk 7", "sdk 6"])
def sdk(request: pytest.FixtureRequest) -> Sdk:
    chosen: Sdk = request.param
    return chosen


@pytest.fixture(scope="module")
def live(sdk: Sdk, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    store: Path = tmp_path_factory.mktemp("vercel") / "store.db"
    turns = {str(one.says): [one] for one in STORIES["two turns"]}
    with telling({**STORIES, **turns}, store, sdk=sdk) as live:
        yield live


def click(tab: ChatTab, answers: dict[str, Decision]) -> ChatState:
    state = tab.state()
    for call_id, decision in answers.items():
        approved = isinstance(decision, Approve)
        reason = decision.note if isinstance(decision, Approve) else decision.reason
        state = tab.answer(call_id, approved=approved, reason=reason)
    return state


def live_messages(state: ChatState) -> list[Any]:
    for part in state.tool_parts():
        part.pop("rawInput", None)
    return state.messages


def through(tab: ChatTab, name: str, segments: Sequence[Segment]) -> ChatState:
    """Send the story's name, and answer what it asks."""
    state = tab.send(name)
    for segment in segments[1:]:
        state = click(tab, dict(segment.answers))
    return state


SINGLE_TURN = {name: parts for name, parts in STORIES.items() if name != "two turns"}


@pytest.mark.parametrize("name", SINGLE_TURN)
@pytest.mark.parametrize("predicate", ["approvals", "approvals-or-tools"])
def test_each_answer_is_one_post_and_no_ending_makes_another(
    oracle: Oracle, live: Live, sdk: Sdk, name: str, predicate: Predicate
) -> None:
    chat = f"{predicate}/{name}"
    options: Any = {"chat_id": chat, "sdk": NAMES[sdk]}
    with oracle.vercel_open(live.url, send_automatically_when=predicate, **options) as tab:
        state = through(tab, name, STORIES[name])
    assert (state.posts, state.looped) == (len(STORIES[name]), False)
    assert (state.status == "error") == (name in FAILING)
    if (sdk, name) != (6, "expired"):
        assert state.invalid is None
    with oracle.vercel_open(live.url, hydrate=True, **options) as reloaded:
        fresh = reloaded.state()
    assert fresh.posts == 0
    assert fresh.invalid is None
    if (sdk, name) != (6, "expired"):
        assert fresh.messages == live_messages(state)


@pytest.mark.parametrize("name", [name for name, parts in SINGLE_TURN.items() if len(parts) == 1])
def test_the_tool_predicate_alone_posts_nothing_more(
    oracle: Oracle, live: Live, sdk: Sdk, name: str
) -> None:
    options: Any = {"sdk": NAMES[sdk], "send_automatically_when": "tools"}
    with oracle.vercel_open(live.url, chat_id=f"tools/{name}", **options) as tab:
        state = tab.send(name)
    assert (state.posts, state.looped) == (1, False)


def test_two_turns_are_two_messages(oracle: Oracle, live: Live, sdk: Sdk) -> None:
    options: Any = {"chat_id": "turns", "sdk": NAMES[sdk]}
    with oracle.vercel_open(live.url, **options) as tab:
        tab.send("Hello")
        state = tab.send("And?")
    with oracle.vercel_open(live.url, hydrate=True, **options) as reloaded:
        assert reloaded.state().messages == live_messages(state)
    assert [message["role"] for message in state.messages] == ["user", "assistant"] * 2
