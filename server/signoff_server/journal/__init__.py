"""The run events of segments now running, for whoever attaches late."""

from .memory import LINGER_SECONDS, MemoryJournal, Segment

__all__ = ["LINGER_SECONDS", "MemoryJournal", "Segment"]
