"""Where settings are read from, and which of two wins."""

import os
from pathlib import Path

import nonebot.config
import pytest

from bot.conversation.errors import ConfigurationError
from bot.settings_source import ENVIRONMENT_NAME, hidden_from_nonebot, read_settings


@pytest.fixture
def project(tmp_path) -> Path:
    folder = tmp_path / "项目 文件夹"
    (folder / "data").mkdir(parents=True)
    return folder


def write(path: Path, *lines: str, end: str = "\n", encoding: str = "utf-8") -> None:
    path.write_bytes("".join(line + end for line in lines).encode(encoding))


def refused(folder: Path, **environment: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(folder, environment)
    return caught.value


def test_environment_beats_own_file_beats_tracked_file_beats_default(project):
    write(project / ".env.prod", "PORT=1001", "LOG_LEVEL=DEBUG", "NICKNAME=甲")
    write(project / "data/jide.env", "PORT=1002", "LOG_LEVEL=ERROR")
    settings = read_settings(project, {"PORT": "1003"})
    assert (settings.port, settings.log_level, settings.nickname) == (1003, "ERROR", ("甲",))
    assert settings.knowledge.k == 4
    assert settings.sources == (
        ENVIRONMENT_NAME,
        str(project / "data/jide.env"),
        str(project / ".env.prod"),
    )


def test_an_empty_value_is_the_default_and_hides_what_is_below(project):
    write(project / ".env.prod", "PORT=1001", "REDIS__URL=redis://127.0.0.1")
    write(project / "data/jide.env", "PORT=", "REDIS__URL=")
    settings = read_settings(project, {})
    assert (settings.port, settings.redis.url) == (8080, "")


def test_what_windows_writes_is_read(project):
    write(
        project / "data/jide.env",
        "# 设置",
        "",
        "wechat__app_id = wx1",
        "export WECHAT__TOKEN='1e5'  # 令牌",
        'NICKNAME="小记"',
        end="\r\n",
        encoding="utf-8-sig",
    )
    settings = read_settings(project, {})
    assert (settings.wechat.app_id, settings.wechat.token, settings.nickname) == ("wx1", "1e5", ("小记",))


@pytest.mark.parametrize("text", ["a$b", "${HOME}", "a#b", r"C:\数据 文件夹", "a=b"])
def test_nothing_in_a_value_is_replaced(project, text):
    write(project / "data/jide.env", f"ONEBOT__PREFIX={text}")
    assert read_settings(project, {}).onebot.prefix == text


def test_the_data_folder_may_hold_chinese_and_spaces(project, tmp_path):
    data = tmp_path / "我的 数据"
    data.mkdir()
    write(data / "jide.env", "PORT=1002")
    settings = read_settings(project, {"JIDE_DATA_DIR": str(data)})
    assert (settings.data_folder, settings.port) == (data, 1002)


def test_a_relative_data_folder_is_the_projects(project):
    write(project / ".env.prod", "JIDE_DATA_DIR=./别处")
    assert read_settings(project, {}).data_folder == project / "别处"
    assert read_settings(project, {"JIDE_DATA_DIR": "data"}).data_folder == project / "data"


def test_environment_names_the_tracked_file(project):
    write(project / ".env.dev", "PORT=1001")
    assert read_settings(project, {"ENVIRONMENT": "dev"}).port == 1001
    missing = read_settings(project, {"ENVIRONMENT": "test"})
    assert missing.sources == () and any(".env.test" in doubt for doubt in missing.doubts)


def test_gettexts_language_is_not_ours(project):
    assert read_settings(project, {"LANGUAGE": "en_US:en"}).language == "zh_CN"
    write(project / "data/jide.env", "LANGUAGE=en_US:en")
    assert refused(project).key == "LANGUAGE"


class TestSlips:
    def test_a_bad_value_says_its_file_and_line(self, project):
        write(project / "data/jide.env", "# 一", "", "PORT=x")
        assert f"{project / 'data/jide.env'} 第 3 行" in refused(project).problem

    def test_an_unknown_name_in_a_group_gets_the_nearest(self, project):
        write(project / "data/jide.env", "WECHAT__TOKNE=t")
        error = refused(project)
        assert (error.key, error.fix) == ("WECHAT__TOKNE", "是不是想写 WECHAT__TOKEN？")
        assert "第 1 行" in error.problem
        assert refused(project, REDIS__HOST="h").key in {"REDIS__HOST", "WECHAT__TOKNE"}

    def test_a_group_cannot_be_written_whole(self, project):
        write(project / "data/jide.env", 'WECHAT={"app_id":"wx1"}')
        assert refused(project).key == "WECHAT"

    def test_the_process_environment_may_hold_a_groups_bare_name(self, project):
        assert read_settings(project, {"REDIS": "x", "MEMORY": "16G", "LLM": "y"}).redis.url == ""

    def test_one_underscore_too_few_is_doubted(self, project):
        write(project / "data/jide.env", "WECHAT_TOKEN=t", "AILABEL=false")
        doubts = "".join(read_settings(project, {}).doubts)
        assert "WECHAT__TOKEN" in doubts and "AI_LABEL" in doubts

    def test_a_data_folder_named_inside_itself_is_doubted(self, project):
        write(project / "data/jide.env", "JIDE_DATA_DIR=/elsewhere")
        settings = read_settings(project, {})
        assert settings.data_folder == project / "data"
        assert any("JIDE_DATA_DIR" in doubt for doubt in settings.doubts)

    @pytest.mark.parametrize("line", ['TOKEN="unclosed', "WECHAT__TOKEN", "A='x' y"])
    def test_a_line_that_cannot_be_read_is_refused(self, project, line):
        write(project / "data/jide.env", "PORT=1", line)
        error = refused(project)
        assert error.key == str(project / "data/jide.env") and "第 2 行" in error.problem

    @pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
    def test_another_encoding_is_refused_in_words(self, project, encoding):
        write(project / "data/jide.env", "NICKNAME=小记", encoding=encoding)
        assert "UTF-8" in refused(project).problem

    def test_a_folder_in_place_of_the_file_is_refused(self, project):
        (project / "data/jide.env").mkdir()
        assert "读不了" in refused(project).problem


class TestNoneBot:
    def test_it_reads_no_file_and_chokes_on_no_list(self, project, monkeypatch):
        monkeypatch.chdir(project)
        monkeypatch.setenv("SUPERUSERS", "wechat:o1,onebot:2")
        monkeypatch.setenv("NICKNAME", "小记")
        write(project / ".env.prod", "SUPERUSERS=a,b", "PORT=1001", "WEATHER_KEY=5")
        settings = read_settings(project)
        with hidden_from_nonebot():
            config = nonebot.config.Config(**settings.nonebot_config())
        assert os.environ["SUPERUSERS"] == "wechat:o1,onebot:2"
        assert config.superusers == {"wechat:o1", "onebot:2"}
        assert (config.port, config.nickname) == (1001, {"小记"})
        assert config.weather_key == 5, "another plugin's setting, parsed as NoneBot does"

    def test_another_plugins_setting_may_come_from_the_environment(self, project):
        write(project / "data/jide.env", "WEATHER_KEY=1")
        config = read_settings(project, {"WEATHER_KEY": "杭州", "UNRELATED": "x"}).nonebot_config()
        assert config["weather_key"] == "杭州" and "unrelated" not in config

    def test_no_file_can_name_another_token_for_onebot(self, project):
        write(project / "data/jide.env", "ONEBOT_V11_ACCESS_TOKEN=x", "ONEBOT__ACCESS_TOKEN=y")
        config = read_settings(project, {}).nonebot_config()
        assert "onebot_v11_access_token" not in config and config["onebot_access_token"] == "y"
