"""What the pages say of files, routes, codes and failures is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from starlette.routing import Route

from signoff.errors import Refusal
from signoff_server.app import create_app
from signoff_server.auth import SignedCookie
from signoff_server.engine import Engine
from signoff_server.options import STORE
from signoff_server.settings import Settings
from support.gated_source import GatedSource
from support.markdown import PAGES, ROOT, code, links, tables
from traceability import exempt_failures, failures_of

_DOCS = ROOT / "docs"
_HTTP = _DOCS / "http.md"
_PROTOCOLS = _DOCS / "protocols.md"
_SECTIONS = {
    "AG-UI": ROOT / "adapters" / "signoff" / "ag_ui",
    "Vercel AI SDK": ROOT / "adapters" / "signoff" / "vercel_ai",
    "Native": ROOT / "adapters" / "signoff" / "native",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_folders_and_files_by_their_whole_path_exist(page: Path) -> None:
    starts = ("adapters/", "server/", "tests/", "docs/", "bench/", "examples/", "web-demo/")
    named = [text for text in code(page) if re.fullmatch(r"[\w./-]+", text)]
    whole = [text for text in named if text.startswith(starts) and text not in starts]
    bases = (ROOT, page.parent)
    built = "server/signoff_server/pages"
    assert [
        text
        for text in whole
        if not text.startswith(built) and not any((base / text).exists() for base in bases)
    ] == []


@pytest.mark.parametrize("section", _SECTIONS)
def test_frames_are_made_where_the_page_says(section: str) -> None:
    """Files and functions of the last column, and every frame of the first in one of the files."""
    folder = _SECTIONS[section]
    text = _PROTOCOLS.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w]+\.py)`((?:, `\w+`)*)", text)
    assert named
    for file, functions in named:
        names = _functions(folder / file)
        assert set(re.findall(r"`(\w+)`", functions)) <= names, file


@pytest.mark.parametrize("section", ["AG-UI", "Vercel AI SDK"])
def test_every_frame_of_the_page_is_in_the_code_and_back(section: str) -> None:
    folder = _SECTIONS[section]
    sources = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("*.py")))
    text = _PROTOCOLS.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    listed = {
        frame
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for frame in re.findall(r"`([^`]+)`", row)
    }
    if section == "AG-UI":
        made = set(
            re.findall(
                r'"((?:RUN|TEXT|REASONING|TOOL|STATE|STEP|MESSAGES|ACTIVITY)_[A-Z_]+)"', sources
            )
        )
        assert made == listed - {"CUSTOM", "signoff.refused", "signoff.failed"}
    else:
        made = set(re.findall(r'"type": "([a-z]+(?:-[a-z]+)*)"', sources))
        parts_of_messages = {"text", "file", "reasoning", "step-start"}
        assert made - parts_of_messages <= listed
        for frame in listed - {"[DONE]", "data-…"}:
            assert frame in made or frame.rpartition("-")[2] in (
                "start",
                "delta",
                "end",
                "step",
                "activity",
            )


def test_the_codes_are_those_of_the_errors() -> None:
    (listed,) = [table for table in tables(_HTTP) if "`invalid_body`" in table[0]]
    assert {row[0].strip("`"): int(row[1]) for row in listed} == {
        refusal.code: refusal.status
        for refusal in Refusal.__subclasses__()
        if refusal.__module__.startswith("signoff") and refusal.code != "internal"
    }


def test_the_settings_are_those_of_the_command_line() -> None:
    (listed,) = [table for table in tables(ROOT / "README.md") if "`SIGNOFF_HOST`" in str(table)]
    shown = {row[0].strip("`"): row[2].strip("`") for row in listed}
    defaults = {
        f"SIGNOFF_{name.upper()}": field.default for name, field in Settings.model_fields.items()
    }
    assert set(shown) == set(defaults)
    assert {name: shown[name] for name, value in defaults.items() if value} == {
        name: str(value) for name, value in defaults.items() if value
    }
    assert shown["SIGNOFF_STORE"] == STORE


def test_the_routes_are_those_of_the_application(tmp_path: Path) -> None:
    engine = Engine(GatedSource(), store=f"sqlite:///{tmp_path / 'store.db'}")
    app = create_app(engine, authenticate=SignedCookie(engine.server_key), pages=True)
    served = {
        f"{method} {re.sub(':[a-z]+}', '}', route.path)}"
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    listed = {text for text in code(_HTTP) if re.match(r"(GET|POST|DELETE) /", text)}
    unlisted = {route for route in served - listed if "/assets/" not in route}
    assert listed - served == set()
    assert unlisted <= {"GET /vercel/", "GET /copilotkit/"}


def test_what_has_a_test_is_not_said_to_have_none() -> None:
    exempt = exempt_failures((_DOCS / "not-applicable.md").read_text("utf-8").splitlines())
    tested = {
        number
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_b\w+)", path.read_text("utf-8"))
        for number in failures_of(name)
    }
    assert exempt
    assert exempt & tested == set()


def test_decisions_are_short() -> None:
    text = (_DOCS / "decisions.md").read_text("utf-8")
    entries = re.split(r"^### ", text.partition("\n## Dependencies")[0], flags=re.MULTILINE)[1:]
    assert len(entries) > 20
    for entry in entries:
        lines = [line for line in entry.partition("\n## ")[0].splitlines() if line]
        assert len(lines) <= 10, lines[0]


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
