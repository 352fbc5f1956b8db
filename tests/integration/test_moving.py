"""A whole bot goes to another machine in one sealed file, and nothing of it is read on the way."""

import base64
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import build
from bot.container import House
from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.moving import header
from bot.secrets_file import read_peppers
from bot.settings_source import read_settings
from bot.storage.sql import packing, unpacking
from bot.storage.sql.backup import prune_automatic
from bot.storage.sql.half_placed import refuse_half_unpacked, remove_leftovers
from bot.storage.sql.snapshot import opened
from tests.integration.operator_fixture import Operator, operator
from tests.memory_stage import traces

__all__ = ["operator"]

WORDS = "三个不相干的词加一只金丝雀"
PHONE, OTHER_PHONE = "13800138000", "13900139000"
API_KEY = "sk-canary-7319-0000"
ACCOUNT = "WECHAT__APP_ID=wx0123456789abcdef\nWECHAT__TOKEN=t0ken-of-the-account\n"
FACT, FORGOTTEN = "我对花生过敏", "我住在月球背面"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.container.moving.new_seal", lambda words: header.new_seal(words, log2_n=14))


class Machines:
    """The same operator at two machines."""

    def __init__(self, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
        self.operator = operator
        self.old = operator.data
        self.new = operator.project.parent / "新机器" / "数据 二"
        self.bundle = operator.project.parent / "搬家.jide"
        self._set = monkeypatch.setenv

    def at(self, data: Path) -> Operator:
        self._set("JIDE_DATA_DIR", str(data))
        self.operator.data = data
        return self.operator

    def move(self, *options: str) -> dict[str, Any]:
        done = self.at(self.old).types("move", str(self.bundle), *options, "--json", typed=f"{WORDS}\n")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def unpack(self, *options: str) -> dict[str, Any]:
        done = self.at(self.new).types("unpack", str(self.bundle), *options, "--json", typed=f"{WORDS}\n")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def settles(self) -> None:
        """An unpacking that is refused, but not before it put back what another one left."""
        spoilt = self.bundle.with_suffix(".spoilt")
        spoilt.write_bytes(self.bundle.read_bytes()[:-100])
        done = self.at(self.new).types("unpack", str(spoilt), "--force", typed=f"{WORDS}\n")
        assert done.exit_code == 5, done.output

    def is_refused(self, *options: str, code: int = 1, words: str = WORDS) -> str:
        before = state(self.new)
        done = self.at(self.new).types("unpack", str(self.bundle), *options, typed=f"{words}\n")
        assert done.exit_code == code, done.output
        assert state(self.new) == before, "everything is as it was"
        return done.output


def state(folder: Path) -> dict[str, bytes | str]:
    """Every file but the database's own bookkeeping, and what the database says."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")) if folder.exists() else []:
        if path.is_file() and not path.name.startswith("jide.db"):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    if (database := folder / "jide.db").is_file():
        with opened(database) as connection:
            found["jide.db"] = "\n".join(connection.iterdump())
    return found


def rows(data: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(data / "jide.db") as connection:
        found = connection.execute(sql).fetchall()
    connection.close()
    return found


def imported(operator: Operator) -> dict[str, Any]:
    path = operator.project / "名单.csv"
    lines = [f"oA,{PHONE}", f"oB,{PHONE}", f"oC,{OTHER_PHONE}"]
    path.write_text("\n".join(["openid,phone", *lines]), "utf-8")
    return operator.reads("identity", "import", str(path))


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled by the first test that asks for `machines`."""
    return tmp_path_factory.mktemp("moving") / "data"


@pytest.fixture
def machines(operator: Operator, monkeypatch: pytest.MonkeyPatch, lived_in: Path) -> Machines:
    """A bot with persons, a link, a replaced pepper, something forgotten, files and a key."""
    if not lived_in.exists():
        operator.data.mkdir()
        (operator.data / "jide.env").write_text(ACCOUNT, "utf-8")
        operator.says(f"记住：{FACT}", "wechat:oA")
        operator.says(f"记住：{FORGOTTEN}", "wechat:oC")
        imported(operator)
        operator.reads("rotate", "pepper", "--yes")
        operator.reads("memory", "forget", "wechat:oC", "--yes")
        settings = f"{ACCOUNT}LLM__BASE_URL=http://127.0.0.1:1/v1\nLLM__MODEL=m\nLLM__API_KEY={API_KEY}\n"
        (operator.data / "jide.env").write_text(settings, "utf-8")
        (operator.data / "documents" / "子").mkdir(parents=True)
        (operator.data / "documents" / "子" / "手册.md").write_text("七天内可退", "utf-8")
        (operator.data / "accounts" / "wx1").mkdir(parents=True)
        (operator.data / "accounts" / "wx1" / "persona.md").write_text("你叫小记", "utf-8")
        shutil.copytree(operator.data, lived_in)
    else:
        shutil.copytree(lived_in, operator.data)
    return Machines(operator, monkeypatch)


def test_the_same_bot_on_another_machine(machines: Machines) -> None:
    told = machines.move()
    assert told["counts"]["account"] == 3 and told["counts"]["fact"] == 1
    assert {"secrets/pepper", "secrets/pepper.old", "secrets/forgotten.jsonl", "secrets/jide.env"} <= {
        *told["files"]
    }
    assert told["settings_not_in_it"] == ["PORT"]
    person = machines.at(machines.old).reads("memory", "show", "wechat:oB")["person"]
    before = read_peppers(machines.old)
    done = machines.unpack()
    assert done["counts"]["fact"] == 1 and done["aside"] is None and done["forgettings_replayed"] == 0
    assert done["next"][-1].startswith("jide doctor")
    new = machines.at(machines.new)
    assert read_peppers(machines.new) == before
    assert (machines.new / "jide.env").read_bytes() == (machines.old / "jide.env").read_bytes()
    assert (machines.new / "documents/子/手册.md").read_text("utf-8") == "七天内可退"
    assert (machines.new / "accounts/wx1/persona.md").read_text("utf-8") == "你叫小记"
    modes = {path.name: path.stat().st_mode & 0o777 for path in machines.new.iterdir() if path.is_file()}
    for name in ("pepper", "pepper.old", "jide.env", "forgotten.jsonl", "jide.db"):
        assert modes[name] == 0o600, name
    shown = new.reads("memory", "show", "wechat:oB")
    assert shown["person"] == person and [each["text"] for each in shown["facts"]] == [FACT]
    again = imported(new)
    assert (again["new"], again["joined"], again["known"]) == (0, 0, 3), "also under the replaced pepper"
    assert "花生" in new.types("chat", "--as", "wechat:oA", typed="我对什么过敏？\n").output
    assert traces(machines.new, FORGOTTEN) == set()
    assert not list(machines.new.glob(".*")) and not list(machines.old.glob(".*"))
    assert rows(machines.new, "SELECT count(*) FROM audit WHERE action = 'unpack'") == [(1,)]


def test_nothing_of_it_can_be_read_in_the_bundle(machines: Machines) -> None:
    secrets = [PHONE, FACT, API_KEY, "127.0.0.1", "小记", "手册", "七天内", "jide.db"]
    for key in (read_peppers(machines.old).current, *read_peppers(machines.old).keys_before):
        secrets.append(key.hex())
        secrets.append(base64.b64encode(key).decode())
    machines.move()
    raw = machines.bundle.read_bytes()
    assert machines.bundle.stat().st_mode & 0o777 == 0o600
    assert raw.startswith(b"JIDE-MOVE\n") and len(raw) > 10_000
    for secret in secrets:
        for form in (secret.encode(), secret.encode("utf-16-le"), secret.encode("gbk")):
            assert form not in raw, secret
    assert read_peppers(machines.old).current not in raw
    assert b"\x1f\x8b\x08" not in raw[header.HEADER_BYTES : header.HEADER_BYTES + 64]
    assert [path.name for path in machines.bundle.parent.iterdir() if path.suffix == ".jide"] == ["搬家.jide"]


def test_what_was_forgotten_after_the_bundle_was_made_stays_forgotten(machines: Machines) -> None:
    """The ledger of the old machine is put into the empty folder first."""
    machines.move()
    machines.at(machines.old).reads("memory", "forget", "wechat:oA", "--yes")
    machines.new.mkdir(parents=True)
    shutil.copy(machines.old / "forgotten.jsonl", machines.new)
    done = machines.unpack()
    assert done["forgettings_replayed"] == 1 and done["counts"]["fact"] == 0
    shutil.rmtree(done["aside"])
    assert traces(machines.new, FACT) == set()
    machines.at(machines.new).says(f"记住：{FACT}", "wechat:oA")
    assert machines.operator.count("fact") == 1, "it is remembered when it is said again"


def test_the_ledger_of_the_folder_is_heeded_too(machines: Machines) -> None:
    """A bot of another pepper was told to forget the same account."""
    machines.move()
    new = machines.at(machines.new)
    machines.new.mkdir(parents=True)
    (machines.new / "jide.env").write_text(ACCOUNT, "utf-8")
    new.says(f"记住：{FACT}", "wechat:oA")
    new.says("记住：我养了一只猫", "wechat:oD")
    new.reads("memory", "forget", "wechat:oA", "--yes")
    old_pepper = read_peppers(machines.new).current
    assert "不是空的" in machines.is_refused()
    done = machines.unpack("--force")
    assert done["forgettings_replayed"] == 1 and done["counts"]["fact"] == 0
    assert old_pepper in read_peppers(machines.new).keys_before, "its lines are still read"
    aside = Path(done["aside"])
    assert rows(aside, "SELECT text FROM fact") == [("我养了一只猫",)]
    assert read_peppers(aside).current == old_pepper
    shown = machines.at(machines.new).types("memory", "show", "wechat:oD")
    assert "没有找到" in shown.output
    report = json.loads(new.types("doctor", "--json").stdout)
    bad = {each["check"] for each in report["findings"] if each["level"] == "failure"}
    assert not bad & {"pepper", "ledger", "database", "secrets"}, report
    assert imported(new)["known"] == 3


def test_what_is_replaced_stays_a_week(machines: Machines) -> None:
    machines.move()
    machines.at(machines.new).says("记住：我养了一只猫", "wechat:oD")
    (machines.new / "persona.md").write_text("旧的人设", "utf-8")
    (machines.new / "photo.jpg").write_bytes(b"not ours")
    machines.unpack("--force")
    (aside,) = (machines.new / "backups").glob("before-unpack-*")
    assert (aside / "persona.md").read_text("utf-8") == "旧的人设" and not (
        machines.new / "persona.md"
    ).exists()
    assert (machines.new / "photo.jpg").exists()
    assert aside.stat().st_mode & 0o077 == 0
    shown = machines.at(aside).reads("memory", "show", "wechat:oD")
    assert [each["text"] for each in shown["facts"]] == ["我养了一只猫"], "it is a data folder itself"
    prune_automatic(machines.new)
    assert aside.exists()
    os.utime(aside, (0, 0))
    prune_automatic(machines.new)
    assert not aside.exists()


def test_ids_go_on_above_what_the_old_machine_may_have_given_out(machines: Machines) -> None:
    machines.move()
    machines.at(machines.old).says("你好", "wechat:oNext")
    (taken,) = rows(machines.old, "SELECT max(id) FROM person")
    machines.unpack()
    machines.at(machines.new).says("你好", "wechat:oOther")
    assert rows(machines.new, "SELECT max(id) FROM person") > [taken]


def changed(place: Callable[[bytes], int]) -> Callable[[bytes], bytes]:
    def change(raw: bytes) -> bytes:
        spoilt = bytearray(raw)
        spoilt[place(raw)] ^= 1
        return bytes(spoilt)

    return change


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (changed(lambda raw: 0), 3, "不是 jide move 写的包"),
        (lambda raw: raw[:10] + b"\x02" + raw[11:], 3, "升级这台机器上的程序"),
        (changed(lambda raw: 20), 6, "被人改过"),
        (changed(lambda raw: len(raw) // 2), 6, "被人改过"),
        (lambda raw: raw[: len(raw) // 2], 5, "不完整"),
        (lambda raw: raw[:-1], 5, "不完整"),
        (lambda raw: b"", 3, "不是 jide move 写的包"),
    ],
)
def test_a_bad_bundle_is_refused(
    machines: Machines, change: Callable[[bytes], bytes], code: int, said: str
) -> None:
    machines.move()
    machines.bundle.write_bytes(change(machines.bundle.read_bytes()))
    assert said in machines.is_refused(code=code)
    assert not machines.new.exists() or not list(machines.new.iterdir())


def test_a_wrong_passphrase_and_no_passphrase(machines: Machines) -> None:
    machines.move()
    assert "口令不对" in machines.is_refused(code=4, words=WORDS + "!")
    assert "没有口令" in machines.is_refused(words="")
    file = machines.operator.project / "口令.txt"
    file.write_text(f"{WORDS}\r\n另一行\n", "utf-8")
    machines.operator.reads("unpack", str(machines.bundle), "--passphrase-file", str(file))
    assert "读不了口令" in machines.is_refused("--force", "--passphrase-file", "没有.txt")


def test_move_refuses_before_it_writes(machines: Machines) -> None:
    old = machines.at(machines.old)
    assert "至少要 12 个字" in old.is_refused("move", str(machines.bundle), typed="太短\n")
    assert not machines.bundle.exists()
    machines.bundle.write_bytes(b"something else")
    assert "--force" in old.is_refused("move", str(machines.bundle), typed=f"{WORDS}\n")
    assert machines.bundle.read_bytes() == b"something else"
    machines.move("--force")
    assert machines.bundle.read_bytes().startswith(header.MAGIC)
    (machines.old / "pepper").rename(machines.old / "elsewhere")
    done = old.types("move", str(machines.bundle), "--force", typed=f"{WORDS}\n")
    assert done.exit_code == 2 and "不见了" in done.output
    assert not (machines.old / "pepper").exists(), "no new one is made"
    (machines.old / "pepper").write_text("ab" * 32 + " 9\n")
    done = old.types("move", str(machines.bundle), "--force", typed=f"{WORDS}\n")
    assert done.exit_code == 2 and "不是这个数据库原来用的" in done.output
    assert "没有数据可搬" in machines.at(machines.new).is_refused(
        "move", str(machines.bundle), "--force", typed=f"{WORDS}\n"
    )


def test_typed_twice_at_a_keyboard(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def typed(question: str, *, hides: bool) -> str:
        assert hides
        asked.append(question)
        return WORDS if len(asked) % 2 else "另外十二个字的口令一二三"

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("bot.cli.bundles.sys.stdin", Terminal())
    monkeypatch.setattr("bot.cli.bundles.typed", typed)
    from bot.cli.bundles import move_out
    from bot.cli.running import Refusal

    with pytest.raises(Refusal, match="不一样"):
        move_out(machines.bundle, None, overwrites=False, as_json=True)
    assert len(asked) == 2 and not machines.bundle.exists()


def test_a_newer_database_is_refused(machines: Machines) -> None:
    with opened(machines.old / "jide.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    machines.move()
    assert "由更新版本的程序写成" in machines.is_refused()


def test_a_bundle_without_its_pepper_or_with_another_name_is_refused(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(packing, "SECRET_NAMES", frozenset({*packing.SECRET_NAMES, "secrets/evil"}))
        patched.setattr(packing, "SECRET_FILES", (*packing.SECRET_FILES, "evil"))
        (machines.old / "evil").write_text("x")
        machines.move()
    assert "不该有的文件：secrets/evil" in machines.is_refused()
    with monkeypatch.context() as patched:
        real = packing.operator_files
        patched.setattr(
            packing, "operator_files", lambda folder: {**real(folder), "files/../../evil": folder / "evil"}
        )
        done = machines.at(machines.old).types("move", str(machines.bundle), "--force", typed=f"{WORDS}\n")
    assert done.exit_code == 1 and "不该有的文件" in done.output, "it is not even written"


def test_a_damaged_database_goes_aside(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.move()
    machines.new.mkdir(parents=True)
    (machines.new / "jide.db").write_bytes(b"no database " * 1000)
    before = (machines.new / "jide.db").read_bytes()
    done = machines.operator.types("unpack", str(machines.bundle), "--force", typed="wrong words, long\n")
    assert done.exit_code == 4
    with monkeypatch.context() as patched:
        patched.setattr(unpacking, "put_in_place", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        done = machines.at(machines.new).types("unpack", str(machines.bundle), "--force", typed=f"{WORDS}\n")
    assert done.exit_code == 1
    assert [path.name for path in machines.new.rglob("*") if path.is_file()] == ["jide.db"]
    assert (machines.new / "jide.db").read_bytes() == before
    aside = Path(machines.unpack("--force")["aside"])
    assert (aside / "jide.db").read_bytes() == before


def test_beside_a_running_bot(machines: Machines) -> None:
    machines.move()
    machines.at(machines.new).says("你好", "wechat:oD")
    with opened(machines.new / "jide.db") as running:
        running.execute("SELECT count(*) FROM person").fetchall()
        assert "先停下再解开" in machines.is_refused("--force")
    with opened(machines.old / "jide.db") as running:
        running.execute("SELECT count(*) FROM person").fetchall()
        machines.move("--force")


@pytest.mark.parametrize("fails_at", ["begin", "put_in_place", "sync_folder"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_failure_puts_everything_back(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, fails_at: str, is_empty: bool
) -> None:
    machines.move()
    if not is_empty:
        machines.at(machines.new).says("记住：我养了一只猫", "wechat:oD")
        (machines.new / "persona.md").write_text("旧的人设", "utf-8")
    real, calls = getattr(unpacking, fails_at), []

    def fail_once(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(unpacking, fails_at, fail_once)
        assert "剩余空间" in machines.is_refused("--force")
    assert calls
    refuse_half_unpacked(machines.new)
    assert not list(machines.new.glob(".*"))
    assert (machines.new / "jide.db").exists() is not is_empty
    machines.unpack("--force")


class Killed(BaseException):
    """Nothing is put back after it."""


def kill_at(step: int, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether it came that far."""
    moves, rename, place = 0, Path.rename, unpacking.put_in_place

    def count(*given: Any) -> None:
        nonlocal moves
        moves += 1
        if moves > step:
            raise Killed

    def count_rename(self: Path, target: Path) -> Path:
        count()
        return rename(self, target)

    def count_place(*given: Any) -> dict[str, int]:
        count()
        found = place(*given)
        patched.setattr(Path, "rename", rename)  # what follows is after the change
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", count_rename)
        patched.setattr(unpacking, "put_in_place", count_place)
        patched.setattr(unpacking, "undo", count)
        try:
            machines.unpack("--force")
        except Killed:
            return True
    return False


@pytest.mark.parametrize("is_empty", [True, False])
def test_killed_while_names_are_moved(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, is_empty: bool
) -> None:
    """At each of the moves in turn, and just before the database changes."""
    machines.move()
    machines.new.mkdir(parents=True)
    if not is_empty:
        machines.at(machines.new).says("记住：我养了一只猫", "wechat:oD")
        (machines.new / "persona.md").write_text("旧的人设", "utf-8")
    before, steps = state(machines.new), 0
    while kill_at(steps, machines, monkeypatch):
        steps += 1
        with pytest.raises(ConfigurationError, match="中断"):
            refuse_half_unpacked(machines.new)
        for command in (("restore", "x.tar.gz", "--yes"), ("move", "y.jide")):
            done = machines.operator.types(*command, typed=f"{WORDS}\n")
            assert done.exit_code == 2 and "中断" in done.output
        # Whatever comes next, also a refusal, first puts back what was there.
        machines.settles()
        assert state(machines.new) == before
        refuse_half_unpacked(machines.new)
    assert steps > (5 if is_empty else 8)
    assert [each["text"] for each in machines.operator.reads("memory", "show", "wechat:oA")["facts"]] == [
        FACT
    ]
    refuse_half_unpacked(machines.new)


def test_an_interrupted_unpacking_is_simply_done_again(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into an empty folder, and so without --force the second time as well."""
    machines.move()
    assert kill_at(4, machines, monkeypatch)
    assert (machines.new / "pepper").exists() and list(machines.new.glob(".unpack-*/placing.json"))
    machines.unpack()
    assert not list(machines.new.glob(".*"))
    assert [each["text"] for each in machines.operator.reads("memory", "show", "wechat:oA")["facts"]] == [
        FACT
    ]


def test_what_was_there_is_back_before_it_is_called_not_empty(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.move()
    machines.at(machines.new).says("记住：我养了一只猫", "wechat:oD")
    (machines.new / "persona.md").write_text("旧的人设", "utf-8")
    before = state(machines.new)
    assert kill_at(6, machines, monkeypatch)
    (aside,) = (machines.new / "backups").iterdir()
    (aside / "old.db").write_bytes(b"half a copy")
    (aside / "old.db-journal").write_bytes(b"of that copy")
    (machines.new / "jide.db-journal").write_bytes(bytes(28) + b"of pages before")
    done = machines.at(machines.new).types("unpack", str(machines.bundle), typed=f"{WORDS}\n")
    assert done.exit_code == 1 and "不是空的" in done.output
    assert state(machines.new) == before and not aside.exists()
    assert not (machines.new / "jide.db-journal").exists()


def test_nothing_is_made_in_a_half_moved_folder(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.move()
    assert kill_at(0, machines, monkeypatch)
    names = {path.name for path in machines.new.rglob("*")}
    new = machines.at(machines.new)
    for command in (("memory", "show", "wechat:oA"), ("rotate", "pepper", "--yes"), ("backup",)):
        done = new.types(*command)
        assert done.exit_code == 2 and "中断" in done.output, command
    for refused in (lambda: House(read_settings()), lambda: build(read_settings())):
        with pytest.raises(ConfigurationError, match="中断"):
            refused()
    assert {path.name for path in machines.new.rglob("*")} == names
    report = json.loads(new.types("doctor", "--json").stdout)
    assert any("中断在半路" in each["said"] and each["level"] == "failure" for each in report["findings"])


def test_secrets_of_an_unpacking_that_placed_nothing_go_at_the_next_start(machines: Machines) -> None:
    left, peppers = machines.old / ".unpack-left", machines.old / ".pepper.0123"
    left.mkdir()
    (left / "pepper").write_text("ab" * 32)
    peppers.write_text("cd" * 32)
    old = machines.at(machines.old)
    said = [each["said"] for each in json.loads(old.types("doctor", "--json").stdout)["findings"]]
    assert [name for name in (left.name, peppers.name) if any(name in each for each in said)] == [
        left.name,
        peppers.name,
    ]
    with unpacking.sole_owner(machines.old / "jide.db", machines.old / "x"), pytest.raises(StoreUnavailable):
        remove_leftovers(machines.old)
    assert left.exists(), "another unpacking may be at it"
    old.says("你好", "wechat:oA")
    assert not left.exists()


def test_leftovers_of_a_killed_move_go(machines: Machines) -> None:
    old, young = machines.old / ".move-old", machines.old / ".move-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "jide.db").write_bytes(b"a copy")
    os.utime(old, (0, 0))
    machines.move()
    assert not old.exists() and young.exists()
