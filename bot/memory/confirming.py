"""The person's 「对」 to a question of the bot's: what the bot asked whether it is so, is so.

Invariant: pure, linear. Only one plain question about the person (「您的鞋码是42，对吗？」) and an answer that is
nothing but a yes make a fact of the bot's words; an offer, a suggestion, a question with a choice, one of several
questions, or a doubtful answer make none.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.memory.asking import Asked, asked_in, in_their_words, without_tag
from bot.memory.claims import read_claims
from bot.memory.clauses import Clause, clauses_of, is_order
from bot.memory.evading import evades, without_apology
from bot.memory.fact import FactKind, NewFact
from bot.memory.never import own_clauses
from bot.memory.questions import is_question
from bot.memory.replying import Answered, answered, is_assent, is_sign_of_assent, is_value, value_of
from bot.memory.statements import new_fact, sort_of
from bot.memory.third_parties import is_about_others

ANSWERED_WITHIN = timedelta(hours=24)
"""A yes that comes later may be one to something else."""
LONGEST_REPLY = 60
"""Characters: who writes more says it themselves."""
CONFIRMED_IMPORTANCE = 0.8
"""Asked for and answered."""

_YES = "对"
_WHICH = re.compile(
    r"(?:是)?(?:什么|哪(?:个|种|一个|里|儿)?|多少|几|多大|多高|多重)(?:尺码|尺寸|大小|码数?|号码|号|岁|斤|公斤|元|钱|楼)?"
)
_CHOICE = re.compile(
    r"(?P<lead>.*?(?:穿|要|喝|吃|喜欢|爱|用|选|是|住|在|去|买|寄|送)(?:的是|到)?)(?P<a>[^,，]{1,6}?)(?P<unit>码|号"
    r"|色)?[,，]?还是(?:穿|要|喝|吃|喜欢|爱|用|选|住在|在|去|买|寄|送)?(?P<b>[^,，]{1,6}?)(?:码|号|色)?(?P<end>的.{1,6})?"
)
_REFUSAL = re.compile(r"算了|不|没|随便|再说|保密|秘密|什么|干嘛|谢谢|你好|您好")
_NAMED = re.compile(r"怎么称呼|贵姓|尊姓|叫什么(?:名字)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """What an answer to the bot's question says."""

    facts: tuple[NewFact, ...] = ()
    denied: str = ""
    """What the person said is not so, in their own person; "" for nothing."""


def asked_of(answer: str) -> str:
    """What an answer of the bot's ends in asking of the person, as a statement of theirs: 「我的鞋码是42」. "" where
    it asks nothing that a yes makes a fact."""
    return asked_in(answer).stated


def confirmed_by(answer: str, reply: str, at: datetime, *, is_group: bool) -> Confirmed:
    """What a person's reply makes of the bot's answer before it. `at`: when they replied."""
    if is_sign_of_assent(reply.strip()):
        reply = _YES
    clauses = clauses_of(reply) if len(reply) <= LONGEST_REPLY else ()
    if not clauses or evades(reply) or any(_asks_back(each, reply) for each in clauses):
        return Confirmed()
    asked = asked_in(answer)
    if not asked.text or not _is_plain(asked):
        return Confirmed()
    texts = without_apology([clause.text for clause in clauses])
    if not texts:
        return Confirmed()
    found = (
        answered(asked.stated, texts, is_record=asked.is_record)
        if asked.stated
        else Answered(holds=(_chosen(asked.text, texts[0].strip()),))
    )
    facts = (
        _fact(text, at)
        for text in found.holds
        if text and not is_order(text) and not (is_group and is_about_others(text))
    )
    return Confirmed(facts=tuple(fact for fact in facts if fact is not None), denied=found.denied)


def _asks_back(clause: Clause, reply: str) -> bool:
    """「嗯呢」 asks nothing."""
    if not clause.is_question or re.search(r"[?？]", reply):
        return clause.is_question
    is_soft = clause.text.endswith("呢") and not is_question(clause.text.rstrip("呢"))
    return not (is_soft or is_assent(clause.text))


def _is_plain(asked: Asked) -> bool:
    """Nothing that may never become a fact: powers over the bot, a link, a secret."""
    stated = asked.stated
    return len(own_clauses(stated, is_asked=True)) == len(clauses_of(stated)) and not _POWERS.search(
        asked.text
    )


_POWERS = re.compile(r"管理员|权限|后台|开发者|超级用户|主人|内部(?:员工|人员)|系统指令")


def _chosen(asked: str, said: str) -> str:
    """A question's statement with the value that the person gave: 「M」 to 「您穿M还是L」, 「43」 to 「您穿多大码」."""
    value = value_of(said)
    if not value:
        return ""
    if _NAMED.search(asked):
        return f"我叫{value}" if value != said or (1 < len(value) <= 4 and not _REFUSAL.search(value)) else ""
    stated = in_their_words(without_tag(asked))
    if (choice := _CHOICE.fullmatch(stated)) is not None:
        unit = choice["unit"] or ""
        bare = value.removesuffix(unit)
        is_one = any(
            each.casefold() == bare.casefold() or each.startswith(bare) for each in choice.group("a", "b")
        )
        return f"{choice['lead']}{bare}{unit}{choice['end'] or ''}" if is_one else ""
    which = _WHICH.search(stated)
    if which is None or not is_value(value):
        return ""
    unit = next((each for each in ("码", "岁", "公斤", "斤", "楼") if each in which.group()), "")
    link = "是" if which.group().startswith("是") else ""
    return f"{stated[: which.start()]}{link}{value.removesuffix(unit)}{unit}{stated[which.end() :]}"


def _fact(text: str, at: datetime) -> NewFact | None:
    sort = sort_of(text)
    kind = sort[0] if sort else FactKind.IDENTITY if read_claims(text).claims else FactKind.EVENT
    fact = new_fact(text, at, kind, CONFIRMED_IMPORTANCE)
    return fact if fact.text else None
