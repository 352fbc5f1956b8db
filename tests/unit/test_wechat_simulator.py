"""The simulator shows what a person would have seen, faults included."""

from xml.etree import ElementTree

import httpx
import pytest

from simulators.wechat import FAULT, Seen, WeChatServer, envelope

KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
REPLY = (
    "<xml><ToUserName>oA</ToUserName><FromUserName>gh_simulated</FromUserName>"
    "<CreateTime>1</CreateTime><MsgType>text</MsgType><Content>好</Content></xml>"
)


async def say(*answers: httpx.Response, aes_key: str = "") -> tuple[Seen, list[httpx.Request]]:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return answers[min(len(requests), len(answers)) - 1]

    transport = httpx.MockTransport(answer)
    async with WeChatServer("http://bot.test/", "t", "wx1", aes_key, transport=transport) as wechat:
        return await wechat.say("oA", "你好", msg_id=7), requests


async def test_it_posts_what_wechat_posts():
    seen, (request,) = await say(httpx.Response(200, text="success"))
    query = request.url.params
    root = ElementTree.fromstring(request.content)
    assert seen == Seen(text="", attempts=1, bodies=(b"success",), statuses=(200,))
    assert envelope.is_signature(query["signature"], "t", query["timestamp"], query["nonce"])
    assert root.findtext("Content") == "你好"
    assert root.findtext("MsgId") == "7"


async def test_it_encrypts_and_signs_the_ciphertext():
    _, (request,) = await say(httpx.Response(200), aes_key=KEY)
    query = request.url.params
    encrypted = ElementTree.fromstring(request.content).findtext("Encrypt") or ""
    assert envelope.is_signature(query["msg_signature"], "t", query["timestamp"], query["nonce"], encrypted)
    assert "你好" in envelope.decrypt(encrypted, aes_key=KEY, app_id="wx1")
    assert "你好".encode() not in request.content


async def test_it_retries_with_the_same_msgid_and_another_signature():
    seen, requests = await say(httpx.Response(500), httpx.Response(201, text="success"))
    assert (seen.text, seen.attempts, seen.statuses) == (FAULT, 3, (500, 201, 201))
    assert len({request.content for request in requests}) == 1
    assert len({request.url.params["signature"] for request in requests}) == 3


async def test_a_later_delivery_may_succeed():
    seen, _ = await say(httpx.Response(500), httpx.Response(200, text=REPLY))
    assert (seen.text, seen.attempts) == ("好", 2)


@pytest.mark.parametrize(
    "body",
    [
        "ok",
        "<xml>",
        REPLY.replace("oA", "oB"),
        REPLY.replace("gh_simulated", "gh_2"),
        REPLY.replace(">1<", ">soon<"),
        REPLY.replace("好", "好" * 700),
        REPLY.replace("好", ""),
        REPLY.replace("text", "image"),
    ],
)
async def test_what_wechat_cannot_show_is_a_fault(body: str):
    seen, _ = await say(httpx.Response(200, text=body))
    assert (seen.text, seen.is_fault, seen.attempts) == (FAULT, True, 1)


@pytest.mark.parametrize("broken", ["TimeStamp", "Nonce", "MsgSignature", "Encrypt", None])
async def test_an_encrypted_answer_must_be_signed(broken: str | None):
    encrypted = envelope.encrypt(REPLY, aes_key=KEY, app_id="wx1")
    fields = {
        "Encrypt": encrypted,
        "TimeStamp": "1",
        "Nonce": "2",
        "MsgSignature": envelope.signature("t", "1", "2", encrypted),
    }
    body = "".join(f"<{name}>{'' if name == broken else value}</{name}>" for name, value in fields.items())
    seen, _ = await say(httpx.Response(200, text=f"<xml>{body}</xml>"), aes_key=KEY)
    assert seen.text == (FAULT if broken else "好")


async def test_a_plain_answer_in_safe_mode_is_a_fault():
    seen, _ = await say(httpx.Response(200, text=REPLY), aes_key=KEY)
    assert seen.is_fault


async def test_verification_wants_the_echo_word_for_word():
    for answer, is_verified in (("77", True), ('"77"', False), ("", False)):
        transport = httpx.MockTransport(lambda _, answer=answer: httpx.Response(200, text=answer))
        async with WeChatServer("http://bot.test/", "t", "wx1", transport=transport) as wechat:
            assert await wechat.verify("77") is is_verified
