"""The pictures people send: fetched from WeChat alone, from a real server, and left out where they can't be had."""

import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from nonebot.config import Config, Env
from nonebot.drivers.httpx import Mixin as HttpxMixin
from nonebot.drivers.none import Driver as NoneDriver

from bot.channels.wechat.api import ApiClient, DriverHttp
from bot.channels.wechat_pictures import WeChatPictures
from bot.conversation.message import AccountKey, Conversation, Kind, Media, Message
from simulators.wechat import WeChatServer

PNG = b"\x89PNG\r\n\x1a\n"
APP_ID, SECRET = "wx0123456789abcdef", "5" * 32


class HttpDriver(HttpxMixin, NoneDriver):  # type: ignore[misc]
    """A driver that only asks."""


@pytest_asyncio.fixture
async def wechat() -> AsyncIterator[WeChatServer]:
    async with WeChatServer("http://127.0.0.1:9/wechat", "token", APP_ID, app_secret=SECRET) as server:
        yield server


@pytest_asyncio.fixture
async def pictures(wechat: WeChatServer) -> AsyncIterator[WeChatPictures]:
    http = DriverHttp(HttpDriver(Env(environment="test"), Config()))  # type: ignore[abstract]
    client = ApiClient(app_id=APP_ID, app_secret=SECRET, api_base=wechat.api.base_url, request=http)
    yield WeChatPictures({APP_ID: client})
    await http.close()


def message(*media: Media, app_id: str = APP_ID) -> Message:
    return Message(
        key="oA/1",
        kind=Kind.IMAGE,
        sender=AccountKey(channel="wechat", app_id=app_id, openid="oA"),
        conversation=Conversation(channel="wechat", app_id=app_id),
        text="",
        sent_at=datetime(2026, 3, 1, tzinfo=UTC),
        media=media,
    )


def content(address: str) -> bytes:
    kind, _, encoded = address.partition(";base64,")
    assert kind.startswith("data:image/")
    return base64.b64decode(encoded)


async def test_by_its_address(wechat: WeChatServer, pictures: WeChatPictures) -> None:
    medium = wechat.media.add("image", PNG + b"one")
    sent = Media(url=wechat.picture_url(medium.id), media_id="gone")
    (address,) = await pictures(message(sent))
    assert content(address) == PNG + b"one"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:22/x.png", "http://169.254.169.254/latest", "file:///etc", ""]
)
async def test_by_its_id_where_the_address_is_not_wechats(
    wechat: WeChatServer, pictures: WeChatPictures, url: str
) -> None:
    medium = wechat.media.add("image", PNG + b"two")
    (address,) = await pictures(message(Media(url=url, media_id=medium.id)))
    assert content(address) == PNG + b"two"


async def test_what_cannot_be_had_is_left_out(wechat: WeChatServer, pictures: WeChatPictures) -> None:
    assert await pictures(message(Media(url="http://127.0.0.1:22/x.png", media_id="unknown"))) == ()
    no_picture = wechat.media.add("voice", b"#!AMR")
    assert await pictures(message(Media(url="", media_id=no_picture.id))) == ()
    medium = wechat.media.add("image", PNG)
    sent = Media(url=wechat.picture_url(medium.id), media_id=medium.id)
    assert await pictures(message(sent, app_id="wxother")) == ()
