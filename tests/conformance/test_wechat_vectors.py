"""Every published signature and AES vector, through the app where one can be posted.

Not ours, by kind: `wxa_decrypt_userdata` and `wxa_signature` belong to mini-programs.
"""

import json
from typing import Any

import pytest

from bot.channels.wechat import AccountError, OfficialAccount
from bot.channels.wechat.parsing import read_fields
from bot.channels.wechat.security import Envelope, sign
from simulators.wechat import envelope
from tests.conformance.wechat_app import wechat_app
from tests.shared_files import require_shared

NOT_OURS = {"wxa_decrypt_userdata", "wxa_signature"}
ENTRIES: list[dict[str, Any]] = json.loads(require_shared("fixtures/wechat_vectors.json").read_text("utf-8"))
XML = (
    "<xml><ToUserName><![CDATA[gh_1]]></ToUserName><FromUserName><![CDATA[oA]]></FromUserName>"
    "<CreateTime>1714112445</CreateTime><MsgType><![CDATA[text]]></MsgType>"
    "<Content><![CDATA[hi]]></Content><MsgId>1</MsgId></xml>"
)


def of_kind(kind: str) -> Any:
    entries = [entry for entry in ENTRIES if entry["kind"] == kind]
    assert entries
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry["id"])


def test_every_kind_is_tested_or_named_as_not_ours():
    tested = {
        "wechat_signature_plain",
        "sha1_sorted_concat",
        "wechat_aes_decrypt",
        "wechat_aes_encrypt",
        "wechat_aeskey_shape",
    }
    assert {entry["kind"] for entry in ENTRIES} == tested | NOT_OURS


@of_kind("wechat_signature_plain")
async def test_signature(entry: dict[str, Any]):
    given, is_valid = entry["input"], entry["expected"]["valid"]
    query = {k: given[k] for k in ("signature", "timestamp", "nonce") if given[k] is not None}
    clock = float(given["timestamp"] or 1714037059)
    account = OfficialAccount(app_id="wx1", token=given["token"])
    async with wechat_app(account, now=lambda: clock) as app:
        verified = await app.client.get(account.path, params={**query, "echostr": "5577"})
        posted = await app.post(query, XML.encode())
    assert (verified.status_code, verified.text) == ((200, "5577") if is_valid else (403, ""))
    assert posted.status_code == (200 if is_valid else 403)
    assert len(app.seen) == int(is_valid)


@of_kind("sha1_sorted_concat")
def test_sha1_over_sorted_parts(entry: dict[str, Any]):
    assert sign(*entry["input"]["parts"]) == entry["expected"]["sha1"]


@of_kind("wechat_aes_decrypt")
async def test_decryption(entry: dict[str, Any]):
    given, expected = entry["input"], entry["expected"]
    account = OfficialAccount(app_id=given["appid"], token=given["token"], aes_key=given["encoding_aes_key"])
    query = {
        "encrypt_type": "aes",
        "timestamp": given["timestamp"],
        "nonce": given["nonce"],
        "msg_signature": given["msg_signature"],
    }
    body = f"<xml><Encrypt><![CDATA[{given['encrypt']}]]></Encrypt></xml>".encode()
    async with wechat_app(account, now=lambda: float(given["timestamp"])) as app:
        response = await app.post(query, body)
    if not expected["valid"]:
        assert (response.status_code, response.content, app.seen) == (403, b"", [])
        return
    assert response.status_code == 200
    opened = _envelope(given).open(given["encrypt"])
    assert opened == expected["message"].encode()
    assert len(expected["message"].encode()) == expected["msg_len"]
    # Sealing it again with the same salt gives the same bytes: salt, length, pad and appid all agree.
    salt = bytes.fromhex(expected["random_hex"])
    assert _envelope(given, salt).encrypt(expected["message"]) == given["encrypt"]
    fields = expected.get("fields", {})
    assert [event.fields | fields for event in app.seen] == [event.fields for event in app.seen]
    assert len(app.seen) == int("FromUserName" in fields)


@of_kind("wechat_aes_decrypt")
def test_decryption_refuses_in_one_way(entry: dict[str, Any]):
    """Wrong pad, length or appid: None, nothing that tells them apart. (A bad signature stops earlier.)"""
    given, expected = entry["input"], entry["expected"]
    is_readable = expected["valid"] or expected["error"] == "invalid_signature"
    assert (_envelope(given).open(given["encrypt"]) is not None) == is_readable


@of_kind("wechat_aes_encrypt")
def test_encryption(entry: dict[str, Any]):
    given, expected = entry["input"], entry["expected"]
    sealer = _envelope(given, given["random"].encode())
    assert sealer.encrypt(given["message"]) == expected["encrypt"]
    timestamp, nonce = given.get("timestamp", "1407743423"), given.get("nonce", "n")
    wrapped = read_fields(sealer.wrap(given["message"], timestamp=int(timestamp), nonce=nonce))
    signature = expected.get(
        "msg_signature", envelope.signature(given["token"], timestamp, nonce, expected["encrypt"])
    )
    assert wrapped == {
        "Encrypt": expected["encrypt"],
        "MsgSignature": signature,
        "TimeStamp": timestamp,
        "Nonce": nonce,
    }


@of_kind("wechat_aeskey_shape")
def test_aes_key_shape(entry: dict[str, Any]):
    key = entry["input"]["encoding_aes_key"]
    if entry["expected"]["valid"]:
        assert OfficialAccount(app_id="wx1", token="t", aes_key=key).aes_key == key
        return
    with pytest.raises(AccountError) as raised:
        OfficialAccount(app_id="wx1", token="t", aes_key=key)
    assert raised.value.key == "aes_key"
    assert key not in str(raised.value)


def _envelope(given: dict[str, Any], salt: bytes = b"") -> Envelope:
    return Envelope(
        token=given["token"],
        aes_key=given["encoding_aes_key"],
        app_id=given["appid"],
        random_bytes=lambda: salt,
    )
