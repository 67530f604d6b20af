"""Every block of code that people are shown can be run as it stands."""

from __future__ import annotations

import json
import os
import runpy
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from oracles.process import node
from signoff import Principal
from signoff.native.wire import Reply
from signoff.suspension import PendingCall, ToolCall
from signoff_server.app import create_app
from support.demo_server import DemoServer, outcomes
from support.loopback import serving
from support.markdown import ROOT, Block, blocks

_DEMO_SCENARIO = ROOT / "server" / "signoff_server" / "demo_scenario.json"
_DEMO_ADDRESS = "http://127.0.0.1:8000"

# The empty one is commands; of `mermaid` and `text` nothing can be run.
_LANGUAGES = {"", "json", "mermaid", "python", "sh", "text", "ts", "tsx"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    """What `make demo` serves."""
    server = DemoServer(tmp_path_factory.mktemp("demo"), _DEMO_SCENARIO)
    server.start()
    yield server
    server.close()


def test_every_block_has_a_language_that_is_tested() -> None:
    assert {block.language for block in blocks()} <= _LANGUAGES


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exec(compile(block.text, str(block), "exec"), {"__name__": "a_page"})


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_is_json(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", [*blocks("sh"), *blocks("")], ids=str)
def test_commands_can_be_read(block: Block) -> None:
    subprocess.run(["bash", "-n"], input=block.text.encode(), check=True, timeout=10)


def test_the_first_example_is_a_file_of_at_most_20_lines() -> None:
    shown = blocks("python")[0].text
    assert _example("own_agent") == shown
    assert len(shown.splitlines()) <= 20


def test_the_model_that_is_shown_is_a_file() -> None:
    assert _example("own_model") in [block.text for block in _blocks_of("agents.md", "python")]


def test_requests_of_the_readme_do_what_they_say(demo: DemoServer) -> None:
    requests = _requests("README.md")
    asked, open_calls, answered = [_curl(line, demo.base_url) for line in requests]

    assert asked["status"] == "awaiting_approval"
    assert [call["id"] for call in open_calls] == ["toolu_delete_01"]
    assert answered["status"] == "completed"
    assert demo.executed("readme") == ["toolu_list_01"]
    assert outcomes(demo.thread("readme"))["toolu_delete_01"] == "rejected"


def test_the_request_to_the_model_that_is_shown_asks(tmp_path: Path) -> None:
    agent = runpy.run_path(str(ROOT / "examples" / "own_model.py"))["agent"]
    app = create_app(
        agent,
        authenticate=lambda request: Principal(id="me"),
        store=f"sqlite:///{tmp_path / 'store.db'}",
    )
    with serving(app) as address:
        (asked,) = [_curl(line, address) for line in _requests("agents.md")]

    assert [call["inputs"] for call in asked["pending"]] == [{"note": "milk"}]


def test_the_reply_that_is_shown_has_the_fields_of_one() -> None:
    shown = json.loads(_blocks_of("http.md", "json")[0].text)
    assert set(shown) == set(Reply.__annotations__) - {"error"}
    (asked,) = shown["pending"]
    call = ToolCall(call_id="toolu_01", name="delete_file", inputs=asked["inputs"])
    pending = PendingCall(call=call, reason="any", risk="destructive").to_json()
    assert set(asked) == set(pending)
    assert asked["description"] == pending["description"]


@pytest.mark.oracle
def test_the_ag_ui_client_of_the_readme_approves(demo: DemoServer, tmp_path: Path) -> None:
    (block,) = blocks("ts")
    program = tmp_path / "page.mts"
    program.write_text(block.text.replace(_DEMO_ADDRESS, demo.base_url), "utf-8")
    (tmp_path / "node_modules").symlink_to(ROOT / "tests" / "oracles" / "node_modules")

    subprocess.run([node(), program], check=True, timeout=30)

    assert demo.executed("readme-ag-ui") == ["toolu_list_01", "toolu_delete_01"]
    assert demo.thread("readme-ag-ui")["status"] == "completed"


@pytest.mark.oracle
@pytest.mark.parametrize("block", [*blocks("ts"), *blocks("tsx")], ids=str)
def test_typescript_has_no_type_errors(block: Block, tmp_path: Path) -> None:
    """Against the clients' own types, as the demo's pages are checked."""
    project = "vercel" if "@ai-sdk/react" in block.text else "copilotkit"
    modules = ROOT / "web-demo" / project / "node_modules"
    settings = json.loads((ROOT / "web-demo" / project / "tsconfig.json").read_text("utf-8"))
    options = settings["compilerOptions"] | {"types": ["vite/client", "node"]}
    options.pop("paths", None)
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / f"page.{block.language}").write_text(block.text, "utf-8")
    (tmp_path / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "include": ["page.*"]}), "utf-8"
    )

    checked = subprocess.run(
        [node(), modules / "typescript" / "bin" / "tsc", "--project", tmp_path],
        capture_output=True,
        text=True,
        timeout=50,
        env=os.environ,
    )

    assert checked.returncode == 0, checked.stdout


def _example(name: str) -> str:
    """A file of ``examples/`` without its docstring."""
    return (ROOT / "examples" / f"{name}.py").read_text("utf-8").partition("\n\n")[2]


def _blocks_of(page: str, language: str) -> list[Block]:
    return [
        block for block in blocks(language) if block.page in (ROOT / page, ROOT / "docs" / page)
    ]


def _requests(page: str) -> list[str]:
    lines = [line for block in _blocks_of(page, "sh") for line in block.text.splitlines()]
    return [line for line in lines if line.startswith("curl ")]


def _curl(line: str, base_url: str) -> Any:
    """Do what a `curl` command says; not every machine has one."""
    _, address, *options = shlex.split(line)
    headers: dict[str, str] = {}
    body: str | None = None
    for option, value in zip(options[::2], options[1::2], strict=True):
        match option:
            case "-H":
                name, _, content = value.partition(": ")
                headers[name] = content
            case "-d":
                body = value
            case _:
                pytest.fail(f"an option that is not understood here: {option}")
    method = "GET" if body is None else "POST"
    target = address.replace(_DEMO_ADDRESS, base_url)
    response = httpx.request(method, target, headers=headers, content=body, timeout=30)
    assert response.is_success, response.text
    return response.json()
