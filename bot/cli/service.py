"""`jide service install`: a systemd unit that runs the bot from this folder.

Invariant: it writes one file and starts nothing; what to type next is said.
"""

import getpass
import os
import sys
from pathlib import Path

import typer

from bot.cli.running import Refusal, say_json
from bot.settings_source import read_settings

NAME = "jide.service"
SYSTEM_FOLDER = Path("/etc/systemd/system")
STOP_SECONDS = 40
"""The bot drains within 20 s (SAFETY), its stores close after that."""


def install(*, is_for_user: bool, only_shows: bool, overwrites: bool, as_json: bool) -> None:
    """Raises Refusal."""
    text = unit(
        folder=Path.cwd(),
        data_folder=read_settings().data_folder,
        python=Path(sys.executable),
        user="" if is_for_user else os.environ.get("SUDO_USER") or getpass.getuser(),
    )
    path = (_user_folder() if is_for_user else SYSTEM_FOLDER) / NAME
    if not only_shows:
        _write(path, text, overwrites=overwrites)
    steps = _next_steps(is_for_user=is_for_user)
    if as_json:
        commands = [line.partition("    #")[0] for line in steps]
        say_json({"file": str(path), "written": not only_shows, "text": text, "next": commands})
    elif only_shows:
        typer.echo(text, nl=False)
    else:
        typer.echo("\n  ".join([f"已写 {path}。接着执行：", *steps]))


def _write(path: Path, text: str, *, overwrites: bool) -> None:
    try:
        if path.exists() and path.read_text("utf-8", errors="replace") != text and not overwrites:
            raise Refusal(f"{path} 已经有了，内容不同", "要换掉就加 --yes")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise Refusal(f"写不了 {path}（{error.strerror}）", "加 sudo，或用 --user 只为自己安装") from error


def unit(*, folder: Path, data_folder: Path, python: Path, user: str) -> str:
    """The unit's text. `user` "" makes one for a user's own systemd."""
    lines = [
        "[Unit]",
        "Description=记得：公众号与 QQ 群机器人",
        "Wants=network-online.target",
        "After=network-online.target",
        "",
        "[Service]",
        "Type=exec",
        *([f"User={user}"] if user else []),
        f"WorkingDirectory={_escaped(folder)}",
        f'Environment="JIDE_DATA_DIR={_quoted(data_folder)}"',
        f'ExecStart="{_quoted(python)}" -m bot',
        "Restart=always",
        "RestartSec=3",
        f"TimeoutStopSec={STOP_SECONDS}",
        "UMask=0077",
        "NoNewPrivileges=true",
        "",
        "[Install]",
        f"WantedBy={'multi-user.target' if user else 'default.target'}",
    ]
    return "\n".join(lines) + "\n"


def _next_steps(*, is_for_user: bool) -> list[str]:
    if is_for_user:
        return [
            "systemctl --user daemon-reload",
            "systemctl --user enable --now jide",
            "loginctl enable-linger    # 不登录也运行",
            "journalctl --user -u jide -f    # 看日志",
        ]
    return [
        "sudo systemctl daemon-reload",
        "sudo systemctl enable --now jide",
        "journalctl -u jide -f    # 看日志",
    ]


def _user_folder() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "systemd" / "user"


def _escaped(path: Path) -> str:
    """`%` begins a specifier (systemd.unit(5))."""
    return str(path).replace("%", "%%")


def _quoted(path: Path) -> str:
    """Within double quotes (systemd.syntax(7))."""
    return _escaped(path).replace("\\", "\\\\").replace('"', '\\"')
