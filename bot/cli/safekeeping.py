"""`jide backup` and `jide restore`, shown while they work."""

from pathlib import Path

import typer

from bot.cli.running import in_steps, say_json
from bot.container.safekeeping import accept_pepper, back_up, finish_rotation, restore, rotate_pepper
from bot.settings_source import read_settings


async def back_up_data(file: Path | None, *, as_json: bool) -> None:
    settings = read_settings()
    done = await in_steps(lambda step: back_up(settings, file, step), is_shown=not as_json)
    counts = done.manifest.counts
    if as_json:
        say_json(
            {
                "file": str(done.path),
                "bytes": done.bytes,
                "revision": done.manifest.revision,
                "counts": dict(counts),
                "files": sorted(name for name in done.manifest.parts if name != "jide.db"),
            }
        )
        return
    typer.echo(f"已备份并核对：{done.path}，{done.bytes / (1 << 20):.1f} MB")
    typer.echo(f"账号 {counts['account']} 个，记忆 {counts['fact']} 条，对话 {counts['turn']} 轮")
    typer.echo(
        "备份里没有密钥：请另外保存 data/pepper 和 data/jide.env；"
        "换机器时把最新的 data/forgotten.jsonl 一起带走",
        err=True,
    )


async def restore_data(file: Path, *, uses_ledger: bool, as_json: bool) -> None:
    settings = read_settings()
    done = await in_steps(
        lambda step: restore(settings, file, step, uses_ledger=uses_ledger), is_shown=not as_json
    )
    again = done.replay.receipt
    if as_json:
        say_json(
            {
                "made_at": done.manifest.made_at,
                "revision": done.manifest.revision,
                "counts": dict(done.counts),
                "forgettings_replayed": done.replay.forgettings,
                "forgotten_again": again.total,
                "left_again": done.replay.left,
                "parted_again": done.replay.parted,
                "unsubscribed_again": done.replay.parked,
                "is_ledger_short": done.replay.is_ledger_short,
                "replaced_files": list(done.replaced),
                "aside": str(done.aside) if done.aside.exists() else None,
            }
        )
        return
    counts = done.counts
    typer.echo(f"已恢复到 {done.manifest.made_at}")
    typer.echo(f"账号 {counts['account']} 个，记忆 {counts['fact']} 条，对话 {counts['turn']} 轮")
    if done.replay.forgettings:
        typer.echo(
            f"备份之后忘掉的 {done.replay.forgettings} 次已重新清除："
            f"记忆 {again.facts} 条，对话 {again.turns} 轮"
        )
    acts = {"注销的": done.replay.left, "分开的": done.replay.parted, "取消关注的": done.replay.parked}
    if any(acts.values()):
        said = "，".join(f"{what}账号 {count} 个" for what, count in acts.items() if count)
        typer.echo(f"备份之后的这些也已照做：{said}")
    if done.replay.is_ledger_short:
        typer.echo(
            "忘记账本比备份旧：从原来的机器拷来最新的 data/forgotten.jsonl，再恢复一次，忘掉的才不会回来",
            err=True,
        )
    if done.aside.exists():
        typer.echo(f"换下来的文件在 {done.aside}", err=True)
    typer.echo("接着执行 jide doctor，再启动机器人", err=True)


async def take_new_pepper(*, as_json: bool) -> None:
    orphaned = await accept_pepper(read_settings())
    if as_json:
        say_json({"phones_to_verify": orphaned})
        return
    typer.echo(f"已改用现在的 data/pepper；{orphaned} 个手机号要重新验证")


async def rotate(*, finishes: bool, as_json: bool) -> None:
    settings = read_settings()
    if finishes:
        dropped = await finish_rotation(settings)
        if as_json:
            say_json({"phones_to_verify": dropped})
        else:
            typer.echo(f"换密钥已做完；{dropped} 个手机号要重新验证")
        return
    phones = await rotate_pepper(settings)
    if as_json:
        say_json({"phones_under_old_key": phones})
        return
    typer.echo(f"已换新密钥；{phones} 个手机号还在用旧密钥，主人再验证一次、或再导入一次名单，就换成新的")
    typer.echo(
        "运行中的机器人不用重启。旧密钥留在 data/pepper.old：找手机号、恢复备份时重放忘记账本都靠它；"
        "请把 data/pepper 和 data/pepper.old 一起另外保存",
        err=True,
    )
