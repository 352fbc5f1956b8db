"""WeChat's server, as an official account's callback meets it.

Invariant: its cryptography is its own, from the published description alone.
"""

from .server import FAULT, Seen, WeChatServer

__all__ = ["FAULT", "Seen", "WeChatServer"]
