"""`python -m bench [name …] [--json]`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from . import decide, hydrate, stream
from .measure import Ratio, Table

TABLES: Mapping[str, Callable[[], Table]] = {
    "stream": stream.table,
    "hydrate": hydrate.table,
    "hydrate-sizes": hydrate.linearity,
    "decide": decide.table,
}

PACKAGES = (
    "orjson",
    "pydantic",
    "ag-ui-protocol",
    "pydantic-ai-slim",
    "sqlalchemy",
    "starlette",
    "sse-starlette",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(TABLES))
    parser.add_argument("--json", action="store_true", help="for programs")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(TABLES))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(TABLES)}")
    tables = [TABLES[name]() for name in arguments.names or TABLES]
    if arguments.json:
        print(json.dumps({"machine": machine(), "tables": [asdict(table) for table in tables]}))
    else:
        print("\n".join([f"{name}: {value}" for name, value in machine().items()]))
        for table in tables:
            print(f"\n{render(table)}")
    if any(not ratio.met for table in tables for ratio in table.ratios):
        sys.exit("A budget is missed.")


def machine() -> dict[str, str]:
    """What the figures were measured on and with."""
    return {
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }


def render(table: Table) -> str:
    """The table as Markdown, for the terminal and for docs/benchmarks.md."""
    lines = [
        f"### {table.title}",
        "",
        f"| `{table.name}` | {table.unit}, median | fastest | slowest |",
        "|---|---:|---:|---:|",
        *(
            f"| {row.name} | {row.median:.2f} | {row.best:.2f} | {row.worst:.2f} |"
            for row in table.rows
        ),
    ]
    if table.ratios:
        lines += ["", "| ratio | measured | budget | |", "|---|---:|---:|---|"]
        lines += [_ratio(ratio) for ratio in table.ratios]
    return "\n".join(lines)


def _ratio(ratio: Ratio) -> str:
    sign = "≤" if ratio.bound == "at most" else "≥"
    verdict = "met" if ratio.met else "missed"
    return f"| {ratio.name} | {ratio.value:.1f} | {sign} {ratio.budget:g} | {verdict} |"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.processor()


if __name__ == "__main__":
    main()
