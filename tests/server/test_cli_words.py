"""What the `signoff` command says: of an agent that fails, in its log, in its help."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import httpx
import pytest

from support.command import signoff, started

NEEDS_A_KEY = textwrap.dedent(
    """
    def key():
        raise KeyError("secret")

    app = key()
    """
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGNOFF_PORT", "0")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("broken", "imports_broken", "needs_a_key"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    Path("needs_a_key.py").write_text(NEEDS_A_KEY)


@pytest.mark.parametrize(
    ("source", "where"),
    [
        pytest.param("x = 1\ny = = 2\n", "broken.py:2: SyntaxError: invalid syntax", id="syntax"),
        pytest.param(
            "\n\n1 / 0\n", "broken.py:3: ZeroDivisionError: division by zero", id="raises"
        ),
        pytest.param("import needs_a_key", "needs_a_key.py:3: KeyError: 'secret'", id="deeper"),
        pytest.param(
            "import json\njson.loads('[')",
            "broken.py:2: JSONDecodeError: Expecting value: line 1 column 2 (char 1)",
            id="in-a-library",
        ),
        pytest.param(
            "from signoff.function_tools import tool\n\n@tool\ndef f(*all): ...",
            "broken.py:3: ConfigurationError: Tool 'f': parameter 'all' cannot be given by its "
            "name.",
            id="in-ours",
        ),
        pytest.param(
            "raise SystemExit('Set KEY.')", "broken.py:1: SystemExit: Set KEY.", id="exits"
        ),
        pytest.param("raise ValueError", "broken.py:1: ValueError", id="says-nothing"),
        pytest.param(
            "from needs_a_key import *\n", "needs_a_key.py:3: KeyError: 'secret'", id="from-import"
        ),
    ],
)
def test_an_agent_that_cannot_be_imported(source: str, where: str) -> None:
    Path("broken.py").write_text(source)
    result = signoff("serve", "broken:app")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "signoff: broken cannot be imported (--verbose shows the whole traceback).",
        f"signoff: {where}",
    ]


@pytest.mark.parametrize("option", ["--verbose", "-v"])
def test_verbose_shows_the_whole_traceback(option: str) -> None:
    result = signoff("serve", "needs_a_key:app", option)
    assert result.exit_code == 1
    assert 'needs_a_key.py", line 5, in <module>' in result.stderr
    assert result.stderr.splitlines()[-1] == "signoff: needs_a_key.py:3: KeyError: 'secret'"


AGENT = textwrap.dedent(
    """
    import logging, os
    from signoff.function_tools import tool
    from signoff.messages import UserMessage
    from signoff.sources.models.base import ModelCall, ModelText
    from signoff.sources.tool_loop import ToolLoop

    if "OWN_LOGGING" in os.environ:
        logging.basicConfig(format="mine: %(message)s")

    def is_large(inputs):
        return inputs["secret word"]

    @tool(readonly=True)
    def look(path: str) -> str:
        raise KeyError(path)

    @tool(approval=is_large)
    def pay(path: str) -> str:
        return path

    class Model:
        async def respond(self, request):
            said = request.history[-1]
            if isinstance(said, UserMessage):
                yield ModelCall(id=said.id, name=said.text, arguments='{"path": "secret word"}')
            else:
                yield ModelText(delta="Done.")

    agent = ToolLoop(Model(), tools=[look, pay])
    """
)

DETAILS = "KeyError: 'secret word'"


@pytest.mark.parametrize(
    ("options", "setting", "detailed"),
    [
        pytest.param([], None, False, id="as-it-is"),
        pytest.param([], "info", False, id="info"),
        pytest.param([], "DEBUG", True, id="debug"),
        pytest.param(["--verbose"], None, True, id="verbose"),
        pytest.param(["-v"], "error", True, id="option-over-setting"),
    ],
)
def test_inputs_are_logged_for_whoever_debugs_only(
    monkeypatch: pytest.MonkeyPatch, options: list[str], setting: str | None, detailed: bool
) -> None:
    if setting is not None:
        monkeypatch.setenv("SIGNOFF_LOG", setting)
    errors = logged_of_failures(*options)
    assert "A tool failed. tool=look call=m1 run=run_" in errors
    assert "A policy failed. tool=pay" in errors
    assert "error=KeyError" in errors
    assert errors.count(DETAILS) == (2 if detailed else 0)
    assert ("Traceback" in errors) is detailed
    assert ("secret" in errors) is detailed


def test_an_application_keeps_its_own_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_LOGGING", "1")
    errors = logged_of_failures("--verbose")
    assert "mine: A tool failed. tool=look" in errors
    assert errors.count("A tool failed.") == 1
    assert errors.count(DETAILS) == 2


def logged_of_failures(*options: str) -> str:
    """What `signoff serve` writes to stderr of a tool and of a policy that fail."""
    Path("agent.py").write_text(AGENT)
    with started("serve", "agent:agent", *options) as (process, url):
        for name, status in (("look", "completed"), ("pay", "awaiting_approval")):
            reply = httpx.post(
                f"{url}/threads/{name}/chat",
                json={"message": name, "id": "m1"},
                headers={"accept": "application/json"},
            )
            assert reply.json()["status"] == status
        process.terminate()
        return process.communicate(timeout=20)[1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(
            "demo",
            [
                "Default: SIGNOFF_STORE, or sqlite:///signoff-demo.db.",
                "Default: SIGNOFF_HOST, or 127.0.0.1.",
                "Default: SIGNOFF_PORT, or 8000.",
                "Default: SIGNOFF_MODE, or normal.",
                "SIGNOFF_ALLOWED_ORIGINS",
                "8388608 bytes by default",
                "SIGNOFF_LOG",
                "--verbose -v",
            ],
            id="demo",
        ),
        pytest.param(
            "serve",
            ["Default: SIGNOFF_STORE, or sqlite:///signoff.db.", "SIGNOFF_BODY_BYTES"],
            id="serve",
        ),
        pytest.param("migrate", ["Default: SIGNOFF_STORE, or sqlite:///signoff.db."], id="migrate"),
    ],
)
def test_help_names_defaults_and_variables(command: str, expected: list[str]) -> None:
    words = " ".join(signoff(command, "--help").stdout.replace("│", " ").split())
    for phrase in expected:
        assert phrase in words


WITHOUT_THE_EXTRA = textwrap.dedent(
    """
    import importlib.util, sys

    installed = importlib.util.find_spec
    importlib.util.find_spec = lambda name: None if name == "uvicorn" else installed(name)
    if sys.argv[1:] == ["command"]:
        from signoff_server.__main__ import main
        main()
    import signoff_server.app
    """
)


def test_without_the_extra_every_import_says_what_to_install() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "ImportError: signoff_server.app needs the server extra (not found: uvicorn). "
        "Install it with: pip install 'signoff[server]'"
    )


def test_without_the_extra_the_command_says_it_without_a_stack() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA, "command"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        "signoff: the command needs the server extra (not found: uvicorn).\n"
        "Install it with:  pip install 'signoff[server]'\n"
    )
