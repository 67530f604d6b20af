"""The built-in agent over the real engine: a model reads what the store keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from signoff.function_tools import tool
from signoff.sources.models.base import ModelCall, ModelText
from signoff.sources.tool_loop import ToolLoop
from support.agents import NOON, ListModel
from support.engines import ME, YES, T, answer, ended, opened, send

pytestmark = pytest.mark.anyio


@tool
def look() -> int:
    """Look."""
    return 1


@tool(requires_approval=True)
def remove() -> int:
    """Remove."""
    return 2


async def test_a_model_reads_the_messages_as_they_are_stored(tmp_path: Path) -> None:
    model = ListModel(
        [ModelText(delta="First."), ModelCall(id="c1", name="look", arguments="{}")],
        [ModelCall(id="c2", name="remove", arguments="{}")],
        [ModelText(delta="Done.")],
    )
    agent = ToolLoop(model, tools=[look, remove])
    async with opened(agent, tmp_path, clock=lambda: NOON) as engine:
        await ended(await send(engine))
        await ended(await answer(engine, {"c2": YES}))
        stored = (await engine.thread(ME, T)).messages
    read = model.requests[-1].history
    assert read == stored[:-1]
    assert [message.seq for message in read] == [1, 2, 3, 4, 5]
    assert {message.created_at for message in read} == {NOON}
