"""The automatic replies of an official account, which stop once a server is configured, as rules of our FAQ.

Invariant: pure. Nothing is guessed: what is no text is told as left out, and what the FAQ has already is not proposed.

Source: 微信官方文档 · 公众号 · 获取公众号的自动回复规则 (`get_current_autoreply_info`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from bot.conversation.text import normalise
from bot.rules.faq import FaqRule, Match, check_pattern
from bot.rules.faq_yaml import LONGEST_PATTERN

_MATCHES = {"contain": Match.CONTAINS, "equal": Match.EXACT}
_UNWRITABLE = re.compile(
    "[^\\t\\n\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]"
)
LONGEST_NAME = 40
"""Characters of a rule's name that are kept; WeChat allows 60."""


class Standing(StrEnum):
    """What can become of a reply."""

    NEW = "new"
    PARTLY = "partly"
    """Its text can be taken over; its pictures, articles, voices or videos cannot."""
    KNOWN = "known"
    """The FAQ answers each of its keywords already."""
    NO_TEXT = "no_text"
    UNFIT = "unfit"
    """No keyword that a rule could have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One keyword reply of the account's."""

    name: str
    standing: Standing
    rules: tuple[FaqRule, ...] = ()
    """One for each way of comparing; () where nothing can be taken over."""
    left_out: tuple[str, ...] = ()
    """Kinds of what is no text: `img`, `news`, `voice`, `video` …"""
    is_random: bool = False
    """The account sent one of several texts, by chance; the rule has the first."""

    @property
    def is_possible(self) -> bool:
        return bool(self.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountReplies:
    """All automatic replies of an account."""

    is_on: bool
    proposals: tuple[Proposal, ...]
    on_follow: str
    """What new followers are told; "" where nothing is, or no text."""
    default: str
    """What any other message is answered with."""
    account: str = ""
    """The app_id they were fetched with."""
    mark: str = ""
    """Of this account with just these replies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A keyword reply as WeChat tells it."""

    name: str
    patterns: Mapping[Match, tuple[str, ...]]
    texts: tuple[str, ...]
    others: tuple[str, ...]
    sends_one: bool


def read_replies(answer: Mapping[str, Any], known: Sequence[FaqRule]) -> AccountReplies:
    """`answer`: WeChat's. `known`: the rules that the FAQ has now."""
    taken = {(rule.match, normalise(pattern)) for rule in known for pattern in rule.patterns}
    ids = Counter(rule.id for rule in known)
    proposals = [_propose(each, taken, ids) for each in _written(answer)]
    return AccountReplies(
        is_on=bool(answer.get("is_autoreply_open")),
        proposals=tuple(proposals),
        on_follow=_text_of(answer, "is_add_friend_reply_open", "add_friend_autoreply_info"),
        default=_text_of(answer, "is_autoreply_open", "message_default_autoreply_info"),
    )


def _propose(written: _Written, taken: set[tuple[Match, str]], ids: Counter[str]) -> Proposal:
    proposal = Proposal(
        name=written.name,
        standing=Standing.NO_TEXT,
        left_out=tuple(dict.fromkeys(written.others)),
        is_random=written.sends_one and len(written.texts) > 1,
    )
    if not written.texts:
        return proposal
    if not any(written.patterns.values()):
        return replace(proposal, standing=Standing.UNFIT)
    answer = written.texts[0] if written.sends_one else "\n".join(written.texts)
    rules: list[FaqRule] = []
    for match, patterns in written.patterns.items():
        fresh = tuple(each for each in patterns if (match, normalise(each)) not in taken)
        if fresh:
            rule_id = _free_id(written.name, ids)
            rules.append(
                FaqRule(
                    id=rule_id,
                    match=match,
                    patterns=fresh,
                    answer=answer,
                    channels=frozenset({"wechat"}),
                )
            )
            taken.update((match, normalise(each)) for each in fresh)
    if not rules:
        return replace(proposal, standing=Standing.KNOWN)
    standing = Standing.PARTLY if written.others else Standing.NEW
    return replace(proposal, standing=standing, rules=tuple(rules))


def _written(answer: Mapping[str, Any]) -> Iterator[_Written]:
    for rule in _mappings(_mapping(answer.get("keyword_autoreply_info")).get("list")):
        replies = _mappings(rule.get("reply_list_info"))
        keywords = _mappings(rule.get("keyword_list_info"))
        texts = [_clean(each.get("content")) for each in replies if each.get("type") == "text"]
        yield _Written(
            name=" ".join(_clean(rule.get("rule_name")).split())[:LONGEST_NAME],
            patterns={match: _patterns(keywords, word, match) for word, match in _MATCHES.items()},
            texts=tuple(filter(None, texts)),
            others=tuple(_clean(each.get("type")) for each in replies if each.get("type") != "text"),
            sends_one=rule.get("reply_mode") == "random_one",
        )


def _patterns(keywords: Sequence[Mapping[str, Any]], word: str, match: Match) -> tuple[str, ...]:
    asked = (
        " ".join(_clean(each.get("content")).split()) for each in keywords if each.get("match_mode") == word
    )
    return tuple(dict.fromkeys(each for each in asked if _fits(each, match)))


def _fits(pattern: str, match: Match) -> bool:
    try:
        check_pattern(match, pattern)
    except ValueError:
        return False
    return len(pattern) <= LONGEST_PATTERN


def _free_id(name: str, ids: Counter[str]) -> str:
    base = f"公众号-{name}" if name else "公众号"
    rule_id, number = base, 1
    while ids[rule_id]:
        number += 1
        rule_id = f"{base}-{number}"
    ids[rule_id] += 1
    return rule_id


def _text_of(answer: Mapping[str, Any], switch: str, name: str) -> str:
    info = _mapping(answer.get(name))
    return _clean(info.get("content")) if answer.get(switch) and info.get("type") == "text" else ""


def _clean(value: Any) -> str:
    """As YAML and a page can have it; white space at the ends of lines is of no use to anybody."""
    text = _UNWRITABLE.sub("", value) if isinstance(value, str) else ""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [_mapping(each) for each in cast("list[Any]", value)] if isinstance(value, list) else []
