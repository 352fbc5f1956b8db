"""What needs no model: trifles, greetings, the FAQ, and held answers fetched by 「？」."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.commands import CommandContext, CommandReply, Commands
from bot.conversation.message import Message
from bot.conversation.scope import AccountId, PersonId
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.decision import SILENCE, Decision
from bot.ports import Confirmation, Delivery, Taken
from bot.quick_replies import QuickReplies, faq_hint
from bot.rules.faq_file import FaqFile
from identity.model import Account
from tests.story_fakes import NOW, HandClock, account_key, delivery, message

WORDING = Wording.load("zh_CN")
HOURS = "每天 9:00–21:00。"
REFUND = "收到货 7 天内可以退。"
FAQ = f"""
- patterns: [营业时间, 几点开门]
  answer: {HOURS}
- patterns: [退款]
  answer: {REFUND}
- match: exact
  patterns: [好]
  answer: 好是什么意思？
- match: exact
  patterns: [扫码]
  answer: 请扫桌上的码。
  channels: [wechat]
"""


class HandedOver(Commands):
    """Knows 「继续」 only."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reply: CommandReply | None = None

    async def handle(self, context: CommandContext) -> CommandReply | None:
        self.texts.append(context.message.text)
        return self.reply


class Deliveries:
    def __init__(self) -> None:
        self.held: Delivery | None = None
        self.asked = 0

    async def oldest_held(self, account: AccountId, place: str | None = None) -> Delivery | None:
        self.asked += 1
        return self.held


class Confirmations:
    def __init__(self) -> None:
        self.waiting: Confirmation | None = None

    async def pending(self, account: AccountId) -> Confirmation | None:
        return self.waiting


class Counter:
    """Quick replies over what a test puts there."""

    def __init__(self, folder: Path) -> None:
        (folder / "faq.yaml").write_text(FAQ, "utf-8")
        self.clock = HandClock()
        self.commands = HandedOver()
        self.deliveries = Deliveries()
        self.confirmations = Confirmations()
        self.quick = QuickReplies(
            faq=FaqFile(folder / "faq.yaml"),
            commands=self.commands,
            deliveries=self.deliveries,  # type: ignore[arg-type]
            confirmations=self.confirmations,  # type: ignore[arg-type]
            wording=WORDING,
            clock=self.clock,
        )

    async def trifle(
        self, text: str, *recent: Turn, by: int = 1, group: str = "", has_rule: bool = False
    ) -> Decision | None:
        asker, said = person(by), message("1", text, group=group)
        scope = asker.scope(said.conversation.place)
        return await self.quick.trivial(said, asker, scope, recent, has_rule=has_rule)


def person(number: int) -> Account:
    return Account(
        id=AccountId(number),
        key=account_key(str(number)),
        unionid="",
        person=PersonId(number),
        epoch=0,
        is_greeted=True,
    )


def turn(answer: str) -> Turn:
    return Turn(id=1, question="问", answer=answer, at=NOW)


def said(decision: Decision | None) -> str:
    assert decision is not None
    assert not decision.is_turn, "a trifle enters no memory"
    return decision.reply.text


@pytest.fixture
def counter(tmp_path: Path) -> Counter:
    return Counter(tmp_path)


@pytest.mark.parametrize(
    ("text", "key"),
    [("嗯", "courtesy"), ("谢谢", "courtesy"), ("M", "courtesy"), ("？", "ping"), ("你好", "greeting")],
)
async def test_trifles_get_a_short_line(counter: Counter, text: str, key: str) -> None:
    assert said(await counter.trifle(text)) == WORDING.say(key)
    assert counter.commands.texts == []


async def test_what_deserves_more_is_left_alone(counter: Counter) -> None:
    assert await counter.trifle("你好，我的订单 SF123456789 到哪了") is None
    assert counter.deliveries.asked == 0, "most messages cost no look-up"


@pytest.mark.parametrize("text", ["88", "嗯嗯好的", "111", "没事没事", "okok"])
@pytest.mark.parametrize("answer", ["请告诉我您的体重。", "您穿几码？我好帮您查。"])
async def test_chatter_that_may_answer_what_was_asked_goes_on(
    counter: Counter, text: str, answer: str
) -> None:
    assert await counter.trifle(text, turn(answer)) is None
    assert said(await counter.trifle(text, turn("好的，已为您记录。"))) == WORDING.say("courtesy")


async def test_one_line_in_ten_minutes_for_each_person_and_place(counter: Counter) -> None:
    line = WORDING.say("courtesy")
    assert said(await counter.trifle("嗯")) == line
    assert said(await counter.trifle("谢谢")) == ""
    assert said(await counter.trifle("嗯", by=2)) == line
    counter.clock.time += timedelta(minutes=9, seconds=59)
    assert said(await counter.trifle("嗯")) == ""
    counter.clock.time += timedelta(seconds=1)
    assert said(await counter.trifle("嗯")) == line


async def test_a_private_ping_is_never_silent(counter: Counter) -> None:
    for _ in range(3):
        assert said(await counter.trifle("在吗")) == WORDING.say("ping")


async def test_a_group_is_not_chattered_at(counter: Counter) -> None:
    decision = await counter.trifle("谢谢", group="g1")
    assert decision is not None
    assert decision.reply is SILENCE
    assert said(await counter.trifle("？", group="g1")) == WORDING.say("bare_mention")
    assert said(await counter.trifle("？", group="g1")) == ""
    assert said(await counter.trifle("？", group="g2")) == WORDING.say("bare_mention")


@pytest.mark.parametrize("question", ["您穿 M 码还是 L 码？", "要红的吗", "您穿几码呢 ", "which one?"])
@pytest.mark.parametrize("text", ["M", "红", "对", "1", "好"])
async def test_one_character_answers_the_bots_question(counter: Counter, question: str, text: str) -> None:
    assert await counter.trifle(text, turn("九点开门。"), turn(question)) is None


async def test_only_the_last_line_counts_as_a_question(counter: Counter) -> None:
    assert said(await counter.trifle("M", turn("您穿几码？"), turn("好的，记下了。"))) == WORDING.say(
        "courtesy"
    )


async def test_thanks_are_no_answer_to_a_question(counter: Counter) -> None:
    assert said(await counter.trifle("谢谢", turn("还要别的吗？"))) == WORDING.say("courtesy")


async def test_something_waiting_for_a_yes_is_open(counter: Counter) -> None:
    counter.confirmations.waiting = Confirmation(action="clear_self", argument="", reason="")
    assert await counter.trifle("好") is None
    assert await counter.trifle("嗯") is None


async def test_a_ping_fetches_a_held_answer(counter: Counter) -> None:
    counter.deliveries.held = delivery(9, "下半页")
    counter.commands.reply = CommandReply(text="关于“问”：\n下半页", taken=Taken(inbox_id=9, page=1))
    for text in ("？", "在吗", "在"):
        decision = await counter.trifle(text)
        assert said(decision) == "关于“问”：\n下半页"
        assert decision is not None
        assert (decision.taken, decision.reply.decided_by) == (Taken(inbox_id=9, page=1), "command")
    assert counter.commands.texts == ["继续"] * 3


async def test_in_a_group_nothing_held_is_handed_over(counter: Counter) -> None:
    counter.deliveries.held = delivery(9, "私下说的")
    assert said(await counter.trifle("？", group="g1")) == WORDING.say("bare_mention")
    assert counter.deliveries.asked == 0


async def test_a_held_answer_gone_meanwhile_leaves_the_message_to_others(counter: Counter) -> None:
    counter.deliveries.held = delivery(9, "下半页")
    assert await counter.trifle("？") is None


async def test_a_stranger_gets_a_line_too(counter: Counter) -> None:
    """Anonymous members have no account, so nothing is looked up and no line is remembered."""
    for _ in range(2):
        decision = await counter.quick.trivial(
            message("1", "？", by="", group="g1"), None, None, (), has_rule=False
        )
        assert said(decision) == WORDING.say("bare_mention")
    noise = await counter.quick.trivial(message("1", "嗯", by="", group="g1"), None, None, (), has_rule=False)
    assert noise is not None
    assert noise.reply is SILENCE
    assert counter.deliveries.asked == 0


async def test_what_a_rule_answers_is_no_trifle(counter: Counter) -> None:
    assert await counter.trifle("好", has_rule=True) is None


async def test_a_call_without_words(counter: Counter) -> None:
    here, there = person(1).scope("onebot:app:g1"), person(1).scope("")
    assert counter.quick.bare_mention(here, is_group=True).text == WORDING.say("bare_mention")
    assert counter.quick.bare_mention(here, is_group=True) is SILENCE
    assert counter.quick.bare_mention(there, is_group=False).text == WORDING.say("ping")
    assert counter.quick.bare_mention(None, is_group=True).text == WORDING.say("bare_mention")


async def test_the_lines_remembered_have_a_limit(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.quick_replies.REMEMBERED_LINES", 2)
    for number in (1, 2, 3):
        await counter.trifle("嗯", by=number)
    assert said(await counter.trifle("嗯", by=3)) == ""
    assert said(await counter.trifle("嗯", by=1)) == WORDING.say("courtesy"), "the oldest was dropped"


async def hit(counter: Counter, text: str, *recent: Turn, channel: str = "onebot") -> tuple[str, bool] | None:
    found = await counter.quick.faq_hit(on(text, channel), recent)
    return (found.answer, found.verbatim) if found else None


def on(text: str, channel: str) -> Message:
    return message("1", text, channel=channel)


async def test_a_rule_answers_or_only_touches(counter: Counter) -> None:
    assert await hit(counter, "营业时间") == (HOURS, True)
    assert await hit(counter, "不用退款") == (REFUND, False)
    assert await hit(counter, "今天天气不错") is None


async def test_the_same_text_is_never_sent_twice_running(counter: Counter) -> None:
    assert await hit(counter, "几点开门", turn(HOURS)) == (HOURS, False)
    assert await hit(counter, "几点开门", turn(HOURS), turn("好的。")) == (HOURS, True)
    assert await hit(counter, "退款", turn(HOURS)) == (REFUND, True)


async def test_rules_may_be_for_one_channel(counter: Counter) -> None:
    assert await hit(counter, "扫码", channel="wechat") == ("请扫桌上的码。", True)
    assert await hit(counter, "扫码") is None


async def test_a_rule_that_touches_is_context_for_the_model(counter: Counter) -> None:
    found = await counter.quick.faq_hit(message("1", "不用退款"), ())
    (context,) = faq_hint(found, ())
    assert (context.passage.text, context.passage.document) == (REFUND, "常见问题")
    assert faq_hint(found, (turn(REFUND),)) == ()
    assert faq_hint(None, ()) == ()
