"""The engine: threads, their runs, and what a route may ask of them."""

from ..journal import Segment
from .attachment import Attachment, OnDisconnect
from .engine import Engine

__all__ = ["Attachment", "Engine", "OnDisconnect", "Segment"]
