"""The commands, over stores that live in memory."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.channels.onebot_pages import pages_of as onebot_pages
from bot.channels.wechat.links import shown
from bot.channels.wechat_mapping import pages_of as wechat_pages
from bot.commands import DEGRADED, CommandReply
from bot.commands.clearing import CONFIRM_WITHIN, parse_target
from bot.commands.held import NAMED_PAGE_BYTES
from bot.commands.people import mask
from bot.conversation.message import PLAYGROUND
from bot.conversation.taps import without_taps
from bot.memory.fact import FactKind
from bot.ports import Delivery, DeliveryState, Taken
from tests.command_fakes import ALICE, BOB, ROOT, WORDING, House


@pytest.fixture
def house() -> House:
    return House()


async def test_talk_is_left_to_others(house: House) -> None:
    for text in ("营业时间", "继续", "好了吗", "确认", "取消", "记住了吗", "忘记密码怎么办", "/没有这个"):
        assert await house.say(house.alice, text) is None


async def test_help_names_superuser_commands_to_superusers_only(house: House) -> None:
    assert await house.say(house.alice, "／帮助") == WORDING.say("help")
    assert "/查人" in (await house.say(house.root, "/help") or "")


async def test_privacy_in_plain_words(house: House) -> None:
    assert await house.say(house.alice, "隐私") == WORDING.say("privacy")


async def test_own_id_is_told_in_private_only(house: House) -> None:
    assert await house.say(house.alice, "/我的编号") == "您的账号编号：wechat:oAlice_0123456789"
    assert ALICE.openid not in (await house.say(house.alice, "/我的编号", group="g") or "")


class TestMemory:
    async def test_lists_newest_first_with_source_and_date(self, house: House) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "我叫八六")
        house.facts.hold(scope, "对花生过敏", channel="onebot")
        assert await house.say(house.alice, "你都记得我什么？") == (
            "我记得这些（共 2 件）：\n2. 对花生过敏（QQ，2025-11-30）\n1. 我叫八六（微信，2025-11-30）\n"
            "发“/忘记 第几条”或“/忘记 词语”可以删除，“/更正 编号 内容”可以改。"
        )

    async def test_what_the_bot_promised_is_not_listed_as_said_by_the_person(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "明天给您回电", kind=FactKind.PROMISE)
        assert "1. 我答应您的：明天给您回电（" in (await house.say(house.alice, "/我的记忆") or "")

    async def test_shows_twenty_and_says_how_many_more(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), *[f"第{number}件" for number in range(23)])
        text = await house.say(house.alice, "/我的记忆") or ""
        assert "第22件" in text
        assert "第2件" not in text
        assert "另有 3 件" in text
        assert "共 23 件" in text
        rest = await house.say(house.alice, "/我的记忆 2") or ""
        assert "第2件" in rest and "第0件" in rest and "第3件" not in rest
        assert await house.say(house.alice, "/我的记忆 9") == rest

    async def test_braces_in_a_memory_are_text(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "{count} {0} {")
        assert "{count} {0} {" in (await house.say(house.alice, "/我的记忆") or "")

    async def test_a_group_hears_counts_only(self, house: House) -> None:
        house.facts.hold(house.alice.scope("wechat:wxshop:g"), "对花生过敏")
        text = await house.say(house.alice, "/我的记忆", group="g") or ""
        assert "1 件" in text
        assert "花生" not in text

    async def test_nobody_sees_anothers(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "对花生过敏")
        assert await house.say(house.bob, "/我的记忆") == WORDING.say("memory_empty")

    async def test_anonymous_people_are_refused(self, house: House) -> None:
        for text in ("/我的记忆", "/忘记 尺码", "/清除记忆", "/记住 我叫八六", "你都记得我什么"):
            assert await house.say(None, text, group="g") == WORDING.say("anonymous")
        assert await house.say(None, "/帮助", group="g") == WORDING.say("help")
        assert await house.say(None, "继续", group="g") is None


class TestRemember:
    @pytest.mark.parametrize("text", ["/记住 我对花生过敏", "记住：我对花生过敏", "／记住我对花生过敏"])
    async def test_says_so_after_keeping(self, house: House, text: str) -> None:
        reply = await house.say(house.alice, text)
        kept = house.facts.texts(house.alice.scope(""))
        assert len(kept) == 1
        assert "花生过敏" in kept[0]
        assert reply == f"已记住：{kept[0]}"

    async def test_what_is_known_already_is_remembered(self, house: House) -> None:
        first = await house.say(house.alice, "/记住 我对花生过敏")
        assert await house.say(house.alice, "/记住 我对花生过敏") == first
        assert len(house.facts.texts(house.alice.scope(""))) == 1

    async def test_what_was_not_stored_is_not_claimed(self, house: House) -> None:
        house.facts.epochs[house.alice.person] = 1
        assert await house.say(house.alice, "/记住 我对花生过敏") == WORDING.say("remember_failed")

    @pytest.mark.parametrize("text", ["/记住", "记住", "记住。"])
    async def test_nothing_to_remember_is_asked_for(self, house: House, text: str) -> None:
        assert await house.say(house.alice, text) == WORDING.say("remember_what")


class TestForget:
    @pytest.mark.parametrize("text", ["/忘记 尺码", "/忘记尺码", "忘记我刚才说的尺码"])
    async def test_says_what_was_deleted(self, house: House, text: str) -> None:
        scope = house.alice.scope("")
        house.facts.hold(scope, "尺码是 M", "对花生过敏")
        reply = await house.say(house.alice, text) or ""
        assert reply == "已忘记 1 件事：\n· 尺码（微信，2025-11-30）", "by its topic: its words are gone"
        assert house.facts.texts(scope) == ["对花生过敏"]
        assert house.window.dropped == [scope]

    async def test_just_now_alone_means_the_last_things_said(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "尺码是 M")
        house.facts.hold(house.alice.scope(""), "对花生过敏")
        house.clock.at += timedelta(minutes=3)
        assert "· 饮食（" in (await house.say(house.alice, "忘掉刚才说的") or "")
        assert house.facts.texts(house.alice.scope("")) == ["尺码是 M"]

    async def test_says_when_nothing_is_found(self, house: House) -> None:
        house.facts.hold(house.bob.scope(""), "尺码是 M")
        assert await house.say(house.alice, "/忘记 尺码") == WORDING.say("forget_nothing")
        assert house.facts.texts(house.bob.scope("")) == ["尺码是 M"]

    async def test_asks_what(self, house: House) -> None:
        assert await house.say(house.alice, "/忘记") == WORDING.say("forget_usage")

    async def test_a_group_hears_a_count(self, house: House) -> None:
        house.facts.hold(house.alice.scope("wechat:wxshop:g"), "尺码是 M")
        reply = await house.say(house.alice, "/忘记 尺码", group="g") or ""
        assert "1 件" in reply
        assert "M" not in reply

    async def test_says_when_the_window_could_not_be_dropped(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "尺码是 M")
        house.window.is_away = True
        assert (await house.say(house.alice, "/忘记 尺码") or "").endswith(WORDING.say("forget_window_left"))


class TestClearSelf:
    async def test_asks_once_and_clears_on_confirmation(self, house: House) -> None:
        house.facts.hold(house.alice.scope(""), "对花生过敏")
        assert await house.say(house.alice, "/清除记忆") == WORDING.say("clear_self_ask")
        assert house.facts.cleared == []
        assert await house.say(house.alice, "确认。") == "已清除：1 件事、7 轮对话。"
        assert house.facts.cleared == [house.alice.person]
        assert house.window.dropped == [house.alice.scope("")]
        assert house.audit.rows == [
            (ALICE, "clear_self", house.alice.person, "", "facts=1 turns=7 jobs=1 deliveries=2 vectors=1")
        ]
        assert await house.say(house.alice, "确认") is None

    async def test_too_late_a_confirmation_clears_nothing(self, house: House) -> None:
        await house.say(house.alice, "/清除记忆")
        house.clock.at += CONFIRM_WITHIN
        assert await house.say(house.alice, "确认") is None
        assert house.facts.cleared == []

    @pytest.mark.parametrize("text", ["不用了", "好的", "/帮助", "您要 M 码吗"])
    async def test_anything_else_leaves_the_memory(self, house: House, text: str) -> None:
        await house.say(house.alice, "/清除记忆")
        await house.say(house.alice, text)
        assert await house.say(house.alice, "确认") is None
        assert house.facts.cleared == []

    @pytest.mark.parametrize("text", ["好", "好的", "是", "OK", "可以。"])
    async def test_an_assent_is_told_that_it_is_not_enough(self, house: House, text: str) -> None:
        await house.say(house.alice, "/清除记忆")
        assert await house.say(house.alice, text) == WORDING.say("confirm_unsaid")
        assert await house.say(house.alice, "确认") is None
        assert house.facts.cleared == []

    @pytest.mark.parametrize("text", ["不", "算了", "不用了。", "还是算了吧", "先不要"])
    async def test_a_refusal_is_told_that_nothing_was_cleared(self, house: House, text: str) -> None:
        await house.say(house.alice, "/清除记忆")
        assert await house.say(house.alice, text) == WORDING.say("clear_cancelled")
        assert await house.say(house.alice, "确认") is None
        assert house.facts.cleared == []

    @pytest.mark.parametrize("text", ["好", "不", "算了"])
    async def test_they_are_talk_where_nothing_waits(self, house: House, text: str) -> None:
        assert await house.say(house.alice, text) is None

    async def test_they_are_talk_in_another_place(self, house: House) -> None:
        await house.say(house.alice, "/清除记忆")
        assert await house.say(house.alice, "好", group="g") is None

    async def test_cancel_says_so(self, house: House) -> None:
        await house.say(house.alice, "清除记忆")
        assert await house.say(house.alice, "取消") == WORDING.say("clear_cancelled")
        assert await house.say(house.alice, "/确认") == WORDING.say("confirm_nothing")
        assert house.facts.cleared == []

    async def test_anothers_confirmation_is_not_mine(self, house: House) -> None:
        await house.say(house.alice, "/清除记忆")
        assert await house.say(house.bob, "确认") is None
        assert house.facts.cleared == []

    async def test_is_for_private_chats(self, house: House) -> None:
        assert await house.say(house.alice, "/清除记忆", group="g") == WORDING.say("private_only")
        await house.say(house.alice, "/清除记忆")
        assert await house.say(house.alice, "确认", group="g") == WORDING.say("private_only")
        assert house.facts.cleared == []

    async def test_a_window_out_of_reach_does_not_undo_the_clearing(self, house: House) -> None:
        house.window.is_away = True
        await house.say(house.alice, "/清除记忆")
        assert "已清除" in (await house.say(house.alice, "确认") or "")


class TestClearOther:
    async def test_needs_authority_and_tells_nothing_without(self, house: House) -> None:
        replies = {
            await house.say(house.alice, text)
            for text in (
                "/清除记忆 2 烦人",
                "/清除记忆 999 烦人",
                f"/清除记忆 {BOB.address} 烦人",
                "/清除记忆 谁 烦人",
            )
        }
        assert replies == {WORDING.say("clear_only_own")}
        assert await house.say(house.alice, "确认") is None
        assert house.facts.cleared == []

    @pytest.mark.parametrize("who", ["2", "#2", "2号", BOB.address, f"WeChat：{BOB.openid}"])
    async def test_clears_the_named_person(self, house: House, who: str) -> None:
        house.facts.hold(house.bob.scope(""), "对花生过敏")
        asked = await house.say(house.root, f"/清除记忆 {who} 本人 来信要求")
        assert asked == WORDING.say("clear_other_ask", person=2, reason="本人 来信要求")
        done = await house.say(house.root, "确认")
        assert done == WORDING.say(
            "clear_other_done", person=2, facts=1, turns=7, jobs=1, deliveries=2, vectors=1
        )
        assert house.facts.cleared == [house.bob.person]
        assert house.audit.rows[0][:4] == (ROOT, "clear_person", house.bob.person, "本人 来信要求")

    async def test_clears_the_mentioned_person_in_a_group(self, house: House) -> None:
        asked = await house.say(house.root, "/清除记忆 @鲍勃 本人要求", group="g", mentioned=(BOB,))
        assert asked == WORDING.say("clear_other_ask", person=2, reason="本人要求")
        await house.say(house.root, "确认", group="g")
        assert house.facts.cleared == [house.bob.person]

    async def test_a_mention_by_somebody_else_is_refused(self, house: House) -> None:
        assert await house.say(house.alice, "/清除记忆", group="g", mentioned=(BOB,)) == WORDING.say(
            "clear_other_refused"
        )

    @pytest.mark.parametrize("argument", ["2", "鲍勃 本人要求", "本人要求", "wechat: 要求", "2,3 要求"])
    async def test_needs_one_person_and_a_reason(self, house: House, argument: str) -> None:
        assert await house.say(house.root, f"/清除记忆 {argument}") == WORDING.say("clear_usage")

    @pytest.mark.parametrize("who", ["999", "wechat:oBobby", f"{BOB.address}9", f"onebot:{BOB.openid}"])
    async def test_a_part_of_an_id_names_nobody(self, house: House, who: str) -> None:
        assert await house.say(house.root, f"/清除记忆 {who} 要求") == WORDING.say("find_nothing")

    async def test_an_openid_of_two_people_names_neither(self, house: House) -> None:
        house.accounts.add(replace(BOB, app_id="wxother"), 4)
        assert await house.say(house.root, f"/清除记忆 {BOB.address} 要求") == WORDING.say(
            "clear_several", people="2、4"
        )

    async def test_authority_is_asked_again_at_execution(self, house: House) -> None:
        house.accounts.claimed.append((ALICE.channel, ALICE.app_id, ALICE.openid))
        await house.say(house.alice, "/清除记忆 2 要求")
        house.accounts.claimed.clear()
        assert await house.say(house.alice, "确认") == WORDING.say("clear_other_refused")
        assert house.facts.cleared == []

    async def test_a_superuser_clears_their_own_like_anybody(self, house: House) -> None:
        await house.say(house.root, "/清除记忆")
        await house.say(house.root, "确认")
        assert house.facts.cleared == [house.root.person]

    def test_two_mentions_or_a_mention_and_a_number_are_ambiguous(self) -> None:
        assert parse_target("@甲 @乙 要求", (BOB, ALICE)) is None
        assert parse_target("2 要求", (BOB,)) is None
        assert parse_target("@鲍勃", (BOB,)) is None


class TestFind:
    async def test_lists_people_with_masked_accounts(self, house: House) -> None:
        house.accounts.add(replace(BOB, channel="onebot", openid="Bobby2"), 2)
        reply = await house.say(house.root, "/查人 Bobby") or ""
        assert reply == "找到：\n2 号：微信 oBob…6789、QQ Bo…y2"

    async def test_is_for_superusers_in_private(self, house: House) -> None:
        assert await house.say(house.alice, "/查人 Bobby") == WORDING.say("not_allowed")
        assert await house.say(house.alice, "/查人 nobody") == WORDING.say("not_allowed")
        assert await house.say(house.root, "/查人 Bobby", group="g") == WORDING.say("private_only")

    async def test_says_what_is_missing(self, house: House) -> None:
        assert await house.say(house.root, "/查人") == WORDING.say("find_usage")
        assert await house.say(house.root, "/查人 o") == WORDING.say("find_usage")
        assert await house.say(house.root, "/查人 nobody") == WORDING.say("find_nothing")

    @pytest.mark.parametrize("openid", ["1", "12", "1234", "12345", "123456789", "oAlice_0123456789"])
    def test_a_masked_id_is_never_whole(self, openid: str) -> None:
        assert openid not in mask(openid)
        assert len(mask(openid)) <= 9


class TestClaim:
    async def test_the_code_makes_its_sender_superuser(self, house: House) -> None:
        code = await house.authority.issue_claim_code()
        assert "认领成功" in (await house.say(house.alice, f"/认领 {code}") or "")
        assert await house.say(house.alice, "/查人 nobody") == WORDING.say("find_nothing")
        assert await house.say(house.bob, f"/认领 {code}") == WORDING.say("claim_refused")

    async def test_is_refused_in_groups_without_a_code_and_with_a_wrong_one(self, house: House) -> None:
        code = await house.authority.issue_claim_code()
        assert await house.say(house.alice, f"/认领 {code}", group="g") == WORDING.say("private_only")
        assert await house.say(house.alice, "/认领") == WORDING.say("claim_usage")
        assert await house.say(house.alice, "/认领 XXXX") == WORDING.say("claim_refused")
        assert house.accounts.claimed == []

    async def test_the_playground_never_claims(self, house: House) -> None:
        code = await house.authority.issue_claim_code()
        player = house.accounts.add(replace(ALICE, app_id=PLAYGROUND), 9)
        for tried in (code, "XXXX"):
            assert await house.say(player, f"/认领 {tried}") == WORDING.say("claim_playground")
        assert house.accounts.code_hash is not None


class TestContinue:
    def hold(
        self, house: House, *pages: str, next_page: int = 0, question: str = "我能吃什么零食？还记得我吗"
    ) -> None:
        house.deliveries.held[house.alice.id] = Delivery(
            inbox_id=41,
            pages=pages,
            next_page=next_page,
            state=DeliveryState.HELD,
            decided_by="model",
            question=question,
        )

    @pytest.mark.parametrize("text", ["继续", "继续。", "/继续", "／继续", "好了吗", "然后呢", "然后呢？"])
    async def test_hands_over_the_first_page_and_names_its_question(self, house: House, text: str) -> None:
        self.hold(house, "第一页", "第二页")
        reply = await house.reply(house.alice, text)
        assert reply is not None
        assert reply.taken == Taken(inbox_id=41, page=0)
        assert without_taps(reply.text) == "关于“我能吃什么零食…”：\n第一页\n(1/2) 回复“继续”"

    async def test_later_pages_come_with_their_number_alone(self, house: House) -> None:
        self.hold(house, "第一页", "第二页 {page}", next_page=1)
        assert without_taps(await house.say(house.alice, "继续") or "") == "第二页 {page}\n(2/2)"

    async def test_among_other_answers_each_page_names_its_question(self, house: House) -> None:
        self.hold(house, "第一页", "第二页", next_page=1)
        house.deliveries.has_others = True
        said = without_taps(await house.say(house.alice, "继续") or "")
        assert said == "关于“我能吃什么零食…”：\n第二页\n(2/2)"

    async def test_a_lone_page_has_no_number(self, house: House) -> None:
        self.hold(house, "只有一页", next_page=0)
        assert without_taps(await house.say(house.alice, "继续") or "") == "关于“我能吃什么零食…”：\n只有一页"

    @pytest.mark.parametrize("channel", ["wechat", "onebot"])
    async def test_a_page_is_not_rendered_a_second_time(self, house: House, channel: str) -> None:
        page = '  **码** [x](https://x.cn) <a href="https://x.cn">y</a>'
        self.hold(house, "第一页", page, next_page=1)
        paginate = wechat_pages if channel == "wechat" else onebot_pages
        assert paginate(await house.say(house.alice, "继续") or "") == (
            f"{page if channel == 'wechat' else page.strip()}\n(2/2)",
        )

    async def test_what_a_question_held_makes_no_link_and_no_tap(self, house: House) -> None:
        self.hold(house, "第一页", question="\ufdd0清除\ufdd1weixin://x")
        (page,) = wechat_pages(await house.say(house.alice, "继续") or "")
        assert page == "关于“清除”：\n第一页"

    async def test_a_full_page_is_not_made_longer(self, house: House) -> None:
        page = "满" * (NAMED_PAGE_BYTES // 3)
        self.hold(house, page)
        assert without_taps(await house.say(house.alice, "继续") or "") == page

    @pytest.mark.parametrize("text", ["汉" * 5000, "很长，很长。" * 900, "“\ufdd0继续\ufdd1”" * 300])
    async def test_every_page_fits_with_all_that_is_added(self, house: House, text: str) -> None:
        pages = wechat_pages(text)
        assert len(pages) > 2
        for number in range(len(pages)):
            self.hold(house, *pages, next_page=number, question="👨‍👩‍👧‍👦" * 3)
            house.deliveries.has_others = True
            said = await house.say(house.alice, "继续") or ""
            assert f"({number + 1}/{len(pages)})" in said
            assert "关于“" in said
            (page,) = wechat_pages(said)
            assert len(shown(page).encode()) <= NAMED_PAGE_BYTES

    @pytest.mark.parametrize("text", ["1", "继续买两件", "继续1"])
    async def test_other_texts_fetch_nothing(self, house: House, text: str) -> None:
        self.hold(house, "第一页")
        assert await house.reply(house.alice, text) is None

    async def test_nothing_held_goes_on_to_the_model(self, house: House) -> None:
        assert await house.reply(house.alice, "继续") is None
        assert await house.say(house.alice, "/继续") == WORDING.say("held_nothing")

    async def test_a_private_answer_never_enters_a_group(self, house: House) -> None:
        self.hold(house, "第一页")
        assert await house.reply(house.alice, "继续", group="g") is None
        assert await house.reply(house.alice, "/继续", group="g") == CommandReply(
            text=WORDING.say("held_nothing")
        )

    async def test_what_was_asked_in_a_group_is_handed_over_there_and_in_private(self, house: House) -> None:
        self.hold(house, "第一页")
        house.deliveries.places[house.alice.id] = "wechat:wxshop:g"
        assert "第一页" in (await house.say(house.alice, "继续", group="g") or "")
        assert await house.say(house.alice, "/继续", group="h") == WORDING.say("held_nothing")
        assert "第一页" in (await house.say(house.alice, "继续") or "")

    async def test_another_persons_pages_stay_theirs(self, house: House) -> None:
        self.hold(house, "第一页")
        assert await house.reply(house.bob, "继续") is None


class TestStatus:
    async def test_everyone_hears_whether_all_is_well(self, house: House) -> None:
        house.report = {"模型": "未设置"}
        assert await house.say(house.alice, "/状态") == WORDING.say("status_ok")
        house.report = {"模型": "qwen", DEGRADED: "Redis 没有回应"}
        assert await house.say(house.alice, "/状态") == WORDING.say("status_degraded")

    async def test_superusers_hear_the_details_in_private(self, house: House) -> None:
        house.report = {"模型": "qwen", "FAQ": "12 条", DEGRADED: ""}
        assert await house.say(house.root, "/状态") == "运行状态：\n模型：qwen\nFAQ：12 条"
        assert await house.say(house.root, "/状态", group="g") == WORDING.say("status_ok")


async def test_the_operator_is_told_once_an_hour_who_wants_a_human(house: House) -> None:
    for _ in range(3):
        await house.say(house.alice, "转人工")
    await house.say(house.bob, "人工")
    assert house.alerts.texts == ["1 号人（微信）要找真人，请去回复", "2 号人（微信）要找真人，请去回复"]
    house.clock.at += timedelta(hours=1)
    await house.say(house.alice, "转人工")
    assert len(house.alerts.texts) == 3
