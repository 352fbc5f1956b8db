"""Ports for servers that a test starts itself."""

import socket


def free_port() -> int:
    """Of this machine, taken by nobody just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
