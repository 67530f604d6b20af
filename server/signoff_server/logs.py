"""How much `signoff demo` and `signoff serve` log, and where to: stderr."""

from __future__ import annotations

import logging
from typing import Literal, TypeAlias

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error", "critical"]

LOGGERS = ("signoff", "signoff_server")


def configure(level: LogLevel | None) -> None:
    """Log from ``level`` on; None leaves logging as it is, which is warnings and errors.

    At ``debug`` the tracebacks of tools, policies, models and sources are logged. They may quote
    what a person or a model wrote; no other level does.

    An application that has set up handlers of its own keeps them.
    """
    if level is None:
        return
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in LOGGERS:
        logging.getLogger(name).setLevel(level.upper())
