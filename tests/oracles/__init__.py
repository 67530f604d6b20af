"""The official clients of AG-UI and the AI SDK, run in Node, as oracles of signoff's wire."""

from oracles.oracle import Oracle
from oracles.process import OracleError, OracleProcess
from oracles.recorded import Recorded, recorded
from oracles.results import AgentFold, AgentState, ChatState, ClientError, Exchange, VercelFold
from oracles.sse import frames_of, sse
from oracles.tabs import AgentTab, ChatTab

__all__ = [
    "AgentFold",
    "AgentState",
    "AgentTab",
    "ChatState",
    "ChatTab",
    "ClientError",
    "Exchange",
    "Oracle",
    "OracleError",
    "OracleProcess",
    "Recorded",
    "VercelFold",
    "frames_of",
    "recorded",
    "sse",
]
