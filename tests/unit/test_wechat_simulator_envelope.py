"""The simulator's cryptography against the published vectors, and against wechatpy's."""

import base64
import json
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from wechatpy.crypto import WeChatCrypto  # pyright: ignore[reportAttributeAccessIssue] (our stub)

from simulators.wechat import BadReply, Mode, WeChatServer, envelope
from tests.shared_files import require_shared

KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
TOKEN = "atoken"
APP_ID = "wx0123456789abcdef"


def vectors(kind: str) -> Any:
    entries = json.loads(require_shared("fixtures/wechat_vectors.json").read_text("utf-8"))
    chosen = [entry for entry in entries if entry["kind"] == kind]
    assert chosen
    return pytest.mark.parametrize("entry", chosen, ids=lambda entry: entry["id"])


@vectors("sha1_sorted_concat")
def test_signature(entry: dict[str, Any]):
    assert envelope.signature(*entry["input"]["parts"]) == entry["expected"]["sha1"]


@vectors("wechat_signature_plain")
def test_signature_of_a_query(entry: dict[str, Any]):
    given = entry["input"]
    parts = (given["token"], given["timestamp"] or "", given["nonce"] or "")
    is_valid = envelope.is_signature(given["signature"] or "", *parts)
    assert is_valid is entry["expected"]["valid"]


@vectors("wechat_aes_encrypt")
def test_encryption(entry: dict[str, Any]):
    given, expected = entry["input"], entry["expected"]
    sealed = envelope.encrypt(
        given["message"],
        aes_key=given["encoding_aes_key"],
        app_id=given["appid"],
        salt=given["random"].encode(),
    )
    assert sealed == expected["encrypt"]
    if "msg_signature" in expected:
        signed = envelope.signature(given["token"], given["timestamp"], given["nonce"], sealed)
        assert signed == expected["msg_signature"]


@vectors("wechat_aes_decrypt")
def test_decryption(entry: dict[str, Any]):
    given, expected = entry["input"], entry["expected"]
    keys = {"aes_key": given["encoding_aes_key"], "app_id": given["appid"]}
    is_signed = envelope.is_signature(
        given["msg_signature"], given["token"], given["timestamp"], given["nonce"], given["encrypt"]
    )
    if not expected["valid"]:
        if expected["error"] == "invalid_signature":
            assert not is_signed
        else:
            with pytest.raises(ValueError):
                envelope.decrypt(given["encrypt"], **keys)
        return
    assert is_signed
    assert envelope.decrypt(given["encrypt"], **keys) == expected["message"]
    salt = bytes.fromhex(expected["random_hex"])
    assert envelope.encrypt(expected["message"], **keys, salt=salt) == given["encrypt"]


@vectors("wechat_aeskey_shape")
def test_aes_key_shape(entry: dict[str, Any]):
    key, is_valid = entry["input"]["encoding_aes_key"], entry["expected"]["valid"]
    assert envelope.is_aes_key(key) is is_valid
    if not is_valid:
        with pytest.raises(ValueError):
            WeChatServer("http://bot.test/", TOKEN, APP_ID, key)


def sealed(plain: bytes) -> str:
    return envelope.encrypt_raw(plain, aes_key=KEY)


@pytest.mark.parametrize(
    "encrypted",
    [
        "",
        "!",
        base64.b64encode(b"x" * 15).decode(),
        sealed(b"s" * 32),
        sealed(b"s" * 31 + b"\x00"),
        sealed(b"s" * 63 + b"\x21"),
        sealed(b"s" * 30 + b"\x03\x02"),
        sealed(envelope.pad(b"s" * 16)),
        sealed(envelope.pad(b"s" * 16 + b"\xff\xff\xff\xff" + APP_ID.encode())),
        sealed(envelope.pad(b"s" * 16 + b"\0\0\0\x02\xff\xfe" + APP_ID.encode())),
        envelope.encrypt("x", aes_key=KEY, app_id="wxother"),
    ],
    # What is encrypted is another text each time.
    ids=range(11),
)
def test_what_is_no_envelope_is_refused(encrypted: str):
    with pytest.raises(ValueError):
        envelope.decrypt(encrypted, aes_key=KEY, app_id=APP_ID)


@pytest.mark.parametrize("mode", [Mode.SAFE, Mode.COMPATIBLE])
def test_wechatpy_reads_our_posts(mode: Mode):
    server = WeChatServer("http://bot.test/", TOKEN, APP_ID, KEY, mode=mode)
    query, body = server.post(server.xml("oA", "text", {"Content": "你好😀"}, 7))
    opened = WeChatCrypto(TOKEN, KEY, APP_ID).decrypt_message(
        body, query["msg_signature"], query["timestamp"], query["nonce"]
    )
    assert ElementTree.fromstring(opened).findtext("Content") == "你好😀"
    is_plain_too = ElementTree.fromstring(body).findtext("Content") == "你好😀"
    assert is_plain_too is (mode is Mode.COMPATIBLE)
    assert envelope.is_signature(query["signature"], TOKEN, query["timestamp"], query["nonce"])


def test_we_read_wechatpys_replies():
    server = WeChatServer("http://bot.test/", TOKEN, APP_ID, KEY)
    reply = (
        "<xml><ToUserName>oA</ToUserName><FromUserName>gh_simulated</FromUserName>"
        "<CreateTime>1</CreateTime><MsgType>text</MsgType><Content>好的😀</Content></xml>"
    )
    body = WeChatCrypto(TOKEN, KEY, APP_ID).encrypt_message(reply, "nonce", "1750000000").encode()
    read = server.read(body, "oA")
    assert read is not None
    assert read.text == "好的😀"
    with pytest.raises(BadReply):
        server.read(body, "oB")
    other = WeChatCrypto(TOKEN, KEY, "wxother").encrypt_message(reply, "nonce", "1750000000").encode()
    with pytest.raises(BadReply):
        server.read(other, "oA")


async def test_a_changed_key_is_used_from_then_on():
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(200, text="success")

    new = KEY[::-1]
    transport = httpx.MockTransport(answer)
    async with WeChatServer("http://bot.test/", TOKEN, APP_ID, KEY, transport=transport) as wechat:
        await wechat.say("oA", "一")
        wechat.use_key(new)
        await wechat.say("oA", "二")
    for body, key, said in zip(bodies, (KEY, new), ("一", "二"), strict=True):
        encrypted = ElementTree.fromstring(body).findtext("Encrypt") or ""
        assert said in envelope.decrypt(encrypted, aes_key=key, app_id=APP_ID)


@pytest.mark.parametrize("mode", [Mode.SAFE, Mode.COMPATIBLE])
def test_these_modes_need_a_key(mode: Mode):
    with pytest.raises(ValueError, match="EncodingAESKey"):
        WeChatServer("http://bot.test/", TOKEN, APP_ID, mode=mode)
