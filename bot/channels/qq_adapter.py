# pyright: basic
"""The QQ official adapter, made to take what the platform really sends and answers.

Invariant: an event that cannot be read is passed over without its content in the log; an error that comes with
HTTP 200 is an error.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio
from nonebot.adapters.qq import Adapter, Bot
from nonebot.adapters.qq.event import Event, MessageAuditEvent
from nonebot.adapters.qq.models import Dispatch
from nonebot.adapters.qq.store import audit_result
from nonebot.adapters.qq.utils import log
from nonebot.drivers import Driver, HTTPClientMixin, HTTPClientSession, Request, Response
from pydantic import ValidationError
from typing_extensions import override

from bot.channels.qq_errors import DELIVERED, TOKEN_REFUSED, code_of
from bot.channels.qq_events import event_class

API_SECONDS = 10.0
"""An answer of the platform. Its documents ask for 5 at least: later it may have sent what we think it has not."""

Asking: TypeAlias = Callable[[Request], Awaitable[Response]]


class QQAdapter(Adapter):
    """NoneBot's adapter for the QQ official bot with looser events, a quiet log and plain errors."""

    _session: HTTPClientSession | None = None
    """One for all calls: a client for each costs 50 ms of the loop, most of it for its certificates."""
    _ask: Asking | None = None
    """None: the driver."""

    @override
    def __init__(self, driver: Driver, *, ask: Asking | None = None, **kwargs: Any) -> None:
        """`ask`: whom the platform's API is called by."""
        self._ask = ask
        super().__init__(driver, **kwargs)

    @override
    def dispatch_event(self, bot: Bot, payload: Dispatch) -> None:
        try:
            event = self.payload_to_event(payload)
        except (ValidationError, LookupError) as error:
            log("WARNING", f"A {payload.type} that cannot be read ({type(error).__name__}); ignored")
            return
        if isinstance(event, MessageAuditEvent):
            audit_result.add_result(event)
        task = asyncio.create_task(bot.handle_event(event))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    @staticmethod
    @override
    def payload_to_event(payload: Dispatch) -> Event:
        """Raises ValidationError where an event lacks what makes it one, LookupError for a future one."""
        kind = event_class(payload.type)
        if kind is None:
            raise LookupError(payload.type)
        fields = payload.data if isinstance(payload.data, dict) else {}
        return kind.model_validate({**fields, "event_id": payload.id})

    @override
    async def startup(self) -> None:
        if self._ask is None and isinstance(self.driver, HTTPClientMixin):
            session = self.driver.get_session()
            await session.setup()
            self._session = session
        await super().startup()

    @override
    async def shutdown(self) -> None:
        await super().shutdown()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @override
    async def request(self, setup: Request) -> Response:
        """Raises TimeoutError after API_SECONDS, and what the driver raises."""
        with anyio.fail_after(API_SECONDS):
            if self._ask is not None:
                sending = self._ask(setup)
            else:
                sending = self._session.request(setup) if self._session else super().request(setup)
            return _as_error(await sending)


def _as_error(response: Response) -> Response:
    """An error with the HTTP status of one. The platform's may come with 200, where the adapter sees a
    success; and it takes a new token only after a 401."""
    try:
        code = code_of(json.loads(response.content or "null"))
    except ValueError:
        return response
    status = response.status_code
    if code in TOKEN_REFUSED:
        status = 401
    elif status == 200 and code and code not in DELIVERED:
        status = 400
    if status == response.status_code:
        return response
    return Response(status, headers=response.headers, content=response.content, request=response.request)
