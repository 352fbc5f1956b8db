"""Secrets made at first use."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.conversation.errors import ConfigurationError
from bot.secrets_file import read_pepper, read_tryout, replace_pepper


def test_the_pepper_is_made_once_and_only_its_owner_reads_it(tmp_path):
    folder = tmp_path / "数 据"
    pepper = read_pepper(folder)
    assert len(pepper) == 32 and read_pepper(folder) == pepper
    assert read_pepper(tmp_path / "another") != pepper
    assert [path.name for path in folder.iterdir()] == ["pepper"]
    assert (folder / "pepper").stat().st_mode & 0o777 == 0o600


def test_the_tryout_accounts_are_made_once(tmp_path):
    accounts = read_tryout(tmp_path)
    assert accounts.app_id == "playground" and read_tryout(tmp_path) == accounts
    assert len({accounts.wechat_token, accounts.onebot_access_token}) == 2
    assert (tmp_path / "tryout.json").stat().st_mode & 0o777 == 0o600


def test_all_who_make_it_at_once_get_the_same(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        peppers = set(pool.map(read_pepper, [tmp_path] * 32))
    assert len(peppers) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pepper"]


@pytest.mark.parametrize("text", ["", "zz", "00" * 31, "00" * 33])
def test_a_damaged_pepper_is_refused_and_kept(tmp_path, text):
    (tmp_path / "pepper").write_text(text)
    with pytest.raises(ConfigurationError, match="损坏"):
        read_pepper(tmp_path)
    assert (tmp_path / "pepper").read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"app_id": "wx1", "wechat_token": "a", "onebot_access_token": "b"}',
        '{"app_id": "playground", "wechat_token": "", "onebot_access_token": "b"}',
        '{"app_id": "playground", "wechat_token": 5, "onebot_access_token": "b"}',
    ],
)
def test_a_damaged_tryout_file_is_refused(tmp_path, text):
    (tmp_path / "tryout.json").write_text(text)
    with pytest.raises(ConfigurationError, match="损坏"):
        read_tryout(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="检查"):
        read_pepper(tmp_path / "file" / "data")


def test_binary_rubbish_is_refused(tmp_path):
    (tmp_path / "pepper").write_bytes(os.urandom(16) + b"\xff")
    with pytest.raises(ConfigurationError):
        read_pepper(tmp_path)


def test_what_a_killed_change_left_goes_with_the_next(tmp_path):
    read_pepper(tmp_path)
    for name in (".pepper.0123", ".pepper.old.4567"):
        (tmp_path / name).write_text("00" * 32)
    replace_pepper(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"pepper", "pepper.old"}
