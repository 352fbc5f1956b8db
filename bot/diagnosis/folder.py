"""The data folder: whether it can be written, how full and how quick its disk is, who can read its secrets.

Invariant: what is written to find out is deleted again, and a folder that is not there is not made.
"""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.diagnosis.finding import Finding, failure, fine, warning

LOW_BYTES = 1 << 30
"""A backup and a rebuild of the database (each forgetting makes one) need its size again."""
LEAST_BYTES = 100 << 20
SLOW_SYNC_SECONDS = 0.2
"""Each 「已记住」 waits for one sync. A disk takes 0.001 to 0.03 s; a network drive or a dying card takes this."""
_SECRET_FILES = (
    "pepper",
    "pepper.old",
    "jide.env",
    "tryout.json",
    "console.json",
    "forgotten.jsonl",
    "jide.db",
)
_OTHERS = 0o077
"""Any right of the group or of everybody."""


def check_folder(folder: Path) -> list[Finding]:
    """Whether files can be made in it, or it can be made itself. Blocks."""
    if folder.exists() and not folder.is_dir():
        return [failure("folder", f"{folder} 不是文件夹", "把这个文件移走，或改 JIDE_DATA_DIR")]
    home = folder
    while not home.exists():
        home = home.parent
    if home != folder:
        if os.access(home, os.W_OK):
            return [fine("folder", f"{folder} 还没有，首次启动会建")]
        return [failure("folder", f"建不了 {folder}：{home} 不可写", f"给运行机器人的用户写 {home} 的权限")]
    probe = folder / f".doctor-{secrets.token_hex(4)}"
    try:
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [
            failure(
                "folder",
                f"写不了数据文件夹 {folder}（{error.strerror}）",
                f'把它交给运行机器人的用户：sudo chown -R "$USER" "{folder}"，或改 JIDE_DATA_DIR',
            )
        ]
    return [fine("folder", f"数据文件夹 {folder} 可写"), *_leftovers(folder)]


def check_disk(
    folder: Path,
    free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free,
    sync: Callable[[int], None] = os.fsync,
) -> list[Finding]:
    """Free space, and a real write with a sync. Blocks. The folder must exist."""
    free = free_bytes(folder)
    said = f"磁盘剩余 {free / (1 << 30):.1f} GB"
    room = "删掉不用的文件或换大一点的磁盘；旧备份在数据文件夹的 backups 里"
    if free < LEAST_BYTES:
        return [failure("disk", f"{said}，快写不下了", room)]
    space = warning("disk", said, room) if free < LOW_BYTES else fine("disk", said)
    probe = folder / f".doctor-{secrets.token_hex(4)}"
    try:
        begun = time.perf_counter()
        with probe.open("wb") as file:
            file.write(secrets.token_bytes(4096))
            file.flush()
            sync(file.fileno())
        seconds = time.perf_counter() - begun
    except OSError as error:
        fix = "检查磁盘（dmesg、smartctl）和挂载方式；数据文件夹要放在本机磁盘上"
        return [space, failure("disk", f"数据不能落盘（{error.strerror}）：“已记住”会靠不住", fix)]
    finally:
        probe.unlink(missing_ok=True)
    if seconds > SLOW_SYNC_SECONDS:
        slow = f"落盘一次要 {seconds * 1000:.0f} 毫秒，每条“已记住”都要等它"
        return [space, warning("disk", slow, "把数据文件夹放在本机的固态盘上")]
    return [space, fine("disk", f"落盘一次 {seconds * 1000:.0f} 毫秒")]


def check_secret_files(folder: Path) -> list[Finding]:
    """Files that others on this machine could read. Nothing to see on Windows."""
    found: list[Finding] = []
    for path in (folder / name for name in _SECRET_FILES):
        if os.name == "posix" and path.is_file() and path.stat().st_mode & _OTHERS:
            said = f"{path.name} 能被这台机器上的别人读到"
            make = warning if path.name == "forgotten.jsonl" else failure
            found.append(make("secrets", said, f'chmod 600 "{path}"'))
    return found or [fine("secrets", "密钥和数据库只有自己能读")]


def _leftovers(folder: Path) -> Iterator[Finding]:
    for path in folder.glob("backups/replaced-*/jide.db"):
        said = f"{path.parent.name} 里有恢复时换下来的损坏的数据库，忘掉的还在里面"
        yield warning("folder", said, f'不再需要就删掉：rm -r "{path.parent}"')
    for path in (*folder.glob(".restore-*"), *folder.glob("backups/.backup-*")):
        yield warning(
            "folder",
            f"{path.name} 是没有做完的恢复或备份，里面有数据库的副本",
            f'没有 jide 命令在运行时删掉：rm -r "{path}"',
        )
    for path in folder.glob(".unpack-*"):
        if (path / "placing.json").exists():
            said, fix = "上一次 jide unpack 中断在半路", "再执行一次 jide unpack，它会先把原来的放回来"
            yield failure("folder", said, fix)
        else:
            said = f"{path.name} 是没有做完的 jide unpack，里面有包里的密钥和数据库"
            yield warning("folder", said, f'没有 jide 命令在运行时删掉：rm -r "{path}"')
    for path in folder.glob(".pepper.*"):
        said = f"{path.name} 是没有做完的换密钥，里面有一个密钥"
        yield warning("folder", said, f'没有 jide 命令在运行时删掉：rm "{path}"')
