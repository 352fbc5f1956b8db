"""/绑定, /解绑, /注销, /冲突 and /裁决, over stores that live in memory."""

import re
from dataclasses import replace

import pytest

from bot.commands.clearing import CONFIRM_WITHIN
from bot.commands.parsing import Call, Command, parse
from bot.conversation.taps import without_taps
from identity.linking import ALPHABET, CODES_AN_HOUR
from identity.model import Account, Conflict, ConflictKind, Decision, LinkOutcome
from tests.command_fakes import ALICE, ALICE_QQ, BOB, NOW, ROOT, WORDING, House


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def alice_qq(house: House) -> Account:
    return house.accounts.add(ALICE_QQ, 4)


async def code_of(house: House) -> str:
    said = await house.say(house.alice, "/绑定") or ""
    found = re.search(rf"绑定码：([{ALPHABET}]{{6}})（", said)
    assert found, said
    return found[1]


async def people(house: House) -> list[int]:
    return [account.person for account in house.accounts.all]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("/绑定", Call(command=Command.LINK)),
        ("/绑定 AB23CD", Call(command=Command.LINK, argument="AB23CD")),
        ("/绑定AB23CD", Call(command=Command.LINK, argument="AB23CD")),
        ("确认绑定。", Call(command=Command.LINK_CONFIRM, is_plain=True)),
        ("取消绑定", Call(command=Command.LINK_REFUSE, is_plain=True)),
        ("/confirmlink", Call(command=Command.LINK_CONFIRM)),
        ("/解绑", Call(command=Command.UNLINK)),
        ("/注销", Call(command=Command.LEAVE)),
        ("/裁决 3 合并", Call(command=Command.DECIDE, argument="3 合并")),
        ("/裁决3合并", Call(command=Command.DECIDE, argument="3合并")),
        ("/冲突", Call(command=Command.CONFLICTS)),
        ("怎么绑定银行卡", None),
        ("注销", None),
        ("解绑", None),
        ("绑定", None),
    ],
)
def test_what_is_such_a_command(text: str, call: Call | None) -> None:
    assert parse(text) == call


async def test_linking_step_by_step(house: House, alice_qq: Account) -> None:
    code = await code_of(house)
    noted = await house.say(alice_qq, f"/绑定 {code.lower()}") or ""
    assert "微信账号 oAli…6789" in noted and ALICE.openid not in noted
    # Nobody is linked before they were shown who it is.
    shown = without_taps(await house.say(house.alice, "确认绑定") or "")
    assert "QQ账号 20…01" in shown and ALICE_QQ.openid not in shown
    assert await people(house) == [1, 2, 3, 4]
    done = await house.say(house.alice, "确认绑定") or ""
    assert done.startswith("已绑定QQ账号 20…01")
    assert await people(house) == [1, 2, 3, 1]
    assert await house.say(house.alice, "确认绑定") is None


async def test_who_asks_again_sees_who_entered_the_code(house: House, alice_qq: Account) -> None:
    await house.say(alice_qq, f"/绑定 {await code_of(house)}")
    assert "输入了您的绑定码" in (await house.say(house.alice, "/绑定") or "")
    assert (await house.say(house.alice, "确认绑定") or "").startswith("已绑定")


async def test_what_is_said_in_between_does_not_matter(house: House, alice_qq: Account) -> None:
    await house.say(alice_qq, f"/绑定 {await code_of(house)}")
    await house.say(house.alice, "/绑定")
    await house.say(house.alice, "今天天气不错")
    assert (await house.say(house.alice, "确认绑定") or "").startswith("已绑定")


async def test_a_code_that_leads_nowhere_is_answered_in_the_same_words(
    house: House, alice_qq: Account
) -> None:
    code = await code_of(house)
    wrong = await house.say(alice_qq, "/绑定 222222")
    assert wrong == WORDING.say("link_wrong")
    assert await house.say(house.alice, f"/绑定 {code}") == wrong  # one's own
    await house.say(house.bob, f"/绑定 {code}")
    assert await house.say(alice_qq, f"/绑定 {code}") == wrong  # entered by a stranger before


@pytest.mark.parametrize(
    "text",
    [
        *(
            "微信是什么意思",
            "微信是什么意",
            "是什么意思呢",
            "😀😀😀😀😀😀",
            "AB23C",
            "AB23CDE",
            "……",
            "我的码AB23CD",
        ),
        *("AB23CD" + "。" * 100, "啊" * 100_000, "A" * 100_000),
    ],
)
async def test_what_cannot_be_a_code_is_no_try(house: House, text: str) -> None:
    assert await house.say(house.alice, f"/绑定 {text}") == WORDING.say("link_usage")
    assert house.codes.tried == 0


@pytest.mark.parametrize("text", ["AB23CD", "ab23cd", "ＡＢ２３ＣＤ", "ab2-3cd", "「AB2 3CD」。", "O0I1ZZ"])
async def test_six_letters_and_digits_are_a_try_however_they_are_typed(house: House, text: str) -> None:
    assert await house.say(house.alice, f"/绑定 {text}") == WORDING.say("link_wrong")
    assert house.codes.tried == 1


async def test_refusing_leaves_everybody_apart(house: House) -> None:
    code = await code_of(house)
    await house.say(house.bob, f"/绑定 {code}")
    assert await house.say(house.alice, "取消绑定") == WORDING.say("link_refused")
    assert await house.say(house.alice, "确认绑定") is None
    assert await people(house) == [1, 2, 3]


async def test_two_phones_are_told(house: House, alice_qq: Account) -> None:
    house.codes.outcome = LinkOutcome.CONFLICT
    await house.say(alice_qq, f"/绑定 {await code_of(house)}")
    await house.say(house.alice, "/绑定")
    assert await house.say(house.alice, "确认绑定") == WORDING.say("link_conflict")


async def test_plain_words_without_a_code_are_talk_and_a_slash_is_not(house: House) -> None:
    assert await house.say(house.alice, "确认绑定") is None
    assert await house.say(house.alice, "取消绑定") is None
    assert await house.say(house.alice, "/确认绑定") == WORDING.say("confirm_nothing")


async def test_codes_are_few(house: House) -> None:
    for _ in range(CODES_AN_HOUR):
        await code_of(house)
    assert await house.say(house.alice, "/绑定") == WORDING.say("link_too_many", count=3)


@pytest.mark.parametrize("text", ["/绑定", "/绑定 AB23CD", "/解绑", "/注销"])
async def test_in_private_only(house: House, text: str) -> None:
    assert await house.say(house.alice, text, group="g") == WORDING.say("private_only")
    assert house.codes.issued == {}


async def test_confirming_in_a_group_links_nobody(house: House, alice_qq: Account) -> None:
    await house.say(alice_qq, f"/绑定 {await code_of(house)}")
    await house.say(house.alice, "/绑定")
    assert await house.say(house.alice, "确认绑定", group="g") is None
    assert await people(house) == [1, 2, 3, 4]


async def test_unlinking_names_what_is_linked_and_asks(house: House) -> None:
    qq = house.accounts.add(ALICE_QQ, 1)
    asked = await house.say(house.alice, "/解绑") or ""
    assert "· QQ账号 20…01" in asked and ALICE_QQ.openid not in asked
    assert await house.say(house.alice, "确认", group="g") == WORDING.say("private_only")
    assert await house.say(house.alice, "确认") == WORDING.say("unlink_done")
    assert (house.accounts.all[0].person, house.accounts.all[qq.id - 1].person) == (501, 1)


async def test_who_is_alone_has_nothing_to_unlink(house: House) -> None:
    assert await house.say(house.alice, "/解绑") == WORDING.say("unlink_none")
    assert await house.say(house.alice, "确认") is None


@pytest.mark.parametrize("otherwise", ["取消", "算了", "/帮助"])
async def test_anything_else_leaves_it(house: House, otherwise: str) -> None:
    house.accounts.add(ALICE_QQ, 1)
    for command in ("/解绑", "/注销"):
        await house.say(house.alice, command)
        said = await house.say(house.alice, otherwise)
        assert (said == WORDING.say("cancelled")) == (otherwise != "/帮助")
        assert await house.say(house.alice, "确认") is None
    assert await people(house) == [1, 2, 3, 1]
    assert house.facts.cleared == []


async def test_leaving_removes_memory_links_and_phone(house: House) -> None:
    house.accounts.add(ALICE_QQ, 1)
    house.facts.hold(house.alice.scope(""), "对花生过敏")
    assert await house.say(house.alice, "/注销") == WORDING.say("leave_ask")
    assert house.facts.cleared == []
    assert await house.say(house.alice, "确认") == WORDING.say("leave_done", facts=1, turns=7)
    assert house.facts.cleared == [house.alice.person]
    assert await people(house) == [501, 2, 3, 504]
    assert house.audit.rows == [(None, "leave", 1, "", "accounts=2 facts=1 turns=7 vectors=1")]


async def test_leaving_is_asked_for_five_minutes(house: House) -> None:
    await house.say(house.alice, "/注销")
    house.clock.at += CONFIRM_WITHIN
    assert await house.say(house.alice, "确认") is None
    assert house.facts.cleared == []


class TestConflicts:
    @pytest.fixture(autouse=True)
    def waiting(self, house: House) -> None:
        conflict = Conflict(
            id=7,
            kind=ConflictKind.PHONES,
            first=house.alice.person,
            second=house.bob.person,
            account=house.alice.id,
            detail="unionid",
            at=NOW,
        )
        house.accounts.waiting = {
            7: conflict,
            8: replace(conflict, id=8, kind=ConflictKind.UNIONIDS),
        }

    async def test_are_listed_with_masks(self, house: House) -> None:
        text = await house.say(house.root, "/冲突") or ""
        assert "7. 1 号：微信 oAli…6789；2 号：微信 oBob…6789。两边各有验证过的手机号" in text
        assert "8. " in text and "unionid" in text
        assert ALICE.openid not in text and BOB.openid not in text

    @pytest.mark.parametrize(
        ("argument", "decision"),
        [("7 合并", Decision.MERGE), ("#7 分开", Decision.KEEP), ("7号 merge", Decision.MERGE)],
    )
    async def test_are_decided(self, house: House, argument: str, decision: Decision) -> None:
        said = await house.say(house.root, f"/裁决 {argument}") or ""
        assert "1 号" in said and "2 号" in said
        assert house.accounts.decided == [(7, decision, ROOT)]
        assert await house.say(house.root, f"/裁决 {argument}") == WORDING.say("decide_unknown")

    @pytest.mark.parametrize("argument", ["", "7", "合并", "七 合并", "7 也许"])
    async def test_a_verdict_has_a_number_and_a_word(self, house: House, argument: str) -> None:
        assert await house.say(house.root, f"/裁决 {argument}") == WORDING.say("decide_usage")
        assert house.accounts.decided == []

    @pytest.mark.parametrize("text", ["/冲突", "/裁决 7 合并"])
    async def test_are_for_superusers_in_private(self, house: House, text: str) -> None:
        assert await house.say(house.alice, text) == WORDING.say("not_allowed")
        assert await house.say(house.root, text, group="g") == WORDING.say("private_only")
        assert house.accounts.decided == []

    async def test_none_wait(self, house: House) -> None:
        house.accounts.waiting = {}
        assert await house.say(house.root, "/冲突") == WORDING.say("conflict_none")
