"""What an operator types to set up, keep, move and mend a bot: `jide …` in this process, on real files."""

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from bot.cli.faq_testing import rank
from bot.cli.service import unit
from bot.rules.faq_yaml import read_book
from bot.settings_file import quoted, text_of
from bot.settings_source import read_settings
from tests.integration.operator_fixture import Operator, operator

__all__ = ["operator"]

ANSWERS_OF_ALL = [
    *("wx0123456789abcdef", "", "", "5ecret-of-the-account"),  # 公众号: the token and the key are made
    *("y", ""),
    *("http://127.0.0.1:9/v1", "sk-'引号\" #", "qwen3", "qwen3-vl"),
    *("0.0.0.0", "9000"),
    "wechat:oAdmin，onebot:10001",
]


def test_init_without_questions_writes_a_file_that_works(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PORT")
    shown = operator.gets("init", "--yes")
    path = operator.data / "jide.env"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    settings = read_settings(operator.project, {})
    assert settings.port == 8080 and len(settings.onebot.access_token) >= 32
    assert settings.onebot.access_token in shown, "it is to be pasted"
    before = path.read_text("utf-8")
    assert "--force" in operator.is_refused("init", "--yes")
    assert path.read_text("utf-8") == before
    operator.gets("init", "--yes", "--force")
    (kept,) = operator.data.glob("jide.env.*")
    assert kept.read_text("utf-8") == before and path.read_text("utf-8") != before
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_init_asks_and_makes_the_secrets_that_are_left_empty(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PORT")
    done = operator.types("init", typed="\n".join(ANSWERS_OF_ALL) + "\n")
    assert done.exit_code == 0, done.output
    settings = read_settings(operator.project, {})
    assert settings.wechat.app_id == "wx0123456789abcdef"
    assert re.fullmatch("[A-Za-z0-9]{32}", settings.wechat.token)
    assert re.fullmatch("[A-Za-z0-9]{43}", settings.wechat.aes_key)
    assert settings.llm.api_key == "sk-'引号\" #"
    assert settings.wechat.app_secret == "5ecret-of-the-account"
    assert settings.llm.vision_model == "qwen3-vl"
    assert settings.superusers == ("wechat:oAdmin", "onebot:10001")
    assert (settings.host, settings.port) == ("0.0.0.0", 9000)
    for pasted in (settings.wechat.token, settings.wechat.aes_key, settings.onebot.access_token):
        assert pasted in done.stdout
    assert "jide doctor" in done.stdout and settings.llm.api_key not in done.output
    assert settings.wechat.app_secret not in done.output
    assert [path.name for path in operator.data.iterdir()] == ["jide.env"]


def test_init_does_without_a_secret_and_without_pictures(operator: Operator) -> None:
    answers = [
        "wx0123456789abcdef",
        "",
        "明文",
        "",
        "n",
        "http://127.0.0.1:9/v1",
        "",
        "qwen3",
        "",
        "",
        "",
        "",
    ]
    done = operator.types("init", typed="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    assert "认证过的公众号" in done.output and "客服消息" in done.output
    written = (operator.data / "jide.env").read_text("utf-8")
    assert "LLM__MODEL=qwen3\n" in written
    assert "APP_SECRET" not in written and "VISION_MODEL" not in written


def test_init_asks_again_what_cannot_be(operator: Operator) -> None:
    answers = ["", "n", "", "127.0.0.1", "端口", "127.0.0.1", "8123", ""]
    done = operator.types("init", typed="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    assert "不是整数" in done.output
    assert read_settings(operator.project, {}).port == 8123


def test_init_that_is_broken_off_writes_nothing(operator: Operator) -> None:
    assert "什么都没有写" in operator.is_refused("init", typed="wx0123456789abcdef\n")
    assert not operator.data.exists()


@pytest.mark.parametrize(
    "value", ["a b", "#x", "it's", '"', "a\\b", "\\'", "$HOME", "密钥", "a=b", " x ", ""]
)
def test_any_value_is_read_back_as_it_was_written(operator: Operator, value: str) -> None:
    operator.data.mkdir()
    answers = {"LLM__BASE_URL": "http://x/v1", "LLM__MODEL": "m", "LLM__API_KEY": value}
    (operator.data / "jide.env").write_text(text_of(answers), "utf-8")
    assert read_settings(operator.project, {}).llm.api_key == value
    assert quoted("wx0123") == "wx0123"


def test_a_restore_tells_who_left_and_parted_since(operator: Operator) -> None:
    for name in ("oA", "oB", "oC", "oD"):
        operator.says("记住：我喜欢爬山", f"wechat:{name}")
    operator.rows("UPDATE account SET person_id = 1 WHERE openid = 'oB'")
    archive = str(operator.project / "备份.tar.gz")
    operator.gets("backup", archive)
    for text, name in (("/解绑", "oB"), ("/注销", "oC")):
        operator.says(f"{text}\n确认", f"wechat:{name}")
    assert operator.rows("SELECT count(DISTINCT person_id) FROM account") == [(4,)]
    said = operator.gets("restore", archive, "--yes")
    assert "注销的账号 1 个，分开的账号 1 个" in said and "取消关注" not in said
    told = operator.reads("restore", archive, "--yes")
    assert (told["left_again"], told["parted_again"], told["unsubscribed_again"]) == (1, 1, 0)
    assert told["forgettings_replayed"] == 1
    assert operator.rows("SELECT count(DISTINCT person_id) FROM account") == [(4,)]
    assert [name for (name,) in operator.rows(HOLDERS)] == ["oA", "oB", "oD"]
    (ledger,) = [
        each
        for each in json.loads(operator.types("doctor", "--json").stdout)["findings"]
        if each["check"] == "ledger"
    ]
    assert ledger["level"] == "ok", "a ledger that holds acts"


def test_a_backup_brings_back_what_was_and_not_what_was_forgotten(operator: Operator) -> None:
    operator.says("记住：我对花生过敏")
    operator.says("记住：我喜欢爬山", "wechat:oB")
    archive = str(operator.project / "备份.tar.gz")
    told = operator.reads("backup", archive)
    assert told["counts"]["account"] == 2 and told["files"] == ["files/faq.yaml"]
    assert "已经存在" in operator.is_refused("backup", archive)
    assert json.loads(operator.gets("memory", "forget", "wechat:oA", "--yes", "--json"))["facts"] == 1
    operator.says("记住：我喜欢下棋", "wechat:oC")

    assert "没有恢复" in operator.is_refused("restore", archive, typed="n\n")
    assert operator.count("fact") == 2
    told = operator.reads("restore", archive, "--yes")
    assert told["forgettings_replayed"] == 1 and told["forgotten_again"] > 0
    assert [fact["text"] for fact in operator.reads("memory", "show", "wechat:oB")["facts"]] == ["我喜欢爬山"]
    assert operator.reads("memory", "show", "wechat:oA")["facts"] == []
    assert "没有找到" in operator.is_refused("memory", "show", "wechat:oC")
    for path in operator.data.rglob("*"):
        assert not path.is_file() or "花生".encode() not in path.read_bytes(), path
    assert operator.reads("doctor")["ok"] is True


def test_a_backup_without_a_name_lies_in_the_data_folder(operator: Operator) -> None:
    assert "还没有数据可备份" in operator.is_refused("backup")
    operator.says("你好")
    assert "已备份并核对" in operator.gets("backup")
    (made,) = (operator.data / "backups").iterdir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700


def test_moving_without_the_pepper_is_told(operator: Operator, tmp_path: Path) -> None:
    operator.says("记住：我对花生过敏")
    operator.gets("identity", "phone", "wechat:oA", "13800138000")
    archive = tmp_path / "b.tar.gz"
    operator.gets("backup", str(archive))
    shutil.rmtree(operator.data)
    operator.gets("restore", str(archive), "--yes")
    done = operator.types("memory", "show", "wechat:oA")
    assert done.exit_code == 2 and "把原来的 data/pepper 放回来" in done.output
    report = json.loads(operator.types("doctor", "--json").stdout)
    assert [each["check"] for each in report["findings"] if each["level"] == "failure"] == ["pepper"]
    assert "没有改" in operator.is_refused("identity", "new-pepper", typed="\n")
    assert "1 个手机号要重新验证" in operator.gets("identity", "new-pepper", "--yes")
    assert len(operator.reads("memory", "show", "wechat:oA")["facts"]) == 1


def test_why_tells_of_every_memory(operator: Operator) -> None:
    for text in ("我对花生过敏", "我的订单号是 SF123456789", "我穿 M 码", "我喜欢爬山"):
        operator.says(f"记住：{text}")
    told = operator.reads("memory", "why", "wechat:oA", "SF123456789 到哪了")
    assert told["k"] == 3 and len(told["candidates"]) == 4
    first, *_, last = told["candidates"]
    assert (first["text"], first["rank"], first["exact"]) == ("我的订单号是 SF123456789", 1, 1)
    assert (first["excluded"], last["excluded"]) == (None, "beyond_k")
    shown = operator.gets("memory", "why", "wechat:oA", "SF123456789 到哪了")
    assert "取了 3 条" in shown and shown.count("没有取：排在后面，超出取的条数") == 1
    bound = operator.gets("memory", "why", "wechat:oA", "上周三说的订单号")
    assert "只看这段时间说的" in bound and bound.count("没有取：不是那段时间说的") == 4
    assert operator.count("fact") == 4 and operator.count("turn") == 0
    assert "没有找到" in operator.is_refused("memory", "why", "wechat:oB", "你")


def test_the_ranker_is_the_operators_choice(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.says("记住：我对花生过敏")
    ours = operator.reads("memory", "why", "wechat:oA", "花生能吃吗")["candidates"][0]
    monkeypatch.setenv("MEMORY__RANKER", "literal")
    plain = operator.reads("memory", "why", "wechat:oA", "花生能吃吗")["candidates"][0]
    assert plain["score"] == pytest.approx(0.6 * (plain["dense"] or 0) + 0.3 + 0.1, abs=1e-3)
    assert ours["score"] != pytest.approx(plain["score"], abs=1e-3)


def test_a_persons_data_can_be_taken_away(operator: Operator) -> None:
    operator.says("记住：我对花生过敏")
    operator.says("记住：我喜欢爬山", "wechat:oB")
    document = json.loads(operator.gets("memory", "export", "wechat:oA"))
    assert [fact["text"] for fact in document["facts"]] == ["我对花生过敏"]
    assert document["accounts"][0]["openid"] == "oA"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", document["facts"][0]["said_at"])
    assert "爬山" not in json.dumps(document, ensure_ascii=False)
    target = operator.project / "他的.json"
    operator.gets("memory", "export", "wechat:oA", "--to", str(target))
    assert json.loads(target.read_text("utf-8"))["facts"] == document["facts"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "写不了" in operator.is_refused("memory", "export", "wechat:oA", "--to", str(target))


def test_documents_may_be_one_accounts_alone(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    document = operator.project / "手册.md"
    document.write_text("# 退款\n\n七天内可以退款。\n", "utf-8")
    told = operator.reads_refusal("ingest", str(document), "--account", "wxtypo")
    assert "wxtypo" in told["error"]
    monkeypatch.setenv("WECHAT__APP_ID", "wx1")
    monkeypatch.setenv("WECHAT__TOKEN", "token")
    assert "wx1" in operator.reads_refusal("ingest", str(document), "--account", "wxtypo")["fix"]
    operator.gets("ingest", str(document), "--account", "wx1")
    assert operator.count("document WHERE app_id = 'wx1'") == 1


def test_reindexing_gives_everything_a_vector_and_goes_on_where_it_stopped(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        operator.says(f"记住：我喜欢第 {number} 号茶", f"wechat:o{number}")
    document = operator.project / "手册.md"
    document.write_text("# 退款\n\n七天内可以退款。\n\n# 发货\n\n当天发货。\n", "utf-8")
    operator.gets("ingest", str(document))
    passages = operator.count("passage WHERE model <> ''")
    before = operator.count("fact WHERE model <> ''")
    assert passages and before == 3
    told = operator.reads("reindex")
    assert (told["facts"], told["passages"], told["resumed"]) == (0, 0, False)
    assert "--again" in operator.gets("reindex")
    told = operator.reads("reindex", "--again")
    assert (told["facts"], told["passages"], told["resumed"]) == (3, passages, False)

    async def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("bot.cli.reindexing._renew", killed)
        assert operator.types("reindex", "--again").exit_code == 130
    assert operator.count("fact WHERE model <> ''") == 3 and operator.count("passage WHERE model <> ''") == 0
    told = operator.reads("reindex")
    assert (told["facts"], told["passages"], told["resumed"]) == (0, passages, True)
    assert operator.count("passage WHERE vector IS NULL") == 0
    assert operator.count("stamp WHERE name = 'reindex'") == 0
    assert operator.reads("doctor")["ok"] is True


def test_the_unit_runs_this_folder(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = operator.gets("service", "install", "--print")
    assert f"WorkingDirectory={operator.project}\n" in shown and "-m bot\n" in shown
    assert re.search(r"^User=\S+$", shown, re.MULTILINE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(operator.project / "config"))
    told = operator.gets("service", "install", "--user")
    path = operator.project / "config/systemd/user/jide.service"
    text = path.read_text("utf-8")
    assert "User=" not in text and "WantedBy=default.target" in text and "enable --now jide" in told
    path.write_text("mine")
    assert "--yes" in operator.is_refused("service", "install", "--user")
    assert path.read_text() == "mine"
    operator.gets("service", "install", "--user", "--yes")
    assert path.read_text("utf-8") == text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    folder = tmp_path / '项目 100% "一"'
    folder.mkdir()
    path = tmp_path / "jide.service"
    path.write_text(
        unit(folder=folder, data_folder=folder / "data", python=Path("/usr/bin/env"), user="root"), "utf-8"
    )
    ran = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "jide.service" not in ran.stderr, ran.stderr


HOLDERS = """
SELECT openid FROM fact JOIN shelf ON shelf.id = shelf_id JOIN account ON account.id = account_id ORDER BY openid
"""
FAQ = """
- id: refund
  match: contains
  patterns: [退款]
  answer: 七天内可以退款。
- id: refund-exact
  match: exact
  patterns: [怎么退款]
  answer: 在订单页点退款。
- id: refund-qq
  match: exact
  patterns: [怎么退款]
  channels: [onebot]
  answer: 找群主。
- id: late
  match: contains
  patterns: [退款]
  answer: 又一条。
- id: other
  patterns: [发货]
  match: contains
  answer: 当天发货。
"""


def test_a_sentence_is_tried_on_the_faq(operator: Operator) -> None:
    assert "还没有" in operator.is_refused("faq", "test", "怎么退款")
    operator.data.mkdir()
    (operator.data / "faq.yaml").write_text(FAQ, "utf-8")
    rules = operator.reads("faq", "test", "怎么退款")["rules"]
    assert [(each["id"], each["wins"]) for each in rules] == [
        ("refund-exact", True),
        ("refund", False),
        ("late", False),
        ("refund-qq", False),
    ]
    assert rules[0]["verbatim"] and rules[0]["score"] == 1
    assert all(each["reason"] for each in rules[1:])
    assert rules[2]["reason"] != rules[3]["reason"] == "只用于 onebot"
    assert "原样发出" in operator.gets("faq", "test", "怎么退款")
    only_touched = operator.gets("faq", "test", "退款了怎么还没到账")
    assert "只作为资料" in only_touched and "写在后面" in only_touched
    assert "没有命中（共 5 条规则）" in operator.gets("faq", "test", "今天天气")
    refusal = operator.reads_refusal("faq", "test", "x", "--channel", "telegram")
    assert "没有渠道" in refusal["error"] and "onebot" in refusal["fix"]
    (operator.data / "faq.yaml").write_text("- patterns: x\n", "utf-8")
    assert "缺少 answer" in operator.is_refused("faq", "test", "怎么退款")


@pytest.mark.parametrize("text", ["怎么退款", "退款", "退款了怎么还没到账", "发货", "今天"])
@pytest.mark.parametrize("channel", ["wechat", "onebot"])
def test_the_winner_is_the_one_the_bot_would_take(text: str, channel: str) -> None:
    book = read_book(FAQ, "faq.yaml")
    standings = rank(book, text, channel)
    winners = [each.hit for each in standings if not each.reason]
    assert winners == [hit for hit in [book.match(text, channel)] if hit is not None]
