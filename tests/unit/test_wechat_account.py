"""An account with a wrong setting never comes to be, and says which setting and what to do."""

import pytest

from bot.channels.wechat import AccountError, OfficialAccount

GOOD = {"app_id": "wx1", "token": "t0ken"}


def test_plain_mode_needs_no_key():
    account = OfficialAccount(**GOOD)
    assert (account.aes_key, account.path) == ("", "/wechat")


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
    assert "t0ken" not in repr(OfficialAccount(**GOOD))
