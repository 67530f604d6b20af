"""What was streamed is what is hydrated, in the eyes of the real client, at every pause and end."""

from __future__ import annotations

from typing import Any

import pytest

from oracles import Oracle
from oracles.options import Sdk as OracleSdk
from oracles.sse import JsonObject
from signoff.decisions import Approve
from signoff.thread import Thread
from signoff.vercel_ai import VercelAIAdapter
from signoff.vercel_ai.wire import Sdk
from support.cases import STORIES
from support.stories import Segment, play

pytestmark = pytest.mark.oracle

NAMES: dict[Sdk, OracleSdk] = {7: "7", 6: "6"}


def hydrated(thread: Thread, sdk: Sdk = 7) -> list[Any]:
    messages: Any = VercelAIAdapter.hydrate(thread, sdk=sdk)["messages"]
    assert isinstance(messages, list)
    return messages


def plain(message: JsonObject | None) -> JsonObject | None:
    """A live message without ``rawInput``, which only live parts have."""
    if message is None:
        return None
    parts = [
        {key: value for key, value in part.items() if key != "rawInput"}
        for part in message["parts"]
    ]
    return {**message, "parts": parts}


def clicked(message: JsonObject | None, thread: Thread) -> JsonObject:
    """The page's message after `addToolApprovalResponse` for every answer."""
    assert message is not None
    return {**message, "parts": [_answered(part, thread) for part in message["parts"]]}


def _answered(part: JsonObject, thread: Thread) -> JsonObject:
    decision = thread.decisions.get(part.get("toolCallId", ""))
    if decision is None or part["state"] != "approval-requested":
        return part
    approved = isinstance(decision, Approve)
    reason = decision.note if isinstance(decision, Approve) else decision.reason
    given = {} if reason is None else {"reason": reason}
    approval = {**part["approval"], "approved": approved, **given}
    return {**part, "state": "approval-responded", "approval": approval}


@pytest.mark.req("R96", "R110", "R111", "R112", "R113", "R115")
@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("sdk", [7, 6])
def test_b41_live_equals_hydrated(oracle: Oracle, name: str, sdk: Sdk) -> None:
    message: JsonObject | None = None
    for moment in play(STORIES[name]):
        page = clicked(message, moment.before) if moment.before.decisions else None
        fold = oracle.vercel_fold(moment.live(sdk=sdk), page, sdk=NAMES[sdk])
        failed = moment.after.status == "failed"
        assert (fold.error is not None) == failed, fold.error
        message = fold.message
        assert message is not None
        expected = hydrated(moment.after, sdk)
        assert oracle.vercel_validate(expected, sdk=NAMES[sdk]) is None
        if (sdk, name) != (6, "expired"):  # 6 cannot be told that its answer came too late
            assert oracle.vercel_validate([message], sdk=NAMES[sdk]) is None
            assert plain(message) == expected[-1]


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_a_replay_shows_the_whole_message(oracle: Oracle, segments: list[Segment]) -> None:
    for moment in play(segments):
        fold = oracle.vercel_fold(moment.replay())
        assert plain(fold.message) == hydrated(moment.after)[-1]


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
@pytest.mark.parametrize("sdk", [7, 6])
def test_a_replay_to_each_sdk_is_readable(
    oracle: Oracle, segments: list[Segment], sdk: Sdk
) -> None:
    for moment in play(segments):
        fold = oracle.vercel_fold(moment.replay(sdk=sdk), sdk=NAMES[sdk])
        assert (fold.error is not None) == (moment.after.status == "failed"), fold.error


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_a_standing_thread_is_restated_as_it_is_hydrated(
    oracle: Oracle, segments: list[Segment]
) -> None:
    thread = list(play(segments))[-1].after
    adapter = VercelAIAdapter(thread, replay=True)

    fold = oracle.vercel_fold(adapter.open() + adapter.close())

    assert plain(fold.message) == hydrated(thread)[-1]
    assert (fold.error is not None) == (thread.status == "failed")


@pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())
def test_while_it_runs_the_messages_end_with_the_users(segments: list[Segment]) -> None:
    for moment in play(segments):
        assert hydrated(moment.before)[-1]["role"] == "user"
