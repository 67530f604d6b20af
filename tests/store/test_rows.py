"""What is stored reads back equal, for every field; what is not ours to guess is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from signoff.commands import ClientContext
from signoff.decisions import Approve, Decision, Reject
from signoff.errors import CorruptRecord
from signoff.messages import TextPart, UserMessage
from signoff.principal import Principal
from signoff.suspension import PendingCall, Risk, Suspension, SuspensionEvent, ToolCall
from signoff_server.store import Store, asking, executions, rows, threads, transcript
from support.strategies import calls, json_objects, json_values, outcomes, texts

NOW = datetime(2026, 12, 1, 9, 30, 0, 123000, tzinfo=UTC)
ME = Principal(id="me")

decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(Approve, note=st.none() | texts),
    st.builds(Reject, reason=st.none() | texts.filter(bool)),
)
clients = st.builds(
    ClientContext,
    tools=st.lists(json_objects, max_size=2).map(tuple),
    context=st.lists(json_objects, max_size=2).map(tuple),
    forwarded_props=json_values,
)


@st.composite
def pendings(draw: st.DrawFn, call_id: str) -> PendingCall:
    return PendingCall(
        call=draw(calls(call_id)),
        reason=draw(texts),
        risk=draw(st.sampled_from(get_args(Risk))),
        expires_at=draw(st.none() | st.integers(0, 10**9).map(lambda ms: _later(ms))),
        allows=tuple(draw(st.lists(st.sampled_from(["edit", "always"]), max_size=2))),
        preview=draw(st.none() | texts),
        fingerprint=draw(texts),
    )


def _later(milliseconds: int) -> datetime:
    return NOW + timedelta(milliseconds=milliseconds)


@given(pendings("c1"))
def test_b113_a_pending_call_reads_back_equal(pending: PendingCall) -> None:
    assert rows.pending_from_text(rows.pending_to_text(pending)) == pending


@given(decisions)
def test_b113_a_decision_reads_back_equal(decision: Decision) -> None:
    note = decision.note if isinstance(decision, Approve) else None
    assert rows.decision_from_text(rows.decision_to_text(decision), note) == decision


@given(outcomes)
def test_b113_an_outcome_reads_back_equal(outcome: Any) -> None:
    assert rows.outcome_from_text(rows.outcome_to_text(outcome)) == outcome


@given(clients)
def test_b113_a_client_context_reads_back_equal(client: ClientContext) -> None:
    assert rows.client_from_text(rows.client_to_text(client)) == client


@pytest.mark.anyio
async def test_b113_a_whole_suspension_reads_back_equal_from_the_database(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/signoff.db")
    await store.open()
    numbers = iter(range(10**6))

    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
    @given(pendings("c1"), pendings("c2"), decisions, outcomes, json_values, clients, texts)
    def round_trip(
        first: PendingCall,
        second: PendingCall,
        decision: Decision,
        outcome: Any,
        state: Any,
        client: ClientContext,
        words: str,
    ) -> None:
        key = f"t{next(numbers)}"
        suspension = Suspension(kind="approval", message_id="m", calls=(first, second))
        queued = UserMessage(
            id="u2", seq=2, created_at=NOW, run_id=key, content=(TextPart(text=words),)
        )

        def work(connection: Connection) -> None:
            row = threads.find_or_create(connection, ME, key, internal_id=key, now=NOW)
            threads.create_run(
                connection, key, id=key, source="s", assistant_id="a", client=client, now=NOW
            )
            threads.set_state(connection, key, state)
            threads.set_queued(connection, key, (queued,))
            threads.pause_run(connection, key, b"\x00\xff")
            transcript.append(connection, key, 0, [queued])
            asking.store(connection, key, key, suspension, id=key, fence=1, now=NOW)
            asking.stage(connection, key, {"c2": decision}, actor="me", protocol="p", now=NOW)
            executions.begin(connection, key, key, 1, first.call, NOW)
            executions.finish(connection, key, "c1", outcome, NOW)

            open_one = asking.current(connection, key)
            assert open_one is not None
            found = asking.calls_of_thread(connection, key)
            assert [item.pending for item in found] == [first, second]
            assert [item.decision for item in found] == [None, decision]
            assert executions.find(connection, key, ["c1"])["c1"].outcome == outcome
            run = threads.get_run(connection, key)
            assert (run.client, run.queued, run.state) == (client, (queued,), b"\x00\xff")
            assert transcript.read(connection, key) == (queued,)
            again = threads.get(connection, row.internal_id)
            assert again is not None
            assert again.state == state
            asking.move(connection, open_one, SuspensionEvent.ANSWERED, NOW)

        store._database._transact(store._database._writer, work)

    round_trip()
    await store.close()


BAD: list[Any] = [
    pytest.param(reader, text, id=f"{reader.__name__} {text}")
    for reader, texts_ in {
        rows.read_json: ["", "{", "NaN", "[Infinity]", "[" * 100_000],
        rows.message_from_text: ["null", "[]", '"x"', "{}", '{"id": 1}'],
        rows.outcome_from_text: ["null", "[]", '"output"', "{}", '{"outcome": "done"}',
                                 '{"outcome": "output"}', '{"outcome": "error", "error": null}'],
        rows.client_from_text: ["null", "[]", "{}",
                                '{"tools": "abc", "context": [], "forwardedProps": 1}',
                                '{"tools": ["a"], "context": [], "forwardedProps": 1}'],
        rows.pending_from_text: ["null", "[]", '"x"', "{}"],
        lambda text: rows.decision_from_text(text, None): ["null", '"yes"', "true", '["reject"]',
                                                           '{"decision": "approve"}', "["],
    }.items()
    for text in texts_
]  # fmt: skip


@pytest.mark.parametrize(("reader", "text"), BAD)
def test_b112_what_cannot_be_read_is_never_guessed(
    reader: Callable[[str], object], text: str
) -> None:
    with pytest.raises(CorruptRecord):
        reader(text)


PENDING = json.loads(
    rows.pending_to_text(
        PendingCall(
            call=ToolCall(call_id="c1", name="n", inputs={}),
            reason="r",
            risk="policy",
        )
    )
)


@pytest.mark.parametrize("value", [7, True, [], {}, "nonsense"])
@pytest.mark.parametrize("field", sorted(PENDING))
def test_b112_no_field_of_a_pending_call_is_read_as_something_else(field: str, value: Any) -> None:
    if isinstance(value, type(PENDING[field])) or (
        isinstance(value, str) and field in ("preview", "reason", "fingerprint")
    ):
        return
    with pytest.raises(CorruptRecord):
        rows.pending_from_text(json.dumps(PENDING | {field: value}))


@pytest.mark.parametrize(
    ("text", "storable"),
    [("", True), ("a", True), ("🗑", True), ("￿", True), ("a\x00", False), ("\ud800", False)],
    ids=["empty", "a letter", "emoji", "the last one", "NUL", "half a pair"],
)
def test_what_every_store_can_keep(text: str, storable: bool) -> None:
    assert rows.is_storable(text) is storable
