"""The backup file: a .tar.gz of a manifest, the database and the operator's files.

Invariant: nothing is read out of an archive under a name, of a length or with a checksum other than its
manifest's, and no name leads out of the folder it is put into.
"""

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from bot.conversation.errors import RejectedInput, StoreUnavailable

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "jide.db"
FILES = "files/"
"""Before the names of the operator's files."""
OPERATOR_FILES = (
    "faq.yaml",
    "persona.md",
    "wording.toml",
    "products.csv",
    "prompts",
    "documents",
    "accounts",
)
"""Of the data folder. A list of what goes in, so that no secret ever does: not the pepper, not jide.env."""
_OF_ACCOUNTS = "accounts/*/persona.md"
"""Of `accounts` nothing else: what is put beside a persona may be a secret of that account."""
COMPRESSION = 3
"""Of 9. Vectors hardly shrink; higher levels take three times as long for a few percent of the text."""
LARGEST_MANIFEST_BYTES = 16 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file in the archive."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an archive holds, checked when it is read."""

    format: int
    made_at: str
    """ISO 8601."""
    program: str
    revision: str
    """Of the schema."""
    forgotten: int
    """The last forgetting that the database holds."""
    counts: Mapping[str, int]
    """Rows by table."""
    parts: Mapping[str, Part]
    """By name: `jide.db`, and `files/…`."""


def operator_files(folder: Path) -> dict[str, Path]:
    """The operator's own files in a data folder, by their names in an archive. Links are left out."""
    found: dict[str, Path] = {}
    for name in OPERATOR_FILES:
        top = folder / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            inner = PurePosixPath(path.relative_to(folder).as_posix())
            if path.is_file() and not path.is_symlink() and _is_operators(inner):
                found[f"{FILES}{inner}"] = path
    return found


def part_of(path: Path) -> Part:
    with path.open("rb") as file:
        return _digest(file)


def write_archive(
    target: IO[bytes],
    manifest: Manifest,
    sources: Mapping[str, Path],
    on_bytes: Callable[[int], None],
) -> None:
    """Write all of it to an open file. Raises OSError; RejectedInput when a file changed meanwhile."""
    with (
        gzip.GzipFile(fileobj=target, mode="wb", compresslevel=COMPRESSION) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, MANIFEST, io.BytesIO(_dumped(manifest)), len(_dumped(manifest)))
        for name, part in manifest.parts.items():
            with sources[name].open("rb") as file:
                _add(tar, name, _Counting(file, on_bytes), part.bytes)


def read_archive(
    archive: Path | IO[bytes],
    folder: Path,
    on_bytes: Callable[[int], None],
    also: frozenset[str] = frozenset(),
) -> Manifest:
    """Unpack into an empty folder; every checksum is compared. `also`: names that may be in it besides ours.

    Raises RejectedInput, or StoreUnavailable where there is no room for it.
    """
    name = archive.name if isinstance(archive, Path) else "包"
    try:
        with (
            gzip.GzipFile(archive) if isinstance(archive, Path) else gzip.GzipFile(fileobj=archive) as zipped,
            tarfile.open(fileobj=zipped, mode="r|") as tar,
        ):
            manifest = _read(tar, folder, on_bytes, also)
            _read_out(zipped)
            return manifest
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise RejectedInput(f"{name} 不是完好的备份（{error}）") from error


def _read(
    tar: tarfile.TarFile, folder: Path, on_bytes: Callable[[int], None], also: frozenset[str]
) -> Manifest:
    members = iter(tar)
    manifest = _manifest(tar, next(members, None))
    seen: set[str] = set()
    for member in members:
        part = manifest.parts.get(member.name)
        if part is None or not member.isfile() or member.size != part.bytes or member.name in seen:
            raise RejectedInput(f"备份里的 {member.name} 与清单不符")
        seen.add(member.name)
        source = tar.extractfile(member)
        assert source is not None
        if _unpack(source, folder / _inner(member.name, also), on_bytes) != part:
            raise RejectedInput(f"备份里的 {member.name} 已损坏：校验和不符")
    if missing := manifest.parts.keys() - seen:
        raise RejectedInput(f"备份里缺了 {'、'.join(sorted(missing))}")
    return manifest


def _read_out(zipped: gzip.GzipFile) -> None:
    """What fills up the last record. At its end the checksum over all is compared, which is that of the manifest too."""
    if len(zipped.read(tarfile.RECORDSIZE + 1)) > tarfile.RECORDSIZE or zipped.read(1):
        raise RejectedInput("备份的末尾还有别的东西")


def _manifest(tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> Manifest:
    file = tar.extractfile(member) if member is not None and member.name == MANIFEST else None
    if member is None or file is None or member.size > LARGEST_MANIFEST_BYTES:
        raise RejectedInput("这不是记得的备份：开头没有清单")
    try:
        fields: dict[str, Any] = json.loads(file.read())
        if fields.get("format") != FORMAT:
            raise RejectedInput("这份备份由更新版本的程序写成，升级程序后再恢复")
        parts = {name: Part(**part) for name, part in fields.pop("parts").items()}
        manifest = Manifest(**fields, parts=parts)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RejectedInput("备份里的清单看不懂") from error
    if DATABASE not in parts:
        raise RejectedInput("备份里没有数据库")
    return manifest


def _inner(name: str, also: frozenset[str]) -> PurePosixPath:
    """A name that stays within the folder. Raises RejectedInput."""
    path = PurePosixPath(name)
    is_ours = (
        name == DATABASE
        or name in also
        or (name.startswith(FILES) and _is_operators(path.relative_to(FILES)))
    )
    if path.is_absolute() or ".." in path.parts or "\\" in name or not is_ours:
        raise RejectedInput(f"备份里有不该有的文件：{name}")
    return path


def _is_operators(inner: PurePosixPath) -> bool:
    """By a name within the data folder."""
    match inner.parts:
        case ("accounts", *_):
            return len(inner.parts) == len(PurePosixPath(_OF_ACCOUNTS).parts) and inner.match(_OF_ACCOUNTS)
        case (top, *_):
            return top in OPERATOR_FILES
        case _:
            return False


def _unpack(source: IO[bytes], target: Path, on_bytes: Callable[[int], None]) -> Part:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("xb")
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise StoreUnavailable(f"写不了 {target.name}（{error}）：检查剩余空间和权限") from error
    with file:
        return _digest(source, _Copy(file), on_bytes)


def _digest(
    source: IO[bytes], copy: "_Copy | None" = None, on_bytes: Callable[[int], None] = lambda _: None
) -> Part:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if copy is not None:
            copy.write(chunk)
        on_bytes(len(chunk))
    return Part(bytes=size, sha256=digest.hexdigest())


def _dumped(manifest: Manifest) -> bytes:
    return json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode()


def _add(tar: tarfile.TarFile, name: str, content: "IO[bytes] | _Counting", size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    tar.addfile(member, content)  # pyright: ignore[reportArgumentType]


class _Copy:
    """A file to write to. A full disk is no fault of what is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, chunk: bytes) -> None:
        try:
            self._file.write(chunk)
            self._file.flush()
        except OSError as error:
            raise StoreUnavailable(f"{error.strerror}：检查剩余空间和权限") from error


class _Counting:
    """A file that says how much of it was read."""

    def __init__(self, file: IO[bytes], on_bytes: Callable[[int], None]) -> None:
        self._file = file
        self._on_bytes = on_bytes

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._on_bytes(len(chunk))
        return chunk
