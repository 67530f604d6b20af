"""The pages that people read, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "web-demo" / "README.md",
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_RULE = re.compile(r"[\s|:-]+")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``str()`` says where it is."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(language: str | None = None) -> list[Block]:
    """Every block on every page, of one language or of any."""
    found = [block for page in PAGES for block in _blocks(page)]
    return [block for block in found if language in (None, block.language)]


def links(page: Path) -> list[str]:
    """What a page links to inside this repository."""
    targets = _LINK.findall(_prose(page))
    return [target.partition("#")[0] for target in targets if not target.startswith("http")]


def code(page: Path) -> list[str]:
    """What stands in backticks on a page."""
    return _CODE.findall(_prose(page))


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page: rows of cells, without their heads."""
    found: list[list[list[str]]] = []
    inside = False
    for line in _prose(page).splitlines():
        if not line.startswith("|"):
            inside = False
        elif not inside:
            found.append([])
            inside = True
        elif not _RULE.fullmatch(line):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text("utf-8"))


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match[1], match[2])
