"""The `signoff` command, and `python -m signoff_server`.

Apart from the command line itself, because that one needs the `server` extra: a bare
`pip install signoff` has the command too, and it has to say what is missing.
"""

from __future__ import annotations

import sys

from . import HOW_TO_INSTALL, MISSING_EXTRA


def main() -> None:
    """Run the command line; exit with status 2 where the `server` extra is not installed."""
    if MISSING_EXTRA:
        sys.exit(_explain())
    from .cli import main as run

    run()


def _explain() -> int:
    print(  # noqa: T201 - a command's own message, before rich is known to be there
        f"signoff: the command needs the server extra (not found: {', '.join(MISSING_EXTRA)}).\n"
        f"Install it with:  {HOW_TO_INSTALL}",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    main()
