"""What a question looks for, once the words that every question has are set aside.

Invariant: pure; nothing is left of a question that names nothing (「怎么办」「什么意思」).
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from bot.conversation.lexical import bigram_terms, exact_tokens
from bot.memory.normalise import normalise, searchable

_PHRASES = (
    "叫什么 叫啥 请问 帮我 帮忙 麻烦 告诉我 给我 我想问 想问 我想 我要 知道 还记得 记得 记不记得"
    " 有没有 是不是 能不能 会不会 可不可以 可以 可否 能否 应该 怎么样 怎样 怎么办 怎么 如何"
    " 为什么 为何 什么时候 什么样 什么 多少 多久 多大 多长 哪里 哪儿 哪个 哪些 哪天 几个"
    " 几点 我们 你们 他们 咱们 的话 这个 那个 这些 那些 一下 一个 一些 上次 之前 刚才"
    " 刚刚 现在 今天 说过 关于 事情 东西 意思 记住 忘记"
)
_FUNCTION_PHRASES = re.compile("|".join(sorted(_PHRASES.split(), key=len, reverse=True)))
"""Longest first: alternation takes the first that fits."""

FUNCTION_CHARACTERS = frozenset(
    "我你您他她它咱的地得了吗呢吧啊呀嘛哦么啥谁哪几是在有和跟与就都也还很太再又把被给让对从到这那会能要想请问多说做用个"
)
"""Alone they ask for nothing, inside a word they may (地址, 会员): a pair with one of them counts
less, a pair of two of them not at all."""

_CONTENT = rf"[^\W\d_〇A-Za-z{''.join(sorted(FUNCTION_CHARACTERS))}]"
_LONE = re.compile(rf"(?<!{_CONTENT}){_CONTENT}(?!{_CONTENT})")

MIXED_WEIGHT = 0.3
"""Of a pair of one function character and one other, against 1 for a whole pair."""

LONE_WEIGHT = 0.4
"""Of a content character that stands alone (发票怎么开): it names something only where nothing else does."""

LATELY = 256
"""Texts whose terms are kept: each sign of a question asks for the same ones."""


@lru_cache(LATELY)
def content_terms(question: str) -> Mapping[str, float]:
    """Terms to look for and what each weighs: words and pairs 1, the others as above.

    A content character that stands alone between function characters (我家的猫呢) is a term too.
    """
    text = _FUNCTION_PHRASES.sub(" ", searchable(question))
    terms: dict[str, float] = {}
    for term in bigram_terms(text):
        if len(term) == 1 and not term.isascii():
            continue
        is_first_empty, is_last_empty = term[0] in FUNCTION_CHARACTERS, term[-1] in FUNCTION_CHARACTERS
        if len(term) > 2 or not (is_first_empty or is_last_empty):
            terms[term] = 1.0
        elif not (is_first_empty and is_last_empty):
            terms.setdefault(term, MIXED_WEIGHT)
    return dict.fromkeys(_LONE.findall(text), LONE_WEIGHT) | terms


def coverage(question: str, text: str) -> float:
    """The weighted share of the question's terms that `text` holds, 0 to 1. 0 when nothing is asked."""
    asked = content_terms(question)
    held = indexed_terms(text)
    weight = sum(asked.values())
    return sum(asked[term] for term in asked.keys() & held) / weight if weight else 0.0


def indexed_terms(text: str) -> frozenset[str]:
    """All that can be found in a text: pairs, words, and single characters other than function ones."""
    return frozenset(bigram_terms(searchable(text))) | frozenset(single_characters(text))


def single_characters(text: str) -> list[str]:
    """The Chinese characters of a text, in order, without function characters."""
    return [c for c in normalise(text) if c.isalpha() and not c.isascii() and c not in FUNCTION_CHARACTERS]


def codes(text: str) -> frozenset[str]:
    """Words with a digit and at least four characters: order ids, model numbers, phones, years."""
    return frozenset(
        word for word in exact_tokens(searchable(text)) if len(word) > 3 and any(c.isdigit() for c in word)
    )
