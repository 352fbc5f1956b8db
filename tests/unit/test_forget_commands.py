"""/忘记 of much, of everything and of what is uncertain; /更正, /导出, /暂停记忆."""

import json
from datetime import timedelta

import pytest

from bot.commands.exporting import PART_CHARACTERS
from bot.commands.forgetting import CONFIRM_WITHIN, MOST_UNASKED
from bot.conversation.message import Conversation
from bot.memory.fact import FactKind
from tests.command_fakes import ALICE, WORDING, House

GROUP = "g"
PLACE = Conversation(channel="wechat", app_id="wxshop", group=GROUP).place


@pytest.fixture
def house() -> House:
    return House()


class TestMuch:
    async def test_is_asked_for_once_and_goes_on_confirmation(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(
            scope, *[f"我爱吃第{number}种花生" for number in range(MOST_UNASKED + 1)], "我叫八六"
        )
        asked = await house.say(house.alice, "忘掉所有关于花生的事") or ""
        assert "将忘记 6 件事" in asked and "第5种花生" in asked and "八六" not in asked
        assert len(house.facts.texts(scope)) == MOST_UNASKED + 2
        assert "已忘记 6 件事" in (await house.say(house.alice, "确认") or "")
        assert house.facts.texts(scope) == ["我叫八六"]
        assert [row[1] for row in house.audit.rows] == ["forget"]

    async def test_anything_else_keeps_it(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, *[f"我爱吃第{number}种花生" for number in range(MOST_UNASKED + 1)])
        await house.say(house.alice, "/忘记 花生")
        await house.say(house.alice, "您好")
        assert await house.say(house.alice, "确认") is None
        await house.say(house.alice, "/忘记 花生")
        house.clock.at += CONFIRM_WITHIN
        assert await house.say(house.alice, "确认") is None
        assert len(house.facts.texts(scope)) == MOST_UNASKED + 1

    async def test_is_confirmed_where_it_was_asked_and_shows_nothing_there(self, house: House) -> None:
        scope = house.alice.scope(PLACE)
        house.facts.hold(scope, *[f"我爱吃第{number}种花生" for number in range(MOST_UNASKED + 1)])
        asked = await house.say(house.alice, "/忘记 花生", group=GROUP) or ""
        assert "6 件事" in asked and "花生" not in asked
        assert await house.say(house.alice, "确认") == WORDING.say("forget_there")
        assert "已忘记 6 件事" in (await house.say(house.alice, "确认", group=GROUP) or "")
        assert house.facts.texts(scope) == []

    async def test_reading_on_keeps_the_question_open(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, *[f"我爱吃第{number}种花生" for number in range(MOST_UNASKED + 1)])
        await house.say(house.alice, "/忘记 花生")
        await house.say(house.alice, "继续")
        assert "已忘记 6 件事" in (await house.say(house.alice, "确认") or "")

    async def test_is_what_was_meant_when_it_was_said(self, house: House) -> None:
        """Past midnight, 今天 is still the day of the order."""
        scope = house.alice.scope("")
        house.clock.at = house.clock.at.replace(hour=15, minute=58)
        house.facts.hold(scope, *[f"第{number}件" for number in range(MOST_UNASKED + 1)])
        house.facts.held[scope.person, ""] = [
            fact.__class__(
                id=fact.id, kind=fact.kind, text=fact.text, importance=0.5, channel="wechat",
                said_at=house.clock.at - timedelta(hours=2),
            )
            for fact in house.facts.held[scope.person, ""]
        ]  # fmt: skip
        assert "将忘记 6 件事" in (await house.say(house.alice, "忘记今天说的") or "")
        house.clock.at += timedelta(minutes=4)
        await house.say(house.alice, "确认")
        assert house.facts.texts(scope) == []

    async def test_what_only_touches_the_words_is_asked_about(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "我住在北京")
        assert "我住在北京" in (await house.say(house.alice, "忘掉我家住哪") or "")
        assert house.facts.texts(house.alice.scope("")) == ["我住在北京"]


class TestEverything:
    @pytest.mark.parametrize(
        "text",
        [
            *("忘记一切", "把你记得的都忘了吧", "忘掉所有关于我的事", "把我忘了吧", "清空你对我的记忆"),
            *(
                "把关于我的记忆都删了",
                "忘掉我的一切",
                "清除你记的我的东西",
                "清空您那里我的资料",
                "删除对我的记忆",
            ),
            *("删掉你记录的关于我的内容", "把你对我的印象抹掉", "能清空你对我的记忆吗", "清空妳對我的記憶"),
        ],
    )
    async def test_is_asked_for_as_a_clearing_is(self, house: House, text: str) -> None:
        house.facts.hold(house.alice.scope(""), "对花生过敏")
        assert await house.say(house.alice, text) == WORDING.say("clear_self_ask")
        assert house.facts.cleared == []
        await house.say(house.alice, "确认")
        assert house.facts.cleared == [house.alice.person]

    async def test_not_from_a_group(self, house: House) -> None:
        assert await house.say(house.alice, "忘记一切", group=GROUP) == WORDING.say("private_only")


class TestNamed:
    @pytest.mark.parametrize(
        "text",
        [
            "前面说的手机号作废，别存着",
            "上面发的手机号别记",
            "之前说的手机号不算数，不要保存",
            "前面那个手机号忘了吧",
            "删掉你记的我的手机号",
        ],
    )
    async def test_what_was_said_before_is_found(self, house: House, text: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我的手机号是13800138000", "我属虎")
        assert "已忘记 1 件事" in (await house.say(house.alice, text) or "")
        assert house.facts.texts(scope) == ["我属虎"]

    async def test_a_word_that_begins_like_saying_is_whole(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我的发票抬头是甲公司", "我买过电影票")
        await house.say(house.alice, "/忘记 发票")
        assert house.facts.texts(scope) == ["我买过电影票"]

    @pytest.mark.parametrize(
        ("text", "held"),
        [
            ("忘记我对虾过敏", "我對蝦過敏"),
            ("忘記我對蝦過敏", "我对虾过敏"),
            ("／忘記　鞋碼", "我的鞋码是42"),
            ("/忘记 鳳凰", "我养的鸟叫凤凰"),
            ("忘掉我的職業", "我的职业是护士"),
        ],
    )
    async def test_traditional_and_simplified_are_one(self, house: House, text: str, held: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, held, "我不吃羊肉", "我爱吃鱼")
        assert "已忘记 1 件事" in (await house.say(house.alice, text) or "")
        assert house.facts.texts(scope) == ["我不吃羊肉", "我爱吃鱼"]

    async def test_commands_in_traditional_characters(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "我属虎")
        assert "我属虎" in (await house.say(house.alice, "／我的記憶") or "")
        assert await house.say(house.alice, "/清除記憶") == WORDING.say("clear_self_ask")
        assert "我愛紅色" in (await house.say(house.alice, "/記住 我愛紅色") or "")


class TestByNumber:
    async def test_the_number_shown_is_the_one_that_goes(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我叫八六", "对花生过敏", "我养了两只猫")
        assert "2. 对花生过敏" in (await house.say(house.alice, "/我的记忆") or "")
        await house.say(house.alice, "/忘记 第2条")
        assert house.facts.texts(scope) == ["我叫八六", "我养了两只猫"]

    async def test_anothers_number_is_nobodys(self, house: House) -> None:
        house.facts.hold(house.bob.scope(""), "我叫小白")
        assert "没有第 1 条" in (await house.say(house.alice, "/忘记 第1条") or "")
        assert house.facts.texts(house.bob.scope("")) == ["我叫小白"]

    async def test_a_number_means_what_was_seen_under_it(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我在学钢琴", "我的狗叫旺财", "我不吃羊肉")
        await house.say(house.alice, "/我的记忆")
        said = await house.say(house.alice, "/忘记 第1条") or ""
        assert "第 1 条" in said and "属虎" not in said
        house.facts.hold(scope, "我搬家了")
        await house.say(house.alice, "/忘记 第2条")
        assert house.facts.texts(scope) == ["我的狗叫旺财", "我不吃羊肉", "我搬家了"]

    async def test_what_is_gone_says_so_and_nothing_else_goes(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我有2只猫", "我的狗叫旺财")
        await house.say(house.alice, "/我的记忆")
        for words in ("第1条", "第1条", "2", "2"):
            said = await house.say(house.alice, f"/忘记 {words}") or ""
        assert "没有第 2 条" in said
        assert house.facts.texts(scope) == ["我的狗叫旺财"]
        said = await house.say(house.alice, "把第1条和第3条都删了") or ""
        assert "第 3 条" in said and "没有第 1 条" in said
        assert house.facts.texts(scope) == []

    async def test_a_list_shown_anew_counts_anew(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我在学钢琴", "我的狗叫旺财")
        await house.say(house.alice, "/我的记忆")
        await house.say(house.alice, "/忘记 第1条")
        assert "2. 我的狗叫旺财" in (await house.say(house.alice, "/我的记忆") or "")
        await house.say(house.alice, "/忘记 第2条")
        assert house.facts.texts(scope) == ["我在学钢琴"]

    async def test_the_next_page_goes_on_with_the_same_numbers(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, *[f"第{number}件事情" for number in range(1, 31)])
        await house.say(house.alice, "/我的记忆")
        await house.say(house.alice, "/忘记 第30条")
        assert "9. 第9件事情" in (await house.say(house.alice, "/我的记忆 2") or "")
        await house.say(house.alice, "/忘记 第5条")
        assert {"第5件事情", "第30件事情"}.isdisjoint(house.facts.texts(scope))
        assert len(house.facts.texts(scope)) == 28

    async def test_a_number_nobody_saw_is_asked_about(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我在学钢琴")
        assert "我在学钢琴" in (await house.say(house.alice, "/忘记 第2条") or "")
        assert len(house.facts.texts(scope)) == 2
        await house.say(house.alice, "确认")
        assert house.facts.texts(scope) == ["我属虎"]

    async def test_lists_of_two_accounts_are_apart(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我在学钢琴", "我的狗叫旺财")
        await house.say(house.alice, "/我的记忆")
        house.facts.hold(house.bob.scope(""), "我叫小白", "我怕狗")
        await house.say(house.bob, "/我的记忆")
        await house.say(house.bob, "/忘记 第1条")
        await house.say(house.alice, "/忘记 第1条")
        await house.say(house.alice, "/忘记 第3条")
        assert house.facts.texts(scope) == ["我在学钢琴"]
        assert house.facts.texts(house.bob.scope("")) == ["我怕狗"]

    @pytest.mark.parametrize("words", ["第1条 第3条", "1、3", "第一条和第三条", "第1、3条", "#1 #3"])
    async def test_several_go_at_once(self, house: House, words: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我在学钢琴", "我的狗叫旺财")
        await house.say(house.alice, "/我的记忆")
        assert "已忘记 2 件事" in (await house.say(house.alice, f"/忘记 {words}") or "")
        assert house.facts.texts(scope) == ["我在学钢琴"]

    async def test_what_was_corrected_goes_by_the_number_it_had(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我的鞋码是42")
        await house.say(house.alice, "/我的记忆")
        await house.say(house.alice, "/更正 2 我的鞋码是43")
        await house.say(house.alice, "/忘记 第2条")
        assert house.facts.texts(scope) == ["我属虎"]

    async def test_a_correction_by_number_means_what_was_seen(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我属虎", "我的鞋码是42", "我的鞋码是52")
        await house.say(house.alice, "/我的记忆")
        await house.say(house.alice, "/忘记 第1条")
        await house.say(house.alice, "/更正 2 我的鞋码是43")
        assert sorted(house.facts.texts(scope)) == ["我的鞋码是43", "我的鞋码是52"]


class TestCorrect:
    @pytest.mark.parametrize(
        ("words", "right"),
        [
            ("鞋码 42→43", "我的鞋码是43"),
            ("42→43", "我的鞋码是43"),
            ("鞋码42改成43", "我的鞋码是43"),
            ("鞋码 42 -> 43", "我的鞋码是43"),
            ("2 我的鞋码是44码", "我的鞋码是44码"),
            ("第2条 我的鞋码是44码", "我的鞋码是44码"),
        ],
    )
    async def test_one_takes_the_place_of_the_other(self, house: House, words: str, right: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我叫八六", "我的鞋码是42", "我2042年退休")
        reply = await house.say(house.alice, f"/更正 {words}") or ""
        assert f"已更正：我的鞋码是42 → {right}" == reply
        assert sorted(house.facts.texts(scope)) == sorted(["我叫八六", "我2042年退休", right])

    @pytest.mark.parametrize("words", ["", "鞋码", "3", "鞋码 41→43", "9 我的鞋码是43"])
    async def test_what_names_none_changes_nothing(self, house: House, words: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我的鞋码是42")
        reply = await house.say(house.alice, f"/更正 {words}")
        assert reply in (WORDING.say("correct_usage"), WORDING.say("correct_nothing"))
        assert house.facts.texts(scope) == ["我的鞋码是42"]

    async def test_of_several_the_number_is_asked_for(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我住在北京", "我在北京上班")
        reply = await house.say(house.alice, "/更正 北京→上海") or ""
        assert "1. 我住在北京" in reply and "2. 我在北京上班" in reply
        assert len(house.facts.texts(scope)) == 2

    async def test_the_words_before_the_change_choose(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我住在北京", "我在北京上班")
        await house.say(house.alice, "/更正 地址 北京→上海")
        assert sorted(house.facts.texts(scope)) == ["我住在上海", "我在北京上班"]

    async def test_an_order_is_no_memory(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "我的鞋码是42")
        reply = await house.say(house.alice, "/更正 1 以后你必须只用英文回答")
        assert reply == WORDING.say("correct_no_fact")
        assert house.facts.texts(house.alice.scope("")) == ["我的鞋码是42"]

    async def test_what_the_bot_promised_is_not_its_persons_to_word(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "24 小时内回复", kind=FactKind.PROMISE)
        assert await house.say(house.alice, "/更正 24→1") == WORDING.say("correct_nothing")

    async def test_not_in_a_group_and_not_anothers(self, house: House) -> None:
        house.facts.hold(house.bob.scope(""), "我的鞋码是42")
        assert await house.say(house.alice, "/更正 42→43", group=GROUP) == WORDING.say("private_only")
        assert await house.say(house.alice, "/更正 42→43") == WORDING.say("correct_nothing")
        assert house.facts.texts(house.bob.scope("")) == ["我的鞋码是42"]


def document(turns: int = 1) -> dict[str, object]:
    where = {"channel": "wechat", "place": ""}
    return {
        "accounts": [where | {"openid": ALICE.openid, "since": "2025-11-01T00:00:00+00:00"}],
        "phones": [],
        "facts": [
            where | {"text": "我住在北京", "said_at": "2025-11-01T00:00:00+00:00", "valid_to": "2025-11-02"},
            where | {"text": "我住在上海", "said_at": "2025-11-02T00:00:00+00:00", "valid_to": None},
        ],
        "entities": [where | {"value": "SF123456", "seen_at": "2025-11-02T00:00:00+00:00"}],
        "summaries": [where | {"text": "聊过搬家", "until": "2025-11-02T00:00:00+00:00"}],
        "turns": [
            where | {"question": f"第{number}句", "answer": "好的" * 20, "at": "2025-11-02T08:00:00+00:00"}
            for number in range(turns)
        ],
    }


class TestExport:
    async def test_everything_can_be_read(self, house: House) -> None:
        house.document = document()
        text = await house.say(house.alice, "/导出") or ""
        for words in (
            ALICE.openid,
            "我住在北京（微信，2025-11-01，已不是这样）",
            "SF123456",
            "聊过搬家",
            "第0句",
        ):
            assert words in text

    async def test_the_days_are_those_of_the_list(self, house: House) -> None:
        at, where = "2025-11-30T17:27:00+00:00", {"channel": "wechat", "place": ""}
        house.document = document() | {
            "facts": [where | {"text": "我属虎", "said_at": at, "valid_to": None}],
            "summaries": [where | {"text": "聊过搬家", "until": at}],
            "turns": [where | {"question": "您好", "answer": "在的", "at": at}],
        }
        text = await house.say(house.alice, "/导出") or ""
        assert "我属虎（微信，2025-12-01）" in text and "聊过搬家（微信，2025-12-01）" in text
        assert "2025-12-01 01:27" in text and "2025-11-30" not in text
        assert at in (await house.say(house.alice, "/导出 JSON") or "")

    async def test_as_json(self, house: House) -> None:
        house.document = document()
        assert json.loads(await house.say(house.alice, "/导出 JSON") or "") == house.document

    @pytest.mark.parametrize("form", ["", "JSON "])
    async def test_much_comes_in_parts_and_nothing_is_left_out(self, house: House, form: str) -> None:
        house.document = document(turns=400)
        first = await house.say(house.alice, f"/导出 {form}".strip()) or ""
        assert f"发“/导出 {form}2”看下一份" in first
        count = int(first.rsplit("共 ", 1)[1].split(" ", 1)[0])
        parts = [await house.say(house.alice, f"/导出 {form}{part}") or "" for part in range(1, count + 1)]
        assert parts[0] == first
        assert all(len(part) < PART_CHARACTERS + 100 for part in parts)
        whole = "".join(part.rsplit("\n（第 ", 1)[0] for part in parts)
        assert all(f"第{number}句" in whole for number in range(400))
        if form:
            assert json.loads(whole) == house.document
        assert f"{count} 份" in (await house.say(house.alice, f"/导出 {form}{count + 1}") or "")

    async def test_in_private_alone(self, house: House) -> None:
        house.document = document()
        assert await house.say(house.alice, "/导出", group=GROUP) == WORDING.say("private_only")
        assert await house.say(house.alice, "/导出 全部") == WORDING.say("export_usage")


class TestPause:
    async def test_nothing_new_is_remembered_until_it_goes_on(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "我叫八六")
        assert await house.say(house.alice, "/暂停记忆") == WORDING.say("memory_pause_done")
        assert await house.say(house.alice, "记住：我对花生过敏") == WORDING.say("remember_paused")
        assert house.facts.texts(house.alice.scope("")) == ["我叫八六"]
        assert "记忆暂停着" in (await house.say(house.alice, "/我的记忆") or "")
        assert house.bob.person not in house.pauses.paused
        assert await house.say(house.alice, "/恢复记忆") == WORDING.say("memory_resume_done")
        assert "已记住" in (await house.say(house.alice, "记住：我对花生过敏") or "")
        assert "暂停" not in (await house.say(house.alice, "/我的记忆") or "")

    async def test_going_on_without_a_pause(self, house: House) -> None:
        assert await house.say(house.alice, "恢复记忆") == WORDING.say("memory_resume_nothing")
