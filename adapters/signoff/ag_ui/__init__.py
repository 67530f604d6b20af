"""AG-UI: 1.0, and the 0.0.5x clients that CopilotKit ships."""

from .encode import AGUIAdapter
from .hydrate import ThreadDocument, shows_all
from .reading import RunAgentInput, profile_of, read_input
from .translate import command_of
from .wire import FAILED, REFUSED, Failures, Interrupt, MessageEntry, Profile

__all__ = [
    "FAILED",
    "REFUSED",
    "AGUIAdapter",
    "Failures",
    "Interrupt",
    "MessageEntry",
    "Profile",
    "RunAgentInput",
    "ThreadDocument",
    "command_of",
    "profile_of",
    "read_input",
    "shows_all",
]
