"""The fields of a judgement as models write them: their names, and their values put right.

Invariant: total; what can't be meant is empty or the middle, and what may be half of a fact is left out.
"""

import html
import re
from typing import Any

from bot.memory.entities.entity import NAMED_TYPES, EntityType
from bot.memory.fact import TOLD_KINDS, FactKind
from bot.memory.judgement_format.near_json import Unsure

_YES = frozenset(
    {
        "true",
        "yes",
        "y",
        "1",
        "1.0",
        "是",
        "是的",
        "需要",
        "要",
        "应该",
        "存",
        "保留",
        "记",
        "存入",
        "✅",
        "√",
    }
)
_NO = frozenset(
    {
        "false",
        "no",
        "n",
        "0",
        "0.0",
        "否",
        "不",
        "不是",
        "不需要",
        "无需",
        "不要",
        "不用",
        "不应该",
        "不存",
        "不记",
        "不保留",
        "无",
        "❌",
        "×",
        "",
    }
)
_KINDS = {kind.value: kind for kind in TOLD_KINDS} | {
    "身份": FactKind.IDENTITY,
    "偏好": FactKind.PREFERENCE,
    "喜好": FactKind.PREFERENCE,
    "交易": FactKind.TRANSACTION,
    "订单": FactKind.TRANSACTION,
    "事件": FactKind.EVENT,
    "计划": FactKind.EVENT,
}
_TYPES = {kind.value: kind for kind in NAMED_TYPES} | {
    "订单": EntityType.ORDER_ID,
    "单号": EntityType.ORDER_ID,
    "日期": EntityType.DATE,
    "时间": EntityType.DATE,
    "金额": EntityType.AMOUNT,
    "商品": EntityType.PRODUCT_NAME,
    "产品": EntityType.PRODUCT_NAME,
    "问题": EntityType.ISSUE_TYPE,
    "情绪": EntityType.EMOTION,
    "联系": EntityType.CONTACT_INFO,
}
_WEIGHTS = {
    "极高": 0.9,
    "很高": 0.9,
    "较高": 0.9,
    "高": 0.9,
    "high": 0.9,
    "中等": 0.6,
    "一般": 0.6,
    "中": 0.6,
    "medium": 0.6,
    "较低": 0.3,
    "低": 0.3,
    "low": 0.3,
}
DEFAULT_IMPORTANCE = 0.5
_EMPTY = frozenset({"无", "没有", "暂无", "none", "null", "n/a", "空", "无。", "-"})
_ESCAPED_MARKS = re.compile(r'\\+"')
"""What is left of an answer that was escaped once too often."""
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:string|text|str|fact|文本|文字|内容|原话|示例|例子|x{2,}|(?:一条|每条|具体的?)?事实(?:的?(?:文本|内容|文字|描述|原文))?"
    r"|用户的?(?:原话|事实)|一句话[^，。]{0,12})?[\W_]*",
    re.IGNORECASE,
)
"""What a template has in the place of a fact: a model that hands it back has judged nothing."""
_SEVERAL_KINDS = re.compile(r"[A-Za-z\u4e00-\u9fff]\s*(?:[|/／、]|\bor\b|或)\s*[A-Za-z\u4e00-\u9fff]")
MOST_ITEMS = 50
"""Facts or entities read."""


def as_bool(value: object) -> object:
    if isinstance(value, str):
        word = value.strip().casefold().strip("。.!！\"'“”* `「」")
        if word in _YES:
            return True
        if word in _NO:
            return False
    return value


def as_kind(value: object) -> object:
    return _named(value, _KINDS)


def as_type(value: object) -> object:
    return _named(value, _TYPES)


def _named(value: object, table: dict[str, Any]) -> object:
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    return table.get(word) or next((kind for name, kind in table.items() if name in word), None)


def as_importance(value: object) -> object:
    """0 to 1. Models also answer on a scale to 10, in per cent or in words; anything else is the middle."""
    if isinstance(value, str):
        word = value.strip().casefold()
        value = _WEIGHTS.get(word, word)
        if isinstance(value, str) and value.endswith("%"):
            value = value[:-1].strip()
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_IMPORTANCE
    if not 0 <= number <= 100:  # NaN and infinities too
        return DEFAULT_IMPORTANCE
    if number <= 1:
        return number
    return number / 10 if number <= 10 else number / 100


def as_text(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = value if isinstance(value, str) else f"{value:g}"
    if "&" in text:
        text = html.unescape(text)
    if '\\"' in text:
        text = _ESCAPED_MARKS.sub('"', text)
    text = text.strip()
    return text.removeprefix("**").removesuffix("**").strip() if text.startswith("**") else text


def as_words(value: object) -> object:
    """A text that must have been one: a number is no fact."""
    return as_text(value) if isinstance(value, str) else ""


def as_facts(value: object) -> object:
    """A list of facts; plain strings are facts without kind. What has no text, or perhaps half of it, is left out."""
    facts: list[object] = []
    for item in _listed(value)[:MOST_ITEMS]:
        fact = {"text": item} if isinstance(item, str) else _renamed(item, _FACT_NAMES)
        text = fact.get("text")
        if _SEVERAL_KINDS.search(str(fact.get("kind", ""))) or _PLACEHOLDER.fullmatch(str(text or "")):
            continue
        if not isinstance(text, Unsure) and as_words(text) and str(as_words(text)).casefold() not in _EMPTY:
            facts.append(fact)
    return facts


def as_entities(value: object) -> object:
    """A list of entities, or a mapping of types to values; other types than the seven are left out."""
    fields = _renamed(value, _ENTITY_NAMES)
    items = _listed(value)
    if fields and not fields.keys() >= {"type", "value"}:
        items = [{"type": kind, "value": each} for kind, values in fields.items() for each in _listed(values)]
    entities: list[object] = []
    for item in items[:MOST_ITEMS]:
        entity = _renamed(item, _ENTITY_NAMES)
        if as_type(entity.get("type")) and as_text(entity.get("value")):
            entities.append(entity)
    return entities


def _listed(value: object) -> list[Any]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, (str, dict))] if value else []  # pyright: ignore
    return [value] if isinstance(value, (str, dict)) and value else []


_FACT_NAMES = {
    "content": "text",
    "fact": "text",
    "内容": "text",
    "事实": "text",
    "文本": "text",
    "记忆": "text",
    "type": "kind",
    "category": "kind",
    "类型": "kind",
    "类别": "kind",
    "replaces": "supersedes",
    "instead_of": "supersedes",
    "取代": "supersedes",
    "替代": "supersedes",
    "重要性": "importance",
    "重要度": "importance",
    "重要程度": "importance",
    "weight": "importance",
    "score": "importance",
}
_ENTITY_NAMES = {
    "kind": "type",
    "entity_type": "type",
    "类型": "type",
    "类别": "type",
    "text": "value",
    "entity": "value",
    "值": "value",
    "内容": "value",
}
_NAMES = {
    "should_keep": "keep",
    "should_store": "keep",
    "store": "keep",
    "remember": "keep",
    "保留": "keep",
    "记住": "keep",
    "原因": "reason",
    "理由": "reason",
    "摘要": "summary",
    "总结": "summary",
    "概括": "summary",
    "事实": "facts",
    "memories": "facts",
    "memory": "facts",
    "记忆": "facts",
    "意图": "intent",
    "核心意图": "intent",
    "实体": "entities",
}


def _renamed(item: object, names: dict[str, str]) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for key, value in item.items() if isinstance(item, dict) else ():  # pyright: ignore
        word = str(key).strip("*` ").lower()  # pyright: ignore[reportUnknownArgumentType]
        pairs.setdefault(names.get(word, word), value)  # pyright: ignore[reportUnknownArgumentType]
    return pairs


def with_our_names(answer: dict[str, Any]) -> dict[str, object]:
    """A model's object with the fields named as ours."""
    pairs = _renamed(answer, _NAMES)
    for key in list(pairs):
        if key.startswith("是否") and "记忆" in key:
            pairs.setdefault("keep", pairs[key])
    return pairs
