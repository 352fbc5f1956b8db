"""The one matcher, of messages and notices: from a platform's event to the turnstile.

NoneBot's cost grows with every matcher (0.3 to 1.2 ms an event each, also of those that don't match), so there
is one for all kinds of event, and commands have a router of their own.
Invariant: whatever fails behind the turnstile, the platform gets no error, and the person no silence.
"""

from fastapi import FastAPI
from loguru import logger
from nonebot import get_app, get_driver
from nonebot.adapters import Bot, Event
from nonebot.matcher import Matcher
from typing_extensions import override

from bot.channels.mapping import EventMapping
from bot.container import House
from bot.ports import DeliveryState

app: FastAPI = get_app()
house: House = app.state.house
mapping: EventMapping = app.state.mapping


class Chat(Matcher):
    """Goes straight to `receive`. On its own way there NoneBot resolves a handler's parameters, catches what pauses or
    rejects a session and makes two lines for a log that doesn't take them: as much work as it is to find the matcher,
    and nothing of it is used here."""

    @override
    async def run(self, bot: Bot, event: Event, *_: object, **__: object) -> None:
        with self.ensure_context(bot, event):
            await receive(bot, event)


chat = Chat.new(priority=1, block=True)


async def receive(bot: Bot, event: Event) -> None:
    """Pass one event through. A channel with an outbox has sent the reply when this returns; the others
    (WeChat's passive replies) take the first page from here.
    """
    message = mapping.to_message(bot, event)
    if message is None:
        return
    try:
        delivery = await house.turnstile.pass_through(message)
    except Exception as error:  # the boundary between the platforms and the house
        logger.opt(exception=error).error("一条消息现在没能回答")
        if message.is_addressed:
            await bot.send(event, house.wording.say("apology_for_now"))
        return
    is_fresh = delivery.state is DeliveryState.HELD and delivery.next_page == 0
    if is_fresh and delivery.pages and house.desk.replies_passively(message):
        first = house.wording.mark_page(delivery.pages[0], 1, len(delivery.pages))
        is_carried = await bot.send(event, mapping.to_reply(message, delivery.decided_by, first))
        if not is_carried:
            # Promised to customer service in the moment in which the answer was done, or held.
            await house.turnstile.hand_over(message, delivery)


@get_driver().on_bot_connect
async def catch_up(_: Bot) -> None:
    """A client is back: what was answered while it was away can go out now."""
    await house.turnstile.resume_undelivered()
