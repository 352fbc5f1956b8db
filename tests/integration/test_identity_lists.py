"""Lists of the operator: customers with phones, openids that WeChat changed."""

import json
import sqlite3
import time
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from identity.lists import Moved
from tests.integration.operator_fixture import Operator, operator

__all__ = ["operator"]

APP = ("WECHAT__APP_ID", "wx0123456789abcdef")


@pytest.fixture(autouse=True)
def account(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(*APP)
    monkeypatch.setenv("WECHAT__TOKEN", "t0ken-of-the-account")


def write(path: Path, text: str, encoding: str = "utf-8") -> str:
    path.write_bytes(text.encode(encoding))
    return str(path)


def imported(operator: Operator, file: str, *more: str) -> dict[str, Any]:
    return operator.reads("identity", "import", file, *more)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_any_usual_file_is_read(operator: Operator, tmp_path: Path, encoding: str) -> None:
    file = write(tmp_path / "a.csv", "姓名,编号,手机号\n李雷,oA,138 0013 8000\n", encoding)
    assert imported(operator, file)["new"] == 1


def test_a_list_twice_is_as_once_and_bad_rows_are_told(operator: Operator, tmp_path: Path) -> None:
    lines = ["openid,phone,channel,app_id", "oA,13800138000,,", "20001,13800138000,onebot,10000", "oB,123,,"]
    lines += ["oC", ",13800138001,,", "oD,13800138002,天上,", "oE,13800138003,wechat,wxother"]
    file = write(tmp_path / "a.csv", "\n".join(lines))
    rehearsed = imported(operator, file, "--dry-run")
    assert operator.count("account") == 0 and operator.count("phone_link") == 0
    once = imported(operator, file)
    assert {**rehearsed, "dry_run": False} == once
    assert (once["new"], once["joined"], once["conflicts"]) == (2, 1, [])
    assert [each["line"] for each in once["bad"]] == [4, 5, 6, 7]
    counts = [operator.count(table) for table in ("account", "phone_link", "merge", "audit")]
    again = imported(operator, file)
    assert (again["new"], again["joined"], again["known"]) == (0, 0, 3)
    assert [operator.count(table) for table in ("account", "phone_link", "merge", "audit")] == counts
    told = operator.types("identity", "import", file)
    assert "第 4 行没有用：这不是有效的手机号" in told.output and "13800138000" not in told.output


def test_a_conflict_waits_for_an_admin(operator: Operator, tmp_path: Path) -> None:
    imported(operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\noB,13800138001\n"))
    file = write(tmp_path / "b.csv", "openid,phone\noC,13800138002\noB,13800138000\n")
    for _ in range(2):
        assert imported(operator, file)["conflicts"] == [3]
        assert operator.count("conflict") == 1


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_what_comes_of_a_list_does_not_depend_on_its_order(
    operator: Operator, tmp_path: Path, order: tuple[int, ...]
) -> None:
    """One openid with two numbers is neither's; the same line twice is one."""
    lines = ["oA,13800138006", "oA,138 0013 8007", "oB,13800138007", "oB,13800138007"]
    file = write(tmp_path / "a.csv", "\n".join(["openid,phone", *(lines[each] for each in order)]))
    done = imported(operator, file)
    assert (done["new"], done["known"], done["joined"], done["conflicts"]) == (1, 1, 0, [])
    assert [each["line"] for each in done["bad"]] == sorted(order.index(each) + 2 for each in (0, 1))
    assert rows(operator, "SELECT openid FROM account") == [("oB",)]


def test_ten_thousand_lines(operator: Operator, tmp_path: Path) -> None:
    rows = "".join(f"o{number:027},138{number:08}\n" for number in range(10_000))
    file = write(tmp_path / "a.csv", "openid,phone\n" + rows)
    begun = time.monotonic()
    assert imported(operator, file)["new"] == 10_000
    assert time.monotonic() - begun < 60
    assert operator.count("phone_link") == 10_000


def test_a_list_without_its_columns_is_refused(operator: Operator, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "openid,电邮\noA,a@b\n")
    assert "没有列名 phone" in operator.is_refused("identity", "import", file)
    assert "读不了" in operator.is_refused("identity", "import", str(tmp_path / "none.csv"))


def test_openids_that_wechat_changed(operator: Operator, tmp_path: Path) -> None:
    for openid in ("oA", "oB", "oNewB"):
        imported(operator, write(tmp_path / "a.csv", f"openid,phone\n{openid},138001380{len(openid):02}\n"))
    imported(operator, write(tmp_path / "c.csv", "openid,phone\noC,13900139000\n"))
    pairs = [("oC", "oNewC"), ("oA", "oNewA"), ("oB", "oNewB"), ("oZ", "oNewZ"), ("oY", "")]
    entries = [{"ori_openid": one, "new_openid": other, "err_msg": "ok"} for one, other in pairs]
    file = write(tmp_path / "list.json", json.dumps({"errcode": 0, "result_list": entries}))
    done = operator.reads("identity", "migrate", file)
    assert (done["renamed"], done["conflict"], done["unknown"]) == (2, 1, 1)
    assert [each["line"] for each in done["bad"]] == [5]
    again = operator.reads("identity", "migrate", file)
    assert (again["renamed"], again["done"], again["conflict"]) == (0, 2, 1)
    assert operator.count("conflict") == 1


def shown(operator: Operator, address: str) -> tuple[int, set[str]]:
    """The person of an account, and what they remember."""
    document = operator.reads("memory", "show", address)
    return document["person"], {fact["text"] for fact in document["facts"]}


def rows(operator: Operator, sql: str) -> list[Any]:
    connection = sqlite3.connect(operator.data / "jide.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def migrated(operator: Operator, file: str, *more: str) -> dict[str, int]:
    """The outcomes that occurred."""
    done = operator.reads("identity", "migrate", file, *more)
    assert done["bad"] == []
    return {each.value: done[each.value] for each in Moved if done[each.value]}


def test_a_new_openid_that_wrote_already_joins_the_old_one(operator: Operator, tmp_path: Path) -> None:
    operator.says("记住：我对花生过敏", "wechat:oA")
    operator.says("记住：我喜欢爬山", "wechat:oNewA")
    operator.says("记住：我喜欢下棋", "wechat:oB")
    (before, old), (own, new) = shown(operator, "wechat:oA"), shown(operator, "wechat:oNewA")
    assert before != own and not old & new
    file = write(tmp_path / "list.csv", "ori_openid,new_openid\noA,oNewA\n")
    assert migrated(operator, file) == {"joined": 1}
    both = old | new
    assert len(both) == 2
    assert shown(operator, "wechat:oNewA") == shown(operator, "wechat:oA") == (before, both)
    assert shown(operator, "wechat:oB")[1] == {"我喜欢下棋"}
    merges = rows(operator, "SELECT from_person, to_person, reason FROM merge")
    assert merges == [(own, before, "changeopenid")]
    assert migrated(operator, file) == {"done": 1}
    assert rows(operator, "SELECT from_person, to_person, reason FROM merge") == merges

    operator.gets("identity", "undo", "1", "--yes")
    assert shown(operator, "wechat:oNewA") == (own, new)


def test_an_openid_of_another_official_account_is_taken_over(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first writes before the migration alone, the second also after it."""
    with monkeypatch.context() as earlier:
        earlier.setenv(APP[0], "wxbefore00000001")
        operator.says("记住：我对花生过敏", "wechat:oA")
        operator.says("记住：我喜欢下棋", "wechat:oB")
    operator.says("记住：我喜欢爬山", "wechat:oNewB")
    person, facts = shown(operator, "wechat:oA")
    other = shown(operator, "wechat:oB")[1]
    file = write(tmp_path / "list.csv", "ori_openid,new_openid\noA,oNewA\noB,oNewB\n")
    told = operator.is_refused("identity", "migrate", file)
    assert "换了 openid 0 个" in told and "加 --from wxbefore00000001 再执行一次" in told
    refused = operator.reads_document("identity", "migrate", file, code=1)
    assert refused["elsewhere"] == {"wxbefore00000001": 2} and refused["ok"] is False
    for slip in (("--from", "wxTYPO"), ("--from", "wxbefore00000001", "--account", "wxTYPO")):
        said = operator.is_refused("identity", "migrate", file, *slip)
        assert "都没有公众号 wxTYPO" in said and "wxbefore00000001" in said
    assert migrated(operator, file, "--from", "wxbefore00000001") == {"renamed": 1, "joined": 1}
    assert shown(operator, "wechat:oNewA") == (person, facts)
    assert "没有找到" in operator.is_refused("memory", "show", "wechat:oA")
    assert other < shown(operator, "wechat:oNewB")[1]
    moved = rows(operator, "SELECT app_id, openid FROM account WHERE openid LIKE '%A'")
    assert moved == [(APP[1], "oNewA")]


@pytest.mark.parametrize(
    ("pairs", "wrong"),
    [
        ([("oA", "oNew"), ("oB", "oNew")], [1, 2]),
        ([("oA", "oB"), ("oB", "oA")], [1, 2]),
        ([("oA", "oB"), ("oB", "oNew")], [1, 2]),
        ([("oA", "oNew"), ("oA", "oOther")], [1, 2]),
        ([("oA", "oNew"), ("oB", "oOther"), ("oC", "oOther")], [2, 3]),
    ],
)
def test_a_list_that_contradicts_itself_joins_no_strangers(
    operator: Operator, tmp_path: Path, pairs: list[tuple[str, str]], wrong: list[int]
) -> None:
    imported(operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\noB,13800138001\n"))
    entries = [{"ori_openid": one, "new_openid": other} for one, other in pairs]
    file = write(tmp_path / "list.json", json.dumps(entries))
    done = operator.reads_document("identity", "migrate", file, code=1)
    assert [each["line"] for each in done["bad"]] == wrong and done["ok"] is False
    assert (done["renamed"], done["joined"]) == (len(pairs) - len(wrong), 0)
    assert operator.count("merge") == 0
    known = [("oB",), ("oNew",)] if done["renamed"] else [("oA",), ("oB",)]
    assert rows(operator, "SELECT openid FROM account ORDER BY openid") == known
    assert f"第 {wrong[0]} 行没有用" in operator.is_refused("identity", "migrate", file)


def test_the_same_pair_twice_is_one(operator: Operator, tmp_path: Path) -> None:
    imported(operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\n"))
    file = write(tmp_path / "list.csv", "ori_openid,new_openid\noA,oNew\noA,oNew\n")
    assert migrated(operator, file) == {"renamed": 1, "done": 1}


def test_a_rehearsed_migration_changes_nothing(operator: Operator, tmp_path: Path) -> None:
    imported(
        operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\noB,13800138001\noC,13800138002\n")
    )
    file = write(tmp_path / "list.csv", "ori_openid,new_openid\noA,oNew\noB,oC\n")
    before = rows(operator, "SELECT openid, person_id FROM account"), operator.count("audit")
    rehearsed = migrated(operator, file, "--dry-run")
    assert "会换 openid 1 个" in operator.gets("identity", "migrate", file, "--dry-run")
    assert (rows(operator, "SELECT openid, person_id FROM account"), operator.count("audit")) == before
    assert migrated(operator, file) == rehearsed


@pytest.mark.parametrize("new", ["x y", "x\ny", "z" * 129])
def test_a_new_openid_that_is_none_is_a_wrong_line(operator: Operator, tmp_path: Path, new: str) -> None:
    imported(operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\n"))
    file = write(tmp_path / "list.json", json.dumps([{"ori_openid": "oA", "new_openid": new}]))
    done = operator.reads("identity", "migrate", file)
    assert [each["line"] for each in done["bad"]] == [1] and done["renamed"] == 0
    assert rows(operator, "SELECT openid FROM account") == [("oA",)]


def test_a_list_of_which_nothing_is_known_is_not_a_success(operator: Operator, tmp_path: Path) -> None:
    imported(operator, write(tmp_path / "a.csv", "openid,phone\noA,13800138000\n"))
    file = write(tmp_path / "list.csv", "ori_openid,new_openid\noX,oNewX\n")
    told = operator.is_refused("identity", "migrate", file)
    assert "没有这个账号 1 个：老账号的 AppID 用 --from 指定" in told
    write(tmp_path / "list.csv", "ori_openid,new_openid\noX,oNewX\noA,oNewA\n")
    assert "老账号的 AppID" in operator.types("identity", "migrate", file).output
    assert migrated(operator, file) == {"done": 1, "unknown": 1}


def test_a_list_of_wrong_columns_or_of_nothing(operator: Operator, tmp_path: Path) -> None:
    file = write(tmp_path / "list.csv", "openid,phone\noA,13800138000\n")
    assert "ori_openid,new_openid" in operator.is_refused("identity", "migrate", file)
    assert "openid,phone" in operator.is_refused("identity", "import", write(tmp_path / "a.csv", "a,b\n"))
    assert "list.json 是空的" in operator.is_refused(
        "identity", "migrate", write(tmp_path / "list.json", "\n")
    )


def test_a_new_pepper_by_command(operator: Operator, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "openid,phone\noA,13800138000\n")
    imported(operator, file)
    assert operator.reads("rotate", "pepper", "--yes")["phones_under_old_key"] == 1
    assert "还没有做完" in operator.is_refused("rotate", "pepper", "--yes")
    assert imported(operator, file)["known"] == 1
    assert "还在用旧密钥" in operator.gets("rotate", "pepper", "--yes")
    assert operator.reads("rotate", "pepper", "--finish", "--yes")["phones_to_verify"] == 1
    report = json.loads(operator.types("doctor", "--json").stdout)
    assert not [
        each for each in report["findings"] if each["check"] == "pepper" and each["level"] == "failure"
    ]
