"""Twenty turns through a whole house: the summary that stands for the older ones, and what becomes of it."""

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.groups import loops
from simulators.openai import Request
from tests.integration.living_house import GROUP, QQ, LivingHouse, OpenHouse, neighbourhood

CANARY = "青花瓷二七"
SUMMARY = f"用户对花生过敏，买过{CANARY}杯子，问过多久发货。"
SAID = (f"我买了{CANARY}杯子", "我对花生过敏", *(f"我想看看第{number}款杯子" for number in range(2, 20)))


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[OpenHouse]:
    async with neighbourhood(tmp_path) as open_house:
        yield open_house


def is_judging(request: Request) -> bool:
    return "是否需要存入长期记忆" in request.prompt


def judging(request: Request) -> str:
    """Judges, and condenses what it is given to."""
    asked = json.loads(request.question)
    summary = SUMMARY if "earlier_turns" in asked else "一句话"
    return json.dumps({"keep": False, "reason": "", "summary": summary, "facts": []}, ensure_ascii=False)


def answers(request: Request) -> str:
    return judging(request) if is_judging(request) else "好的，记下了。"


def section(prompt: str, heading: str) -> str:
    return prompt.partition(f"# {heading}\n")[2].partition("\n# ")[0].strip()


class Asked:
    """What the model of a house was asked since the last look."""

    def __init__(self, shop: LivingHouse) -> None:
        self.requests = [each for each in shop.model.requests if each.path.endswith("/chat/completions")]
        shop.model.requests.clear()

    @property
    def judgements(self) -> list[dict[str, object]]:
        return [json.loads(each.question) for each in self.requests if is_judging(each)]

    @property
    def prompt(self) -> str:
        return [each.prompt for each in self.requests if not is_judging(each)][-1]


@pytest.fixture
async def shop(open_house: OpenHouse) -> LivingHouse:
    shop = await open_house()
    await shop.greet("li", "wang")
    shop.model.answer_with(answers)
    return shop


async def chat(shop: LivingHouse, said: tuple[str, ...], **more: str) -> Asked:
    """Each turn is consolidated before the next."""
    Asked(shop)
    for text in said:
        await shop.say(text, **more)
        await shop.house.worker.work_off()
        shop.clock.advance(minutes=1)
    return Asked(shop)


async def test_twenty_turns(shop: LivingHouse) -> None:
    before = await chat(shop, SAID[:14])
    assert len(before.judgements) == 14 and not any("earlier_turns" in each for each in before.judgements)
    assert "# 此前对话的摘要" not in before.prompt
    assert before.prompt.count("用户说：") == 10, "the last ten, as always"

    due = await chat(shop, SAID[14:15])
    (judged,) = due.judgements
    turns = judged["earlier_turns"]
    assert isinstance(turns, list) and [each["user"] for each in turns] == list(SAID[:12])
    ((_, from_turn, to_turn, text, _),) = shop.rows("summary")
    assert (from_turn, to_turn, text) == (1, 12, SUMMARY)

    after = await chat(shop, SAID[15:16])
    assert section(after.prompt, "此前对话的摘要") == f"- “{SUMMARY}”（到 2026-03-04 为止）"
    recent = section(after.prompt, "最近的对话")
    assert [text for text in SAID if f"“{text}”" in recent] == list(SAID[12:15]), (
        "the last three, as they were"
    )

    rest = await chat(shop, SAID[16:])
    assert len(rest.judgements) == 4 and not any("earlier_turns" in each for each in rest.judgements)
    recent = section(rest.prompt, "最近的对话")
    assert [text for text in SAID if f"“{text}”" in recent] == list(SAID[12:19]), "none between falls out"
    assert [row[3] for row in shop.rows("turn")] == list(SAID), "every turn is kept"


async def test_it_rolls_on(shop: LivingHouse) -> None:
    await chat(shop, SAID[:15])
    rolled = await chat(shop, tuple(f"我想看看第{number}个盘子" for number in range(12)))
    (judged,) = [each for each in rolled.judgements if "earlier_turns" in each]
    assert judged["earlier_summary"] == SUMMARY
    ((_, from_turn, to_turn, _, _),) = shop.rows("summary")
    assert (from_turn, to_turn) == (1, 24)


async def test_a_long_talk_is_condensed_before_its_fifteenth_turn(shop: LivingHouse) -> None:
    asked = await chat(shop, tuple(f"我买了第{number}款，" + "说来话长" * 200 for number in range(4)))
    (judged,) = [each for each in asked.judgements if "earlier_turns" in each]
    assert isinstance(judged["earlier_turns"], list) and len(judged["earlier_turns"]) == 1


async def test_forgetting_takes_it_and_it_is_made_anew_without(shop: LivingHouse) -> None:
    await chat(shop, SAID[:15])
    assert "summary" in shop.tables_with(CANARY)
    await shop.say(f"/忘记 {CANARY}")
    assert shop.tables_with(CANARY) == set()
    left = SUMMARY.replace(CANARY, "")
    shop.model.answer_with(lambda request: answers(request).replace(CANARY, ""))
    again = await chat(shop, ("我想看看盘子", "我想看看碗"))
    assert "# 此前对话的摘要" in again.prompt and CANARY not in again.prompt
    first, second = again.judgements
    assert CANARY not in str(first) and [each["user"] for each in first["earlier_turns"]] == list(SAID[1:13])  # type: ignore[index, attr-defined]
    assert "earlier_turns" not in second
    assert [row[3] for row in shop.rows("summary")] == [left]


async def test_forgetting_words_of_the_summary_alone_is_said(shop: LivingHouse) -> None:
    shop.model.answer_with(lambda request: answers(request).replace("问过多久发货", "是个急性子"))
    await chat(shop, SAID[:15])
    said = shop.house.wording.say("forgotten_summary")
    assert await shop.say("/忘记 急性子") == said + shop.house.wording.say("forget_receipt", number=1)
    assert "summary" not in shop.tables_with("急性子")


async def test_clearing_leaves_none(shop: LivingHouse) -> None:
    await chat(shop, SAID[:15])
    await shop.say("/清除记忆")
    await shop.say("确认")
    assert shop.rows("summary") == []
    after = await chat(shop, ("我想看看盘子",))
    assert "# 此前对话的摘要" not in after.prompt


async def test_a_groups_stays_in_the_group(shop: LivingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    # Here people write faster than any person, and are no bots.
    monkeypatch.setattr(loops, "AT_ONCE_SECONDS", 0.0)
    await chat(shop, SAID[:16], group=GROUP)
    private = await chat(shop, ("我想看看盘子",))
    assert "# 此前对话的摘要" not in private.prompt
    of_wang = await chat(shop, ("我想看看盘子",), group=GROUP, by="wang")
    assert "# 此前对话的摘要" not in of_wang.prompt
    there = await chat(shop, ("我想看看碗",), group=GROUP)
    assert SUMMARY in section(there.prompt, "此前对话的摘要")


async def test_a_link_in_it_is_not_passed_on(shop: LivingHouse) -> None:
    link = "https://evil.example/pay"
    told = SUMMARY.replace("杯子", f"杯子，网址 {link} ")
    shop.model.answer_with(
        lambda request: judging(request).replace(SUMMARY, told) if is_judging(request) else f"请看 {link}"
    )
    await chat(shop, (f"我买了{CANARY}杯子，网址 {link}", *SAID[1:15]))
    assert link in str(shop.rows("summary"))
    assert link not in await shop.say("杯子在哪买的？")


async def test_without_a_model_rules_make_it(open_house: OpenHouse) -> None:
    shop = await open_house(has_model=False)
    await shop.greet("li")
    await chat(shop, SAID[:15])
    ((_, from_turn, to_turn, text, _),) = shop.rows("summary")
    assert (from_turn, to_turn) == (1, 12)
    assert isinstance(text, str) and "我对花生过敏" in text and CANARY in text
    recent = await shop.house.window.recent((await shop.account("li", QQ)).scope(""))
    assert [turn.question for turn in recent.fresh] == list(SAID[12:15])


async def test_none_where_long_term_memory_is_off(open_house: OpenHouse) -> None:
    shop = await open_house(consent="off")
    await shop.greet("li")
    shop.model.answer_with(answers)
    await chat(shop, SAID[:16])
    assert shop.rows("summary") == []


async def test_none_where_it_is_switched_off_and_one_there_was_is_passed_over(
    open_house: OpenHouse,
) -> None:
    shop = await open_house(memory={"summary_after_turns": 0})
    await shop.greet("li")
    shop.model.answer_with(answers)
    asked = await chat(shop, SAID[:16])
    assert shop.rows("summary") == [] and asked.prompt.count("用户说：") == 10
    turns = [row[0] for row in shop.rows("turn")]
    connection = sqlite3.connect(shop.house.stores.database.path)
    with connection:
        connection.execute(
            "INSERT INTO summary SELECT id, ?, ?, ?, 0 FROM shelf", (turns[0], turns[12], SUMMARY)
        )
    connection.close()
    after = await chat(shop, ("我想看看盘子",))
    assert SUMMARY not in after.prompt and after.prompt.count("用户说：") == 10


async def test_the_operator_says_when_and_how_many_stay(open_house: OpenHouse) -> None:
    shop = await open_house(memory={"summary_after_turns": 5, "summary_keeps": 1})
    await shop.greet("li")
    shop.model.answer_with(answers)
    await chat(shop, SAID[:5])
    ((_, from_turn, to_turn, _, _),) = shop.rows("summary")
    assert (from_turn, to_turn) == (1, 4)


async def test_a_question_the_rule_cannot_size_is_sized_by_the_model_where_that_is_on(
    open_house: OpenHouse,
) -> None:
    for is_on in (False, True):
        shop = await open_house(memory={"recall_k_by_model": is_on})
        await shop.greet("li")
        shop.model.answer_with(lambda _: "问题类型：复杂 检索条目数量：10")
        await shop.say("我的猫和邻居家那只相处得来嘛")
        assert any("检索条目数量：…" in prompt for prompt in shop.model.prompts()) is is_on
