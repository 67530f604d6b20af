"""The `signoff` command: called in this process, or started as one of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from typer.testing import CliRunner, Result

from signoff_server import cli


def signoff(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments))


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the URL that it announced."""
    process = subprocess.Popen(
        [sys.executable, "-m", "signoff_server", *arguments, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert found is not None, first + (process.stderr.read() if process.poll() else "")
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()
