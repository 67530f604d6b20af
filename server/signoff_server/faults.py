"""What is logged of an unexpected exception: where it happened, never what it was about."""

from __future__ import annotations

import logging
import traceback

_LOG = logging.getLogger("signoff_server")


def log_fault(error: BaseException, *, doing: str) -> None:
    """Log the type and the stack of ``error``.

    Its text is left out, because it may quote what a person or a model wrote: logs carry ids,
    never inputs (design §12).
    """
    stack = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    _LOG.error("%s while %s\n%s", type(error).__name__, doing, stack)
