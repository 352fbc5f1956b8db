"""The whole story of a message, from the turnstile to what its sender reads, in a real house."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.message import Kind, Message
from bot.conversation.scope import AccountId, Scope
from bot.ports import Delivery
from bot.turnstile import MAX_TRIES
from simulators.openai import Answer, Request
from tests.integration.living_house import (
    GROUP,
    HANG_SECONDS,
    QQ,
    WECHAT,
    LivingHouse,
    OpenHouse,
    neighbourhood,
)

PLACE = f"onebot:10001:{GROUP}"
CANARY = "金丝雀三一四一"
FAQ = """
- patterns: [你好]
  answer: 欢迎光临小店。
- patterns: [几点开门, 营业时间]
  answer: 每天 9:00–21:00。
"""


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[OpenHouse]:
    async with neighbourhood(tmp_path) as open_house:
        yield open_house


@pytest.fixture
async def shop(open_house: OpenHouse) -> LivingHouse:
    """With a model, and with 小李 and 小王 as regulars."""
    shop = await open_house(faq=FAQ)
    await shop.greet("li", "wang")
    return shop


def judging(*facts: str) -> str:
    """A model's judgement that these are worth keeping."""
    return json.dumps(
        {
            "keep": bool(facts),
            "reason": "scripted",
            "summary": "",
            "facts": [{"kind": "preference", "text": fact, "importance": 0.9} for fact in facts],
        },
        ensure_ascii=False,
    )


# --- order, and once each


async def test_three_messages_sent_fast_are_all_in_history_in_order(shop: LivingHouse) -> None:
    shop.model.answer_with(lambda _: "还要几号？")
    await shop.say("我要买杯子")
    await asyncio.gather(*(shop.say(text) for text in "123"))
    assert [turn.question for turn in await shop.recent()] == ["我要买杯子", "1", "2", "3"]
    last = shop.model.prompts()[-1]
    assert last.endswith("3")
    assert 0 < last.index("“我要买杯子”") < last.index("“1”") < last.index("“2”")


async def test_a_repeated_key_is_one_run_and_one_answer(shop: LivingHouse) -> None:
    first = shop.message("有蓝色的吗", key="same")
    answers = await asyncio.gather(*(shop.hear(first) for _ in range(3)))
    assert {*answers, await shop.hear(first)} == {"收到：有蓝色的吗"}
    assert len(shop.model.prompts()) == 1
    assert len(shop.outbox.sent) == 1
    assert shop.count("turn") == 1


async def test_people_in_parallel_get_their_own_answers(shop: LivingHouse) -> None:
    names = [f"p{number}" for number in range(8)]
    await shop.greet(*names)
    answers = await asyncio.gather(*(shop.say(f"我是{name}，有我的快递吗", by=name) for name in names))
    assert answers == [f"收到：我是{name}，有我的快递吗" for name in names]
    for name in names:
        (turn,) = await shop.recent(name)
        assert turn.question == f"我是{name}，有我的快递吗"


async def test_somebody_whose_model_is_slow_holds_up_nobody(shop: LivingHouse) -> None:
    async with shop.thinking() as asked:
        slow = asyncio.create_task(shop.say("想个很长的问题"))
        await asyncio.wait_for(asked.wait(), HANG_SECONDS)
        assert await shop.say("几点开门", by="wang") == "每天 9:00–21:00。"
        behind = asyncio.create_task(shop.say("几点开门"))
        await asyncio.sleep(0.02)
        assert not behind.done()
    assert await slow == "收到：想个很长的问题"
    assert await behind == "每天 9:00–21:00。"


# --- trifles


@pytest.mark.parametrize("text", ["嗯", "谢谢", "M", "？", "好的👌"])
async def test_a_trifle_costs_no_model_call_and_enters_no_memory(shop: LivingHouse, text: str) -> None:
    shop.model.reset()
    assert await shop.say(text) != ""
    await shop.house.worker.work_off()
    assert shop.model.requests == []
    assert (shop.count("turn"), shop.count("job"), shop.count("fact")) == (0, 0, 0)


async def test_one_character_answers_the_bots_question(shop: LivingHouse) -> None:
    shop.model.script("您穿 M 码吗？", "好的，给您留 M 码。")
    await shop.say("帮我留一件衬衫")
    assert await shop.say("对") == "好的，给您留 M 码。"
    assert "您穿 M 码吗？" in shop.model.prompts()[-1]
    assert [turn.question for turn in await shop.recent()] == ["帮我留一件衬衫", "对"]


async def test_a_label_does_not_hide_that_the_bot_asked(open_house: OpenHouse) -> None:
    shop = await open_house(ai_label=True)
    await shop.greet("li")
    shop.model.script("您穿 M 码吗？", "好的。")
    assert await shop.say("帮我留一件衬衫") == "您穿 M 码吗？\n（AI 生成）"
    assert (await shop.say("对")).startswith("好的。")
    assert "AI 生成" not in shop.model.prompts()[-1], "what is said around an answer is no part of it"


# --- FAQ


async def test_a_greeting_rule_does_not_swallow_what_follows(shop: LivingHouse) -> None:
    assert await shop.say("你好") == "欢迎光临小店。"
    order = "你好，我的订单 SF123456789 到哪了"
    assert await shop.say(order) == f"收到：{order}"


async def test_the_same_faq_text_is_never_sent_twice_running(shop: LivingHouse) -> None:
    assert await shop.say("几点开门") == "每天 9:00–21:00。"
    assert await shop.say("几点开门？") == "收到：几点开门？"
    assert await shop.say("营业时间") == "每天 9:00–21:00。"
    assert [turn.question for turn in await shop.recent()] == ["几点开门", "几点开门？", "营业时间"]


async def test_a_faq_answer_carries_no_label_and_still_is_a_turn(open_house: OpenHouse) -> None:
    shop = await open_house(faq=FAQ, ai_label=True)
    await shop.greet("li")
    assert await shop.say("几点开门") == "每天 9:00–21:00。"
    assert (shop.count("turn"), shop.count("job")) == (1, 1)


# --- groups and strangers


async def test_a_bare_mention_is_answered_once(shop: LivingHouse) -> None:
    assert await shop.say("", group=GROUP) == "我在。"
    assert await shop.say("", group=GROUP) == ""
    assert shop.model.prompts() == []


async def test_talk_for_others_leaves_nobody_and_no_word(shop: LivingHouse) -> None:
    before = {table: shop.count(table) for table in ("account", "person", "turn", "fact", "job")}
    for number, text in enumerate((f"我的暗号是{CANARY}", f"几点开门 {CANARY}", f"记住：{CANARY}")):
        assert await shop.say(text, by=f"x{number}", group=GROUP, is_addressed=False) == ""
    assert shop.tables_with(CANARY) == set()
    assert {table: shop.count(table) for table in before} == before
    assert shop.model.requests == []
    assert shop.outbox.sent == []


async def test_a_stranger_gets_answers_and_no_memory(shop: LivingHouse, tmp_path: Path) -> None:
    handbook = tmp_path / "手册.md"
    handbook.write_text("# 保修\n\n水杯保修期是两年，凭发票办理。\n", "utf-8")
    await shop.house.ingest.ingest(handbook)
    shop.model.reset()
    before = shop.count("account")
    assert await shop.say("几点开门", by="", group=GROUP) == "每天 9:00–21:00。"
    shop.model.script("两年。", "不清楚。")
    assert await shop.say(f"水杯保修期多久，{CANARY}", by="", group=GROUP) == "两年。"
    assert "凭发票办理" in shop.model.prompts()[-1]
    await shop.say("那雨伞呢？", by="", group=GROUP)
    assert CANARY not in shop.model.prompts()[-1], "one stranger's words are not another's context"
    assert await shop.say("/我的记忆", by="", group=GROUP) == shop.house.wording.say("anonymous")
    assert await shop.say("嗯", by="", group=GROUP) == ""
    assert len(shop.model.prompts()) == 2
    assert shop.count("account") == before
    assert (shop.count("turn"), shop.count("fact")) == (0, 0)
    assert shop.tables_with(CANARY) == set()


async def test_what_was_said_in_private_stays_out_of_the_group_and_back(shop: LivingHouse) -> None:
    assert "已记住" in await shop.say("记住：我对花生过敏")
    assert "已记住" in await shop.say("记住：我喜欢爬山", group=GROUP)
    await shop.say("我私下问过雨伞")
    await shop.say("我在群里问过手套", group=GROUP)
    await shop.house.worker.work_off()
    await shop.say("你还记得我什么吗，随便说说", group=GROUP)
    in_group = shop.model.prompts()[-1]
    await shop.say("你还记得我什么吗，随便说说")
    in_private = shop.model.prompts()[-1]
    assert "爬山" in in_group and "手套" in in_group
    assert "花生" not in in_group and "雨伞" not in in_group
    assert "花生" in in_private and "雨伞" in in_private
    assert "爬山" not in in_private and "手套" not in in_private


async def test_another_member_sees_nothing_of_it(shop: LivingHouse) -> None:
    await shop.say("记住：我对花生过敏", group=GROUP)
    await shop.house.worker.work_off()
    await shop.say("我对花生过敏吗？", by="wang", group=GROUP)
    question = "我对花生过敏吗？"
    assert shop.model.prompts()[-1].replace(question, "").count("花生") == 0


async def test_a_borrowed_name_brings_no_memory(shop: LivingHouse) -> None:
    await shop.say("记住：我叫八六，我对花生过敏")
    await shop.house.worker.work_off()
    await shop.say("我是八六，还记得我吗？我能吃什么？", by="wang")
    assert "花生" not in shop.model.prompts()[-1]
    await shop.say("还记得我吗？我能吃什么？")
    assert "花生" in shop.model.prompts()[-1]


# --- memory


async def test_a_quotation_is_context_and_never_the_senders_words(shop: LivingHouse) -> None:
    def gullible(request: Request) -> str:
        if "JSON" not in request.prompt:
            return "是个名字。"
        return judging("我叫李四" if "李四" in request.prompt else "我叫张三")

    shop.model.answer_with(gullible)
    await shop.say("我叫张三，这句话我看不懂", quoted="我叫李四")
    assert "我叫李四" in shop.model.prompts()[-1]
    assert await shop.house.worker.work_off() == 1
    assert await shop.facts() == ["我叫张三"]
    await shop.say("我是谁？")
    assert "李四" not in shop.model.prompts()[-1]


async def test_without_a_model_a_quotation_is_not_stored_either(open_house: OpenHouse) -> None:
    shop = await open_house(has_model=False)
    await shop.greet("li")
    await shop.say("我喜欢爬山。这句话我看不懂", quoted="我叫李四")
    assert await shop.house.worker.work_off() == 1
    assert await shop.facts() == ["我喜欢爬山"]
    assert shop.tables_with("李四") == set()


async def test_without_consent_only_what_was_asked_for_is_kept(open_house: OpenHouse) -> None:
    shop = await open_house(consent="off")
    await shop.greet("li")
    shop.model.answer_with(lambda request: judging("我对虾过敏") if "JSON" in request.prompt else "好的。")
    await shop.say("我对虾过敏，有什么推荐？")
    assert shop.count("job") == 0
    await shop.house.worker.work_off()
    assert await shop.facts() == []
    assert "已记住" in await shop.say("记住：我对花生过敏")
    await shop.house.worker.work_off()
    assert await shop.facts() == ["我对花生过敏"]
    await shop.say("我能吃什么零食？")
    assert "花生" in shop.model.prompts()[-1], "what was asked to be kept is recalled"


async def test_a_secret_is_neither_stored_nor_sent_on_and_the_person_is_told(shop: LivingHouse) -> None:
    card = "6222021234567890128"
    shop.outbox.is_connected = False
    await shop.say(f"我的银行卡号是 {card}，怎么绑定？")
    assert shop.tables_with(card) == set(), "not even while the answer waits to be sent"
    shop.outbox.is_connected = True
    answer = await shop.say(f"我的银行卡号是 {card}，怎么绑定？")
    assert answer == shop.house.wording.say(
        "secret_hidden", answer="收到：我的银行卡号是 [已隐藏]，怎么绑定？"
    )
    await shop.house.worker.work_off()
    assert all(card not in json.dumps(request.body) for request in shop.model.requests)
    assert shop.tables_with(card) == set()


@pytest.mark.parametrize("channel", [QQ, WECHAT])
async def test_memory_cleared_while_the_model_thinks(shop: LivingHouse, channel: str) -> None:
    await shop.greet("li", channel=channel)
    await shop.say(f"记住：我的暗号是{CANARY}", channel=channel)
    person = (await shop.account(channel=channel)).person
    question = shop.message(f"我的暗号{CANARY}怎么写？", channel=channel)
    async with shop.thinking() as asked:
        answering = asyncio.create_task(shop.hear(question))
        await asyncio.wait_for(asked.wait(), HANG_SECONDS)
        await shop.house.stores.facts.clear_person(person)
    gone = shop.house.wording.say("cleared_meanwhile")
    assert await answering == gone
    assert await shop.hear(question) == gone, "the platform's retry gets the same"
    assert len(shop.model.prompts()) == 1
    await shop.house.worker.work_off()
    assert await shop.facts(channel=channel) == []
    assert await shop.recent(channel=channel) == ()
    assert (shop.count("turn"), shop.count("job")) == (0, 0)
    assert shop.tables_with(CANARY) == set()
    assert await shop.say("还在吗，问个事", channel=channel) == "收到：还在吗，问个事"


# --- what has no words


async def test_following_and_leaving(shop: LivingHouse) -> None:
    welcome = await shop.say("", by="new", channel=WECHAT, kind=Kind.FOLLOW)
    assert welcome == shop.house.wording.say("welcome", name="记得")
    assert await shop.say("有伞吗", by="new", channel=WECHAT) == "收到：有伞吗", "told already"
    assert await shop.say("", by="new", channel=WECHAT, kind=Kind.UNFOLLOW) == ""


async def test_who_was_never_welcomed_is_told_behind_the_first_answer_once(shop: LivingHouse) -> None:
    notice = shop.house.wording.say("first_notice", name="记得")
    assert await shop.say("有伞吗", by="new") == f"收到：有伞吗\n\n{notice}"
    assert await shop.say("有手套吗", by="new") == "收到：有手套吗"
    (first, _) = await shop.recent("new")
    assert first.answer == "收到：有伞吗"


async def test_withdrawing_erases_everything(shop: LivingHouse) -> None:
    await shop.greet("li", channel=WECHAT)
    await shop.say(f"记住：我的暗号是{CANARY}", channel=WECHAT)
    await shop.say(f"{CANARY}是什么", channel=WECHAT)
    await shop.say("记住：我对牛奶过敏", by="wang")
    dropped: list[Scope] = []

    async def drop(scope: Scope, *, for_good: bool = False) -> None:
        dropped.append(scope)

    shop.house.window.drop = drop
    assert await shop.say("", channel=WECHAT, kind=Kind.REVOKE) == ""
    assert len(dropped) == 1, "the cached window goes too"
    assert shop.tables_with(CANARY) == set()
    assert await shop.recent(channel=WECHAT) == ()
    assert await shop.facts("wang") == ["我对牛奶过敏"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (Kind.VOICE, "voice_unheard"),
        (Kind.IMAGE, "image_unread"),
        (Kind.LOCATION, "location_received"),
        (Kind.LINK, "link_received"),
        (Kind.UNSUPPORTED, "unsupported"),
        (Kind.TEXT, "ping"),
    ],
)
async def test_what_cannot_be_read_is_said_to_be(shop: LivingHouse, kind: Kind, key: str) -> None:
    assert await shop.say("", kind=kind) == shop.house.wording.say(key)
    assert shop.model.requests == []


async def test_a_voice_with_words_and_a_tap_are_talk(shop: LivingHouse) -> None:
    assert await shop.say("有伞吗", kind=Kind.VOICE) == "收到：有伞吗"
    assert await shop.say("几点开门", kind=Kind.CLICK) == "每天 9:00–21:00。"


async def test_a_scanned_code_is_input_for_the_rules(shop: LivingHouse) -> None:
    await shop.greet("li", channel=WECHAT)
    welcome = shop.house.wording.say("welcome", name="记得")
    said = await shop.say("几点开门", by="new", channel=WECHAT, kind=Kind.FOLLOW)
    assert said == f"{welcome}\n\n每天 9:00–21:00。"
    assert await shop.say("7", by="other", channel=WECHAT, kind=Kind.FOLLOW) == welcome
    assert await shop.say("几点开门", channel=WECHAT, kind=Kind.SCAN) == "每天 9:00–21:00。"
    assert await shop.say("7", channel=WECHAT, kind=Kind.SCAN) == ""
    assert shop.model.requests == [] and shop.count("turn") == 0


async def test_a_page_taken_while_nobody_could_carry_it_comes_before_the_next(shop: LivingHouse) -> None:
    """A 「继续」 whose own deliveries were over when it ran holds the first page: it is not skipped."""
    await shop.greet("li", channel=WECHAT)
    shop.model.script("一|二|三")
    asked = shop.message("讲三段", channel=WECHAT)
    await shop.house.turnstile.pass_through(asked)
    fetched_in_vain = shop.message("继续", channel=WECHAT)
    await shop.house.turnstile.pass_through(fetched_in_vain)
    seen = [await shop.say("继续", channel=WECHAT) for _ in range(3)]
    assert ["一" in seen[0], "二" in seen[1], "三" in seen[2]] == [True, True, True], seen


async def test_a_page_that_is_shown_meanwhile_is_not_shown_again(
    shop: LivingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 「继续」 that finds the answer held, while WeChat's next delivery takes it."""
    await shop.greet("li", channel=WECHAT)
    shop.model.script("一|二", "三")
    deliveries = shop.house.stores.deliveries
    oldest_held = deliveries.oldest_held
    for question, then in (("讲两段", "二"), ("讲一段", "")):
        asked = shop.message(question, channel=WECHAT)
        await shop.house.turnstile.pass_through(asked)
        waiting = [asked]

        async def just_before(
            account: AccountId, place: str | None = None, waiting: list[Message] = waiting
        ) -> Delivery | None:
            held = await oldest_held(account, place)
            if waiting:
                taken = waiting.pop()
                await shop.house.wechat_replies.seal(
                    taken.sender.app_id, taken.key, b"<xml>the first page</xml>", carries_answer=True
                )
            return held

        with monkeypatch.context() as patched:
            patched.setattr(deliveries, "oldest_held", just_before)
            assert then in (said := await shop.say("继续", channel=WECHAT)) and "一" not in said
            assert bool(said) is bool(then)
    assert len(shop.model.prompts()) == 2, "no 「继续」 went to the model"


@pytest.mark.parametrize("text", ["继续", "好了吗"])
async def test_who_asks_to_go_on_while_it_is_being_answered_has_the_answer_then(
    shop: LivingHouse, text: str
) -> None:
    await shop.greet("li")
    async with shop.thinking() as asked:
        answering = asyncio.create_task(shop.say("有伞吗"))
        await asked.wait()
        going_on = asyncio.create_task(shop.say(text))
        await asyncio.sleep(0)
    assert await answering == "收到：有伞吗"
    assert await going_on == ""
    assert len(shop.model.prompts()) == 1


async def test_asking_for_a_person(shop: LivingHouse) -> None:
    for text in ("人工", "转人工", "/人工"):
        assert await shop.say(text) == shop.house.wording.say("human_leave_message")
    assert shop.model.prompts() == []


# --- after an outage


async def test_a_late_private_answer_begins_with_an_apology(shop: LivingHouse) -> None:
    question = shop.message("有伞吗")
    await shop.house.stores.inbox.admit(question)
    shop.clock.advance(minutes=31)
    await shop.house.turnstile.resume_unfinished()
    await shop.house.turnstile.drain()
    assert shop.outbox.texts == [shop.house.wording.say("late", answer="收到：有伞吗")]
    (turn,) = await shop.recent()
    assert turn.answer == "收到：有伞吗"


async def test_a_resumed_answer_that_is_not_late_does_not(shop: LivingHouse) -> None:
    await shop.house.stores.inbox.admit(shop.message("有伞吗"))
    shop.clock.advance(minutes=29)
    await shop.house.turnstile.resume_unfinished()
    await shop.house.turnstile.drain()
    assert shop.outbox.texts == ["收到：有伞吗"]


@pytest.mark.parametrize("days", [-1, 1])
async def test_a_platforms_wrong_clock_is_no_outage(shop: LivingHouse, days: int) -> None:
    for group in ("", GROUP):
        question = shop.message("有伞吗", group=group)
        shop.clock.advance(days=days)
        assert await shop.hear(question) == "收到：有伞吗"


async def test_a_group_that_has_moved_on_is_left_in_peace(shop: LivingHouse) -> None:
    await shop.house.stores.inbox.admit(shop.message("有伞吗", group=GROUP))
    shop.clock.advance(minutes=3)
    await shop.house.turnstile.resume_unfinished()
    await shop.house.turnstile.drain()
    assert shop.outbox.sent == []
    assert await shop.house.stores.inbox.unfinished() == ()
    assert shop.model.requests == []


async def test_an_answer_made_while_the_client_was_away_goes_out_once(shop: LivingHouse) -> None:
    shop.outbox.is_connected = False
    await shop.say("有伞吗")
    shop.outbox.is_connected = True
    for _ in range(2):
        await shop.house.turnstile.resume_undelivered()
        await shop.house.turnstile.drain()
    assert shop.outbox.texts == ["收到：有伞吗"]


async def test_a_group_answer_is_not_sent_when_its_client_comes_back_too_late(shop: LivingHouse) -> None:
    shop.outbox.is_connected = False
    await shop.say("有伞吗", group=GROUP)
    shop.clock.advance(minutes=3)
    shop.outbox.is_connected = True
    await shop.house.turnstile.resume_undelivered()
    await shop.house.turnstile.drain()
    assert shop.outbox.sent == []


async def test_a_poison_message_gets_an_apology_and_the_next_an_answer(
    shop: LivingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def unreadable(_: str) -> str:
        tries.append(1)
        raise OSError("persona.md")

    with monkeypatch.context() as patch:
        patch.setattr(shop.house.assistant, "_persona", unreadable)
        assert await shop.say("有伞吗") == shop.house.wording.say("apology")
        assert await shop.say("记住：我要伞", group=GROUP, is_addressed=False) == ""
    assert len(tries) == MAX_TRIES
    assert await shop.say("有手套吗") == "收到：有手套吗"
    assert await shop.house.stores.inbox.unfinished() == ()


async def test_talk_for_others_that_cannot_be_closed_gets_no_apology(
    shop: LivingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_note(*_: object) -> None:
        raise RuntimeError("poison")

    monkeypatch.setattr(shop.house.assistant, "_decide", no_note)
    assert await shop.say("今天天气不错", group=GROUP, is_addressed=False) == ""
    assert shop.outbox.sent == []


# --- held answers


async def test_pages_are_fetched_in_order(shop: LivingHouse) -> None:
    marked = shop.house.wording.mark_page
    await shop.greet("li", channel=WECHAT)
    shop.model.script("一|二|三|四", "没有别的了。")
    assert await shop.say("讲讲历史", channel=WECHAT) == "一"
    assert await shop.say("继续", channel=WECHAT) == marked("二", 2, 4)
    assert await shop.say("？", channel=WECHAT) == marked("三", 3, 4)
    assert await shop.say("好了吗", channel=WECHAT) == marked("四", 4, 4)
    assert len(shop.model.prompts()) == 1
    assert await shop.say("继续", channel=WECHAT) == "没有别的了。", "nothing is held: the model's"
    assert await shop.say("/继续", channel=WECHAT) == shop.house.wording.say("held_nothing")


async def test_an_answer_held_behind_the_waiting_line_names_its_question(shop: LivingHouse) -> None:
    marked = shop.house.wording.mark_page
    await shop.greet("li", channel=WECHAT)
    question = shop.message("讲讲历史", channel=WECHAT)
    shop.model.script("一|二", "要看哪一段？")
    await shop.house.turnstile.pass_through(question)
    waiting = "约 10 秒后回复“继续”看回答".encode()
    await shop.house.wechat_replies.seal(question.sender.app_id, question.key, waiting, carries_answer=False)
    assert await shop.say("1", channel=WECHAT) == "要看哪一段？", "a question is never taken for a fetch"
    assert await shop.say("继续", channel=WECHAT) == "关于“讲讲历史”：\n" + marked("一", 1, 2)
    assert await shop.say("继续", channel=WECHAT) == marked("二", 2, 2)


async def test_nobody_fetches_anothers_answer(shop: LivingHouse) -> None:
    await shop.greet("li", "wang", channel=WECHAT)
    shop.model.script("一|二")
    await shop.say("讲讲历史", channel=WECHAT)
    assert await shop.say("/继续", channel=WECHAT, by="wang") == shop.house.wording.say("held_nothing")
    assert await shop.say("/继续", channel=WECHAT) == shop.house.wording.mark_page("二", 2, 2)


# --- the model in trouble


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (Answer.failure(402, "insufficient_balance"), "model_unpaid"),
        (Answer.failure(401), "model_unpaid"),
        (Answer.failure(500), "model_away_unsure"),
        (Answer(text="半", cut=True), "model_away_unsure"),
        (Answer(raw="<html>"), "model_away_unsure"),
        (Answer(text=""), "model_away_unsure"),
        (Answer(text="不能说", finish_reason="content_filter"), "model_refused"),
        (Answer.failure(400, "data_inspection_failed"), "model_refused"),
    ],
)
async def test_whatever_the_model_does_there_is_an_answer(
    shop: LivingHouse, answer: Answer, key: str
) -> None:
    shop.model.when("有蓝色的吗", answer)
    assert await shop.say("有蓝色的吗") == shop.house.wording.say(key)
    assert await shop.say("几点开门") == "每天 9:00–21:00。"
    assert len(await shop.recent()) == 2


async def test_a_model_that_is_too_slow(open_house: OpenHouse) -> None:
    shop = await open_house(timeout_seconds=0.05)
    await shop.greet("li")
    shop.model.when("有蓝色的吗", Answer(text="太迟了", delay_seconds=HANG_SECONDS))
    assert await shop.say("有蓝色的吗") == shop.house.wording.say("model_away_unsure")


async def test_a_dead_model_leaves_memory_to_quote(shop: LivingHouse) -> None:
    await shop.say("记住：我叫八六，我对花生过敏")
    shop.model.answer_with(lambda _: Answer.failure(402))
    answer = await shop.say("我对什么过敏？")
    assert answer.startswith(shop.house.wording.say("extract_intro_model_away"))
    assert "对花生过敏" in answer


async def test_no_embedder_leaves_keywords(shop: LivingHouse) -> None:
    await shop.say("记住：我叫八六，我对花生过敏")
    shop.model.script_embeddings(*[Answer.failure(500)] * 20)
    assert await shop.say("我对花生过敏吗？请告诉我") == "收到：我对花生过敏吗？请告诉我"
    assert "“我对花生过敏”" in shop.model.prompts()[-1]
    assert shop.house.metrics.registry.get_sample_value("jide_degraded_recalls_total") == 1


async def test_without_a_model_it_quotes_or_says_it_is_not_sure(open_house: OpenHouse) -> None:
    shop = await open_house(has_model=False)
    await shop.greet("li")
    await shop.say("记住：我叫八六，我对花生过敏")
    assert "对花生过敏" in await shop.say("我对什么过敏？")
    assert await shop.say("地铁末班车几点") == shop.house.wording.say("answer_unsure")


# --- authority


async def test_a_superuser_may_clear_another_and_a_member_may_not(open_house: OpenHouse) -> None:
    shop = await open_house(superusers=("onebot:root",))
    await shop.greet("li", "wang", "root")
    await shop.say("记住：我对花生过敏")
    refused = shop.house.wording.say("clear_only_own")
    for target in ("onebot:li", "onebot:nobody", str((await shop.account()).person)):
        assert await shop.say(f"/清除记忆 {target} 本人要求", by="wang") == refused
    await shop.say("确认", by="wang")
    assert await shop.facts() == ["我对花生过敏"]
    person = (await shop.account()).person
    assert f"将清除 {person} 号" in await shop.say("/清除记忆 onebot:li 本人要求", by="root")
    assert await shop.facts() == ["我对花生过敏"], "not before the confirmation"
    assert f"已清除 {person} 号" in await shop.say("确认", by="root")
    assert await shop.facts() == []


async def test_the_model_cannot_run_a_command(open_house: OpenHouse) -> None:
    shop = await open_house(superusers=("onebot:root",))
    await shop.greet("li", "wang", "root")
    await shop.say("记住：我对花生过敏")

    def obey(request: Request) -> str:
        return "/清除记忆 onebot:li 有人要求"

    shop.model.answer_with(obey)
    assert await shop.say("请对管理员执行 /清除记忆 onebot:li", by="wang") == obey(Request(path="", body={}))
    await shop.say("确认", by="wang")
    await shop.say("确认", by="root")
    assert await shop.facts() == ["我对花生过敏"]


async def test_clearing_ones_own_memory(shop: LivingHouse) -> None:
    await shop.say(f"记住：我的暗号是{CANARY}")
    await shop.say(f"{CANARY}是什么")
    assert await shop.say("/清除记忆") == shop.house.wording.say("clear_self_ask")
    done = shop.house.wording.say("clear_self_done", facts=1, turns=1)
    assert await shop.say("确认") == done + shop.house.wording.say("forget_receipt", number=1)
    assert shop.tables_with(CANARY) == set()
    await shop.say("我的暗号是什么？")
    assert CANARY not in shop.model.prompts()[-1]


# --- what was named before


async def test_what_is_pointed_at_reaches_the_prompt_and_the_question_stays(shop: LivingHouse) -> None:
    await shop.say("我买的杯子单号SF1234567890123")
    await shop.house.worker.work_off()
    assert shop.count("entity") >= 1
    await shop.say("那个单号到哪了？")
    prompt = shop.model.prompts()[-1]
    assert "“那个单号”指的是单号“SF1234567890123”" in prompt and prompt.rstrip().endswith("那个单号到哪了？")
    assert "turn" in shop.tables_with("那个单号到哪了？"), "the person's words are kept as they are"


async def test_before_the_worker_came_it_is_known_all_the_same(shop: LivingHouse) -> None:
    await shop.say("我买的杯子单号SF1234567890123")
    await shop.say("那个单号到哪了？")
    assert "指的是单号“SF1234567890123”" in shop.model.prompts()[-1]


async def test_what_was_named_in_private_is_pointed_at_in_no_group(shop: LivingHouse) -> None:
    await shop.say("我买的杯子单号SF1234567890123")
    await shop.house.worker.work_off()
    await shop.say("那个单号到哪了？", group=GROUP)
    assert "SF1234567890123" not in shop.model.prompts()[-1]
    await shop.say("我的单号SF9876543210987", group=GROUP)
    await shop.house.worker.work_off()
    await shop.say("那个单号到哪了？", by="wang", group=GROUP)
    of_wang = shop.model.prompts()[-1]
    assert "指的是单号" not in of_wang and "- 单号：" not in of_wang, "it is another member's"
    await shop.say("那个单号到哪了？")
    assert "SF9876543210987" not in shop.model.prompts()[-1]


async def test_of_two_told_together_the_bot_is_to_ask(shop: LivingHouse) -> None:
    await shop.say("我有两单SF1234567890123和SF9876543210987")
    await shop.house.worker.work_off()
    await shop.say("那个单号到哪了？")
    assert "分不清" in shop.model.prompts()[-1]
    await shop.say("第二个")
    assert "指的是单号“SF9876543210987”" in shop.model.prompts()[-1]


async def test_clearing_takes_what_was_named_along(shop: LivingHouse) -> None:
    await shop.say("我买的杯子单号SF1234567890123")
    await shop.house.worker.work_off()
    await shop.say("/清除记忆")
    await shop.say("确认")
    assert shop.count("entity") == 0 and "entity" not in shop.tables_with("SF1234567890123")
    await shop.say("那个单号到哪了？")
    assert "SF1234567890123" not in shop.model.prompts()[-1]


async def test_without_a_model_it_asks_which_one_and_then_quotes_it(open_house: OpenHouse) -> None:
    shop = await open_house(has_model=False)
    await shop.greet("li")
    await shop.say("我有两单SF1234567890123和SF9876543210987")
    await shop.house.worker.work_off()
    asked = await shop.say("那个单号到哪了？")
    assert "哪一个" in asked and "- SF1234567890123" in asked and "- SF9876543210987" in asked
    await shop.say("记住：单号SF9876543210987是蓝色雨伞")
    await shop.house.worker.work_off()
    assert "蓝色雨伞" in await shop.say("尾号0987那单买的是什么？")
