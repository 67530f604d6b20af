"""The same pause answered more than once: at the same moment, again, and after a restart."""

from __future__ import annotations

import asyncio

import pytest

from support.protocols import PROTOCOLS, Native, Protocol, Start, World

pytestmark = pytest.mark.anyio

each_protocol = pytest.mark.parametrize(
    "protocol", PROTOCOLS, ids=[item.name for item in PROTOCOLS]
)


def outcomes(view: dict[str, object]) -> list[str]:
    messages = view["messages"]
    assert isinstance(messages, list)
    return [
        tool["outcome"]
        for message in messages
        if message.get("type") == "tool_call_result"
        for tool in message["tools"]
    ]


async def test_b106_of_twenty_answers_at_once_one_wins(world: World) -> None:
    (call_id,) = await world.ask("delete /a")
    answers = [
        (protocol, approved) for approved in (True, False) for protocol in (*PROTOCOLS, *PROTOCOLS)
    ]
    replies = await asyncio.gather(
        *(protocol.answer(world.client, "t", {call_id: said}) for protocol, said in answers)
    )
    view = await world.view("t")
    assert view["status"] == "completed"
    (outcome,) = outcomes(view)
    won = outcome == "output"
    assert len(world.source.executed) == (1 if won else 0)
    for (protocol, said), reply in zip(answers, replies, strict=True):
        if said is won:
            assert reply.code is None, (protocol.name, reply.text)
        else:
            assert reply.code == "already_decided", (protocol.name, reply.text)


async def test_b106_a_new_message_sent_twenty_times_runs_once(world: World) -> None:
    senders = [*PROTOCOLS] * 4
    replies = await asyncio.gather(
        *(protocol.send_message(world.client, "t", "delete /a") for protocol in senders)
    )
    assert [reply.code for reply in replies] == [None] * len(senders)
    view = await world.view("t")
    assert len(view["messages"]) == 2
    assert len(view["pending"]) == 1


@each_protocol
@pytest.mark.parametrize("first", [True, "keep it"], ids=["approved", "rejected"])
async def test_b107_an_answer_repeated_later_runs_nothing_and_still_helps(
    start: Start, protocol: Protocol, first: bool | str
) -> None:
    async with start() as world:
        (call_id,) = await world.ask("delete /a")
        reply = await protocol.answer(world.client, "t", {call_id: first})
        assert (reply.status, reply.code) == (200, None)
        executed = list(world.source.executed)
        assert len(executed) == (1 if first is True else 0)

        again = await protocol.answer(world.client, "t", {call_id: first})
        assert (again.status, again.code) == (200, None)
        assert world.source.executed == executed
        settled = await world.view("t")

    async with start() as world:
        again = await protocol.answer(world.client, "t", {call_id: first})
        assert (again.status, again.code) == (200, None)
        assert world.source.executed == []
        assert await world.view("t") == settled


@each_protocol
async def test_b107_another_answer_later_is_a_conflict(world: World, protocol: Protocol) -> None:
    (call_id,) = await world.ask("delete /a")
    await Native().answer(world.client, "t", {call_id: False})
    settled = await world.view("t")
    reply = await protocol.answer(world.client, "t", {call_id: True})
    assert reply.code == "already_decided", reply.text
    assert reply.status == (409 if isinstance(protocol, Native) else 200)
    assert await world.view("t") == settled
    assert world.source.executed == []
