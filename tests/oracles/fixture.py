"""The `oracle` fixture, as a pytest plugin: `pytest_plugins = ["oracles.fixture"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from oracles.oracle import Oracle
from oracles.process import OracleProcess


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The real clients in one Node process, ended with the session."""
    process = OracleProcess()
    try:
        yield Oracle(process)
    finally:
        process.close()
