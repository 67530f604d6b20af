"""Approval of irreversible tool calls, carried between a Python agent and React chats."""

__version__ = "0.1.0"
