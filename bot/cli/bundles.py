"""`jide move` and `jide unpack`, asked for their passphrase and shown while they work.

Invariant: what can be refused without the passphrase is refused before anybody is asked for it, and it is asked
for outside the event loop, which would swallow a Ctrl+C.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import typer

from bot.cli.running import Refusal, do, in_steps, say_json, typed
from bot.container.moving import (
    Unpacked,
    check_target,
    look_at,
    move,
    occupants,
    settle_interrupted,
    unpack,
)
from bot.conversation.errors import ConfigurationError
from bot.moving.header import SHORTEST_PASSPHRASE, check_passphrase
from bot.moving.refusal import BundleRefusal, Fault
from bot.settings import Settings
from bot.settings_fields import known_fields
from bot.settings_source import read_settings

CODES = {
    Fault.NOT_A_BUNDLE: 3,
    Fault.NEWER_FORMAT: 3,
    Fault.WRONG_PASSPHRASE: 4,
    Fault.TRUNCATED: 5,
    Fault.DAMAGED: 6,
}
"""Exit codes, after the 1 and 2 of every command: docs/operators/scripts.md."""
LARGEST_PASSPHRASE_FILE_BYTES = 4096


def move_out(file: Path, passphrase_file: Path | None, *, overwrites: bool, as_json: bool) -> None:
    settings = read_settings()
    check_target(file, overwrites=overwrites)
    passphrase = _new_passphrase(passphrase_file)
    done = do(
        in_steps(
            lambda step: move(settings, file, passphrase, step, overwrites=overwrites), is_shown=not as_json
        )
    )
    counts, elsewhere = done.manifest.counts, _settings_elsewhere()
    if as_json:
        say_json(
            {
                "file": str(file),
                "bytes": done.bytes,
                "made_at": done.manifest.made_at,
                "revision": done.manifest.revision,
                "counts": dict(counts),
                "files": sorted(done.manifest.parts),
                "settings_not_in_it": elsewhere,
            }
        )
        return
    typer.echo(f"已打包、加密并核对：{file}，{done.bytes / (1 << 20):.1f} MB")
    typer.echo(f"账号 {counts['account']} 个，记忆 {counts['fact']} 条，对话 {counts['turn']} 轮")
    if elsewhere:
        typer.echo(
            f"这些设置写在进程环境变量里，包里没有，到新机器上要另外写：{'、'.join(elsewhere)}", err=True
        )
    typer.echo(
        f"到新机器上：jide unpack {file.name}。先停下这里的机器人：打包之后的对话、忘记，包里没有。"
        "口令没有别的办法找回",
        err=True,
    )


def move_in(file: Path, passphrase_file: Path | None, *, overwrites: bool, as_json: bool) -> None:
    settings = read_settings()
    with _told():
        look_at(file)
        settle_interrupted(settings)
        if (found := occupants(settings)) and not overwrites:
            raise Refusal(
                f"{settings.data_folder} 不是空的，里面有 {'、'.join(found)}",
                "换一个空的数据文件夹（JIDE_DATA_DIR），或加 --force：原来的会挪到 backups 里",
            )
        passphrase = _passphrase(passphrase_file, "口令（不显示）")
        done = do(
            in_steps(
                lambda step: unpack(settings, file, passphrase, step, overwrites=overwrites),
                is_shown=not as_json,
            )
        )
    placed = done.placed
    again, steps = placed.replay, _next_steps()
    if as_json:
        say_json(
            {
                "made_at": done.manifest.made_at,
                "program": done.manifest.program,
                "counts": placed.counts,
                "forgettings_replayed": again.forgettings,
                "forgotten_again": again.receipt.total,
                "left_again": again.left,
                "parted_again": again.parted,
                "unsubscribed_again": again.parked,
                "is_ledger_short": again.is_ledger_short,
                "aside": str(placed.aside) if placed.aside else None,
                "next": steps,
            }
        )
        return
    _show(done, settings)
    for number, step in enumerate(steps, 1):
        typer.echo(f"{number}. {step}", err=True)


def _show(done: Unpacked, settings: Settings) -> None:
    counts, replay = done.placed.counts, done.placed.replay
    typer.echo(f"已解开 {done.manifest.made_at} 打的包，放在 {settings.data_folder}")
    typer.echo(f"账号 {counts['account']} 个，记忆 {counts['fact']} 条，对话 {counts['turn']} 轮")
    if replay.forgettings:
        typer.echo(
            f"打包之后忘掉的 {replay.forgettings} 次已重新清除："
            f"记忆 {replay.receipt.facts} 条，对话 {replay.receipt.turns} 轮"
        )
    acts = {"注销的": replay.left, "分开的": replay.parted, "取消关注的": replay.parked}
    if said := "，".join(f"{what}账号 {count} 个" for what, count in acts.items() if count):
        typer.echo(f"打包之后的这些也已照做：{said}")
    if replay.is_ledger_short:
        typer.echo(
            "包里的忘记账本比数据库旧：原来的机器上如有更新的 data/forgotten.jsonl，拷来再解开一次", err=True
        )
    if done.placed.aside is not None:
        typer.echo(f"原来的数据在 {done.placed.aside}，七天后自动删除", err=True)
    typer.echo("接下来：", err=True)


def _next_steps() -> list[str]:
    """What a new machine wants, by the settings that came along."""
    steps = ["停下原来机器上的机器人，不要两边一起运行"]
    try:
        settings = read_settings()
    except ConfigurationError as error:
        return [*steps, f"改好设置：{error}", "jide doctor"]
    if settings.wechat.accounts:
        steps.append("公众号后台：IP 白名单加上这台机器的 IP；服务器地址（URL）改到这台机器")
    if settings.qq.app_id:
        steps.append("q.qq.com：IP 白名单加上这台机器的 IP；用回调的，回调地址改到这台机器")
    if settings.redis.url:
        steps.append("Redis：REDIS__URL 要从这台机器连得上；旧的缓存不用搬，会自己过期")
    return [*steps, "jide doctor，没有错误再 jide run"]


@contextmanager
def _told() -> Generator[None]:
    """Refusals of a bundle, each with its exit code."""
    try:
        yield
    except BundleRefusal as refusal:
        raise Refusal(refusal.problem, refusal.fix, CODES[refusal.fault]) from refusal


def _new_passphrase(file: Path | None) -> str:
    is_asked = file is None and sys.stdin.isatty()
    passphrase = _passphrase(file, f"口令（至少 {SHORTEST_PASSPHRASE} 个字，不显示）")
    check_passphrase(passphrase)
    if is_asked and _passphrase(None, "再输入一次") != passphrase:
        raise Refusal("两次输入的口令不一样", "再执行一次")
    return passphrase


def _passphrase(file: Path | None, question: str) -> str:
    """From a file, the keyboard, or what is piped in. Raises Refusal where there is none."""
    try:
        if file is not None:
            with file.open("rb") as opened:
                first = opened.read(LARGEST_PASSPHRASE_FILE_BYTES).decode("utf-8-sig")
        elif sys.stdin.isatty():
            first = typed(question, hides=True)
        else:
            first = sys.stdin.readline(LARGEST_PASSPHRASE_FILE_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"读不了口令（{error}）", "用 UTF-8 存成一个文件，第一行写口令") from error
    except EOFError:
        first = ""
    passphrase = first.partition("\n")[0].strip()
    if not passphrase:
        raise Refusal("没有口令", "在终端里执行，或加 --passphrase-file 文件，或从标准输入给第一行")
    return passphrase


def _settings_elsewhere() -> list[str]:
    known = known_fields().keys() - {"JIDE_DATA_DIR"}
    return sorted(name.upper() for name, text in os.environ.items() if name.upper() in known and text)
