"""Secrets in files that git keeps, and so in every clone for ever.

Invariant: a secret is named by its setting, never by its value.
"""

import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from bot.diagnosis.finding import Finding, failure, fine, warning

SHORTEST = 8
"""Characters. A shorter value is found everywhere by chance."""
LARGEST_BYTES = 5 << 20
"""Of a file looked through: a secret is pasted into text."""
GIT_SECONDS = 10.0
ROTATE = "删掉它，提交；并且换一个新的：git 的历史里还留着旧的"

_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]+)\s*=\s*(\S.*)$", re.MULTILINE)


def check_tracked_files(
    project: Path, data_folder: Path, secrets: Mapping[str, str], secret_names: Collection[str]
) -> list[Finding]:
    """Blocks. `secrets`: where a secret is written → its value. `secret_names`: settings that hold one."""
    files = _tracked(project)
    if files is None:
        files = [path for path in project.glob(".env*") if path.is_file()]
    found = [finding for path in files for finding in _check_file(path, project, secrets, secret_names)]
    if (repository := _repository(project)) is not None:
        found += _check_ignored(repository, data_folder)
    return found or [fine("tracked", f"git 里的 {len(files)} 个文件没有密钥")]


def _check_file(
    path: Path, project: Path, secrets: Mapping[str, str], secret_names: Collection[str]
) -> list[Finding]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return []
        content = path.read_bytes()
    except OSError:
        return []
    name = path.relative_to(project).as_posix()
    found = [
        failure("tracked", f"{where} 的值出现在 git 管理的 {name} 里", ROTATE)
        for where, value in secrets.items()
        if len(value) >= SHORTEST and value.encode() in content
    ]
    if not found and path.name.startswith(".env"):
        written = {key.upper() for key, _ in _ASSIGNED.findall(content.decode("utf-8", "replace"))}
        found = [
            failure("tracked", f"{name} 里写了 {key}", f"移到 data/jide.env；{ROTATE}")
            for key in sorted(written & set(secret_names))
        ]
    return found


def _check_ignored(repository: Path, data_folder: Path) -> list[Finding]:
    """The data folder must not be swept up by `git add .`."""
    if not data_folder.is_relative_to(repository):
        return []
    ran = _git(repository, ["check-ignore", "-q", str(data_folder / "jide.env")])
    if ran is not None and ran.returncode == 1:
        inner = data_folder.relative_to(repository).as_posix()
        return [warning("tracked", f"git 没有忽略数据文件夹 {inner}", f"在 .gitignore 里加一行 /{inner}/")]
    return []


def _repository(project: Path) -> Path | None:
    ran = _git(project, ["rev-parse", "--show-toplevel"])
    if ran is None or ran.returncode:
        return None
    return Path(ran.stdout.decode("utf-8", "replace").strip())


def _tracked(project: Path) -> list[Path] | None:
    """None where this is no git repository, or there is no git."""
    ran = _git(project, ["ls-files", "-z"])
    if ran is None or ran.returncode:
        return None
    names = ran.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [project / name for name in names if name]


def _git(folder: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[bytes] | None":
    program = shutil.which("git")
    if program is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 (git, and arguments of ours)
            [program, *arguments], cwd=folder, capture_output=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
