"""The `signoff` command, and `python -m signoff_server`.

Apart from the command line itself, because that one needs the `server` extra: a bare
`pip install signoff` has the command too, and it has to say what is missing.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "starlette", "sse_starlette", "uvicorn", "sqlalchemy")


def main() -> None:
    """Run the command line; exit with status 2 where the `server` extra is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(_explain(missing))
    from .cli import main as run

    run()


def _explain(missing: list[str]) -> int:
    print(  # noqa: T201 - a command's own message, before rich is known to be there
        f"signoff: the command needs the server extra (not found: {', '.join(missing)}).\n"
        "Install it with:  pip install 'signoff[server]'",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    main()
