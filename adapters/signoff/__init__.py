"""Approval of irreversible tool calls, carried between a Python agent and React chats.

What an application names most is here; each module documents its own part. The server, with the
engine and the routes, is the package ``signoff_server`` (extra ``signoff[server]``).
"""

from .ag_ui import AGUIAdapter
from .errors import ConfigurationError, Refusal, SignoffError, ToolFailed
from .function_tools import tool
from .native import NativeAdapter
from .policy import Gate, unattended
from .principal import Principal
from .sources.tool_loop import ToolLoop
from .tools import Hints, Secret, Tool, ToolContext
from .vercel_ai import VercelAIAdapter

__version__ = "0.1.0"

__all__ = [
    "AGUIAdapter",
    "ConfigurationError",
    "Gate",
    "Hints",
    "NativeAdapter",
    "Principal",
    "Refusal",
    "Secret",
    "SignoffError",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolLoop",
    "VercelAIAdapter",
    "__version__",
    "tool",
    "unattended",
]
