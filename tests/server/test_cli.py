"""The `signoff` command: what it serves, and what it says when it cannot."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import sys
import textwrap
import threading
from pathlib import Path

import httpx
import pytest

from signoff import __version__
from signoff_server import serving
from signoff_server.settings import load_settings
from signoff_server.store import schema
from support.command import signoff, started

SCENARIO = {
    "tools": [
        {
            "name": "delete_file",
            "approval": "Irreversible",
            "inputs": {"type": "object"},
            "result": {"deleted": True},
        }
    ],
    "turns": [
        {
            "when": "delete",
            "steps": [{"calls": [{"id": "c1", "name": "delete_file", "inputs": {"path": "/a"}}]}],
        },
        {"when": "slow", "steps": [{"text": "x" * 1000, "chunk": 1, "delay_seconds": 0.05}]},
    ],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGNOFF_PORT", "0")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("an_agent", "needs_more"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    (tmp_path / "scenario.json").write_text(json.dumps(SCENARIO))


def test_version() -> None:
    assert signoff("--version").stdout == f"signoff {__version__}\n"


def test_demo_serves_every_protocol_and_the_start_page() -> None:
    with started("demo", "--scenario", "scenario.json", "--executions", "ran.jsonl") as (_, url):
        assert httpx.get(f"{url}/readyz").json() == {"status": "ok"}
        assert "<li>delete</li>" in httpx.get(url).text
        assert httpx.get(f"{url}/copilotkit/info").status_code == 200
        assert httpx.get(f"{url}/vercel/chat/t").json() == {"id": "t", "messages": []}
        assert httpx.get(f"{url}/ag-ui/threads/t").json()["interrupts"] == []
        unknown = httpx.get(f"{url}/nothing/here")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")

        chat = f"{url}/threads/t/chat"
        accept = {"accept": "application/json"}
        assert httpx.post(chat, json={"message": "delete"}, headers=accept).json()["pending"]
        done = httpx.post(chat, json={"decisions": {"c1": "approve"}}, headers=accept).json()
        assert done["status"] == "completed"
    ran = json.loads(Path("ran.jsonl").read_text())
    assert ran == {"threadId": "t", "callId": "c1", "name": "delete_file", "inputs": {"path": "/a"}}


def test_a_foreign_page_and_a_foreign_name_are_refused() -> None:
    with started("demo", "--scenario", "scenario.json") as (_, url):
        body = {"message": "hello"}
        chat = f"{url}/threads/t/chat"
        foreign = httpx.post(chat, json=body, headers={"origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden")
        assert httpx.get(url, headers={"host": "evil.example"}).status_code == 403
        assert httpx.post(chat, json=body, headers={"origin": url}).status_code == 200


def test_b104_open_streams_do_not_hold_the_stop() -> None:
    """Clients are told, too: the run ends as interrupted, and its thread can be used."""
    ends: list[str] = []
    running = threading.Barrier(4)

    def read(url: str, thread: str) -> None:
        body = {"message": "slow"}
        with httpx.stream("POST", f"{url}/threads/{thread}/chat", json=body) as response:
            lines = response.iter_lines()
            next(lines)
            running.wait(20)
            ends.append([line for line in lines if line.startswith("event: ")][-1])

    with started("demo", "--scenario", "scenario.json") as (process, url):
        readers = [threading.Thread(target=read, args=(url, f"t{n}")) for n in range(3)]
        for reader in readers:
            reader.start()
        running.wait(20)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
        for reader in readers:
            reader.join(20)
    assert ends == ["event: failed"] * 3
    assert "Traceback" not in errors

    with started("demo", "--scenario", "scenario.json") as (_, url):
        view = httpx.get(f"{url}/threads/t0").json()
        assert view["status"] == "failed"


def test_a_pause_survives_a_kill_and_the_file_is_free_again() -> None:
    arguments = ("demo", "--scenario", "scenario.json", "--store", "sqlite:///mine.db")
    with started(*arguments) as (process, url):
        httpx.post(f"{url}/threads/t/chat", json={"message": "delete"})
        process.kill()
        process.wait(20)
    with started(*arguments) as (_, url):
        assert [item["id"] for item in httpx.get(f"{url}/threads/t/approvals").json()] == ["c1"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["demo", "--scenario", "none.json"],
            "none.json: No such file or directory.",
            id="missing-scenario",
        ),
        pytest.param(
            ["demo", "--scenario", "broken.json"],
            "broken.json: tools[0].name: Input should be a valid string.",
            id="bad-scenario",
        ),
        pytest.param(
            ["scenario", "check", "cut.json"],
            "cut.json: line 1, column 12: it is not valid JSON.",
            id="cut-scenario",
        ),
        pytest.param(
            ["demo", "--store", "postgresql://x/y"],
            "Stores of kind 'postgresql' are not supported. Use sqlite:///FILE.",
            id="another-database",
        ),
        pytest.param(
            ["demo", "--store", "sqlite:////none/here.db"],
            "The database here.db cannot be opened: No such file or directory.",
            id="no-such-folder",
        ),
        pytest.param(
            ["migrate", "--store", "sqlite:///text.db"],
            "The database text.db cannot be used: it is damaged, locked, not writable, or not one "
            "of this version of signoff.",
            id="no-database",
        ),
        pytest.param(
            ["demo", "--executions", "none/ran.jsonl"],
            "none/ran.jsonl: No such file or directory.",
            id="executions-nowhere",
        ),
        pytest.param(
            ["serve", "agent"],
            "'agent' is not MODULE:NAME, such as my_agent:app.",
            id="no-name",
        ),
        pytest.param(
            ["serve", "no_such_agent:app"],
            "There is no module 'no_such_agent' here or among the installed packages.",
            id="no-module",
        ),
        pytest.param(
            ["serve", "no_such_package.agent:app"],
            "There is no module 'no_such_package' here or among the installed packages.",
            id="no-package",
        ),
        pytest.param(
            ["serve", "an_agent:nothing"], "an_agent has no 'nothing'.", id="no-such-name"
        ),
        pytest.param(
            ["serve", "needs_more:app"],
            "needs_more needs 'not_installed', which is missing.",
            id="broken-import",
        ),
        pytest.param(
            ["serve", "an_agent:NUMBER"],
            "an_agent:NUMBER is a int; it has to be an ASGI application, a run source, a mapping "
            "of run sources, or an Engine.",
            id="not-an-agent",
        ),
        pytest.param(
            ["serve", "an_agent:agent", "--host", "0.0.0.0"],
            "0.0.0.0 can be reached from other machines. Say who is asking: "
            "--authenticate MODULE:FUNCTION.",
            id="open-to-everyone",
        ),
        pytest.param(
            ["serve", "an_agent:app", "--mode", "off"],
            "an_agent:app is an application: --store, --mode and --authenticate are set in it.",
            id="not-its-business",
        ),
    ],
)
def test_what_a_user_did_wrong_is_a_sentence(arguments: list[str], sentence: str) -> None:
    Path("broken.json").write_text('{"tools": [{"name": 1}]}')
    Path("cut.json").write_text('{"tools": [')
    Path("text.db").write_text("this is no database, and longer than the header of one\n" * 40)
    Path("an_agent.py").write_text(AGENT)
    Path("needs_more.py").write_text("import not_installed\n")
    result = signoff(*arguments)
    assert result.exit_code == 1
    assert list(Path().glob("*.lock*")) == []
    assert result.stderr.splitlines()[-1] == f"signoff: {sentence}"
    assert "Traceback" not in result.output


AGENT = textwrap.dedent(
    """
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route
    from signoff.events import Completed, TextDelta
    from signoff.principal import Principal
    from signoff_server.engine import Engine

    NUMBER = 1

    class Agent:
        async def run(self, request):
            words = f"Hello {request.principal.id}."
            yield TextDelta(message_id=request.new_id("msg"), delta=words)
            yield Completed()

    def who(request):
        return Principal(id=request.headers["x-user"])

    agent = Agent()
    agents = {"first": agent, "second": agent}
    engine = Engine(agent, store="sqlite:///engine.db")
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("mine"))])
    """
)


@pytest.mark.parametrize(
    "bad",
    [("SIGNOFF_PORT", "many"), ("SIGNOFF_MODE", "wild"), ("SIGNOFF_LOG", "loud")],
    ids=["port", "mode", "log"],
)
def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch, bad: tuple[str, str]) -> None:
    monkeypatch.setenv(*bad)
    result = signoff("demo")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"signoff: {bad[0]}: ")


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_ALLOWED_ORIGINS", "https://a.example, https://b.example,")
    monkeypatch.setenv("SIGNOFF_MODE", "protective")
    monkeypatch.setenv("SIGNOFF_LOG", "Info")
    settings = load_settings()
    assert settings.allowed_origins == ("https://a.example", "https://b.example")
    assert (settings.mode, settings.host, settings.port) == ("protective", "127.0.0.1", 0)
    assert settings.log == "info"


def test_a_taken_port_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = signoff("demo", "--port", str(port))
    assert result.exit_code == 1
    assert f"Port {port} is taken." in result.stderr


def test_a_second_server_on_the_same_file_refuses_to_start() -> None:
    with started("demo", "--store", "sqlite:///mine.db"):
        result = signoff("demo", "--store", "sqlite:///mine.db", "--port", "0")
        assert result.exit_code == 1
        assert "Another signoff server uses the database mine.db." in result.stderr
        assert signoff("migrate", "--store", "sqlite:///mine.db").exit_code == 1


def test_migrate_makes_the_schema_and_can_be_repeated() -> None:
    made = f"There was no database: a new one is at {Path('new.db').resolve()}.\n"
    for said in (made, ""):
        result = signoff("migrate", "--store", "sqlite:///new.db")
        assert result.stdout == f"{said}sqlite:///new.db has the schema of this version.\n"
    with sqlite3.connect("new.db") as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'threads'")
        assert tables.fetchone() == ("threads",)
    database.close()


def test_serve_refuses_another_schema_and_demo_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("an_agent.py").write_text(AGENT)
    assert signoff("migrate", "--store", "sqlite:///old.db").exit_code == 0
    with sqlite3.connect("old.db") as database:
        database.execute("UPDATE alembic_version SET version_num = 'before'")
    database.close()
    monkeypatch.setattr(schema, "migrate", lambda connection: None)
    monkeypatch.setattr(serving, "listen", lambda host, port: socket.create_server((host, 0)))
    result = signoff("serve", "an_agent:agent", "--store", "sqlite:///old.db")
    assert result.exit_code == 1
    assert "Run: signoff migrate" in result.stderr


def test_scenario_check_counts_and_remarks() -> None:
    result = signoff("scenario", "check", "scenario.json")
    assert (result.exit_code, result.stdout) == (0, "scenario.json: fine. 1 tools, 2 turns.\n")
    Path("scenario.json").write_text(
        json.dumps({"turns": [{"steps": [{"calls": [{"name": "unknown"}]}]}]})
    )
    result = signoff("scenario", "check", "scenario.json")
    assert result.exit_code == 0
    assert "there is no tool 'unknown'" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "headers", "text"),
    [
        pytest.param(["an_agent:agent"], {}, "Hello demo.", id="run-source"),
        pytest.param(["an_agent:agents"], {}, "Hello demo.", id="mapping"),
        pytest.param(["an_agent:engine"], {}, "Hello demo.", id="engine"),
        pytest.param(
            ["an_agent:agent", "--authenticate", "an_agent:who"],
            {"x-user": "somebody"},
            "Hello somebody.",
            id="authenticated",
        ),
    ],
)
def test_serve_puts_an_agent_into_a_server(
    arguments: list[str], headers: dict[str, str], text: str
) -> None:
    Path("an_agent.py").write_text(AGENT)
    with started("serve", *arguments) as (_, url):
        reply = httpx.post(
            f"{url}/threads/t/chat",
            json={"message": "hi"},
            headers={"accept": "application/json", **headers},
        ).json()
        assert reply["message"]["content"] == [{"type": "text", "content": text}]


def test_serve_runs_an_application_as_it_is() -> None:
    Path("an_agent.py").write_text(AGENT)
    with started("serve", "an_agent:app") as (_, url):
        assert httpx.get(url).text == "mine"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_what_only_this_machine_can_reach(host: str, loopback: bool) -> None:
    assert serving.is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("::", "http://[::1]:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_the_address_for_a_browser(host: str, url: str) -> None:
    assert serving.url_of(host, 8000) == url
