"""Which requirements and known failures have a test.

`pytest --traceability` collects, runs nothing, prints every id below that nothing shows, and ends
with status 1 when there is one. A requirement is shown by `@pytest.mark.req("R27")`; a failure seen
in the field by a test named `test_b12_…`, or by a line of docs/not-applicable.md that begins with
its id and says why it cannot occur or what it waits for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

# Written as in the requirement list: single numbers and inclusive ranges.
REQUIREMENTS = "1-3 13-15 25-32 46 47 57 59-62 76 90-93 95-99 103 104 106-118 120-129"
FIELD_FAILURES = "1-36 61-74 37 41 48 55 99 101 106 107 109-113"

_LAST_REQUIREMENT = 130
_REQUIREMENT_ID = re.compile(r"R([1-9]\d{0,2})")
_FAILURE_TEST = re.compile(r"test_((?:b\d{2,3}_)+)")
# The ids a line begins with, after the marks of a list, a table or bold type: "- **B05**, B06: …"
_EXEMPT_LINE = re.compile(r"[\s|*-]*((?:B\d{2,3}[\s|*,]*)+)")


def numbers(ranges: str) -> set[int]:
    """Read "1-3 7" as {1, 2, 3, 7}."""
    found: set[int] = set()
    for item in ranges.split():
        first, _, last = item.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def requirements_of(item: pytest.Item) -> Iterator[int]:
    """Yield the requirement numbers that a test's markers name.

    Raises `pytest.UsageError` on an id that no requirement has: a typing mistake would otherwise
    count for nothing, silently.
    """
    for marker in item.iter_markers("req"):
        for identifier in marker.args:
            match = _REQUIREMENT_ID.fullmatch(str(identifier))
            if match is None or int(match[1]) > _LAST_REQUIREMENT:
                raise pytest.UsageError(f"{item.nodeid}: no requirement is called {identifier!r}")
            yield int(match[1])


def failures_of(test_name: str) -> set[int]:
    """Give the numbers in a name like `test_b12_…`, or `test_b10_b12_…` where it shows several."""
    match = _FAILURE_TEST.match(test_name)
    return {int(number) for number in re.findall(r"b(\d+)_", match[1])} if match else set()


def exempt_failures(lines: Iterable[str]) -> set[int]:
    """Collect the ids at the beginnings of lines of docs/not-applicable.md."""
    return {
        int(number)
        for line in lines
        if (match := _EXEMPT_LINE.match(line))
        for number in re.findall(r"B(\d+)", match[1])
    }


def _exempt_in(root: Path) -> set[int]:
    page = root / "docs" / "not-applicable.md"
    return exempt_failures(page.read_text("utf-8").splitlines()) if page.is_file() else set()


class _Report:
    """Collect what the tests show; say what nothing shows."""

    def __init__(self) -> None:
        self._missing: list[str] = []

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        shown = {number for item in session.items for number in requirements_of(item)}
        tested = {
            number
            for item in session.items
            if isinstance(item, pytest.Function)
            for number in failures_of(item.originalname)
        }
        covered = tested | _exempt_in(session.config.rootpath)
        self._missing = [
            *(f"R{number}" for number in sorted(numbers(REQUIREMENTS) - shown)),
            *(f"B{number:02}" for number in sorted(numbers(FIELD_FAILURES) - covered)),
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        return True

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("without a test")
        terminalreporter.write_line(" ".join(self._missing) or "none")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--traceability`."""
    parser.addoption(
        "--traceability",
        action="store_true",
        help="run nothing; print the requirement and failure ids that no test shows",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take part in this run only where asked to."""
    if config.getoption("--traceability"):
        config.pluginmanager.register(_Report(), "signoff-traceability")
