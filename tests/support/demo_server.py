"""`signoff demo` as a process of its own, which a test may kill and start again.

Every start uses the same port, SQLite file and executions file: what a restart on somebody's
machine uses.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx

JsonObject: TypeAlias = dict[str, Any]

_PATIENCE_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.02


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class DemoServer:
    """Attributes: ``directory``, where its files are; ``scenario``, the script of its agent."""

    directory: Path
    scenario: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        # Keep-alive connections would outlive a killed server and fail on their next use.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(base_url=self.base_url, limits=limits, timeout=_PATIENCE_SECONDS)

    # --- the process --------------------------------------------------------------------------

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start it, and return once it answers."""
        assert not self.running
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "signoff_server", "demo"),
                    *("--scenario", str(self.scenario)),
                    *("--store", f"sqlite:///{self.directory / 'demo.db'}"),
                    *("--executions", str(self._executions)),
                    *("--port", str(self.port)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
            )
        self._wait_for("the server to answer", self._answers)

    def kill(self) -> None:
        """SIGKILL: nothing is said, closed or written any more."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM: an orderly end."""
        self._end(signal.SIGTERM)

    def restart(self) -> None:
        """SIGKILL, then the same command again."""
        self.kill()
        self.start()

    def close(self) -> None:
        if self.running:
            self.stop()
        self.http.close()

    def log(self) -> str:
        return self._log.read_text("utf-8") if self._log.exists() else ""

    # --- what it holds ------------------------------------------------------------------------

    def thread(self, thread_id: str) -> JsonObject:
        """``GET /threads/{id}``."""
        return self._get(f"/threads/{thread_id}")

    def pending(self, thread_id: str) -> list[str]:
        """The ids of the open calls."""
        return [call["id"] for call in self.thread(thread_id)["pending"]]

    def decide(self, thread_id: str, decisions: JsonObject) -> httpx.Response:
        """Answer from elsewhere, natively."""
        return self.http.post(f"/threads/{thread_id}/approvals", json={"decisions": decisions})

    def sign_in(self, name: str) -> str:
        """The ``Cookie`` header of somebody else."""
        with httpx.Client(base_url=self.base_url) as browser:
            assert browser.post("/demo/principal", json={"id": name}).status_code == 200
            return "; ".join(f"{key}={value}" for key, value in browser.cookies.items())

    def executions(self, thread_id: str) -> list[JsonObject]:
        """What really ran in a thread, in order, one entry for each execution."""
        if not self._executions.exists():
            return []
        lines = self._executions.read_text("utf-8").splitlines()
        done: list[JsonObject] = [json.loads(line) for line in lines]
        return [one for one in done if one["threadId"] == thread_id]

    def executed(self, thread_id: str) -> list[str]:
        """The callIds of what really ran, in order."""
        return [one["callId"] for one in self.executions(thread_id)]

    def wait_for_status(self, thread_id: str, status: str) -> JsonObject:
        """Return the thread once it has this status."""
        seen: list[JsonObject] = []

        def reached() -> bool:
            seen.append(self.thread(thread_id))
            return bool(seen[-1]["status"] == status)

        self._wait_for(f"status {status}", reached, lambda: str(seen[-1:]))
        return seen[-1]

    def wait_for_execution(self, thread_id: str, call_id: str) -> None:
        self._wait_for(f"{call_id} to run", lambda: call_id in self.executed(thread_id))

    def wait_for_begin(self, thread_id: str, call_id: str) -> None:
        """Return once the tool of this call is at work: the running segment says so natively."""
        self._wait_for(f"{call_id} to begin", lambda: self._has_begun(thread_id, call_id))

    # --- inside -------------------------------------------------------------------------------

    @property
    def _log(self) -> Path:
        return self.directory / "server.log"

    @property
    def _executions(self) -> Path:
        return self.directory / "executions.jsonl"

    def _get(self, path: str) -> JsonObject:
        response = self.http.get(path)
        assert response.status_code == 200, response.text
        document: JsonObject = response.json()
        return document

    def _has_begun(self, thread_id: str, call_id: str) -> bool:
        with self.http.stream("GET", f"/threads/{thread_id}/stream") as segment:
            lines = segment.iter_lines()
            for line in lines:
                if line == "event: tool_call_started" and call_id in next(lines):
                    return True
        return False

    def _answers(self) -> bool:
        if not self.running:
            raise AssertionError(f"The server ended by itself:\n{self.log()}")
        try:
            return self.http.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def _end(self, how: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        try:
            self.process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"The server did not end on {how.name}:\n{self.log()}") from None

    def _wait_for(
        self, what: str, reached: Callable[[], bool], seen: Callable[[], str] = str
    ) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not reached():
            if time.monotonic() > end:
                raise AssertionError(f"Waited in vain for {what}. {seen()}\n{self.log()}")
            time.sleep(_LOOK_AGAIN_SECONDS)


def results(thread: JsonObject) -> dict[str, JsonObject]:
    """Every result of a thread by callId; a call that has two fails here."""
    found: dict[str, JsonObject] = {}
    for message in thread["messages"]:
        if message.get("type") == "tool_call_result":
            for record in message["tools"]:
                assert record["callId"] not in found, f"two results of {record['callId']}"
                found[record["callId"]] = record
    return found


def outcomes(thread: JsonObject) -> dict[str, str]:
    """``{callId: "output" | "error" | "rejected" | "expired" | "indeterminate"}``."""
    return {call_id: record["outcome"] for call_id, record in results(thread).items()}


def said(thread: JsonObject) -> str:
    """All text of the assistant."""
    own = [message for message in thread["messages"] if message["role"] == "assistant"]
    parts = [part for message in own for part in message["content"] if part["type"] == "text"]
    return "\n".join(part["content"] for part in parts)


@contextmanager
def playing(scenario: JsonObject, directory: Path) -> Iterator[DemoServer]:
    """A running demo server whose agent follows ``scenario``, with its files in ``directory``."""
    script = directory / "scenario.json"
    script.write_text(json.dumps(scenario), "utf-8")
    demo = DemoServer(directory=directory, scenario=script)
    try:
        demo.start()
        yield demo
    finally:
        demo.close()
