"""Decide what of a person's message is worth keeping: a cheap filter, then a model, or rules without one.

Invariant: facts come from the person's own words alone. Orders to the bot, questions, other people's
words and, in groups, claims about others never become facts, whoever judges.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import re2

from bot.conversation.errors import ModelRefused
from bot.conversation.masking import mask_secrets
from bot.conversation.ports import ChatLine, ChatModel, Vector
from bot.memory.clauses import clauses_of, is_order
from bot.memory.content_words import content_terms
from bot.memory.explicit import explicit_memory, facts_of_explicit
from bot.memory.fact import FactKind, NewFact
from bot.memory.grounding import is_grounded
from bot.memory.heads.keeping import KeepHead
from bot.memory.judgement_format import JUDGEMENT_SCHEMA, ReadEntity, ReadFact, ReadJudgement, read_judgement
from bot.memory.never import own_clauses
from bot.memory.normalise import normalise
from bot.memory.questions import is_question
from bot.memory.statements import asked_facts, distinct, new_fact, sort_of, stated_facts, statements_of
from bot.memory.stating import stated
from bot.memory.summarising import by_rules, checked, given
from bot.memory.summary import DueSummary
from bot.memory.third_parties import is_about_others

__all__ = ["Judge", "Judgement", "ModelJudge", "RuleJudge", "explicit_memory", "facts_of_explicit"]

PROMPT_FILE = "judge.md"
LONGEST_JUDGED = 4_000
"""Characters read: what is longer is a document, and costs more than its facts are worth."""
SHORTEST_JUDGED = 2
"""Letters, digits or characters. One alone states nothing."""

LONGEST_MASHED = 200
"""Characters looked at for mashed keys."""

_CUES = re.compile(
    r"重要|记住|记一下|我叫|叫我|我是|我要|我喜欢|我爱|我不|我对|过敏|我的|我家|我在|我住|我穿|我姓|我今年|本人"
    r"|\bi am\b|\bi'm\b|\bmy\b|\bremember\b|\bi (?:like|love|hate|need|want|live|work)\b"
)
_SYMBOLS = re.compile(r"[\W_]+")
_SMALL_TALK = re2.compile(
    r"^(?:你好|您好|哈喽|哈啰|嗨|早上好|早安|早|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|回头见|在吗|在不在|在么|有人吗"
    r"|谢谢|多谢|感谢|谢了|辛苦|麻烦了|不客气|没事|没关系|好的|好|行|可以|嗯|哦|噢|啊|哈|嘿|呵|呀|了|吧|呢|哇|唉|明白|知道|懂"
    r"|收到|了解|继续|然后|厉害|真棒|不错|赞|牛|对|是的|是|没有|不用|不是|你|您|们|大家|都|客服|机器人|请问|一下|太|真|很|6+|的"
    r"|额|呃|哎|诶|欸|咦|哟|喔|唔|嘛|啦|呗|噗|嘻|咳|呜|哼|切|哒|咯|喽|塞|嘤|呐|捏|喵|汪|滴|嘟|唉哟|天哪|天呐|妈呀|我去|我靠|卧槽|晕|汗|无语|绝了"
    r"|测试|试试|随便|没啥|没什么|无聊|打扰|怎么说|test(?:ing)?|e+m{2,}|h+m+|h{2,}|w{2,}|x{2,}|q[wa]q|orz|yyds|dd+|233+|t[_.]?t|zz+|o+h*|a+h*"
    r"|hello|hi|hey|thanks?|thankyou|thx|ok|okay|bye|yes|no|lol|good(?:morning|night|evening))*$"
)
"""RE2, since words that begin alike under a star take exponential time in `re`."""
_STICKER = re.compile(r"\[[\u4e00-\u9fffa-z]{1,8}\]|^/:?[\u4e00-\u9fff]{1,4}$")
"""As WeChat and QQ write their own."""
_MASHED = re.compile(
    r"(?P<one>.)(?P=one)*|(?P<few>.{1,4}?)(?P=few){2,}|[0-9]+|[0-9a-z]{1,4}|[b-df-hj-np-tv-xz]{5,}"
    r"|(?:[asdfghjkl;]{5,}|[qwertyuiop]{6,}|[zxcvbnm,./]{5,})",
    re.IGNORECASE,
)
"""One key or a few again and again, a bare number, keys beside each other: without what was asked before it, it
states nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What to keep of one message, and why."""

    keep: bool
    reason: str
    summary: str = ""
    """Of the turns that were due, where some were; "" leaves them due. Else of the message."""
    facts: tuple[NewFact, ...] = ()
    entities: tuple[ReadEntity, ...] = ()
    """What the model says is named; not yet held against the person's words."""
    understood: bool = True
    """False: the model's answer could not be read. Nothing is kept; asking again may help."""
    vectors: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    """As passages, of texts that were embedded for judging."""
    was_read: bool = True
    """False for small talk, which the cheap filter drops."""


class Judge(Protocol):
    """Judges one message at a time."""

    async def judge(
        self,
        text: str,
        said_at: datetime,
        *,
        is_group: bool,
        due: DueSummary | None = None,
        known: Sequence[str] = (),
    ) -> Judgement:
        """`text`: the person's own words, without quotations. `due`: earlier turns to be condensed along with it.
        `known`: memories of theirs that it may contradict. Raises ModelUnavailable."""
        ...


class RuleJudge:
    """What the person states of themselves, in their own words. For houses without a model."""

    def __init__(self, head: KeepHead | None = None) -> None:
        """`head`: weighs what rules don't know; None: they alone judge."""
        self._head = head

    async def judge(
        self,
        text: str,
        said_at: datetime,
        *,
        is_group: bool,
        due: DueSummary | None = None,
        known: Sequence[str] = (),
    ) -> Judgement:
        summary = by_rules(due, is_group=is_group) if due else ""
        if not is_worth_judging(text):
            return replace(_SMALL, summary=summary)
        found = await stated(text[:LONGEST_JUDGED], said_at, is_group=is_group, head=self._head)
        reason = "statements" if found.facts else "no statement"
        return Judgement(
            keep=bool(found.facts),
            reason=reason,
            summary=summary,
            facts=found.facts,
            vectors=found.vectors,
        )


class ModelJudge:
    """One structured call to a model; what it answers is checked against the person's words."""

    def __init__(self, model: ChatModel, prompt: str | None = None) -> None:
        """`prompt`: the instructions, `load_judge_prompt()` by default."""
        self._model = model
        self._prompt = prompt or load_judge_prompt()

    async def judge(
        self,
        text: str,
        said_at: datetime,
        *,
        is_group: bool,
        due: DueSummary | None = None,
        known: Sequence[str] = (),
    ) -> Judgement:
        """Who only asks has the turns condensed all the same, once they can't wait; noise never costs a call."""
        is_worth = is_worth_judging(text)
        if not is_worth and (due is None or due.can_wait or not asks_something(text)):
            return _SMALL
        masked, _ = mask_secrets(text[:LONGEST_JUDGED])
        earlier = given(due, is_group=is_group) if due else {}
        beside = {"known": [mask_secrets(each)[0] for each in known]} if known and is_worth else {}
        # As a JSON string the words can't be taken for instructions around them.
        said = json.dumps({"said": masked} | beside | earlier, ensure_ascii=False)
        lines = (ChatLine(role="system", text=self._prompt), ChatLine(role="user", text=said))
        try:
            read = read_judgement(await self._model.complete(lines, schema=JUDGEMENT_SCHEMA))
        except ModelRefused:
            refused = _nothing("the provider declined the content")
            return replace(refused, summary=by_rules(due, is_group=is_group) if due else "")
        if read is None:
            return Judgement(keep=False, reason="unreadable answer", understood=False)
        found = _checked(read, masked, said_at, is_group=is_group) if is_worth else _asked(read)
        if due is None:
            return found
        summary = "" if read.is_summary_cut else checked(read.summary, due)
        return replace(found, summary=summary or by_rules(due, is_group=is_group))


def load_judge_prompt(folder: Path | None = None) -> str:
    """The operator's `judge.md` in `folder` if there is one, else the house's."""
    own = folder / PROMPT_FILE if folder else None
    if own and own.is_file():
        return own.read_text("utf-8-sig")
    return files("bot.memory.prompts").joinpath(PROMPT_FILE).read_text("utf-8")


def is_worth_judging(text: str) -> bool:
    """The cheap filter. False for greetings, small talk and bare questions."""
    text = text[:LONGEST_JUDGED]
    clauses = clauses_of(text)
    if sum(map(str.isalnum, text)) < SHORTEST_JUDGED:
        return False
    if all(clause.is_question for clause in clauses):
        return False
    normal = normalise(text)
    bare = _SYMBOLS.sub("", _STICKER.sub("", normal))
    if len(bare) < SHORTEST_JUDGED or _MASHED.fullmatch(bare[:LONGEST_MASHED]):
        return False
    return bool(_CUES.search(normal)) or not _SMALL_TALK.search(bare)


def asks_something(text: str) -> bool:
    """Nothing but questions, and they name something."""
    text = text[:LONGEST_JUDGED]
    return bool(content_terms(text)) and all(clause.is_question for clause in clauses_of(text))


_SMALL = Judgement(keep=False, reason="small talk", was_read=False)


def _nothing(reason: str) -> Judgement:
    return Judgement(keep=False, reason=reason)


def _asked(read: ReadJudgement) -> Judgement:
    """Of a message that states nothing."""
    return replace(_nothing(read.reason), entities=tuple(read.entities))


def _checked(read: ReadJudgement, said: str, said_at: datetime, *, is_group: bool) -> Judgement:
    """The model's facts that hold against the person's words."""
    named = tuple(read.entities)
    if not read.keep:
        return Judgement(keep=False, reason=read.reason, summary=read.summary, entities=named)
    facts = distinct(
        _fact(fact, said_at) for fact in read.facts if _is_sound(fact.text, said, is_group=is_group)
    )
    if not read.facts:
        # It wants something kept and says not what. Its summary may be cut off: the person's own words are it.
        facts = stated_facts(said, said_at, is_group=is_group) or asked_facts(
            said, said_at, is_group=is_group
        )
    return Judgement(keep=bool(facts), reason=read.reason, summary=read.summary, facts=facts, entities=named)


def _fact(fact: ReadFact, said_at: datetime) -> NewFact:
    sort = sort_of(fact.text)
    kind = fact.kind or (sort[0] if sort else FactKind.EVENT)
    return replace(new_fact(fact.text, said_at, kind, fact.importance), instead_of=fact.supersedes)


def _is_sound(fact: str, said: str, *, is_group: bool) -> bool:
    """Grounded in what was said, and nothing that may not become a memory."""
    if not fact or is_order(fact) or is_question(fact):
        return False
    if is_group and is_about_others(fact):
        return False
    return is_grounded(fact, _own_words(said, is_group=is_group))


def _own_words(said: str, *, is_group: bool) -> str:
    """The statements that are the person's own; in a group, of themselves."""
    if is_group:
        return "，".join(each.text for each in statements_of(said, is_group=True))
    return "，".join(clause.text for clause in own_clauses(said))
