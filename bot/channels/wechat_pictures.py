"""The pictures people send, as a vision model takes them.

Invariant: fetched from WeChat alone, whatever address a message names; what can't be had is left out.
"""

import base64
from collections.abc import Mapping

from loguru import logger
from nonebot.exception import AdapterException

from bot.channels.wechat.api import ApiClient
from bot.channels.wechat.api import Media as Picture
from bot.conversation.message import Media, Message

PICTURE_BYTES = 5 * 1024 * 1024
"""As much as the larger providers take in one request."""


class WeChatPictures:
    """`bot.answering.question.Pictures`."""

    def __init__(self, clients: Mapping[str, ApiClient]) -> None:
        """`clients`: by app_id."""
        self._clients = clients

    async def __call__(self, message: Message) -> tuple[str, ...]:
        client = self._clients.get(message.sender.app_id)
        if client is None:
            return ()
        pictures = [await _fetch(client, media) for media in message.media]
        return tuple(_data_address(picture) for picture in pictures if picture is not None)


async def _fetch(client: ApiClient, media: Media) -> Picture | None:
    """By its address, which needs no permission, else by its id."""
    try:
        return await client.download_picture(media.url, limit_bytes=PICTURE_BYTES)
    except AdapterException as error:
        logger.debug("no picture by its address: {}", type(error).__name__)
    try:
        picture = await client.download_media(media.media_id, limit_bytes=PICTURE_BYTES)
    except AdapterException as error:
        logger.warning("一张图片没有取到：{}", type(error).__name__)
        return None
    return picture if picture.content_type.startswith("image/") else None


def _data_address(picture: Picture) -> str:
    return f"data:{picture.content_type};base64,{base64.b64encode(picture.content).decode()}"
