"""The README's own agent, with a local server in place of OpenAI's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from support.demo_server import free_port
from support.loopback import serving
from support.markdown import ROOT
from support.responses_stub import ResponsesStub, call, text

JSON = {"accept": "application/json"}


@pytest.mark.parametrize(
    ("decision", "deleted", "result"),
    [
        pytest.param("approve", True, "is deleted.", id="approved"),
        pytest.param(["reject", "keep it"], False, "User instruction: keep it.", id="rejected"),
    ],
)
def test_the_file_is_deleted_only_after_an_approval(
    tmp_path: Path, decision: object, deleted: bool, result: str
) -> None:
    doomed = tmp_path / "old.log"
    doomed.touch()
    model = ResponsesStub([call("call_1", "delete_file", {"path": str(doomed)}), text("Finished.")])
    with (
        serving(model.app) as openai,
        _own_agent(tmp_path, openai) as here,
        httpx.Client(base_url=here, headers=JSON, timeout=30) as client,
    ):
        asked = client.post("/threads/t/chat", json={"message": "Delete it."}).json()
        assert asked["status"] == "awaiting_approval"
        assert asked["pending"][0]["inputs"] == {"path": str(doomed)}
        assert doomed.exists()

        decisions = {"decisions": {"call_1": decision}}
        answered = client.post("/threads/t/chat", json=decisions).json()

    assert answered["status"] == "completed"
    assert doomed.exists() is not deleted
    assert result in model.requests[1]["input"][-1]["output"]


@contextmanager
def _own_agent(directory: Path, openai: str) -> Iterator[str]:
    """`signoff serve own_agent:app`, as the README says."""
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "signoff_server", "serve", "own_agent:app", "--port", str(port)],
        cwd=directory,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT / "examples"),
            "OPENAI_BASE_URL": f"{openai}/v1",
            "OPENAI_API_KEY": "none",
        },
    )
    try:
        while not _answers(here):
            assert server.poll() is None, "the server ended by itself"
            time.sleep(0.05)
        yield here
    finally:
        server.terminate()
        server.wait(30)


def _answers(here: str) -> bool:
    try:
        return httpx.get(f"{here}/healthz").is_success
    except httpx.TransportError:
        return False
