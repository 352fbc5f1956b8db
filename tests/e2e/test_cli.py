"""What the operator types, as it is typed: `jide …` in processes of its own, mostly beside the running bot."""

import asyncio
import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.bot_process import ROOT, WECHAT_AES_KEY, WECHAT_APP_ID, BotProcess
from tests.e2e.conftest import StartBot, onebot_of, wechat_of
from tests.e2e.terminal import CTRL_C, CTRL_D, Terminal

HANDBOOK = ROOT / "tests" / "data" / "handbook.md"
QQ_USER = 20001
PHONE = "13800138000"
PATIENT = {"EMBEDDING__DEADLINE_SECONDS": "10"}
"""A busy test machine may not make a vector in the half second that people are kept waiting."""
NO_ACCOUNTS = {"WECHAT__APP_ID": "", "WECHAT__TOKEN": "", "ONEBOT__ACCESS_TOKEN": ""}
"""Empty means the default: the try-out accounts."""

WAYS_TO_START = {
    "python -m bot": ["-m", "bot"],
    "jide run": ["-m", "bot.cli", "run"],
    "python bot.py": ["bot.py"],
    "jide chat": ["-m", "bot.cli", "chat"],
}


def at_a_keyboard(bot: BotProcess, *arguments: str) -> Terminal:
    command = [sys.executable, "-m", "bot.cli", *arguments]
    return Terminal(command, folder=ROOT, environment=bot.environment)


def chat(bot: BotProcess, *arguments: str) -> Terminal:
    return at_a_keyboard(bot, "chat", *arguments)


async def jide(bot: BotProcess, *arguments: str) -> str:
    """What a command that succeeds prints."""
    done = await asyncio.to_thread(bot.cli, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


async def simulate(bot: BotProcess, channel: str, text: str, *options: str) -> str:
    return await jide(bot, "simulate", channel, text, *options)


async def jide_refuses(bot: BotProcess, *arguments: str) -> str:
    """What a command that fails says, without a traceback."""
    done = await asyncio.to_thread(bot.cli, *arguments)
    assert done.returncode in (1, 2), done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


async def test_help_is_in_chinese_and_names_every_command(tmp_path: Path) -> None:
    shown = await jide(BotProcess(tmp_path / "数据"), "--help")
    for command in ("run", "chat", "ingest", "migrate", "memory", "identity", "simulate"):
        assert re.search(rf"\b{command}\b.*[\u4e00-\u9fff]", shown), command
    assert not (tmp_path / "数据").exists(), "asking for help makes nothing"


async def test_init_is_answered_at_a_keyboard(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path / "数据")
    async with at_a_keyboard(bot, "init") as terminal:
        for question, answer in (
            ("AppID（没有就回车）: ", "wx0123456789abcdef"),
            ("Token（回车随机生成）: ", ""),
            ("输入“明文”）: ", "太短"),
            ("用客服消息送到（没有就回车）: ", ""),
            ("应为 43 个字母和数字", ""),  # and it is asked again
            ("AppID（没有就回车）: ", "wx0123456789abcdef"),
            ("Token（回车随机生成）: ", ""),
            ("输入“明文”）: ", "明文"),
            ("用客服消息送到（没有就回车）: ", "a-secret-not-to-be-seen"),
            ("要接 QQ 吗？（y/N）: ", "是"),
            ("OneBot 令牌（回车随机生成）: ", "a-token-of-ours"),
            ("（没有就回车）: ", "http://127.0.0.1:9/v1"),
            ("（本机的模型就回车）: ", "sk-not-to-be-seen"),
            ("例 deepseek-v4-flash: ", "qwen3"),
            ("（不看图就回车）: ", "qwen3-vl"),
            ("[127.0.0.1]: ", ""),
            ("[8080]: ", "9000"),
        ):
            await terminal.until(question)
            if "应为" not in question:
                terminal.type(answer)
        await terminal.until("启动后可认领）: ")
        terminal.press(b"\xe6\x88\n")  # a terminal that deletes by bytes left half a character
        await terminal.until("不是 UTF-8 编码")
        await terminal.until("启动后可认领）: ")
        terminal.type("")
        await terminal.until("jide doctor")
        assert await terminal.ended() == 0
        assert "Traceback" not in terminal.shown and "not-to-be-seen" not in terminal.shown
        assert "a-token-of-ours" in terminal.shown and "明文模式" in terminal.shown
    written = (bot.data / "jide.env").read_text("utf-8")
    for line in ("WECHAT__APP_ID=wx0123456789abcdef", "LLM__API_KEY=sk-not-to-be-seen", "PORT=9000"):
        assert line in written
    assert "AES_KEY" not in written


@pytest.mark.parametrize(
    ("key", "code", "said"), [(CTRL_C, 130, "已中断"), (CTRL_D, 1, "什么都没有写")], ids=["Ctrl+C", "Ctrl+D"]
)
async def test_init_is_left_at_any_question(tmp_path: Path, key: str, code: int, said: str) -> None:
    bot = BotProcess(tmp_path / "数据")
    for answers in ([], ["", "n", "http://127.0.0.1:9/v1"]):  # the last question then hides what is typed
        async with at_a_keyboard(bot, "init") as terminal:
            for answer in answers:
                await terminal.until("）: ")
                terminal.type(answer)
            await terminal.until("）: ")
            terminal.press(key)
            # A signal between readline's prompt and its first wait shows only at the next key: people press again.
            with contextlib.suppress(AssertionError):
                await terminal.until(said, seconds=10)
            if said not in terminal.shown:
                terminal.press(key)
                await terminal.until(said)
            assert await terminal.ended() == code
            assert "Traceback" not in terminal.shown
    assert not bot.data.exists()


async def test_ctrl_c_ends_an_ingest_without_a_traceback(tmp_path: Path) -> None:
    bot, book = BotProcess(tmp_path / "数据"), tmp_path / "书.md"
    book.write_text("\n\n".join(f"# 第 {n} 章\n\n{f'第 {n} 章讲别的事。' * 40}" for n in range(400)), "utf-8")
    async with at_a_keyboard(bot, "ingest", str(book)) as terminal:
        await terminal.until("书.md")
        terminal.press(CTRL_C)
        await terminal.until("已中断")
        assert await terminal.ended() == 130
        assert "Traceback" not in terminal.shown


async def test_the_running_bot_quotes_what_was_just_ingested(start_bot: StartBot) -> None:
    bot = await start_bot(**PATIENT)
    question = "快递停在一个地方好几天了，你们管不管？"
    async with wechat_of(bot) as wechat:
        assert "原文：" not in (await wechat.say("oAlice", question)).text
        told = await jide(bot, "ingest", str(HANDBOOK))
        assert "存入 1 份" in told
        answer = (await wechat.say("oBob", question)).text
    assert "原文：“" in answer
    assert "物流三天没有更新" in answer
    assert "handbook.md" in answer
    assert "没有变化 1 份" in await jide(bot, "ingest", str(HANDBOOK))


async def test_ingesting_what_is_not_there_says_so(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path / "数据")
    assert "找不到文件或文件夹" in await jide_refuses(bot, "ingest", str(tmp_path / "没有"))


async def test_chatting_in_a_terminal_remembers_across_sessions(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path / "数据 终端", **PATIENT)
    async with chat(bot) as terminal:
        await terminal.until("> ")
        terminal.type("记住：我叫八六，我对花生过敏")
        await terminal.until("已记住")
        terminal.type("/退出")
        assert await terminal.ended() == 0
    async with chat(bot) as terminal:
        await terminal.until("> ")
        terminal.type("我能吃什么零食？还记得我吗")
        await terminal.until("您之前说过")
        await terminal.until("对花生过敏")
        terminal.type("/退出")
        assert await terminal.ended() == 0
        assert "Traceback" not in terminal.shown
    async with chat(bot, "--as", "terminal:other") as terminal:
        await terminal.until("> ")
        terminal.type("我能吃什么零食？还记得我吗")
        await terminal.until("\n> ")
        assert "花生" not in terminal.shown


async def test_ctrl_c_ends_a_chat_at_once(tmp_path: Path) -> None:
    async with chat(BotProcess(tmp_path / "数据")) as terminal:
        await terminal.until("> ")
        terminal.press(CTRL_C)
        assert await terminal.ended() == 130
        assert "Traceback" not in terminal.shown


async def test_chat_reads_a_pipe_and_is_the_same_person_as_on_wechat(start_bot: StartBot) -> None:
    bot = await start_bot(**PATIENT)
    async with wechat_of(bot) as wechat:
        await wechat.say("oEightySix", "记住：我叫八六，我对花生过敏")
    piped = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "bot.cli", "chat", "--as", "wechat:oEightySix"],
        cwd=ROOT,
        env=dict(bot.environment),
        input="你都记得我什么\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert piped.returncode == 0, piped.stderr
    assert "对花生过敏" in piped.stdout


async def test_memory_is_shown_and_forgotten(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with wechat_of(bot) as wechat:
        await wechat.say("oEightySix", "记住：我叫八六，我对花生过敏")
        await wechat.say("oOther", "记住：我叫九七，我对牛奶过敏")
        unsure = await jide_refuses(bot, "memory", "forget", "wechat:oEightySix")  # nobody says yes
        assert "没有清除" in unsure and "Aborted" not in unsure
        shown = await jide(bot, "memory", "show", "wechat:oEightySix")
        assert "对花生过敏" in shown and "牛奶" not in shown
        number = re.search(r"人 (\d+)", shown)
        assert number, shown
        assert "已清除" in await jide(bot, "memory", "forget", number[1], "--yes")
        assert "共 0 条" in await jide(bot, "memory", "show", "wechat:oEightySix")
        assert "花生" not in (await wechat.say("oEightySix", "/我的记忆")).text
        assert "牛奶" in (await wechat.say("oOther", "/我的记忆")).text
    assert "没有找到“wechat:oNobody”" in await jide_refuses(bot, "memory", "show", "wechat:oNobody")


async def test_a_phone_proven_on_two_accounts_makes_them_one_person(start_bot: StartBot) -> None:
    bot = await start_bot(**PATIENT)
    question = "我能吃什么零食？还记得我吗"
    async with wechat_of(bot) as wechat, onebot_of(bot) as qq:
        await wechat.say("oEightySix", "记住：我叫八六，我对花生过敏")
        await qq.say_private(QQ_USER, question)
        assert "花生" not in (await qq.next_sent()).text
        first = await jide(bot, "identity", "phone", "wechat:oEightySix", PHONE)
        second = await jide(bot, "identity", "phone", f"onebot:{QQ_USER}", PHONE)
        assert _person_in(first) == _person_in(second)
        await qq.say_private(QQ_USER, question)
        assert "对花生过敏" in (await qq.next_sent()).text
        await wechat.say("oOther", question)
        assert "花生" not in (await wechat.say("oOther", question)).text
    assert "13800" not in bot.log.read_text("utf-8")
    assert not any(PHONE.encode() in path.read_bytes() for path in bot.data.rglob("*") if path.is_file())


async def test_simulating_speaks_to_the_try_out_bot(start_bot: StartBot) -> None:
    bot = await start_bot(**PATIENT, **NO_ACCOUNTS)
    at_start = len(bot.log.read_text("utf-8"))  # where examples may be printed
    question = "我能吃什么零食？还记得我吗"
    assert "已记住" in await simulate(bot, "wechat", "记住：我叫八六，我对花生过敏", "--as", "小明")
    assert "对花生过敏" in await simulate(bot, "wechat", question, "--as", "小明")
    assert "花生" not in await simulate(bot, "wechat", question, "--as", "小红")
    assert "花生" not in await simulate(bot, "onebot", question, "--as", "小明")
    assert "有什么可以帮您" in await simulate(bot, "onebot", "你好", "--group", "100")
    assert "花生" not in bot.log.read_text("utf-8")[at_start:]


async def test_simulating_speaks_for_the_configured_accounts(start_bot: StartBot) -> None:
    bot = await start_bot(WECHAT__AES_KEY=WECHAT_AES_KEY)
    assert "有什么可以帮您" in await simulate(bot, "wechat", "你好")
    assert "有什么可以帮您" in await simulate(bot, "onebot", "你好")


async def test_simulating_without_a_bot_says_how_to_start_one(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path / "数据")
    for channel in ("wechat", "onebot"):
        refusal = await jide_refuses(bot, "simulate", channel, "你好")
        assert f"端口 {bot.port} 上没有机器人在运行" in refusal and "make run" in refusal


@pytest.mark.parametrize(
    ("environment", "file", "key", "fix"),
    [
        ({"LLM__TIMEOUT_SECONDS": "abc"}, "", "LLM__TIMEOUT_SECONDS", "LLM__TIMEOUT_SECONDS=60"),
        ({}, "WECHAT__TOKNE=x\n", "WECHAT__TOKNE", "WECHAT__TOKEN"),
        ({"WECHAT__APP_ID": WECHAT_APP_ID, "WECHAT__TOKEN": ""}, "", "WECHAT__TOKEN", "WECHAT__TOKEN="),
    ],
    ids=["not a number", "a slip of the pen", "one without the other"],
)
async def test_a_bad_setting_stops_every_way_of_starting(
    tmp_path: Path, environment: dict[str, str], file: str, key: str, fix: str
) -> None:
    bot = BotProcess(tmp_path / "数据", **environment)
    bot.data.mkdir()
    (bot.data / "jide.env").write_text(file, "utf-8")
    for name, arguments in WAYS_TO_START.items():
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, *arguments],
            cwd=ROOT,
            env=dict(bot.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode != 0, name
        assert re.search(rf"设置 {key} 有误：.+修正：.+{re.escape(fix)}", done.stderr), (name, done.stderr)
        assert "Traceback" not in done.stderr + done.stdout, name


def _person_in(told: str) -> str:
    found = re.search(r"属于人 (\d+)", told)
    assert found, told
    return found[1]
