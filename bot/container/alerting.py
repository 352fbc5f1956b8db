"""The operator's alerts put together: Apprise for every address in the settings.

Invariant: Apprise is loaded only where there is an address, writes no log line of its own, and runs in threads
of its own, so that one that hangs holds up nothing.
"""

import logging
import warnings
from typing import Any

import anyio

from bot.alerts import Messenger, OperatorAlerts
from bot.conversation.errors import ConfigurationError
from bot.settings import Settings

_TITLE = "记得"
_THREADS = 4
"""At most so many hang at once; Apprise gives each request up after some seconds."""


class AppriseMessenger:
    """One address, e.g. `wecombot://KEY`."""

    def __init__(self, service: Any, limiter: anyio.CapacityLimiter) -> None:
        """`service`: an `apprise.Apprise` of one address."""
        self._service = service
        self._limiter = limiter

    async def send(self, text: str) -> bool:
        return await anyio.to_thread.run_sync(
            self._notify, text, abandon_on_cancel=True, limiter=self._limiter
        )

    def _notify(self, text: str) -> bool:
        return bool(self._service.notify(body=text, title=_TITLE, body_format="text"))


def make_alerts(settings: Settings) -> OperatorAlerts:
    """Raises ConfigurationError: an address that Apprise doesn't know or that lacks something."""
    urls = settings.alerts.urls
    messengers = _messengers(urls) if urls else ()
    return OperatorAlerts(messengers, hidden=settings.secrets)


def _messengers(urls: tuple[str, ...]) -> tuple[Messenger, ...]:
    with warnings.catch_warnings():
        # Its mail service looks for a module that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import apprise

        # It would quote addresses, whose keys are secrets.
        logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
        asset = apprise.AppriseAsset(app_id="Jide", app_desc="记得", async_mode=False)
        limiter = anyio.CapacityLimiter(_THREADS)
        made: list[Messenger] = []
        for number, url in enumerate(urls, start=1):
            service: Any = apprise.Apprise(asset=asset)
            if not service.add(url):
                raise ConfigurationError(
                    "ALERTS__URLS",
                    f"第 {number} 个网址 Apprise 不认得，或者缺了一部分",
                    "照 Apprise 文档里该服务的写法改，例：ALERTS__URLS=wecombot://机器人的key；不用告警就留空",
                )
            made.append(AppriseMessenger(service, limiter))
    return tuple(made)
