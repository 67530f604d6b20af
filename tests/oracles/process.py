"""The Node process behind the oracles: JSON lines in and out, many calls at a time."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

HOME = Path(__file__).parent

# Longer than any wait inside the oracle (20 s), shorter than a test's own limit.
_REPLY_SECONDS = 50.0


class OracleError(Exception):
    """The oracle could not do what it was asked: a bad action, a wait in vain, a dead process."""


def node() -> str:
    """Find Node: `SIGNOFF_NODE`, else the virtual environment's own, else the one on the PATH."""
    named = os.environ.get("SIGNOFF_NODE")
    if named:
        return named
    found = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    if found is None:
        raise OracleError("There is no Node here: set SIGNOFF_NODE, or put node on the PATH")
    return found


def _require_packages() -> None:
    if not (HOME / "node_modules" / "ai").is_dir():
        raise OracleError("The clients are not installed: run `npm ci` in tests/oracles")


class OracleProcess:
    """One process for a whole test session; its methods may be called from several threads."""

    def __init__(self) -> None:
        _require_packages()
        self._process = subprocess.Popen(
            [node(), "src/main.mjs"],
            cwd=HOME,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._ids = itertools.count(1)
        self._lock = Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._said: deque[str] = deque(maxlen=50)
        self._threads = [
            Thread(target=self._read_answers, args=(self._process.stdout,), daemon=True),
            Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Ask, and wait for the answer. Raises OracleError with what the oracle said instead."""
        answer: Future[Any] = Future()
        with self._lock:
            number = next(self._ids)
            self._waiting[number] = answer
            request = json.dumps({"id": number, "method": method, "params": params})
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(request + "\n")
                self._process.stdin.flush()
            except OSError as error:
                raise self._died() from error
        try:
            return answer.result(timeout=_REPLY_SECONDS)
        except TimeoutError as error:
            raise OracleError(f"No answer to {method} in {_REPLY_SECONDS} s") from error

    def close(self) -> None:
        """End the process: its input ends, and it ends with it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()

    def _read_answers(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._settle(json.loads(line))
        for answer in list(self._waiting.values()):
            answer.set_exception(self._died())

    def _settle(self, reply: dict[str, Any]) -> None:
        answer = self._waiting.pop(reply["id"])
        error = reply.get("error")
        if error is None:
            answer.set_result(reply["result"])
        else:
            answer.set_exception(OracleError(f"{error['name']}: {error['message']}"))

    def _read_errors(self, stream: IO[str]) -> None:
        with stream:
            self._said.extend(stream)

    def _died(self) -> OracleError:
        return OracleError("The oracle's process has ended; it said last:\n" + "".join(self._said))
