"""A page that shows a call of a run that an edit or a regeneration in another tab replaced. It once
got a bare `finish`, answered parts and all, and posted the same body for ever."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from oracles.oracle import Oracle
from support.demo_server import DemoServer, JsonObject, playing

pytestmark = pytest.mark.oracle

SCENARIO: JsonObject = {
    "tools": [{"name": "pay", "inputs": {"type": "object"}, "approval": True, "result": "paid"}],
    "turns": [
        {"when": "pay", "steps": [{"calls": [{"id": "c1", "name": "pay", "inputs": {}}]}]},
        {"steps": [{"text": "Hello."}]},
    ],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    with playing(SCENARIO, tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.mark.parametrize("clicked", [True, False], ids=["clicks yes", "clicks no"])
@pytest.mark.parametrize("recorded", ["approve", "reject"])
@pytest.mark.parametrize("replaced", ["edited", "regenerated"])
def test_a_late_click_posts_once(
    server: DemoServer, oracle: Oracle, replaced: str, recorded: str, clicked: bool
) -> None:
    thread = f"{replaced}-{recorded}-{clicked}"
    with (
        oracle.vercel_open(server.base_url, chat_id=thread) as early,
        oracle.vercel_open(server.base_url, chat_id=thread) as late,
    ):
        late.send("pay", message_id="u1")
        server.decide(thread, {"c1": recorded})
        server.wait_for_status(thread, "completed")
        if replaced == "edited":
            early.send("hello", message_id="u1")
        else:
            early.send("pay", message_id="u1")
            early.regenerate()
        posts = late.state().posts
        state = late.answer("c1", approved=clicked)

    assert not state.looped
    assert state.posts == posts + 1
    assert state.error is not None
    assert server.executed(thread).count("c1") == (recorded == "approve")
