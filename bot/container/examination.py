"""`jide doctor`: which checks there are, and what each is given to look at.

Invariant: nothing is made or changed: no pepper, no database, no FAQ file. A wrong setting is a finding, and
the checks that do without it are made all the same.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.container.models import Models
from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.conversation.wording import Wording
from bot.diagnosis import Finding, failure, fine, warning
from bot.diagnosis.channels import (
    ExaminedAccount,
    check_no_wechat,
    check_onebot_settings,
    check_port,
    check_superusers,
    check_wechat_api,
    check_wechat_settings,
)
from bot.diagnosis.clock import check_clock
from bot.diagnosis.database import (
    DatabaseReport,
    check_database,
    check_ledger,
    check_pepper,
    check_vectors,
)
from bot.diagnosis.folder import check_disk, check_folder, check_secret_files
from bot.diagnosis.services import check_embedder, check_model, check_redis, date_of
from bot.diagnosis.tracked import check_tracked_files
from bot.logs import configure_logs
from bot.metrics import Metrics
from bot.rules.faq_file import FaqFile
from bot.secrets_file import pepper_check, read_peppers, read_tryout
from bot.settings import Settings
from bot.settings_fields import known_fields
from bot.settings_groups import WeChatAccount
from bot.settings_source import read_settings
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import RedisTurnWindow
from bot.storage.sql.examining import examine as examine_file

ROUNDS = 20
"""Wrong settings told at once; each is found by reading again without the ones before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """All findings, in the order to show them."""

    findings: tuple[Finding, ...]
    in_use: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the bot runs with: label → name."""


class _NowClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def examine(folder: Path, environment: Mapping[str, str] | None = None) -> Examination:
    """Make every check. `folder` is the project's."""
    settings, found = _read_settings(folder, dict(os.environ if environment is None else environment))
    if settings is None:
        named = (os.environ if environment is None else environment).get("JIDE_DATA_DIR") or "data"
        found += await asyncio.to_thread(lambda: check_folder(folder / Path(named).expanduser()))
        return Examination(findings=tuple(found))
    models = Models(settings, Metrics())
    try:
        found += await _examine_with(settings, models, folder)
    finally:
        await models.close()
    return Examination(findings=tuple(found), in_use=_in_use(settings, models))


def _read_settings(folder: Path, environment: dict[str, str]) -> tuple[Settings | None, list[Finding]]:
    """The settings, less those that are wrong; None where that does not help."""
    found: list[Finding] = []
    left_out: set[str] = set()
    for _ in range(ROUNDS):
        try:
            settings = read_settings(folder, environment)
        except ConfigurationError as error:
            if error.key not in left_out:
                found.append(failure("settings", f"设置 {error.key} {error.problem}", error.fix))
            group = {key for key in known_fields() if key.startswith(f"{error.key.partition('__')[0]}__")}
            more = group if error.key in left_out else {error.key}
            if error.key not in known_fields() or more <= left_out:
                return None, [*found, _skipped()]
            # Empty means the default, and the environment is the strongest source.
            environment |= dict.fromkeys(more, "")
            left_out |= more
            continue
        doubts = [each for each in settings.doubts if not each.startswith("SUPERUSERS ")]
        found += [warning("settings", each, "改好，或删掉这一行") for each in doubts]
        if not found:
            found = [fine("settings", f"设置来自 {'、'.join(settings.sources) or '默认值'}")]
        return settings, found
    return None, [*found, _skipped()]


def _skipped() -> Finding:
    return warning("settings", "其余检查没有做", "先改好上面的设置，再执行 jide doctor")


async def _examine_with(settings: Settings, models: Models, folder: Path) -> list[Finding]:
    data = settings.data_folder
    found = await asyncio.to_thread(check_folder, data)
    if data.is_dir() and os.access(data, os.W_OK):
        found += await asyncio.to_thread(check_disk, data)
    found += await asyncio.to_thread(check_secret_files, data)
    stored, report = await asyncio.to_thread(_examine_data, data)
    found += stored
    secrets, names = _secrets(settings)
    found += await asyncio.to_thread(check_tracked_files, folder, data, secrets, names)
    found += await _examine_channels(settings, report)
    found += await _examine_redis(settings)
    found += await check_model(models.chat, settings.llm.model)
    if models.memory is not models.chat:
        found += await check_model(models.memory, settings.memory.model or settings.llm.model, "MEMORY")
    embedding, model_id = await check_embedder(models.embedder, settings.embedding.deadline_seconds)
    found += embedding + check_vectors(report, model_id)
    found += await _examine_clock(settings, report)
    found += await _examine_files(settings)
    return found


def _examine_data(data: Path) -> tuple[list[Finding], DatabaseReport | None]:
    """Database, pepper and ledger. Blocks."""
    peppers, pepper_problem = None, ""
    is_there = (data / "pepper").exists()
    if is_there:
        try:
            peppers = read_peppers(data)
        except ConfigurationError as error:
            pepper_problem = error.problem
    check = None if peppers is None else pepper_check(peppers.current)
    report = examine_file(data / "jide.db", check, () if peppers is None else peppers.checks_before)
    ledger = ForgetLedger(data / "forgotten.jsonl", b"", _NowClock())
    last, ledger_problem, ledger_fix = 0, "", ""
    try:
        last = ledger.read().last
    except ConfigurationError as error:
        ledger_problem, ledger_fix = error.problem, error.fix
    found = [fine("database", "还没有数据库，首次启动会建")] if report is None else check_database(report)
    found += check_pepper(report, is_there=is_there, problem=pepper_problem)
    found += check_ledger(report, last=last, problem=ledger_problem, fix=ledger_fix)
    return found, report if report is not None and report.is_newest_revision and not report.problem else None


def _secrets(settings: Settings) -> tuple[dict[str, str], set[str]]:
    """Where a secret is written → its value; and the settings that hold one."""
    names = {key for key, info in known_fields().items() if info.repr is False}
    found: dict[str, str] = {}
    for key in names - {"WECHAT__MORE_ACCOUNTS"}:
        group, _, name = key.lower().partition("__")
        found[key] = getattr(getattr(settings, group), name)
    for account in settings.wechat.more_accounts:
        for name in ("token", "aes_key", "previous_aes_key", "app_secret"):
            found[_examined(account, settings).setting(name)] = getattr(account, name)
    for name in ("pepper", "tryout.json"):
        if not (settings.data_folder / name).is_file():
            continue
        with suppress(ConfigurationError):
            if name == "pepper":
                peppers = read_peppers(settings.data_folder)
                found["data/pepper"] = peppers.current.hex()
                found |= {f"data/pepper.old 第 {n} 个": key.hex() for n, key in peppers.older}
            else:
                accounts = read_tryout(settings.data_folder)
                found["data/tryout.json"] = accounts.onebot_access_token
    return found, names


async def _examine_channels(settings: Settings, report: DatabaseReport | None) -> list[Finding]:
    accounts = [_examined(account, settings) for account in settings.wechat.accounts]
    found = [] if accounts else check_no_wechat(is_tryout=settings.is_wechat_tryout)
    for each in accounts:
        found += check_wechat_settings(each)
        if each.app_secret:
            found += await check_wechat_api(each, _api_fix)
    host = settings.host
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    found += await check_port(reached, settings.port, accounts)
    found += check_onebot_settings(
        settings.onebot.access_token, is_loopback=settings.is_loopback, is_on=settings.has_onebot
    )
    return found + check_superusers(
        settings.bare_superusers,
        configured=len(settings.superuser_addresses),
        claimed=report.superusers if report is not None else 0,
    )


def _examined(account: WeChatAccount, settings: Settings) -> ExaminedAccount:
    return ExaminedAccount(
        app_id=account.app_id,
        token=account.token,
        aes_key=account.aes_key,
        app_secret=account.app_secret,
        api_base=account.api_base,
        path=account.path,
        is_first=account is settings.wechat,
    )


def _api_fix(errcode: int) -> str:
    # Only where it is needed: it brings NoneBot, which puts a log of its own on standard output.
    from bot.channels.wechat.api.errors import ApiError

    configure_logs("WARNING")
    return ApiError(errcode, is_about_token=True).fix


async def _examine_redis(settings: Settings) -> list[Finding]:
    if not settings.redis.url:
        return await check_redis(None)
    try:
        window = RedisTurnWindow(open_redis(settings.redis.url), limit=1)
    except ConfigurationError as error:
        return [failure("redis", f"设置 {error.key} {error.problem}", error.fix)]
    try:
        with suppress(StoreUnavailable):
            await window.ping()  # connecting is no part of what a turn waits for
        return await check_redis(window.ping)
    finally:
        await window.close()


async def _examine_clock(settings: Settings, report: DatabaseReport | None) -> list[Finding]:
    others: dict[str, datetime] = {}
    newest: dict[str, datetime] = {}
    if settings.llm.base_url and (date := await date_of(settings.llm.base_url)) is not None:
        others["对话模型的服务器"] = date
    if report is not None and report.newest is not None:
        newest["最近一条消息"] = report.newest
    for path in settings.data_folder.glob("*"):
        newest[path.name] = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return check_clock(datetime.now(UTC), others, newest)


async def _examine_files(settings: Settings) -> list[Finding]:
    """What the operator writes by hand."""
    data = settings.data_folder
    found: list[Finding] = []
    try:
        Wording.load(settings.language, data / "wording.toml")
    except ConfigurationError as error:
        found.append(failure("wording", f"{error.key} {error.problem}", error.fix))
    path = data / "faq.yaml"
    if not path.exists():
        return [*found, fine("faq", "还没有 faq.yaml，首次启动会放一份例子")]
    faq = FaqFile(path)
    rules = (await faq.book()).rules
    if faq.problem:
        return [
            *found,
            failure("faq", f"FAQ 没有生效：{faq.problem}", "照上面说的改那一行，存盘后一秒内生效"),
        ]
    return [*found, fine("faq", f"FAQ {len(rules)} 条规则")]


def _in_use(settings: Settings, models: Models) -> dict[str, str]:
    built_in = "自带" if models.embedder is not None else "无，只用关键词"
    accounts = "、".join(account.app_id for account in settings.wechat.accounts)
    return {
        "数据文件夹": str(settings.data_folder),
        "公众号": accounts or ("试用账号" if settings.is_wechat_tryout else "没有接"),
        "QQ": "可以连接" if settings.has_onebot else "没有接",
        "对话模型": settings.llm.model or "没有接，只摘录",
        "向量模型": settings.embedding.model or built_in,
        "短期记忆": "Redis" if settings.redis.url else "数据库",
        "长期记忆": "开" if settings.memory.consent == "on" else "关，只记明说的“记住”",
    }
