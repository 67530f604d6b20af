"""What is durable: one SQLAlchemy Core implementation, its tables and migrations."""

from .store import Store

__all__ = ["Store"]
