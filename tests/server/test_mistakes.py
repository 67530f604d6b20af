"""What is given by mistake is named where it is given, with what to do."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from pydantic_ai import Agent
from starlette.requests import Request

from signoff.commands import SendMessage, UserInput
from signoff.errors import ConfigurationError
from signoff.events import Failed
from signoff.function_tools import tool
from signoff.messages import TextPart
from signoff.principal import Principal
from signoff.sources.base import RunRequest
from signoff.sources.models.base import ModelRequest
from signoff.sources.tool_loop import ToolLoop
from signoff_server.app import create_app
from signoff_server.engine import Engine
from support.command import signoff


class Words:
    """A model that forgot what a model says."""

    async def respond(self, request: ModelRequest) -> AsyncIterator[str]:
        yield "hello"


class OneAnswer:
    async def respond(self, request: ModelRequest) -> str:
        return "hello"


class Awaited:
    async def run(self, request: RunRequest) -> None: ...


@tool
def keep() -> str:
    """Keep it."""
    return "kept"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        pytest.param(Agent("test"), r"pydantic-ai Agent.*ToolLoop\(PydanticAIModel", id="agent"),
        pytest.param(Words(), r"Words is a model\. Wrap it: ToolLoop", id="model"),
        pytest.param(Words, "Words is a class", id="class"),
        pytest.param(keep, r"Tool has no run\(request\)", id="tool"),
        pytest.param(Awaited(), "Awaited.run is a coroutine function", id="coroutine"),
        pytest.param({}, "needs a run source", id="nothing"),
        pytest.param({"one": None}, "'one' cannot be used", id="none"),
    ],
)
def test_what_is_no_run_source(source: object, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=what):
        Engine(source, store=f"sqlite:///{tmp_path}/a.db")  # type: ignore[arg-type]  # that is the case


@pytest.mark.parametrize(
    ("model", "tools", "what"),
    [
        pytest.param(Words, [], "Words is a class", id="class"),
        pytest.param("openai:gpt-5", [], r'PydanticAIModel\("openai:gpt-5"\)', id="name"),
        pytest.param(OneAnswer(), [], "OneAnswer.respond is a coroutine function", id="coroutine"),
        pytest.param(Words(), keep, r"Tools are a list: \[keep\]", id="one-tool"),
    ],
)
def test_what_is_no_model_and_no_list_of_tools(model: object, tools: object, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        ToolLoop(model, tools=tools)  # type: ignore[arg-type]  # that is the case


@pytest.mark.anyio
async def test_a_model_that_says_anything_else_fails_its_run(tmp_path: Path) -> None:
    engine = Engine(ToolLoop(Words()), store=f"sqlite:///{tmp_path}/a.db")  # type: ignore[arg-type]  # that is the case
    async with engine.lifespan():
        command = SendMessage(messages=(UserInput(content=(TextPart(text="Hi"),)),))
        attachment = await engine.chat(Principal(id="me"), "t", command, protocol="native")
        assert attachment.segment is not None
        events = [event async for batch in attachment.segment.read() for event in batch]
    assert isinstance(events[-1], Failed)


@pytest.mark.anyio
@pytest.mark.parametrize("found", ["me", 1, {"id": "me"}])
async def test_an_authenticator_that_returns_something_else_is_named_in_the_log(
    found: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def authenticate(request: Request) -> object:
        return found

    engine = Engine(ToolLoop(Words()), store=f"sqlite:///{tmp_path}/a.db")  # type: ignore[arg-type]  # never asked
    app = create_app(engine, authenticate=authenticate)  # type: ignore[arg-type]  # that is the case
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        assert (await client.get("/threads/t")).status_code == 500
    assert "ConfigurationError" in caplog.text
    await engine.close()


@pytest.mark.anyio
async def test_a_refused_origin_is_named_in_the_log_with_the_setting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(ToolLoop(Words()), store=f"sqlite:///{tmp_path}/a.db")  # type: ignore[arg-type]  # never asked
    app = create_app(engine, authenticate=lambda request: Principal(id="me"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        with caplog.at_level(logging.WARNING, logger="signoff"):
            response = await client.post(
                "/threads/t/chat", headers={"origin": "http://localhost:5173"}, json={}
            )
    assert response.status_code == 403
    assert "http://localhost:5173" in caplog.text
    assert "SIGNOFF_ALLOWED_ORIGINS" in caplog.text
    await engine.close()


MODULE = """
from signoff import ToolLoop, tool
from signoff.sources.models.scripted import ScriptedModel

@tool
def keep() -> str:
    "Keep it."
    return "kept"

class Some: ...

def agent(): ...
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mistakes", raising=False)
    Path("mistakes.py").write_text(MODULE)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("mistakes:keep", "mistakes:keep is a Tool; it has to be an ASGI application"),
        ("mistakes:Some", "mistakes:Some is a type; it has to be an ASGI application"),
        ("mistakes:agent", "mistakes:agent is a function; it has to be an ASGI application"),
        ("mistakes.py:agent", "Name the module, not the file: mistakes:agent."),
        ("./mistakes.py", "Name the module, not the file: mistakes:app."),
    ],
)
def test_what_cannot_be_served(target: str, says: str) -> None:
    result = signoff("serve", target)
    assert result.exit_code == 1
    assert says in result.stderr
