"""The report of requirements and field failures without a test must itself be able to fail."""

from __future__ import annotations

import pytest

import traceability
from traceability import exempt_failures, failures_of, numbers


def test_ranges_are_inclusive() -> None:
    assert numbers("1-3 7") == {1, 2, 3, 7}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("test_b12_answer_reaches_the_call", {12}, id="two-digits"),
        pytest.param("test_b101_no_done_line", {101}, id="three-digits"),
        pytest.param("test_b1_short", set(), id="ids-have-two-digits"),
        pytest.param("test_a_b12_inside", set(), id="only-at-the-beginning"),
        pytest.param("test_b10_b70_each_alone", {10, 70}, id="several"),
    ],
)
def test_failure_named_by_a_test(name: str, found: set[int]) -> None:
    assert failures_of(name) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param("- **B05**: no such frame is sent (compare B06).", {5}, id="list"),
        pytest.param("| B05, B101 | waits for the inbox |", {5, 101}, id="table"),
        pytest.param("Nothing here about B05.", set(), id="in-a-sentence"),
    ],
)
def test_exempt_line(line: str, found: set[int]) -> None:
    assert exempt_failures([line]) == found


def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tests: str) -> None:
    """Make a project that has to show R2, R3 and B01, B02."""
    monkeypatch.setattr(traceability, "REQUIREMENTS", "2 3")
    monkeypatch.setattr(traceability, "FIELD_FAILURES", "1 2")
    pytester.makeini("[pytest]\nmarkers = req\n")
    pytester.makepyfile(tests)
    pytester.mkdir("docs").joinpath("not-applicable.md").write_text("- B02: no such client.\n")


def test_what_is_missing_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(
        pytester,
        monkeypatch,
        """
        import pytest

        @pytest.mark.req("R3", "R1")
        def test_shown():
            raise AssertionError("collected, never run")
        """,
    )
    result = pytester.runpytest_inprocess("-p", "traceability", "--traceability")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*without a test*", "R2 B01"])


def test_nothing_missing_ends_well(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(
        pytester,
        monkeypatch,
        """
        import pytest

        @pytest.mark.req("R2", "R3")
        @pytest.mark.parametrize("row", [1, 2])
        def test_b01_shown(row):
            raise AssertionError("collected, never run")
        """,
    )
    result = pytester.runpytest_inprocess("-p", "traceability", "--traceability")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*without a test*", "none"])


@pytest.mark.parametrize("identifier", ["R131", "R0", "r2", "B01"])
def test_an_unknown_requirement_is_refused(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, identifier: str
) -> None:
    project(
        pytester,
        monkeypatch,
        f"""
        import pytest

        @pytest.mark.req("{identifier}")
        def test_shown():
            pass
        """,
    )
    result = pytester.runpytest_inprocess("-p", "traceability", "--traceability")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*no requirement is called '{identifier}'*"])
