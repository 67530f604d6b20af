"""The examples, served by `signoff serve`: one with a local server in place of OpenAI's, one with a
model of its own."""

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
        _served("own_agent:app", tmp_path, OPENAI_BASE_URL=f"{openai}/v1") as here,
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


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        pytest.param("approve", "Kept: milk", id="approved"),
        pytest.param(["reject", "buy it"], "buy it", id="rejected"),
    ],
)
def test_a_model_of_ones_own_asks_and_reads_the_answer(
    tmp_path: Path, decision: object, said: str
) -> None:
    with (
        _served("own_model:agent", tmp_path) as here,
        httpx.Client(base_url=here, headers=JSON, timeout=30) as client,
    ):
        asked = client.post("/threads/t/chat", json={"message": "milk"}).json()
        (pending,) = asked["pending"]
        assert pending["inputs"] == {"note": "milk"}
        assert pending["reason"] == "A note cannot be taken back"

        decisions = {"decisions": {pending["id"]: decision}}
        answered = client.post("/threads/t/chat", json=decisions).json()

        assert client.get("/").status_code == 404
    assert answered["status"] == "completed"
    assert said in answered["message"]["content"][0]["content"]
    assert (tmp_path / "signoff.db").exists()


def test_a_page_of_another_origin_is_taken_once_it_is_named(tmp_path: Path) -> None:
    named, other = "http://localhost:5173", "http://localhost:3000"
    with (
        _served("own_model:agent", tmp_path, SIGNOFF_ALLOWED_ORIGINS=named) as here,
        httpx.Client(base_url=here, headers=JSON, timeout=30) as client,
    ):
        statuses = {
            origin: client.post(
                f"/threads/{number}/chat", json={"message": "milk"}, headers={"origin": origin}
            ).status_code
            for number, origin in enumerate((named, other))
        }
    assert statuses == {named: 200, other: 403}


@contextmanager
def _served(target: str, directory: Path, **environment: str) -> Iterator[str]:
    """`signoff serve`, as the pages say."""
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "signoff_server", "serve", target, "--port", str(port)],
        cwd=directory,
        env=os.environ
        | {"PYTHONPATH": str(ROOT / "examples"), "OPENAI_API_KEY": "none"}
        | environment,
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
