"""Vercel AI SDK: the UI message stream of ``useChat``, 7 and 6."""

from .encode import VercelAIAdapter
from .page import Page, read_page, shown_under, subject_of
from .parts import RunView, ThreadView
from .translate import chat_id, read_body
from .wire import HEADERS, Sdk

__all__ = [
    "HEADERS",
    "Page",
    "RunView",
    "Sdk",
    "ThreadView",
    "VercelAIAdapter",
    "chat_id",
    "read_body",
    "read_page",
    "shown_under",
    "subject_of",
]
