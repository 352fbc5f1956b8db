"""What an operator decides at the keyboard: conflicts, merges, and merges taken back."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from tests.integration.operator_fixture import Operator, operator

__all__ = ["operator"]

WECHAT, QQ = "wechat:oAliceAlice0001", "onebot:20000001"
MASKS = {WECHAT: "微信 oAli…0001", QQ: "QQ 20…01"}
PHONES = {WECHAT: "13800138000", QQ: "13900139000"}


@pytest.fixture(autouse=True)
def known_as(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WECHAT__APP_ID", "wx0123456789abcdef")
    monkeypatch.setenv("WECHAT__TOKEN", "t0ken-of-the-account")


def tells_phones_that_contradict(operator: Operator) -> None:
    """Each account has a phone of its own, and QQ's then proves WeChat's too."""
    for account, fact in ((WECHAT, "鞋码是42"), (QQ, "我住在苏州")):
        operator.says(f"记住：{fact}", account)
        operator.gets("identity", "phone", account, PHONES[account])
    assert "请管理员确认" in operator.is_refused("identity", "phone", QQ, PHONES[WECHAT])


def facts(operator: Operator, account: str) -> set[str]:
    return {each["text"] for each in operator.reads("memory", "show", account)["facts"]}


def rows(operator: Operator, sql: str) -> list[Any]:
    connection = sqlite3.connect(operator.data / "jide.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def person_of(operator: Operator, account: str) -> int:
    return operator.reads("memory", "show", account)["person"]


def conflict(operator: Operator, *more: str) -> Any:
    (found,) = operator.reads("identity", "conflicts", *more)["conflicts"]
    return found


def numbers(records: Sequence[Any]) -> list[int]:
    return [each["id"] for each in records]


def test_nothing_waits_and_nothing_was_merged(operator: Operator) -> None:
    assert operator.gets("identity", "conflicts") == "没有等待裁决的身份冲突\n"
    assert operator.gets("identity", "merges") == "没有合并过\n"
    assert operator.reads("identity", "conflicts")["conflicts"] == []
    assert operator.reads("identity", "merges", "--person", "7")["merges"] == []


def test_a_conflict_is_shown_with_what_each_decision_would_do(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    qq, wechat = person_of(operator, QQ), person_of(operator, WECHAT)
    shown = operator.gets("identity", "conflicts")
    assert "1 号冲突，" in shown and "手机号相同，但两边各有验证过的手机号" in shown
    assert f"{qq} 号人（{MASKS[QQ]}）" in shown and f"{wechat} 号人（{MASKS[WECHAT]}）" in shown
    assert f"merge：{qq} 号人的 1 个账号并入 {wechat} 号人" in shown and "keep：" in shown
    document = conflict(operator)
    assert (document["id"], document["kind"], document["reason"]) == (1, "phones", "phone:import")
    assert document["first"] == {"person": qq, "accounts": [{"channel": "onebot", "masked": "20…01"}]}
    assert document["merge_moves_into"] == document["second"]["person"] == wechat
    assert document["decision"] is None and document["decided_at"] is None
    whole = operator.gets("identity", "conflicts", "--json") + shown
    assert not any(each in whole for each in ("oAliceAlice0001", "20000001", *PHONES.values()))


def test_who_is_merged_reads_both_and_it_can_be_taken_back(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    qq, wechat = person_of(operator, QQ), person_of(operator, WECHAT)
    assert facts(operator, QQ) == {"我住在苏州"}
    told = operator.reads("identity", "decide", "1", "merge", "--yes")
    merge = rows(operator, "SELECT id FROM merge")[0][0]
    expected = {"conflict": 1, "decision": "merge", "first": qq, "second": wechat, "merges": [merge]}
    assert told == {"ok": True, **expected}
    assert facts(operator, QQ) == facts(operator, WECHAT) == {"鞋码是42", "我住在苏州"}

    (listed,) = operator.reads("identity", "merges")["merges"]
    assert (listed["from"], listed["to"], listed["reason"]) == (qq, wechat, "conflict:1")
    assert (listed["undone"], listed["can_be_undone"]) == (False, True)
    assert "裁决了 1 号冲突" in operator.gets("identity", "merges", "--person", f"#{qq}")
    assert numbers(operator.reads("identity", "merges", "--person", WECHAT)["merges"]) == [merge]

    told = operator.reads("identity", "undo", str(merge), "--yes")
    account = {"channel": "onebot", "masked": "20…01"}
    assert told == {"ok": True, "merge": merge, "account": account, "person": qq, "alike": []}
    assert facts(operator, QQ) == {"我住在苏州"} and facts(operator, WECHAT) == {"鞋码是42"}
    assert "已撤销" in operator.gets("identity", "merges")
    done = rows(operator, "SELECT action, subject_person FROM audit WHERE actor = 'cli' ORDER BY id")
    assert done == [("decide-conflict", qq), ("undo-merge", qq)]


def test_who_is_kept_apart_stays_so_and_is_not_asked_about_again(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    told = operator.reads("identity", "decide", "1", "keep", "--yes")
    assert (told["decision"], told["merges"]) == ("keep", [])
    assert facts(operator, QQ) == {"我住在苏州"}
    operator.is_refused("identity", "phone", QQ, PHONES[WECHAT])
    assert operator.reads("identity", "conflicts")["conflicts"] == []
    decided = conflict(operator, "--all")
    assert decided["decision"] == "keep" and decided["decided_at"] >= decided["at"]
    assert "已裁决：keep" in operator.gets("identity", "conflicts", "--all")


@pytest.mark.parametrize("decided", ["merge", "keep"])
def test_a_conflict_is_decided_once(operator: Operator, decided: str) -> None:
    tells_phones_that_contradict(operator)
    operator.gets("identity", "decide", "1", decided, "--yes")
    before = rows(operator, "SELECT * FROM audit")
    for ruling in ("merge", "keep"):
        refusal = operator.reads_refusal("identity", "decide", "1", ruling, "--yes")
        assert f"已裁决为 {decided}" in refusal["error"]
        assert ("identity undo 1" in refusal["fix"]) == (decided == "merge")
    assert "已裁决" in operator.is_refused("identity", "decide", "1", "merge")
    assert rows(operator, "SELECT * FROM audit") == before


def test_who_does_not_answer_yes_changes_nothing(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    for typed in ("n\n", "\n", ""):
        refused = operator.is_refused("identity", "decide", "1", "merge", typed=typed)
        assert "没有裁决" in refused and MASKS[QQ] in refused, "what is asked names the people"
    assert "--yes" in operator.reads_refusal("identity", "decide", "1", "merge")["fix"]
    assert facts(operator, QQ) == {"我住在苏州"}
    done = operator.types("identity", "decide", "1", "merge", typed="y\n")
    assert done.exit_code == 0 and "identity undo 1" in done.stderr
    assert "没有撤销" in operator.is_refused("identity", "undo", "1", typed="n\n")
    assert operator.types("identity", "undo", "1", typed="y\n").exit_code == 0
    assert facts(operator, QQ) == {"我住在苏州"}


def test_a_merge_is_undone_once(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    operator.gets("identity", "decide", "1", "merge", "--yes")
    operator.gets("identity", "undo", "1", "--yes")
    for more in ((), ("--yes",)):
        assert "早已撤销" in operator.reads_refusal("identity", "undo", "1", *more)["error"]


def test_a_merge_that_a_later_one_sits_on_waits_for_it(operator: Operator) -> None:
    tells_phones_that_contradict(operator)
    operator.gets("identity", "decide", "1", "merge", "--yes")
    operator.says("/解绑", QQ)
    operator.says("确认", QQ)
    later, earlier = operator.reads("identity", "merges")["merges"]
    assert (later["reason"], later["can_be_undone"], earlier["can_be_undone"]) == ("unlink", True, False)
    for more in ((), ("--yes",)):
        refusal = operator.reads_refusal("identity", "undo", str(earlier["id"]), *more)
        assert "之后" in refusal["error"] and f"identity undo {later['id']}" in refusal["fix"]
    operator.gets("identity", "undo", str(later["id"]), "--yes")
    assert facts(operator, QQ) == {"鞋码是42", "我住在苏州"}
    operator.gets("identity", "undo", str(earlier["id"]), "--yes")
    assert facts(operator, QQ) == {"我住在苏州"}


def test_accounts_that_were_merged_together_are_named(operator: Operator) -> None:
    third = "wechat:oThirdThird0003"
    operator.says("记住：我喜欢爬山", third)
    tells_phones_that_contradict(operator)
    operator.gets("identity", "phone", third, PHONES[QQ])
    assert "2 个账号并入" in operator.gets("identity", "conflicts")
    made = operator.reads("identity", "decide", "1", "merge", "--yes")["merges"]
    assert len(made) == 2
    told = operator.reads("identity", "undo", str(made[0]), "--yes")
    assert told["alike"] == made[1:]
    done = operator.types("identity", "undo", str(made[1]), "--yes")
    assert done.exit_code == 0 and "一起合并" not in done.output
    assert facts(operator, QQ) == {"我住在苏州", "我喜欢爬山"}


def test_merges_are_listed_newest_first_and_few(operator: Operator) -> None:
    for number in range(4):
        operator.says("你好", f"wechat:oNumber{number}")
        operator.gets("identity", "phone", f"wechat:oNumber{number}", PHONES[WECHAT])
    assert numbers(operator.reads("identity", "merges")["merges"]) == [3, 2, 1]
    assert numbers(operator.reads("identity", "merges", "--limit", "2")["merges"]) == [3, 2]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("decide 9 merge --yes", 1, "没有 9 号冲突"),
        ("decide 9 merge", 1, "没有 9 号冲突"),
        ("undo 9 --yes", 1, "没有 9 号合并"),
        ("undo 9", 1, "没有 9 号合并"),
        ("decide 九 merge", 2, "<编号> 不对：应是"),
        ("decide 0 merge", 2, "<编号> 不对：应是"),
        ("decide 99999999999999999999 merge", 2, "<编号> 不对：应是"),
        ("undo 99999999999999999999", 2, "<编号> 不对：应是"),
        ("decide 1 合并", 2, "<merge|keep> 不对：应是 merge（"),
        ("decide 1", 2, "缺少 <merge|keep>"),
        ("undo", 2, "缺少 <编号>"),
        ("merges --limit 0", 2, "--limit 的值不对"),
        ("merges --person 谁", 1, "没有找到“谁”"),
        ("merges --person 99999999999999999999", 1, "没有找到"),
    ],
)
def test_what_cannot_be_is_refused_in_words(operator: Operator, line: str, code: int, said: str) -> None:
    refusal = operator.reads_refusal("identity", *line.split(), code=code)
    assert said in refusal["error"] and refusal["fix"]


def test_a_number_that_no_database_holds_is_nobody(operator: Operator) -> None:
    assert "没有找到" in operator.reads_refusal("memory", "show", "9" * 20)["error"]
