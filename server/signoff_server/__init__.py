"""The streaming server of signoff: engine, store, journal and routes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from types import ModuleType

_NEEDED = ("typer", "rich", "starlette", "sse_starlette", "uvicorn", "sqlalchemy")

MISSING_EXTRA = tuple(name for name in _NEEDED if find_spec(name) is None)
"""What of the ``server`` extra is not installed: a bare ``pip install signoff`` has this package,
too."""

HOW_TO_INSTALL = "pip install 'signoff[server]'"


class _NeedsTheExtra:
    """Stands before Python's own finders where the extra is not installed, so that every module
    of this package says what to install; all but the command, which says it without a stack."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name.startswith(f"{__name__}.") and name != f"{__name__}.__main__":
            raise ImportError(
                f"{name} needs the server extra (not found: {', '.join(MISSING_EXTRA)}). "
                f"Install it with: {HOW_TO_INSTALL}",
                name=name,
            )


if MISSING_EXTRA:
    sys.meta_path.insert(0, _NeedsTheExtra)
