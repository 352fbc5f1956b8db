"""`data/jide.env` as programs change it: what is asked for, in its place, and nothing else."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.settings_file import answers_in, change, check, merged, overruled, random_secret, text_of, write

WRITTEN = """# 我自己写的
HOST=127.0.0.1

LLM__MODEL="qwen3" # 旧的
export OTHER_PLUGIN='a b'
# 结尾的话
"""


def test_what_is_set_changes_in_its_place_and_the_rest_stays() -> None:
    text = merged(WRITTEN, {"LLM__MODEL": "qwen-plus", "LLM__API_KEY": "sk-1"})
    assert text.startswith(
        "# 我自己写的\nHOST=127.0.0.1\n\nLLM__MODEL=qwen-plus\nexport OTHER_PLUGIN='a b'\n# 结尾的话\n"
    )
    assert text.endswith("LLM__API_KEY=sk-1\n")
    assert answers_in(text) == {
        "HOST": "127.0.0.1",
        "LLM__MODEL": "qwen-plus",
        "OTHER_PLUGIN": "a b",
        "LLM__API_KEY": "sk-1",
    }


def test_of_two_lines_the_last_would_win_so_one_is_left() -> None:
    assert merged("LLM__MODEL=a\nHOST=::1\nllm__model=b", {"LLM__MODEL": "c"}) == "LLM__MODEL=c\nHOST=::1\n"


def test_an_empty_value_empties_its_line_and_makes_none() -> None:
    assert merged("LLM__API_KEY=old\n", {"LLM__API_KEY": "", "QQ__SECRET": ""}) == "LLM__API_KEY=\n"


def test_line_ends_of_windows_stay() -> None:
    assert merged("HOST=::1\r\nPORT=1\r\n", {"PORT": "2"}) == "HOST=::1\r\nPORT=2\r\n"


def test_a_line_that_nobody_understands_stays() -> None:
    assert merged("这一行 看不懂\nPORT=1\n", {"PORT": "2"}) == "这一行 看不懂\nPORT=2\n"


def test_a_new_file_says_what_it_is() -> None:
    text = merged("", {"LLM__MODEL": "qwen3"})
    assert text.startswith("# 记得的设置。")
    assert answers_in(text) == {"LLM__MODEL": "qwen3"}


@given(
    st.text(st.sampled_from("'\"\\ #=$a\n") | st.characters(exclude_categories=("Cs",)), max_size=40),
    st.text(st.sampled_from("'\"\\ #=$a\n") | st.characters(exclude_categories=("Cs",)), max_size=40),
)
def test_any_value_is_read_back_as_it_was_typed(first: str, second: str) -> None:
    text = merged(text_of({"LLM__API_KEY": first}), {"LLM__API_KEY": second, "LLM__MODEL": first})
    assert answers_in(text).get("LLM__API_KEY", "") == second
    assert answers_in(text).get("LLM__MODEL", "") == first


def test_a_change_is_private_whole_and_keeps_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "jide.env"
    path.write_text(WRITTEN, "utf-8")
    path.chmod(0o644)
    settings = change(tmp_path, {"LLM__MODEL": "qwen-plus", "LLM__BASE_URL": "http://127.0.0.1:1/v1"})
    assert settings.llm.model == "qwen-plus"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["jide.env"]


def test_a_wrong_value_changes_nothing_and_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "jide.env").write_text(WRITTEN, "utf-8")
    with pytest.raises(ConfigurationError) as refusal:
        change(tmp_path, {"WECHAT__AES_KEY": "not-a-key-of-43"})
    assert "not-a-key-of-43" not in str(refusal.value)
    assert refusal.value.key == "WECHAT__AES_KEY"
    assert (tmp_path / "jide.env").read_text("utf-8") == WRITTEN


def test_nothing_is_written_where_the_whole_would_not_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        change(tmp_path, {"WECHAT__APP_ID": "wx1"})  # without a token
    assert not (tmp_path / "jide.env").exists()


def test_a_file_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "jide.env").write_bytes(b"\xff\xfe")
    with pytest.raises(RejectedInput):
        change(tmp_path, {"LLM__MODEL": "x"})
    assert (tmp_path / "jide.env").read_bytes() == b"\xff\xfe"


def test_the_old_file_is_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "jide.env"
    assert write(path, "A=1\n", keeps_old=True) is None
    kept = write(path, "A=2\n", keeps_old=True)
    assert kept is not None
    assert (kept.read_text("utf-8"), path.read_text("utf-8")) == ("A=1\n", "A=2\n")


def test_what_the_environment_sets_too_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "llm__model", "x")
    assert overruled(["LLM__MODEL", "LLM__BASE_URL"]) == ("LLM__MODEL",)


def test_what_is_made_is_what_the_console_of_wechat_takes() -> None:
    made = {random_secret(43) for _ in range(20)}
    assert len(made) == 20
    for each in made:
        check({"WECHAT__APP_ID": "wx1", "WECHAT__TOKEN": "abc", "WECHAT__AES_KEY": each})
