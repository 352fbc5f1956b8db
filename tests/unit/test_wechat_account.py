"""An account with a wrong setting never comes to be, and says which setting and what to do."""

import pytest

from bot.channels.wechat import AccountError, OfficialAccount

GOOD = {"app_id": "wx1", "token": "t0ken"}
KEY, OLD_KEY = "a" * 43, "b" * 43


def test_plain_mode_needs_no_key():
    account = OfficialAccount(**GOOD)
    assert (account.aes_keys, account.path) == ((), "/wechat")
    assert (account.app_secret, account.api_base) == ("", "https://api.weixin.qq.com")


def test_the_current_key_counts_before_the_previous_one():
    assert OfficialAccount(**GOOD, aes_key=KEY).aes_keys == (KEY,)
    assert OfficialAccount(**GOOD, aes_key=KEY, previous_aes_key=OLD_KEY).aes_keys == (KEY, OLD_KEY)


@pytest.mark.parametrize(
    "api_base", ["https://api2.weixin.qq.com", "http://127.0.0.1:8099", "https://proxy.cn/wechat/v1"]
)
def test_another_address_of_the_api(api_base: str):
    assert OfficialAccount(**GOOD, api_base=api_base).api_base == api_base


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"app_id": ""}, "app_id"),
        ({"app_id": "  "}, "app_id"),
        ({"token": ""}, "token"),
        ({"token": " \n"}, "token"),
        ({"token": "t0ken "}, "token"),
        ({"aes_key": "short"}, "aes_key"),
        ({"aes_key": "a" * 42 + "="}, "aes_key"),
        ({"aes_key": "a" * 42 + "键"}, "aes_key"),
        ({"aes_key": "a" * 43 + "\n"}, "aes_key"),
        ({"aes_key": KEY, "previous_aes_key": "short"}, "previous_aes_key"),
        ({"previous_aes_key": KEY}, "previous_aes_key"),
        ({"app_secret": "s3cret "}, "app_secret"),
        ({"app_secret": "s3c\nret"}, "app_secret"),
        ({"app_secret": "密钥"}, "app_secret"),
        ({"api_base": ""}, "api_base"),
        ({"api_base": "api.weixin.qq.com"}, "api_base"),
        ({"api_base": "https://api.weixin.qq.com/"}, "api_base"),
        ({"api_base": "https://me:pw@api.weixin.qq.com"}, "api_base"),
        ({"api_base": "https://api.weixin.qq.com?x=1"}, "api_base"),
        ({"api_base": "https://api.weixin.qq.com\n"}, "api_base"),
        ({"api_base": "ftp://api.weixin.qq.com"}, "api_base"),
        ({"path": "wechat"}, "path"),
        ({"path": "/微信"}, "path"),
        ({"path": "/wechat?x=1"}, "path"),
        ({"path": "/{any}"}, "path"),
    ],
)
def test_a_wrong_setting_is_named(changed: dict[str, str], key: str):
    with pytest.raises(AccountError) as raised:
        OfficialAccount(**(GOOD | changed))
    assert raised.value.key == key
    assert raised.value.fix in str(raised.value)


def test_secrets_are_not_shown():
    account = OfficialAccount(**GOOD, aes_key=KEY, previous_aes_key=OLD_KEY, app_secret="s3cret")
    for secret in ("t0ken", KEY, OLD_KEY, "s3cret"):
        assert secret not in repr(account)
    for wrong in ({"aes_key": KEY + "x"}, {"app_secret": "s3 cret"}, {"previous_aes_key": KEY + "x"}):
        with pytest.raises(AccountError) as raised:
            OfficialAccount(**(GOOD | wrong))
        assert next(iter(wrong.values())) not in str(raised.value)
