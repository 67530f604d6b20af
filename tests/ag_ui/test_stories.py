"""What was streamed is what is hydrated, in the eyes of both clients, at every pause and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from oracles import Oracle
from oracles.options import AgentVersion
from signoff.ag_ui import AGUIAdapter, MessageEntry
from signoff.errors import AlreadyDecided
from signoff.events import RunEvent
from signoff.history import Recorder
from signoff.messages import TextPart, UserMessage, last_batch
from signoff.thread import Thread
from support.agui_pages import STATE, VERSIONS, Page, encoded, hydrated, only, sent
from support.cases import STORIES
from support.stories import MOMENT, Moment, Segment, play, stage, told

pytestmark = pytest.mark.oracle

each_version = pytest.mark.parametrize("version", VERSIONS)
each_story = pytest.mark.parametrize("segments", STORIES.values(), ids=STORIES.keys())


def check(page: Page, moment: Moment, *, tool_bound: bool = False) -> None:
    view = hydrated(moment.after, page.profile, tool_bound=tool_bound)
    # `error` of a result stands in snapshots only (R97).
    errors = {one["id"]: one["error"] for one in page.said if "error" in one}
    expected = [{**one, "error": errors.get(one["id"])} for one in view["messages"]]
    assert [{**one, "error": errors.get(one["id"])} for one in page.said] == expected
    if moment.after.status != "failed":  # RUN_ERROR leaves what is pending as it was
        assert [one["id"] for one in page.pending] == [one["id"] for one in view["interrupts"]]


@pytest.mark.req("R90", "R91", "R92", "R96", "R99")
@each_version
@each_story
def test_b41_live_equals_hydrated(
    oracle: Oracle, segments: list[Segment], version: AgentVersion
) -> None:
    page = Page(oracle, version)
    for moment in play(segments):
        fold = page.live(moment)
        assert (fold.error, fold.failure, fold.warnings) == (None, None, [])
        assert bool(fold.run_errors) == (moment.after.status == "failed")
        check(page, moment)


@pytest.mark.req("R98")
@pytest.mark.parametrize("profile", ["1.0", "0.0"])
@each_story
def test_live_interrupts_are_the_hydrated_ones(segments: list[Segment], profile: str) -> None:
    for moment in play(segments):
        if moment.after.status == "awaiting_approval":
            live = only(sent(moment, profile="1.0"), "RUN_FINISHED")["outcome"]["interrupts"]
            assert live == AGUIAdapter.hydrate(moment.after, profile="1.0")["interrupts"]
            again = AGUIAdapter.hydrate(moment.after, profile="1.0")
            assert again == AGUIAdapter.hydrate(moment.after, profile="1.0")


@each_version
@each_story
def test_a_page_that_attaches_late_ends_equal(
    oracle: Oracle, segments: list[Segment], version: AgentVersion
) -> None:
    for moment in play(segments):
        page = Page(oracle, version)
        adapter = AGUIAdapter(moment.before, run_id="r9", profile=page.profile)
        fold = page.fold(encoded(adapter, moment.events))
        assert (fold.error, fold.failure, fold.warnings) == (None, None, [])
        check(page, moment)


@each_version
@each_story
def test_a_standing_thread_is_restated_as_it_is_hydrated(
    oracle: Oracle, segments: list[Segment], version: AgentVersion
) -> None:
    moment = told(segments)
    page = Page(oracle, version)
    fold = page.fold(encoded(AGUIAdapter(moment.after, run_id="r9", profile=page.profile), []))
    assert (fold.error, fold.failure, fold.run_errors, fold.warnings) == (None, None, [], [])
    assert page.messages == hydrated(moment.after, page.profile)["messages"]
    assert fold.pending_ids() == [call.call_id for call in moment.after.open_calls]


@each_version
@each_story
def test_tool_bound_interrupts_end_equal_as_well(
    oracle: Oracle, segments: list[Segment], version: AgentVersion
) -> None:
    page = Page(oracle, version)
    for moment in play(segments):
        fold = page.live(moment, tool_bound=True)
        assert (fold.error, fold.failure, fold.warnings) == (None, None, [])
        check(page, moment, tool_bound=True)


@each_version
def test_a_second_tab_that_answers_late_is_put_right(oracle: Oracle, version: AgentVersion) -> None:
    """Its cards go, also while the answered run is still on its way."""
    paused, answered = play(STORIES["one approved, one rejected"])
    standing: Sequence[RunEvent] = ()
    for thread, events in ((answered.before, answered.events), (answered.after, standing)):
        tab = Page(oracle, version)
        tab.live(paused)
        assert len(tab.pending) == 2
        refusal = AlreadyDecided(call_id="c1")
        adapter = AGUIAdapter(thread, run_id="r2", profile=tab.profile, refusal=refusal)
        fold = tab.fold(encoded(adapter, events))
        assert (fold.error, fold.failure, tab.pending) == (None, None, [])
        assert [one["value"]["code"] for one in fold.customs] == ["already_decided"]
        check(tab, answered)


@each_version
def test_b33_a_batch_answered_in_part_elsewhere_asks_for_the_rest(
    oracle: Oracle, version: AgentVersion
) -> None:
    paused, answered = play(STORIES["one approved, one rejected"])
    thread = stage(paused.after, {"c1": answered.before.decisions["c1"]})
    page = Page(oracle, version)
    page.fold(encoded(AGUIAdapter(thread, run_id="r1", profile=page.profile), []))
    assert [one["id"] for one in page.pending] == ["c2"]


@each_version
@pytest.mark.parametrize("story", ["approved", "approved and no word", "a second pause"])
@pytest.mark.parametrize("late", [False, True], ids=["who answers", "who attaches"])
def test_a_message_beside_the_answers_ends_behind_the_results(
    oracle: Oracle, version: AgentVersion, story: str, late: bool
) -> None:
    """The page refused it while the card was open, and kept it: its calls would land behind it."""
    paused, answered, *_ = play(STORIES[story])
    beside = UserMessage(
        id="u2", seq=9, created_at=MOMENT, run_id="run_1", content=(TextPart(text="And?"),)
    )
    page = Page(oracle, version)
    if not late:
        page.live(paused)
        page.messages.append({"id": "u2", "role": "user", "content": "And?"})
    before = replace(answered.before, queued=(beside,))
    assert AGUIAdapter.hydrate(before)["messages"][-1]["id"] == "u2"
    adapter = AGUIAdapter(before, run_id="r2", profile=page.profile, client=STATE, restate=late)
    fold = page.fold(encoded(adapter, answered.events))
    assert (fold.error, fold.failure, fold.warnings) == (None, None, [])
    expected = list(stored(before, answered.events))
    assert [one["id"] for one in page.messages] == [one["id"] for one in expected]
    results = [place for place, one in enumerate(page.messages) if one["role"] == "tool"]
    assert page.messages[results[-1] + 1]["id"] == "u2"


def stored(before: Thread, events: Sequence[RunEvent]) -> list[MessageEntry]:
    recorder = Recorder(
        run_id="run_1",
        clock=lambda: MOMENT,
        next_seq=9,
        batch=last_batch(before.messages),
        decisions=before.decisions,
        queued=before.queued,
    )
    for event in events:
        recorder.record(event)
    after = replace(before, messages=(*before.messages, *recorder.messages), queued=())
    return AGUIAdapter.hydrate(after)["messages"]
