"""The process behind the oracles, and the requests recorded from the clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from oracles import Oracle, OracleError, OracleProcess, frames_of, recorded, sse
from oracles.process import HOME, node
from oracles.recorded import FIXTURES
from oracles.replay import Replay, Reply, replaying

pytestmark = pytest.mark.oracle

RECORDED = ("vercel_sdk7", "vercel_sdk6", "ag_ui_1.0.0", "ag_ui_0.0.59")


def test_frames_go_both_ways() -> None:
    frames = [{"type": "start"}, {"type": "text", "delta": "a\u2028\n"}]

    assert frames_of(": ping\n\nevent: x\n" + sse(frames) + "data: [DONE]\n\n") == frames
    assert sse([b"data: {}\n\n", "data: []\n\n"]) == "data: {}\n\ndata: []\n\n"


def test_unknown_methods_and_closed_tabs_are_errors() -> None:
    process = OracleProcess()
    try:
        with pytest.raises(OracleError, match="No method nonsense"):
            process.call("nonsense", {})
        with pytest.raises(OracleError, match="No open session s99"):
            process.call("state", {"session": "s99"})
        with pytest.raises(OracleError, match="No AI SDK 5"):
            process.call("vercel_fold", {"text": "", "sdk": "5"})
        assert process.call("ping", {})["node"].startswith("v")
    finally:
        process.close()


def test_the_end_of_the_process_is_an_error() -> None:
    process = OracleProcess()
    process.call("ping", {})
    process.close()

    with pytest.raises((OracleError, ValueError)):
        process.call("ping", {})


def test_calls_run_side_by_side(oracle: Oracle) -> None:
    """One tab waits on a stream that only ends once another tab was served."""
    start = {"type": "start", "messageId": "m1"}
    end = Event()
    replay = Replay(posts=[Reply(body=[start], holds=end), Reply(body=[start])])
    with (
        replaying(replay) as url,
        ThreadPoolExecutor() as pool,
        oracle.vercel_open(url, chat_id="one") as first,
        oracle.vercel_open(url, chat_id="two") as second,
    ):
        try:
            first.send("Hello", wait=False)
            first.wait({"posts": 1})
            waiting = pool.submit(first.wait)
            assert second.send("Hello").status == "ready"
            assert not waiting.done()
        finally:
            end.set()
        assert waiting.result().status == "ready"


def test_node_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIGNOFF_NODE", "/opt/node")
    assert node() == "/opt/node"

    monkeypatch.delenv("SIGNOFF_NODE")
    beside = tmp_path / "bin" / "node"
    beside.parent.mkdir()
    beside.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(beside.with_name("python")))
    assert node() == str(beside)

    beside.unlink()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OracleError, match="There is no Node"):
        node()


def test_the_clients_still_post_what_was_recorded(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
    command = [node(), str(HOME / "src" / "record.mjs"), str(tmp_path)]
    subprocess.run(command, check=True, env=environment, timeout=50)

    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(RECORDED)
    for client in RECORDED:
        name = f"{client}.json"
        assert json.loads((tmp_path / name).read_text()) == json.loads(
            (FIXTURES / name).read_text()
        )


def test_recorded_requests_are_told_apart_from_noted_ones() -> None:
    noted = json.loads((FIXTURES / "copilotkit_noted.json").read_text())
    assert noted["recorded"] is False

    cases = recorded("vercel_sdk7")
    assert cases["approve"].body["messageId"] == "m1"
    assert cases["approve"].served[0][0] == {"type": "start", "messageId": "m1"}
    assert json.loads(cases["approve"].text) == cases["approve"].body
