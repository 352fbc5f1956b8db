"""`jide doctor` on a good set-up, and on broken ones: each gives its own finding, with the way to mend it."""

import hashlib
import json
import os
import socket
import sqlite3
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from bot.container import House
from bot.container.examination import examine
from bot.conversation.message import AccountKey
from bot.diagnosis import Finding, Level
from bot.diagnosis.channels import check_onebot_settings
from bot.diagnosis.clock import check_clock
from bot.diagnosis.folder import LEAST_BYTES, LOW_BYTES, check_disk
from bot.diagnosis.tracked import check_tracked_files
from bot.settings_source import read_settings
from identity.directory import Proof
from simulators.openai import Answer, OpenAiServer
from simulators.wechat import WeChatServer
from simulators.wechat.wire import LoopbackServer, Request, Response
from tests.free_ports import free_port
from tests.integration.valkey_fixture import run_valkey

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "abcdefghijklmnop1234"
WECHAT = {
    "WECHAT__APP_ID": "wx0123456789abcdef",
    "WECHAT__TOKEN": TOKEN,
    "WECHAT__AES_KEY": "a" * 43,
    "SUPERUSERS": "wechat:oAdmin",
}
SECOND, SECOND_TOKEN = "wxfedcba9876543210", "anothertoken5678"
MORE = json.dumps([{"app_id": SECOND, "token": SECOND_TOKEN, "path": "/second"}])


@dataclass
class SetUp:
    """A clone with a data folder, as an operator has it."""

    project: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.project / "data"

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.project, check=True, capture_output=True)

    def write(self, name: str, text: str, mode: int = 0o600) -> None:
        (self.data / name).write_text(text, "utf-8")
        (self.data / name).chmod(mode)

    def sql(self, *statements: str) -> None:
        with sqlite3.connect(self.data / "jide.db") as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    async def findings(self, level: Level | None = None) -> list[Finding]:
        seen = await examine(self.project, dict(self.environment))
        return [each for each in seen.findings if level is None or each.level is level]


@pytest_asyncio.fixture
async def good(tmp_path: Path) -> SetUp:
    """A bot that has run once, with a person whose phone is proven."""
    project = tmp_path / "克隆 一"
    project.mkdir()
    made = SetUp(project, {"PORT": str(free_port())} | WECHAT)
    (project / ".env.prod").write_bytes((ROOT / ".env.prod").read_bytes())
    (project / ".gitignore").write_text("/data/\n")
    (project / "bot.py").write_text("print('bot')\n")
    made.git("init", "-q")
    made.git("add", ".")
    house = House(read_settings(project, made.environment))
    await house.open()
    account = await house.stores.accounts.create_account(
        AccountKey(channel="wechat", app_id="wx1", openid="oA"), ""
    )
    await house.directory.prove_phone(account, "13800138000", Proof.IMPORT)
    await house.close()
    return made


async def test_a_good_set_up_has_nothing_to_mend(good: SetUp) -> None:
    seen = await examine(good.project, dict(good.environment))
    assert [each for each in seen.findings if each.level is not Level.FINE] == []
    assert {each.check for each in seen.findings} >= {
        *("settings", "folder", "disk", "secrets", "database", "pepper", "ledger", "tracked"),
        *("wechat", "port", "onebot", "superusers", "redis", "model", "embedder", "vectors", "clock", "faq"),
    }
    assert seen.in_use["公众号"] == "wx0123456789abcdef"
    assert seen.in_use["短期记忆"] == "数据库"


async def test_looking_makes_nothing(tmp_path: Path) -> None:
    untouched = SetUp(tmp_path, {"PORT": str(free_port())})
    levels = {each.level for each in await untouched.findings()}
    assert Level.FAILURE not in levels
    assert list(tmp_path.iterdir()) == []


def mend_a_secret_into_git(good: SetUp) -> None:
    (good.project / "notes.md").write_text(f"token: {TOKEN}\n")
    good.git("add", "-f", "notes.md")


def another_pepper(good: SetUp) -> None:
    good.write("pepper", "ab" * 32 + "\n")


def a_note_from_the_future(good: SetUp) -> None:
    good.write("persona.md", "# 记得")
    ahead = (datetime.now(UTC) + timedelta(days=2)).timestamp()
    os.utime(good.data / "persona.md", (ahead, ahead))


BROKEN: dict[str, tuple[Callable[[SetUp], object], str, str, str]] = {
    "a setting is no number": (
        lambda good: good.write("jide.env", "LLM__TIMEOUT_SECONDS=很久\n"),
        *("settings", "LLM__TIMEOUT_SECONDS 不是数字", "LLM__TIMEOUT_SECONDS=60"),
    ),
    "a slip of the pen": (
        lambda good: good.write("jide.env", "WECHAT__TOKNE=x\n"),
        *("settings", "没有这个设置", "WECHAT__TOKEN"),
    ),
    "one of three": (
        lambda good: good.environment.update(WECHAT__TOKEN=""),
        *("settings", "WECHAT__TOKEN 填了公众号的其他项", "WECHAT__TOKEN="),
    ),
    "no database": (
        lambda good: good.write("jide.db", "这是一封信，不是数据库" * 100),
        *("database", "读不了或已损坏", "jide restore"),
    ),
    "a damaged page": (
        lambda good: (good.data / "jide.db").write_bytes(
            (good.data / "jide.db").read_bytes()[:8192] + b"\x55" * 40960
        ),
        *("database", "读不了或已损坏", "jide restore"),
    ),
    "a newer schema": (
        lambda good: good.sql("UPDATE alembic_version SET version_num = '9999'"),
        *("database", "更新版本的程序写成（版本 9999）", "升级程序"),
    ),
    "the pepper is lost": (
        lambda good: (good.data / "pepper").unlink(),
        *("pepper", "不见了，1 个已验证的手机号", "放回来"),
    ),
    "the pepper is damaged": (
        lambda good: good.write("pepper", "abc"),
        *("pepper", "内容损坏", "放回来"),
    ),
    "another pepper": (another_pepper, *("pepper", "不是这个数据库原来用的", "new-pepper")),
    "everybody reads the pepper": (
        lambda good: (good.data / "pepper").chmod(0o644),
        *("secrets", "pepper 能被这台机器上的别人读到", "chmod 600"),
    ),
    "everybody reads the settings": (
        lambda good: good.write("jide.env", "LOG_LEVEL=INFO\n", 0o640),
        *("secrets", "jide.env 能被", "chmod 600"),
    ),
    "a secret is committed": (
        mend_a_secret_into_git,
        *("tracked", "WECHAT__TOKEN 的值出现在 git 管理的 notes.md 里", "换一个新的"),
    ),
    "a secret in .env.prod": (
        lambda good: (good.project / ".env.prod").write_text("ONEBOT__ACCESS_TOKEN=k\n"),
        *("tracked", ".env.prod 里写了 ONEBOT__ACCESS_TOKEN", "data/jide.env"),
    ),
    "the original id": (
        lambda good: good.environment.update(WECHAT__APP_ID="gh_0123456789ab"),
        *("wechat", "原始 ID", "AppID 以 wx 开头"),
    ),
    "a token WeChat refuses": (
        lambda good: good.environment.update(WECHAT__TOKEN="有中文的令牌"),
        *("wechat", "公众号后台不收的字符", "3 到 32 个"),
    ),
    "no Redis": (
        lambda good: good.environment.update(REDIS__URL=f"redis://127.0.0.1:{free_port()}/0"),
        *("redis", "Redis 没有回答", "REDIS__URL"),
    ),
    "no model": (
        lambda good: good.environment.update(
            LLM__BASE_URL=f"http://127.0.0.1:{free_port()}/v1", LLM__MODEL="m"
        ),
        *("model", "没有回答", "LLM__BASE_URL"),
    ),
    "no embedder": (
        lambda good: good.environment.update(
            EMBEDDING__BASE_URL=f"http://127.0.0.1:{free_port()}/v1", EMBEDDING__MODEL="m"
        ),
        *("embedder", "没有回答", "EMBEDDING__BASE_URL"),
    ),
    "vectors of another model": (
        lambda good: good.sql(
            "INSERT INTO shelf (id, account_id, place, version, size, model, dimension)"
            " VALUES (1, 1, '', 1, 1, 'old:512', 512)",
            "INSERT INTO fact (shelf_id, kind, text, importance, said_at, model)"
            " VALUES (1, 'event', 't', 0.5, 1, 'old:512')",
        ),
        *("vectors", "来自 old:512", "jide reindex"),
    ),
    "the clock went back": (a_note_from_the_future, *("clock", "时钟倒退过", "timedatectl")),
    "a bad FAQ": (
        lambda good: good.write("faq.yaml", "- patterns: ['(']\n  match: regex\n  answer: a\n"),
        *("faq", "FAQ 没有生效", "那一行"),
    ),
    "a bad wording": (
        lambda good: good.write("wording.toml", "no_such_sentence = 'x'\n"),
        *("wording", "no_such_sentence", ""),
    ),
    "a damaged ledger": (
        lambda good: good.write("forgotten.jsonl", "一封信\n"),
        *("ledger", "第 1 行看不懂", "副本"),
    ),
    "a ledger of a newer program": (
        lambda good: good.write("forgotten.jsonl", '{"v":3,"n":1,"after":0,"at":"","key":"k"}\n'),
        *("ledger", "第 1 行是更新的程序写的", "升级程序"),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_each_broken_set_up_gives_its_finding_with_a_fix(good: SetUp, name: str) -> None:
    spoil, check, said, fix = BROKEN[name]
    spoil(good)
    failures = await good.findings(Level.FAILURE)
    assert [each.check for each in failures] == [check], failures
    assert said in failures[0].said and fix in failures[0].fix
    assert failures[0].fix
    assert TOKEN not in str(failures), "a secret is named, never said"


async def test_every_wrong_setting_is_told_at_once(good: SetUp) -> None:
    good.write("jide.env", "PORT=八\nLOG_LEVEL=LOUD\nKNOWLEDGE__K=0\n")
    del good.environment["PORT"]
    failures = [each for each in await good.findings(Level.FAILURE) if each.check == "settings"]
    assert {each.said.split()[1] for each in failures} == {"PORT", "LOG_LEVEL", "KNOWLEDGE__K"}


async def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a letter")
    failures = await SetUp(tmp_path).findings(Level.FAILURE)
    assert {each.check for each in failures} == {"settings", "folder"}
    assert any("不是文件夹" in each.said and "JIDE_DATA_DIR" in each.fix for each in failures)


async def test_the_port_is_taken_by_another_program(good: SetUp) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", int(good.environment["PORT"])))
        other.listen()

        @contextmanager
        def hanging_up() -> Iterator[None]:
            import threading

            def serve() -> None:
                connection, _ = other.accept()
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhelo")
                connection.close()

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            yield
            thread.join(10)

        with hanging_up():
            (finding,) = await good.findings(Level.FAILURE)
    assert finding.check == "port" and "被别的程序占用" in finding.said and "PORT" in finding.fix


@pytest_asyncio.fixture
async def model() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        yield server


async def test_a_model_out_of_money(good: SetUp, model: OpenAiServer) -> None:
    good.environment |= {"LLM__BASE_URL": model.base_url, "LLM__MODEL": "m", "LLM__API_KEY": "k"}
    model.script("好")
    assert await good.findings(Level.FAILURE) == []
    model.script(Answer.failure(402))
    (finding,) = await good.findings(Level.FAILURE)
    assert finding.check == "model" and "充值" in finding.fix


async def test_the_api_of_each_official_account_is_asked(good: SetUp) -> None:
    secret = "5" * 32
    app_id = good.environment["WECHAT__APP_ID"]
    async with WeChatServer("http://127.0.0.1:9/wechat", "token", app_id, app_secret=secret) as wechat:
        good.environment |= {"WECHAT__APP_SECRET": secret, "WECHAT__API_BASE": wechat.api.base_url}
        assert await good.findings(Level.FAILURE) == []
        good.environment["WECHAT__APP_SECRET"] = "6" * 32
        (finding,) = await good.findings(Level.FAILURE)
        assert finding.check == "wechat" and "AppSecret" in finding.fix
    (finding,) = await good.findings(Level.FAILURE)
    assert finding.check == "wechat" and "上网" in finding.fix


async def test_a_second_official_account_is_examined_too(good: SetUp) -> None:
    good.environment["WECHAT__MORE_ACCOUNTS"] = '[{"app_id":"gh_1","token":"abc123","path":"/second"}]'
    (finding,) = await good.findings(Level.FAILURE)
    assert "原始 ID" in finding.said and "WECHAT__MORE_ACCOUNTS 里 gh_1 的 app_id" in finding.said


async def test_all_official_accounts_are_named(good: SetUp) -> None:
    good.environment["WECHAT__MORE_ACCOUNTS"] = MORE
    seen = await examine(good.project, dict(good.environment))
    assert seen.in_use["公众号"] == f"wx0123456789abcdef、{SECOND}"
    del good.environment["WECHAT__APP_ID"], good.environment["WECHAT__TOKEN"]
    del good.environment["WECHAT__AES_KEY"]
    seen = await examine(good.project, dict(good.environment))
    assert seen.in_use["公众号"] == SECOND


async def test_a_finding_names_its_account_and_that_accounts_setting(good: SetUp) -> None:
    good.environment |= {"WECHAT__AES_KEY": "", "WECHAT__MORE_ACCOUNTS": MORE}
    first, second = [each for each in await good.findings(Level.WARNING) if each.check == "wechat"]
    assert "公众号 wx0123456789abcdef 用明文模式" in first.said and "填到 WECHAT__AES_KEY" in first.fix
    assert f"公众号 {SECOND} 用明文模式" in second.said
    assert second.fix.endswith(f"填到 WECHAT__MORE_ACCOUNTS 里 {SECOND} 的 aes_key")
    good.environment["WECHAT__MORE_ACCOUNTS"] = MORE.replace(SECOND_TOKEN, "有中文的令牌")
    (failed,) = await good.findings(Level.FAILURE)
    assert f"改 WECHAT__MORE_ACCOUNTS 里 {SECOND} 的 token" in failed.fix


async def test_the_api_of_a_second_account_is_mended_in_its_own_entry(good: SetUp) -> None:
    secret = "5" * 32
    async with WeChatServer("http://127.0.0.1:9/wechat", "token", SECOND, app_secret=secret) as wechat:
        entry = json.loads(MORE)[0] | {"app_secret": "6" * 32, "api_base": wechat.api.base_url}
        good.environment["WECHAT__MORE_ACCOUNTS"] = json.dumps([entry])
        (finding,) = await good.findings(Level.FAILURE)
        assert f"公众号 {SECOND} 的接口返回 40125" in finding.said
        assert finding.fix.endswith(f"WECHAT__MORE_ACCOUNTS 里 {SECOND} 的 app_secret")
    (finding,) = await good.findings(Level.FAILURE)
    assert f"（WECHAT__MORE_ACCOUNTS 里 {SECOND} 的 api_base）" in finding.fix


@asynccontextmanager
async def running(tokens: Mapping[str, str]) -> AsyncGenerator[int]:
    """The port of a bot that answers to WeChat's signed GET: path → the token that it knows."""

    async def answer(request: Request) -> Response:
        if request.path == "/livez":
            return Response(body=b"ok")
        query = request.query
        signed = "".join(sorted((tokens.get(request.path, ""), query["timestamp"], query["nonce"])))
        is_known = hashlib.sha1(signed.encode(), usedforsecurity=False).hexdigest() == query["signature"]
        return Response(body=query["echostr"].encode()) if is_known else Response(status=403)

    server = LoopbackServer(answer)
    await server.start()
    try:
        yield server.port
    finally:
        await server.close()


async def test_each_accounts_path_is_asked_with_its_own_token(good: SetUp) -> None:
    good.environment["WECHAT__MORE_ACCOUNTS"] = MORE
    async with running({"/wechat": TOKEN, "/second": SECOND_TOKEN}) as port:
        good.environment["PORT"] = str(port)
        (finding,) = [each for each in await good.findings() if each.check == "port"]
        assert finding.level is Level.FINE and "2 个公众号的签名核对通过" in finding.said
    async with running({"/wechat": TOKEN, "/second": TOKEN}) as port:
        good.environment["PORT"] = str(port)
        (finding,) = await good.findings(Level.FAILURE)
        assert (
            finding.said == f"机器人在运行，/second 却不认现在的 WECHAT__MORE_ACCOUNTS 里 {SECOND} 的 token"
        )
    async with running({"/wechat": SECOND_TOKEN, "/second": SECOND_TOKEN}) as port:
        good.environment["PORT"] = str(port)
        (finding,) = await good.findings(Level.FAILURE)
        assert finding.said == "机器人在运行，/wechat 却不认现在的 WECHAT__TOKEN"


async def test_the_try_out_account_is_an_account(tmp_path: Path) -> None:
    settings = {"PORT": str(free_port())}
    seen = await examine(tmp_path, settings)
    (finding,) = [each for each in seen.findings if each.check == "wechat"]
    assert seen.in_use["公众号"] == "试用账号" and "试用账号" in finding.said
    seen = await examine(tmp_path, settings | {"HOST": "0.0.0.0", "ONEBOT__ACCESS_TOKEN": "t" * 20})
    (finding,) = [each for each in seen.findings if each.check == "wechat"]
    assert seen.in_use["公众号"] == "没有接" and finding.said == "没有接公众号"


async def test_redis_answers(good: SetUp) -> None:
    with run_valkey() as valkey:
        good.environment |= {"REDIS__URL": valkey.url}
        (finding,) = [each for each in await good.findings() if each.check == "redis"]
        assert finding.level is not Level.FAILURE and "毫秒" in finding.said


async def test_bare_superusers_are_a_warning_with_the_corrected_line(good: SetUp) -> None:
    good.environment |= {"SUPERUSERS": "oAdmin,wechat:oOther"}
    (finding,) = await good.findings(Level.WARNING)
    assert finding.check == "superusers" and finding.fix == "改成 wechat:oAdmin、onebot:oAdmin 或 qq:oAdmin"


async def test_leftovers_of_a_killed_restore_are_told(good: SetUp) -> None:
    (good.data / ".restore-abc").mkdir()
    (finding,) = await good.findings(Level.WARNING)
    assert finding.check == "folder" and ".restore-abc" in finding.said


def test_a_full_disk_and_one_that_does_not_sync(tmp_path: Path) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    (full,) = check_disk(tmp_path, free_bytes=lambda _: LEAST_BYTES - 1)
    assert full.level is Level.FAILURE and full.fix
    low, _ = check_disk(tmp_path, free_bytes=lambda _: LOW_BYTES - 1)
    assert low.level is Level.WARNING
    _, broken = check_disk(tmp_path, free_bytes=lambda _: LOW_BYTES, sync=fail)
    assert broken.level is Level.FAILURE and "落盘" in broken.said and broken.fix
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("now", "other", "newest", "level"),
    [
        (NOW, NOW, NOW, Level.FINE),
        (NOW.replace(year=1970), None, None, Level.FAILURE),
        (NOW, NOW + timedelta(minutes=6), None, Level.FAILURE),
        (NOW, NOW - timedelta(seconds=45), None, Level.WARNING),
        (NOW, None, NOW + timedelta(hours=1), Level.FAILURE),
        (NOW, None, NOW - timedelta(days=400), Level.FINE),
    ],
)
def test_the_clock(now: datetime, other: datetime | None, newest: datetime | None, level: Level) -> None:
    others = {} if other is None else {"服务器": other}
    (finding,) = check_clock(now, others, {} if newest is None else {"文件": newest})
    assert finding.level is level
    assert bool(finding.fix) is (level is not Level.FINE)


def test_a_short_token_matters_on_a_public_address_only() -> None:
    (finding,) = check_onebot_settings("short", is_loopback=False, is_on=True)
    assert finding.level is Level.WARNING
    (finding,) = check_onebot_settings("short", is_loopback=True, is_on=True)
    assert finding.level is Level.FINE


def test_a_data_folder_that_git_would_take_along(tmp_path: Path) -> None:
    made = SetUp(tmp_path)
    made.data.mkdir()
    made.git("init", "-q")
    (finding,) = check_tracked_files(tmp_path, made.data, {}, set())
    assert finding.level is Level.WARNING and "/data/" in finding.fix
    (finding,) = check_tracked_files(tmp_path, tmp_path.parent / "elsewhere", {}, set())
    assert finding.level is Level.FINE
