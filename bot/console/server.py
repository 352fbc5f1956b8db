"""The second server itself, on a loopback port, for the supervisor to keep.

Invariant: it listens on 127.0.0.1 and nowhere else, takes no signal from the first server, and no trouble
of its port stops the bot.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Generator

import uvicorn
from loguru import logger
from starlette.types import ASGIApp
from typing_extensions import override

HOST = "127.0.0.1"
"""No setting: part of what is here has no password."""
TRY_AGAIN_SECONDS = 30.0
"""Another program may leave the port."""
GRACE_SECONDS = 2
"""For requests in flight at a stop: each takes milliseconds."""
BACKLOG = 64


class _QuietServer(uvicorn.Server):
    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """SIGTERM is the first server's: it stops the house, and that stops us."""
        yield


class ConsoleServer:
    """Serves an application until cancelled."""

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        *,
        on_listening: Callable[[], None] | None = None,
        on_stop: Callable[[], None] | None = None,
    ) -> None:
        """`on_listening`: the port is ours. `on_stop`: what never ends of itself should end now."""
        self._app = app
        self._port = port
        self._on_listening = on_listening
        self._on_stop = on_stop
        self._has_warned = False

    async def run(self) -> None:
        """Until cancelled; then requests in flight are finished. Waits for a port that is taken."""
        with await self._listening() as listener:
            logger.info("运维：http://{}:{}/readyz、/healthz/memory、/metrics，只在本机", HOST, self._port)
            if self._on_listening is not None:
                self._on_listening()
            server = _QuietServer(self._config())
            serving = asyncio.create_task(server.serve([listener]))
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                if self._on_stop is not None:
                    self._on_stop()
                server.should_exit = True
                await serving
                raise

    async def _listening(self) -> socket.socket:
        while True:
            try:
                return self._listen()
            except OSError as error:
                if not self._has_warned:
                    self._has_warned = True
                    logger.warning(
                        "运维端口 {} 打不开（{}）：/readyz、/metrics 暂时没有，机器人照常工作。"
                        "换一个端口写 CONSOLE__PORT，不要就写 0",
                        self._port,
                        error.strerror,
                    )
            await asyncio.sleep(TRY_AGAIN_SECONDS)

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            # Else a restart finds the port taken by its own last connections. On Windows it would let two listen.
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, self._port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
        listener.setblocking(False)
        return listener

    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            self._app,
            # The first server has set logging up; a second configuration would undo ours.
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            # The protocol that needs no deprecated part of `websockets`.
            ws="websockets-sansio",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
