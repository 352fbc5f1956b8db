"""What a setting may hold, and what follows from the settings together."""

import pytest

from bot.conversation.errors import ConfigurationError
from bot.settings import Settings, split_list
from bot.settings_fields import known_fields
from bot.settings_source import read_settings


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(**environment: str) -> Settings:
    return read_settings(environment=environment)


def refused(**environment: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        read(**environment)
    return caught.value


def test_without_any_setting_the_bot_serves_only_this_machine():
    settings = read()
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert settings.is_wechat_tryout and settings.is_onebot_tryout and settings.has_onebot
    assert settings.memory.consent == "on" and settings.ai_label is True


@pytest.mark.parametrize("token", ["1e5", "0123456", "true", "null", "[1]", '{"a":1}', "a b", "#x", " 空 "])
def test_a_token_stays_the_text_that_was_written(token):
    settings = read(WECHAT__APP_ID="wx1", WECHAT__TOKEN=token, ONEBOT__ACCESS_TOKEN=token)
    assert settings.wechat.token == token
    assert settings.nonebot_config()["onebot_access_token"] == token


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("PORT", "eighty", "不是整数"),
        ("PORT", "0", "不能小于 1"),
        ("PORT", "65536", "不能大于 65535"),
        ("HOST", "example", "不是 IP 地址"),
        ("LOG_LEVEL", "LOUD", "只能是"),
        ("AI_LABEL", "maybe", "不是 true 或 false"),
        ("LLM__TIMEOUT_SECONDS", "abc", "不是数字"),
        ("LLM__TIMEOUT_SECONDS", "0", "应大于 0"),
        ("LLM__TIMEOUT_SECONDS", "nan", "不是数字"),
        ("LLM__BASE_URL", "api.example", "不是 http://"),
        ("EMBEDDING__DEADLINE_SECONDS", "60", "不能大于 10"),
        ("MEMORY__CONSENT", "ask", "只能是 'on'、'off'"),
        ("MEMORY__RECALL_K", "2.5", "不是整数"),
        ("MEMORY__RANKER", "best", "只能是 'ours'、'literal'"),
        ("MEMORY__RECALL_BUDGET_TOKENS", "99", "不能小于 100"),
        ("REDIS__URL", "127.0.0.1:6379", "不是 redis://"),
        ("WECHAT__APP_ID", "playground", "试用账号"),
        ("WECHAT__APP_ID", "playground-service", "试用账号"),
        ("WECHAT__AES_KEY", "x" * 42, "现在是 42 个字符"),
        ("WECHAT__AES_KEY", "=" * 43, "43 个字母和数字"),
        ("WECHAT__PATH", "wechat", "以 / 开头"),
        ("WECHAT__PATH", "/onebot/v11/http", "已有别的用途"),
        ("WECHAT__PATH", "/platforms/wechat/playground", "已有别的用途"),
        ("SUPERUSERS", '["wechat:o1"', "不是正确的 JSON 列表"),
        ("SUPERUSERS", "[null]", "只能是文字"),
        ("SUPERUSERS", "wechat:", "缺了"),
    ],
)
def test_a_bad_value_names_key_problem_and_fix(key, text, problem):
    error = refused(**{key: text})
    assert error.key == key
    assert problem in error.problem and "进程环境变量" in error.problem
    assert f"{key}=" in error.fix


def test_a_secret_is_never_shown():
    settings = read(
        WECHAT__APP_ID="wx1",
        WECHAT__TOKEN="canary1",
        WECHAT__AES_KEY="canary2" + "a" * 36,
        ONEBOT__ACCESS_TOKEN="canary3",
        ONEBOT__SECRET="canary4",
        LLM__BASE_URL="http://127.0.0.1:1",
        LLM__MODEL="m",
        LLM__API_KEY="canary5",
        REDIS__URL="redis://:canary6@127.0.0.1",
    )
    assert "canary" not in repr(settings) + str(settings)
    error = refused(WECHAT__AES_KEY="canary")
    assert "canary" not in str(error) and "canary" not in str(error.__cause__)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"WECHAT__APP_ID": "wx1"}, "WECHAT__TOKEN"),
        ({"WECHAT__APP_ID": "wx1", "WECHAT__TOKEN": ""}, "WECHAT__TOKEN"),
        ({"WECHAT__TOKEN": "t"}, "WECHAT__APP_ID"),
        ({"WECHAT__AES_KEY": "a" * 43, "WECHAT__TOKEN": "t"}, "WECHAT__APP_ID"),
        ({"LLM__API_KEY": "k"}, "LLM__BASE_URL"),
        ({"LLM__BASE_URL": "http://127.0.0.1:1"}, "LLM__MODEL"),
        ({"EMBEDDING__MODEL": "m"}, "EMBEDDING__BASE_URL"),
        ({"IDENTITY__OTP_WEBHOOK": "https://sms.example.com"}, "IDENTITY__OTP_SECRET"),
        ({"IDENTITY__OTP_SECRET": "s"}, "IDENTITY__OTP_WEBHOOK"),
        ({"WECHAT__MINI_APP_ID": "wx1"}, "WECHAT__MINI_APP_SECRET"),
        ({"IDENTITY__PORT_TOKEN": "t"}, "WECHAT__MINI_APP_ID"),
    ],
)
def test_half_an_account_is_refused(given, missing):
    assert refused(**given).key == missing


class TestPublicAddress:
    def test_wechat_alone_may_listen_publicly(self):
        settings = read(HOST="0.0.0.0", WECHAT__APP_ID="wx1", WECHAT__TOKEN="t")
        assert not settings.has_onebot
        assert not settings.is_wechat_tryout and not settings.is_onebot_tryout

    def test_no_tryout_account_is_served_publicly(self):
        assert not read(HOST="0.0.0.0").is_wechat_tryout

    @pytest.mark.parametrize("given", [{"ONEBOT__ACCESS_TOKEN": ""}, {"ONEBOT__SECRET": "s"}])
    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2"])
    def test_onebot_without_a_token_is_refused(self, host, given):
        error = refused(HOST=host, **given)
        assert error.key == "ONEBOT__ACCESS_TOKEN" and host in error.problem

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "::1"])
    def test_loopback_needs_no_token(self, host):
        assert read(HOST=host, ONEBOT__ACCESS_TOKEN="").is_onebot_tryout


class TestSuperusers:
    def test_bare_ids_are_not_ours_and_the_doubt_gives_the_line_to_write(self):
        settings = read(SUPERUSERS="wechat:oX,10001,telegram:5")
        assert settings.superuser_addresses == {"wechat:oX"}
        assert settings.bare_superusers == ("10001",)
        assert any("onebot:10001" in doubt for doubt in settings.doubts)

    def test_nonebot_still_gets_all_of_them(self):
        assert read(SUPERUSERS="wechat:oX,1").nonebot_config()["superusers"] == {"wechat:oX", "1"}

    @pytest.mark.parametrize(
        "text", ["OneBot:1，wechat：oX", '["onebot:1", "wechat:oX"]', " onebot: 1 , wechat:oX ,"]
    )
    def test_every_way_of_writing_them(self, text):
        assert read(SUPERUSERS=text).superuser_addresses == {"onebot:1", "wechat:oX"}


def test_a_list_keeps_digits_as_written():
    assert split_list("[1e5, 007]".replace("007", "7.10")) == ("1e5", "7.10")


def test_without_a_secret_onebots_http_route_is_closed_by_a_random_one():
    first, second = (read().nonebot_config()["onebot_secret"] for _ in range(2))
    assert len(first) == 64 and first != second
    assert read(ONEBOT__SECRET="s").nonebot_config()["onebot_secret"] == "s"


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        read().port = 1  # type: ignore[misc]


class TestConsole:
    def test_it_has_a_port_unless_it_is_switched_off(self):
        assert read().console_port == 8081
        assert read(CONSOLE__PORT="0").console_port == 0
        assert refused(CONSOLE__PORT="65536").key == "CONSOLE__PORT"

    def test_the_first_servers_port_stays_the_first_servers(self):
        settings = read(PORT="9000", CONSOLE__PORT="9000")
        assert settings.console_port == 0
        assert any("CONSOLE__PORT" in doubt and "9000" in doubt for doubt in settings.doubts)
        assert not any("CONSOLE__PORT" in doubt for doubt in read().doubts)

    def test_its_address_is_no_setting(self):
        assert refused(CONSOLE__HOST="0.0.0.0").key == "CONSOLE__HOST"


def test_every_secret_is_known_to_the_log():
    given = {
        "WECHAT__APP_ID": "wx1",
        "WECHAT__TOKEN": "secret-1",
        "WECHAT__AES_KEY": "k" * 43,
        "WECHAT__PREVIOUS_AES_KEY": "p" * 43,
        "WECHAT__APP_SECRET": "secret-7",
        "WECHAT__MORE_ACCOUNTS": '[{"app_id":"wx2","token":"secret-8","app_secret":"secret-9","path":"/2"}]',
        "ONEBOT__ACCESS_TOKEN": "secret-2",
        "ONEBOT__SECRET": "secret-3",
        "QQ__APP_ID": "102000001",
        "QQ__SECRET": "secret-10",
        "REDIS__URL": "redis://:secret-4@h",
        "LLM__BASE_URL": "http://h",
        "LLM__MODEL": "m",
        "LLM__API_KEY": "secret-5",
        "EMBEDDING__BASE_URL": "http://h",
        "EMBEDDING__MODEL": "m",
        "EMBEDDING__API_KEY": "secret-6",
        "ALERTS__URLS": "json://secret-11",
        "WECHAT__MINI_APP_ID": "wxmini",
        "WECHAT__MINI_APP_SECRET": "secret-12",
        "IDENTITY__OTP_WEBHOOK": "https://h/secret-13",
        "IDENTITY__OTP_SECRET": "secret-14",
        "IDENTITY__PORT_TOKEN": "secret-15",
        "MEMORY__API_KEY": "secret-16",
        "CONSOLE__TOKEN": "secret-17-of-a-length",
    }
    hidden = {key for key, field in known_fields().items() if not field.repr}
    of_more = {"secret-8", "secret-9"}
    expected = {given[key] for key in hidden - {"WECHAT__MORE_ACCOUNTS"}} | of_more
    assert set(read(**given).secrets) == expected
    assert read().secrets == ()


class TestIdentity:
    @pytest.mark.parametrize(
        "url",
        [
            "https://sms.example.com/jide/",
            "https://user:key@sms.example.com:8443/a?b=c",
            "http://127.0.0.1:9000/otp",
            "http://localhost/otp",
            "http://[::1]:9000/",
        ],
    )
    def test_a_webhook_is_taken_as_it_is_written(self, url: str):
        settings = read(IDENTITY__OTP_WEBHOOK=url, IDENTITY__OTP_SECRET="1e5")
        assert (settings.identity.otp_webhook, settings.identity.otp_secret) == (url, "1e5")

    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("http://sms.example.com/jide", "不能不加密"),
            ("http://127.0.0.1.example.com/", "不能不加密"),
            ("http://127.0.0.1@example.com/", "不能不加密"),
            ("http://localhost.example.com/", "不能不加密"),
            ("http://0.0.0.0/", "不能不加密"),
            ("http://10.0.0.5/", "不能不加密"),
            ("sms.example.com/jide", "不是 https://"),
            ("ftp://sms.example.com/", "不是 https://"),
            ("https://", "不是 https://"),
            ("https://[::1/", "不是 https://"),
            ("https://sms.example.com:99999/", "不是 https://"),
            ("https://sms.example.com/a b", "不是 https://"),
        ],
    )
    def test_a_number_leaves_encrypted_or_not_at_all(self, url: str, problem: str):
        error = refused(IDENTITY__OTP_WEBHOOK=url, IDENTITY__OTP_SECRET="s")
        assert error.key == "IDENTITY__OTP_WEBHOOK" and problem in str(error)

    def test_a_door_on_a_port_that_is_closed_is_doubted(self):
        given = {
            "IDENTITY__PORT_TOKEN": "t",
            "WECHAT__MINI_APP_ID": "wxmini",
            "WECHAT__MINI_APP_SECRET": "s",
        }
        assert not any("IDENTITY__PORT_TOKEN" in doubt for doubt in read(**given).doubts)
        assert any("IDENTITY__PORT_TOKEN" in doubt for doubt in read(**given, CONSOLE__PORT="0").doubts)

    def test_without_a_word_nothing_is_on(self):
        identity = read().identity
        assert (identity.otp_webhook, identity.otp_secret, identity.port_token) == ("", "", "")


class TestGroups:
    def test_unless_told_otherwise_it_speaks_when_called(self):
        group = read().group
        assert (group.keywords, group.random_rate, group.quiet_hours) == ((), 0, "")
        assert (group.cooldown_seconds, group.commands_need_call) == (30, True)
        assert (group.lines, group.other_bots, group.loop_replies) == (10, (), 6)

    @pytest.mark.parametrize(
        ("name", "text", "problem"),
        [
            ("RANDOM_RATE", "1.01", "不能大于 1"),
            ("RANDOM_RATE", "-0.1", "不能小于 0"),
            ("RANDOM_RATE", "nan", "不是数字"),
            ("QUIET_HOURS", "23-7", "23:00-07:00"),
            ("QUIET_HOURS", "23:00-07:00,晚上", "23:00-07:00"),
            ("QUIET_HOURS", "07:00-07:00", "一样"),
            ("COOLDOWN_SECONDS", "-1", "不能小于 0"),
            ("COMMANDS_NEED_CALL", "maybe", "不是 true 或 false"),
            ("LINES", "51", "不能大于 50"),
            ("OTHER_BOTS", "10086", "渠道:编号"),
            ("OTHER_BOTS", "onebot:", "渠道:编号"),
            ("LOOP_REPLIES", "-1", "不能小于 0"),
        ],
    )
    def test_what_cannot_be_right_is_refused(self, name: str, text: str, problem: str):
        error = refused(**{f"GROUP__{name}": text})
        assert error.key == f"GROUP__{name}" and problem in str(error)

    @pytest.mark.parametrize("text", ["onebot:1,qq:ABC", "OneBot：1， qq: ABC", '["onebot:1", "QQ:ABC"]'])
    def test_every_way_of_writing_other_bots(self, text: str):
        assert read(GROUP__OTHER_BOTS=text).group.other_bots == ("onebot:1", "qq:ABC")

    @pytest.mark.parametrize("text", ["客服,开团", "客服， 开团，", '["客服", "开团"]'])
    def test_every_way_of_writing_keywords(self, text: str):
        assert read(GROUP__KEYWORDS=text).group.keywords == ("客服", "开团")

    def test_full_width_hours_are_hours(self):
        assert read(GROUP__QUIET_HOURS="２３：００－０７：００").group.quiet_hours


class TestTheOfficialBotOfQQ:
    BOT = {"QQ__APP_ID": "102000001", "QQ__SECRET": "a-secret"}  # noqa: RUF012

    def test_app_id_and_secret_come_together(self):
        assert refused(QQ__APP_ID="102000001").key == "QQ__SECRET"
        assert refused(QQ__SECRET="a-secret").key == "QQ__APP_ID"
        assert refused(QQ__WEBSOCKET="true").key == "QQ__APP_ID"
        assert read(**self.BOT).qq.app_id == "102000001"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("APP_ID", "wx1"),
            ("SECRET", "a b"),
            ("API_BASE", "api.bot.qq.com"),
            ("URL_HOSTS", "https://a.cn/"),
        ],
    )
    def test_what_cannot_be_right_is_refused(self, name: str, value: str):
        assert refused(**self.BOT | {f"QQ__{name}": value}).key == f"QQ__{name}"

    def test_hosts_are_a_list(self):
        assert read(**self.BOT, QQ__URL_HOSTS="A.cn，b.example.com").qq.url_hosts == ("a.cn", "b.example.com")

    def test_an_open_validation_is_a_doubt(self):
        assert not read(**self.BOT).doubts
        assert any("QQ__SETUP_OPEN" in doubt for doubt in read(**self.BOT, QQ__SETUP_OPEN="true").doubts)

    def test_its_people_can_be_superusers(self):
        assert read(SUPERUSERS="qq:ABC").superuser_addresses == {"qq:ABC"}

    def test_no_official_account_takes_its_path(self):
        assert refused(WECHAT__PATH="/qq/webhook").key == "WECHAT__PATH"


class TestSeveralAccounts:
    FIRST = {"WECHAT__APP_ID": "wx1", "WECHAT__TOKEN": "one"}  # noqa: RUF012

    def test_each_is_an_account(self):
        more = '[{"app_id":"wx2","token":"two","path":"/second","aes_key":"' + "k" * 43 + '"}]'
        accounts = read(**self.FIRST, WECHAT__MORE_ACCOUNTS=more).wechat.accounts
        assert [(each.app_id, each.token, each.path) for each in accounts] == [
            ("wx1", "one", "/wechat"),
            ("wx2", "two", "/second"),
        ]

    def test_without_the_first_the_others_count(self):
        more = '[{"app_id":"wx2","token":"two"}]'
        settings = read(WECHAT__MORE_ACCOUNTS=more)
        assert [each.app_id for each in settings.wechat.accounts] == ["wx2"]
        assert not settings.is_wechat_tryout

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            ("[{", "JSON"),
            ('{"app_id":"wx2"}', "列表"),
            ('[{"app_id":"wx2"}]', "第 1 个"),
            (
                '[{"app_id":"wx2","token":"t","path":"/2"},{"app_id":"wx3","token":"t","aes_key":"x"}]',
                "第 2 个",
            ),
            ('[{"app_id":"wx2","token":"t","colour":"red"}]', "colour"),
            ('["wx2"]', "第 1 个"),
            ('[{"app_id":"wx2","token":"t"}]', "wx1 和 wx2 的路径都是 /wechat"),
            ('[{"app_id":"wx1","token":"t","path":"/2"}]', "AppID wx1 写了两次"),
        ],
    )
    def test_what_is_wrong_is_said(self, more, told):
        error = refused(**self.FIRST, WECHAT__MORE_ACCOUNTS=more)
        assert error.key == "WECHAT__MORE_ACCOUNTS"
        assert told in str(error)

    def test_a_clash_of_paths_is_mended_by_another_path(self):
        more = '[{"app_id":"wx2","token":"t","path":"/wechat2"},{"app_id":"wx3","token":"t"}]'
        error = refused(**self.FIRST, WECHAT__MORE_ACCOUNTS=more)
        assert error.problem.startswith("公众号 wx1 和 wx3 的路径都是 /wechat（写在")
        assert "wx3" in error.fix and '"path":"/wechat3"' in error.fix
        mended = more.replace('"wx3","token":"t"', '"wx3","token":"t","path":"/wechat3"')
        assert len(read(**self.FIRST, WECHAT__MORE_ACCOUNTS=mended).wechat.accounts) == 3

    def test_an_account_written_twice_is_to_be_deleted_once(self):
        more = '[{"app_id":"wx2","token":"t","path":"/2"},{"app_id":"wx2","token":"t","path":"/3"}]'
        error = refused(**self.FIRST, WECHAT__MORE_ACCOUNTS=more)
        assert "wx2 写了两次" in error.problem
        assert "删掉" in error.fix and "path" not in error.fix


@pytest.mark.parametrize("given", [("3", "3"), ("2", ""), ("4", "9")])
def test_more_turns_are_due_than_are_kept(given):
    turns, keeps = given
    with pytest.raises(ConfigurationError) as refused:
        read(MEMORY__SUMMARY_AFTER_TURNS=turns, MEMORY__SUMMARY_KEEPS=keeps)
    assert refused.value.key == "MEMORY__SUMMARY_KEEPS"
    assert read(MEMORY__SUMMARY_AFTER_TURNS="0", MEMORY__SUMMARY_KEEPS="9").memory.summary_after_turns == 0
    assert read(MEMORY__SUMMARY_AFTER_TURNS="4").memory.summary_keeps == 3


@pytest.mark.parametrize(
    "token", ["short", "fifteen-letters", "有汉字的令牌-0123456789abcdef", "with a blank 0123456789"]
)
def test_a_console_token_that_can_be_guessed_or_not_be_sent_is_refused(token):
    with pytest.raises(ConfigurationError) as refused:
        read(CONSOLE__TOKEN=token)
    assert refused.value.key == "CONSOLE__TOKEN" and token not in str(refused.value)
    assert read(CONSOLE__TOKEN="sixteen-letters-").console.token == "sixteen-letters-"
