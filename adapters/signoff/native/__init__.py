"""The native protocol: signoff's own JSON and event streams, for programs and for `curl`."""

from .encode import NativeAdapter

__all__ = ["NativeAdapter"]
