"""How `jide` speaks whatever it is asked: pages and usage errors in Chinese, one JSON document, Ctrl+C."""

import asyncio
import json
import re
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from bot.cli import app, running
from bot.cli.initialising import answers_of
from bot.cli.running import Interrupted, OnProgress, Refusal, in_steps
from bot.settings_source import read_settings
from bot.storage.sql import migrating
from tests.integration.operator_fixture import Operator, operator

__all__ = ["operator"]

TYPERS_WORDS = re.compile(
    r"\b(usage|options?|arguments?|commands?|args|show this|default|required|bool|str|int|path|text|list"
    r"|error|missing|invalid|try|did you mean|got|unexpected|input|value|aborted?)\b",
    re.IGNORECASE,
)


def commands(node: Any = None, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    group: Any = node or get_command(app)
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, *words, name)
        else:
            yield (*words, name)


COMMANDS = list(commands())
GROUPS = sorted({words[:depth] for words in COMMANDS for depth in range(len(words))})
SPEAK_TO_PEOPLE = {("run",), ("chat",), ("simulate", "wechat"), ("simulate", "onebot")}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_page_of_a_command_is_chinese_with_an_example(operator: Operator, words: tuple[str, ...]) -> None:
    page = operator.gets(*words, "--help")
    before, _, after = page.partition("\n例：\n")
    examples, _, tables = after.partition("\n\n")
    assert before.startswith(f"用法：jide {' '.join(words)}")
    assert all(line.startswith(f"  jide {' '.join(words)}") for line in examples.splitlines()), page
    assert not TYPERS_WORDS.search(before) and not TYPERS_WORDS.search(re.sub("--[a-z-]+", "", tables)), page
    assert operator.gets(*words, "-h") == page
    assert ("--json" in tables) == (words not in SPEAK_TO_PEOPLE)
    assert not operator.data.exists(), "asking for help makes nothing"


@pytest.mark.parametrize("words", GROUPS, ids=lambda words: " ".join(words) or "jide")
def test_the_page_of_a_group_names_its_commands(operator: Operator, words: tuple[str, ...]) -> None:
    page = operator.gets(*words, "--help")
    assert not TYPERS_WORDS.search(page)
    for command in [each for each in COMMANDS if each[: len(words)] == words]:
        assert re.search(rf"^  {command[len(words)]}  +[\u4e00-\u9fff]", page, re.MULTILINE), page
    alone = operator.types(*words)
    assert (alone.exit_code, alone.stdout) == (2, "") and alone.stderr.strip() == page.strip()


WRONG = {
    "restore": ("缺少 <文件>", "jide restore [选项] <文件>"),
    "ingest": ("缺少 <路径>…", "jide ingest [选项] <路径>…"),
    "memory forget --yse x": ("没有选项 --yse，是不是 --yes？", "jide memory forget [选项] <谁>"),
    "memory shwo x": ("没有命令“shwo”，是不是 show？", "jide memory <命令> …"),
    "退出": ("没有命令“退出”", "jide <命令> …"),
    "--x": ("没有选项 --x", "jide <命令> …"),
    "chat --as": ("--as 后面要写值", "jide chat [选项]"),
    "doctor --json=1": ("--json 后面不写值", "jide doctor [选项]"),
    "faq test 怎么 退款": ("多写了“退款”", "jide faq test [选项] <一句话>"),
    "simulate onebot 你好 --group 群": ("--group 的值不对：要写<群号>", "jide simulate onebot [选项]"),
}


@pytest.mark.parametrize("line", WRONG)
def test_a_usage_error_says_what_is_wrong_and_the_usage(operator: Operator, line: str) -> None:
    problem, usage = WRONG[line]
    done = operator.types(*line.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(problem) and f"\n用法：{usage}" in done.stderr
    assert not TYPERS_WORDS.search(re.sub("--[a-z]+", "", done.stderr)), done.stderr


def test_a_usage_error_is_json_where_json_was_asked_for(operator: Operator) -> None:
    refusal = operator.reads_refusal("restore", code=2)
    assert refusal["error"] == "缺少 <文件>" and "jide restore [选项] <文件>" in refusal["fix"]
    assert "没有命令" in operator.reads_refusal("memory", "shwo", code=2)["error"]


def test_a_program_is_not_asked_but_told_what_to_add(operator: Operator) -> None:
    for words in (("restore", "x"), ("memory", "forget", "wechat:oA"), ("identity", "new-pepper")):
        assert "--yes" in operator.reads_refusal(*words)["fix"], words


def test_a_wrong_setting_is_json_too(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM__TIMEOUT_SECONDS", "abc")
    refusal = operator.reads_refusal("migrate", code=2)
    assert "LLM__TIMEOUT_SECONDS" in refusal["error"] and "LLM__TIMEOUT_SECONDS=60" in refusal["fix"]


def test_init_for_a_program(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PORT")
    monkeypatch.setenv("LLM__API_KEY", "sk-'引号\" #")
    given = ("WECHAT__APP_ID=wx0123456789abcdef", "llm__base_url=http://127.0.0.1:9/v1", "LLM__MODEL=m")
    options = [word for each in (*given, "LLM__API_KEY", "PORT=9000") for word in ("--set", each)]
    told = operator.reads("init", *options)
    monkeypatch.delenv("LLM__API_KEY")
    settings = read_settings(operator.project, {})
    assert told["file"] == str(operator.data / "jide.env") and told["kept"] is None
    assert settings.wechat.app_id == "wx0123456789abcdef" and settings.port == 9000
    assert settings.llm.api_key == "sk-'引号\" #" and "引号" not in json.dumps(told, ensure_ascii=False)
    assert told["paste"]["wechat"]["Token"] == settings.wechat.token
    assert told["paste"]["wechat"]["EncodingAESKey"] == settings.wechat.aes_key
    assert told["paste"]["onebot"]["Token"] == settings.onebot.access_token
    assert "--force" in operator.reads_refusal("init", *options)["fix"]
    kept = operator.reads("init", "--force")["kept"]
    assert "wx0123456789abcdef" in Path(kept).read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("WECHAT__TOKNE=x", 1, "WECHAT__TOKEN"),
        ("JIDE_DATA_DIR=/x", 1, "没有设置 JIDE_DATA_DIR"),
        ("LLM__MODEL", 1, "--set LLM__MODEL=值"),
        ("PORT=门", 2, "PORT 有误：不是整数"),
        ("WECHAT__APP_ID=wx 1", 2, "WECHAT__APP_ID"),
    ],
)
def test_init_for_a_program_refuses_what_cannot_be(
    operator: Operator, given: str, code: int, said: str
) -> None:
    refusal = operator.reads_refusal("init", "--set", given, code=code)
    assert said in refusal["error"] + refusal["fix"] and refusal["fix"]
    assert not operator.data.exists()


def test_empty_answers_switch_off() -> None:
    plain = answers_of(["WECHAT__APP_ID=wx1", "WECHAT__AES_KEY=", "ONEBOT__ACCESS_TOKEN="])
    assert "WECHAT__TOKEN" in plain and not {"WECHAT__AES_KEY", "ONEBOT__ACCESS_TOKEN"} & set(plain)
    with pytest.raises(Refusal, match="全部设置的说明"):
        answers_of(["Ω=1"])


def test_the_service_for_a_program(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(operator.project / "config"))
    shown = operator.reads("service", "install", "--user", "--print")
    path = Path(shown["file"])
    assert shown["written"] is False and not path.exists()
    told = operator.reads("service", "install", "--user")
    assert told["written"] is True and path.read_text("utf-8") == told["text"] == shown["text"]
    assert "systemctl --user enable --now jide" in told["next"]
    path.write_text("mine")
    assert "--yes" in operator.reads_refusal("service", "install", "--user")["fix"]


def test_ingesting_for_a_program(operator: Operator) -> None:
    document = operator.project / "手册.md"
    document.write_text("# 退款\n\n七天内可以退款。\n", "utf-8")
    done = operator.types("ingest", str(document), "--json")
    assert done.stderr == "", "quiet"
    (source,) = json.loads(done.stdout)["sources"]
    assert source == {
        "path": str(document),
        "documents": 1,
        "passages": 1,
        "skipped": 0,
        "without_vectors": 0,
        "unreadable": [],
    }
    refusal = operator.reads_refusal("ingest", "没有.md", str(document))
    assert "没有.md" in refusal["error"] and refusal["fix"]
    assert [each["skipped"] for each in refusal["sources"]] == [1], "one that is refused stops no other"
    shown = operator.types("ingest", str(document))
    assert "没有变化 1 份" in shown.stdout and "手册.md" in shown.stderr, "progress is not an answer"


def test_migrating_tells_what_was_done(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, database = migrating.HEAD, str(operator.data / "jide.db")
    told = operator.reads("migrate")
    assert told == {
        "ok": True,
        "database": database,
        "from": None,
        "to": now,
        "migrated": True,
        "backup": None,
    }
    assert f"已是当前版本 {now}" in operator.gets("migrate")

    later = tmp_path / "migrations"
    shutil.copytree(migrating._MIGRATIONS, later, ignore=shutil.ignore_patterns("__pycache__"))
    (later / "versions" / "later.py").write_text(
        "from alembic import op\n"
        f"revision, down_revision = 'later', '{now}'\n"
        "def upgrade():\n    op.execute('CREATE TABLE later (id INTEGER)')\n",
        "utf-8",
    )
    with monkeypatch.context() as patched:
        patched.setattr(migrating, "_MIGRATIONS", later)
        patched.setattr(migrating, "HEAD", "later")
        told = operator.reads("migrate")
    assert (told["from"], told["to"], told["migrated"]) == (now, "later", True)
    assert Path(told["backup"]).is_file()

    done = operator.types("migrate")
    assert done.exit_code == 2 and "更新版本的程序" in done.stderr and "升级程序" in done.stderr
    refusal = operator.reads_refusal("migrate", code=2)
    assert "later" in refusal["error"] and "升级程序" in refusal["fix"]


def test_a_file_that_is_no_database_is_refused_in_words(operator: Operator) -> None:
    operator.data.mkdir()
    (operator.data / "jide.db").write_bytes(b"not a database, but long enough to be looked at" * 30)
    assert "不是数据库文件" in operator.reads_refusal("migrate", code=2)["error"]


def test_the_other_commands_for_a_program(operator: Operator) -> None:
    operator.says("记住：我对花生过敏")
    exported = operator.reads("memory", "export", "wechat:oA")
    assert [fact["text"] for fact in exported["facts"]] == ["我对花生过敏"]
    target = operator.project / "他的.json"
    told = operator.reads("memory", "export", "wechat:oA", "--to", str(target))
    assert (told["file"], told["facts"]) == (str(target), 1) and target.is_file()
    assert "写不了" in operator.reads_refusal("memory", "export", "wechat:oA", "--to", str(target))["error"]
    linked = operator.reads("identity", "phone", "wechat:oA", "13800138000")
    assert (linked["account"], linked["person"]) == ("wechat:oA", exported["person"])
    assert operator.reads("identity", "new-pepper", "--yes")["phones_to_verify"] == 0
    assert "没有找到" in operator.reads_refusal("memory", "show", "wechat:oNobody")["error"]


def pressing_ctrl_c(at: str) -> Callable[..., AbstractContextManager[OnProgress]]:
    """Bars under which Ctrl+C is pressed at a step, which goes on once the loop has heard of it."""

    @contextmanager
    def bars(*, is_shown: bool) -> Generator[OnProgress]:
        loop = asyncio.get_running_loop()
        presses = [signal.SIGINT]

        def show(what: str, done: int, total: int) -> None:
            while presses and what == at:
                signal.raise_signal(presses.pop())
                for _ in range(3):
                    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()

        yield show

    return bars


def test_ctrl_c_in_a_backup_or_a_restore(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.says("记住：我对花生过敏")
    archive = str(operator.project / "备份.tar.gz")
    operator.gets("backup", archive)
    operator.says("记住：我喜欢爬山", "wechat:oB")
    monkeypatch.setattr(running, "progress", pressing_ctrl_c("校验备份"))
    done = operator.types("restore", archive, "--yes")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "\n已中断\n")
    assert operator.count("fact") == 2 and not list(operator.data.glob(".restore-*"))
    refusal = operator.reads_refusal("backup", str(operator.project / "又一份.tar.gz"), code=130)
    assert refusal["error"] == "已中断"
    assert sorted(path.name for path in operator.project.iterdir()) == ["data", "备份.tar.gz"]

    monkeypatch.setattr(running, "progress", pressing_ctrl_c("写入"))
    assert operator.reads("restore", archive, "--yes")["counts"]["fact"] == 1, "too late: done, and said so"
    assert operator.count("fact") == 1


@pytest.mark.parametrize(("done", "is_taken_back"), [(1, True), (2, False)])
async def test_a_step_that_was_the_last_is_not_interrupted(done: int, is_taken_back: bool) -> None:
    """After it the data may be changed: to raise there would leave the rest undone."""
    pressed = asyncio.Event()

    async def work(step: OnProgress) -> str:
        await pressed.wait()
        step("写入", done, 2)
        return "done"

    task = asyncio.create_task(in_steps(work, is_shown=False))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    pressed.set()
    if is_taken_back:
        with pytest.raises(Interrupted):
            await task
    else:
        assert await task == "done"


def test_memory_extract_says_what_would_be_kept_and_why(operator: Operator) -> None:
    told = operator.reads("memory", "extract", "我对花生过敏，昨天的单号SF1234567890123还没到，赔我三百块")
    assert [(each["type"], each["normalised"]) for each in told["entities"] if each["type"] != "date"][
        :2
    ] == [
        ("order_id", "SF1234567890123"),
        ("issue_type", "物流"),
    ]
    assert ("amount", "CNY 300") in [(each["type"], each["normalised"]) for each in told["entities"]]
    assert [each["text"] for each in told["times"]] == ["昨天"] and len(told["times"][0]["window"]) == 2
    (date,) = (each["normalised"] for each in told["entities"] if each["type"] == "date")
    assert date == "/".join(told["times"][0]["window"]) and date.count("+08:00") == 2
    assert "+00:00" not in operator.gets("memory", "extract", "昨天的单号")
    assert (told["keep"], told["asks_model"]) == (True, True)
    assert "花生过敏" in told["facts"][0]["text"]
    pointed = operator.reads("memory", "extract", "那个单号到哪了")
    assert pointed["reference"]["type"] == "order_id" and pointed["keep"] is False
    shown = operator.gets("memory", "extract", "你怎么忘了，上次说的补偿呢")
    assert "指代：“上次说的补偿”，指以前说过的金额" in shown and "怪机器人忘了" in shown
    for nothing in ("", "  "):
        assert "没有要看的话" in operator.reads_refusal("memory", "extract", nothing)["error"]
    assert not operator.data.exists(), "nothing is kept"
