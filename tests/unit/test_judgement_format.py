"""A model's answer is read in whatever shape it comes; half a fact never is one."""

import hashlib
import html
import json
import random
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.entities import NAMED_TYPES, EntityType
from bot.memory.fact import TOLD_KINDS, FactKind
from bot.memory.judge import load_judge_prompt
from bot.memory.judgement_format import JUDGEMENT_SCHEMA, read_judgement

FACTS = (
    "我对花生过敏",
    "我叫“小王”，住在杭州",
    "我的订单号是SF1234567890123",
    '我说过"不要辣"',
    "我买了3块5的笔，很便宜",
    "I'm allergic to nuts",
    "我养了一只猫：叫咪咪",
    "我的邮箱是a@b.com",
    "预算100-200元{大概}",
    "我家在北京，我老婆叫李雷",
)
Answer = dict[str, Any]
Mutation = Callable[[Answer, random.Random], str]
PROMPTS = {"版本 4": "3df78a80d7ec79cb85c69a30b8d02a1da039ad68c1e971042418bc0d21ea0b31"}
"""What each version says, as SHA-256: a prompt that changes is a new version."""


def plain(answer: Answer, **options: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, **options)


def original(chance: random.Random) -> Answer:
    facts = [
        {
            "kind": chance.choice([kind.value for kind in TOLD_KINDS]),
            "text": text,
            "importance": chance.choice([0.3, 0.6, 0.9]),
        }
        for text in chance.sample(FACTS, chance.randint(1, 4))
    ]
    return {
        "intent": "告知信息",
        "keep": True,
        "reason": '用户说了"重要"的事，要记',
        "summary": "用户说了自己的事",
        "facts": facts,
        "entities": [{"type": "order_id", "value": "SF1234567890123"}],
    }


def chinese_quotes(answer: Answer, _: random.Random) -> str:
    pieces: list[str] = []
    is_open = False
    for piece in re.findall(r'\\.|"|[^"\\]+', plain(answer)):
        if piece == '"':
            is_open = not is_open
            pieces.append("“" if is_open else "”")
        else:
            pieces.append(piece[1] if piece.startswith('\\"') else piece)
    return "".join(pieces)


def with_importance(answer: Answer, put: Callable[[float], object]) -> str:
    facts = [fact | {"importance": put(fact["importance"])} for fact in answer["facts"]]
    return plain(answer | {"facts": facts})


def without_ends(answer: Answer, chance: random.Random) -> str:
    last = {key: answer[key] for key in ("intent", "keep", "reason", "summary", "entities", "facts")}
    return plain(last)[: -chance.randint(1, 3)]


MUTATIONS: dict[str, Mutation] = {
    "as it is": lambda answer, _: plain(answer),
    "fence": lambda answer, _: f"```json\n{plain(answer, indent=2)}\n```",
    "prose": lambda answer, _: f"好的，{{以下}}是结果：\n{plain(answer)}\n希望有帮助！{{完}}",
    "trailing commas": lambda answer, _: re.sub(r"\n(\s*[}\]])", r",\n\1", plain(answer, indent=1)),
    "Chinese quotes": chinese_quotes,
    "Chinese punctuation": lambda answer, chance: (
        chinese_quotes(answer, chance).replace("”: ", "”：").replace("”, “", "”，“")
    ),
    "single quotes": lambda answer, _: repr(answer),
    "comments": lambda answer, _: (
        plain(answer, indent=1).replace("true,", "true, // 需要\n").replace('"facts"', '/* 事实 */ "facts"')
    ),
    "Python's words": lambda answer, _: plain(answer).replace("true", "True"),
    "missing ends": without_ends,
    "duplicate keys": lambda answer, _: plain(answer).replace('"keep": true', '"keep": true, "keep": true'),
    "missing commas": lambda answer, _: plain(answer, indent=1).replace(",\n", "\n"),
    "line breaks": lambda answer, _: plain(answer).replace('"summary": "', '"summary": "\n'),
    "byte order mark": lambda answer, _: "\ufeff" + plain(answer),
    "zero bytes": lambda answer, _: plain(answer).replace("，", "\0，"),
    "full-width brackets": lambda answer, _: plain(answer).replace('{"', '｛"').replace("[{", "［{"),
    "bold": lambda answer, _: f"**{plain(answer)}**",
    "bold keys": lambda answer, _: plain(answer).replace('"keep"', '"**keep**"'),
    "a string of JSON": lambda answer, _: json.dumps(plain(answer), ensure_ascii=False),
    "escaped twice": lambda answer, _: plain(answer).replace("\\", "\\\\").replace('"', '\\"'),
    "HTML": lambda answer, _: html.escape(plain(answer)),
    "thinking": lambda answer, _: f'<think>{{"keep": false}}\n想一想</think>\n{plain(answer)}',
    "several objects": lambda answer, _: f'{{"note": "x"}}\n{plain(answer)}\n{{"a": 1}}',
    "numbers as strings": lambda answer, _: with_importance(answer, str),
    "weights in words": lambda answer, _: with_importance(
        answer, {0.9: "高", 0.6: "中", 0.3: "低"}.__getitem__
    ),
    "weights to ten": lambda answer, _: with_importance(answer, lambda weight: round(weight * 10)),
    "keep in words": lambda answer, chance: plain(
        answer | {"keep": chance.choice(["是", "true", "需要", "是。"])}
    ),
    "bare keys": lambda answer, _: re.sub(
        r'"(keep|reason|facts|kind|text|importance)":', r"\1:", plain(answer)
    ),
    "quotes within": lambda answer, _: plain(answer).replace('\\"', '"'),
    "another order": lambda answer, _: plain(dict(reversed(answer.items()))),
}


def read_facts(text: str) -> list[tuple[str | None, str, float]] | None:
    read = read_judgement(text)
    return read and [(fact.kind and fact.kind.value, fact.text, fact.importance) for fact in read.facts]


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_can_be_mended_is_whole(name: str) -> None:
    chance = random.Random(name)
    for _ in range(40):
        answer = original(chance)
        text = MUTATIONS[name](answer, chance)
        read = read_judgement(text)
        assert read is not None, text
        assert read.keep
        assert read.summary == answer["summary"]
        assert read.intent == answer["intent"]
        assert read_facts(text) == [tuple(fact.values()) for fact in answer["facts"]], text
        assert [(each.type, each.value) for each in read.entities] == [
            (EntityType.ORDER_ID, "SF1234567890123")
        ]


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_cut_off_has_no_halves(name: str) -> None:
    chance = random.Random(name)
    for _ in range(150):
        answer = original(chance)
        text = MUTATIONS[name](answer, chance)
        text = text[: chance.randrange(len(text))]
        texts = {fact["text"] for fact in answer["facts"]}
        assert {fact for _, fact, _ in read_facts(text) or []} <= texts, text


def test_facts_before_the_cut_are_salvaged() -> None:
    whole = plain(
        original(random.Random(3)) | {"facts": [{"kind": "event", "text": "a", "importance": 1}] * 2}
    )
    second = whole.rindex('"text": "a"')
    assert read_facts(whole[:second]) == [("event", "a", 1.0)]
    first = whole.index('"text": "a"')
    assert read_judgement(whole[: first + 10]) is None


@pytest.mark.parametrize(
    ("text", "keep", "reason", "summary"),
    [
        ("核心意图：告知 是否需要存入长期记忆：是 原因：健康 摘要：花生过敏", True, "健康", "花生过敏"),
        ("核心意图:告知 是否需要存入长期记忆:否 原因:闲聊 摘要:你好", False, "闲聊", "你好"),
        ("摘要：花生过敏\n原因：健康\n是否需要存入长期记忆：是\n核心意图：告知", True, "健康", "花生过敏"),
        ("核心意图：告知；是否需要存入长期记忆：是；原因：健康；摘要：花生过敏", True, "健康", "花生过敏"),
        (
            "**核心意图**：告知\n**是否需要存入长期记忆**：**是**\n**原因**：健康\n**摘要**：花生过敏",
            True,
            "健康",
            "花生过敏",
        ),
        ("- 核心意图：告知\n- 是否存入长期记忆：不需要\n- 原因：闲聊\n- 摘要：你好", False, "闲聊", "你好"),
        (
            "1. 核心意图：告知\n2. 是否需要存入长期记忆：是（重要）\n3. 原因：健康\n4. 摘要：过敏",
            True,
            "健康",
            "过敏",
        ),
    ],
)
def test_the_format_of_lines(text: str, keep: bool, reason: str, summary: str) -> None:
    read = read_judgement(text)
    assert read is not None
    assert (read.keep, read.reason, read.summary) == (keep, reason, summary)


def test_facts_and_entities_in_lines() -> None:
    read = read_judgement(
        "是否需要存入长期记忆：是\n事实：\n- 我对花生过敏\n- 我住杭州\n实体：order_id：A12345，金额=300元\n原因：健康"
    )
    assert read is not None
    assert [fact.text for fact in read.facts] == ["我对花生过敏", "我住杭州"]
    assert [(each.type.value, each.value) for each in read.entities] == [
        ("order_id", "A12345"),
        ("amount", "300元"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "{",
        "{}",
        "[]",
        '{"keep": "maybe"}',
        '{"keep": null}',
        '{"keep": true, "su',
        '{"keep": true, "facts": [{"te',
        "是否需要存入长期记忆：",
        "是否需要存入长期记忆：是/否 原因：…",
        "<think>{",
        "null",
        '{"facts": [{"text": "a"}], "ke',
    ],
)
def test_what_cannot_be_read_is_none(text: str) -> None:
    assert read_judgement(text) is None


def test_a_cut_no_still_says_no() -> None:
    read = read_judgement('{"keep": false, "reason": "闲')
    assert read is not None
    assert (read.keep, read.reason) == (False, "")


def test_other_names_and_other_shapes() -> None:
    read = read_judgement(
        '{"是否需要存入长期记忆": "是", "原因": "x", "facts": {"content": "我住杭州", "type": "身份"},'
        ' "实体": {"order_id": ["A1", "A2"], "weather": "sunny", "amount": 300}}'
    )
    assert read is not None
    assert [(fact.kind, fact.text) for fact in read.facts] == [(FactKind.IDENTITY, "我住杭州")]
    assert [(each.type.value, each.value) for each in read.entities] == [
        ("order_id", "A1"),
        ("order_id", "A2"),
    ]


def test_an_eighth_type_is_left_out() -> None:
    read = read_judgement(
        '{"keep": false, "entities": [{"type": "address", "value": "杭州"}, {"type": "date"}, 3]}'
    )
    assert read is not None
    assert read.entities == []


def test_the_schema_names_what_is_read() -> None:
    read = read_judgement('{"keep": true, "facts": ["a"]}')
    assert read is not None
    assert JUDGEMENT_SCHEMA["required"] == ["intent", "keep", "reason", "summary", "facts", "entities"]
    assert JUDGEMENT_SCHEMA["required"] == list(read.model_dump())
    types = JUDGEMENT_SCHEMA["properties"]["entities"]["items"]["properties"]["type"]["enum"]  # type: ignore[index]
    assert types == [kind.value for kind in NAMED_TYPES]


def test_a_changed_prompt_has_a_new_version() -> None:
    prompt = load_judge_prompt()
    version = re.search("版本 [0-9]+", prompt.splitlines()[0])
    assert version
    assert hashlib.sha256(prompt.encode()).hexdigest() == PROMPTS[version.group()]


def test_the_prompts_examples_are_what_it_asks_for() -> None:
    prompt = load_judge_prompt()
    examples = [line for line in prompt.splitlines() if line.startswith('{"intent"')]
    assert len(examples) >= 3
    for example in examples:
        assert list(json.loads(example)) == JUDGEMENT_SCHEMA["required"]
        for entity in json.loads(example)["entities"]:
            assert entity["type"] in set(NAMED_TYPES)
    assert all(kind.value in prompt for kind in (*NAMED_TYPES, *TOLD_KINDS))


@given(st.text() | st.text(alphabet='{}[]":,，：“”‘’\\ntrue keepfacts是否记忆<think>&quot;*/#0.9｛｝\0'))
def test_any_text_is_read(text: str) -> None:
    read_judgement(text)
    read_judgement('{"keep": true, "facts": [' + text)


@pytest.mark.parametrize(
    "piece",
    [
        '{"a',
        "{",
        '"',
        '{"',
        '{"keep":',
        '",',
        "[",
        '{"a":[',
        "<think>",
        "{“",
        "\\",
        '{\\"',
        "是否需要存入长期记忆：",
        '"//',
        '" ',
        "&quot;",
    ],
)
def test_time_is_linear(piece: str) -> None:
    begun = time.thread_time()
    for start in ("", '{"keep": true, "facts": ["'):
        read_judgement(start + piece * (40_000 // len(piece)))
    assert time.thread_time() - begun < (2.0 if sys.gettrace() else 0.5)


@pytest.mark.parametrize(
    ("said", "keep"),
    [
        ("是 否 需 要 存 入 长 期 记 忆：是", True),
        ("是否需要存入长期记忆 ： 需 要", True),
        ("是否需要存入长期记忆：值得存入", True),
        ("是否需要存入长期记忆：建议存入", True),
        ("是否需要存入长期记忆：不建议存", False),
        ("是否需要存入长期记忆：没必要", False),
        ("是否需要存入长期记忆：可以不存", False),
        ("是否需要存入长期记忆：暂不需要", False),
    ],
)
def test_a_verdict_in_other_words(said: str, keep: bool) -> None:
    read = read_judgement(f"核心意图：告知 {said} 原因：健康")
    assert read is not None and read.keep is keep


@pytest.mark.parametrize("said", ["建", "可以", "是否", "是或否"])
def test_a_verdict_that_may_turn_is_none(said: str) -> None:
    assert read_judgement(f"核心意图：告知 是否需要存入长期记忆：{said}") is None


@pytest.mark.parametrize(
    "fact",
    [
        '{"kind": "identity | preference | event", "text": "我对花生过敏"}',
        '{"kind": "identity", "text": "…"}',
        '{"kind": "identity", "text": "<事实内容>"}',
        '"string"',
    ],
)
def test_the_template_handed_back_holds_no_fact(fact: str) -> None:
    read = read_judgement(f'{{"keep": true, "facts": [{fact}, "我住杭州"]}}')
    assert read is not None and [each.text for each in read.facts] == ["我住杭州"]
