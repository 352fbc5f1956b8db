"""Read what a model answered when it was asked what to keep: JSON, nearly JSON, or the text format.

Invariant: pure and total: whatever the text is, the result is a reading or None, never an exception.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from bot.memory.fact import FactKind

_THINKING = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_YES = frozenset({"true", "yes", "y", "1", "是", "需要", "要", "应该", "存", "保留", "记"})
_NO = frozenset(
    {"false", "no", "n", "0", "否", "不", "不需要", "无需", "不要", "不用", "不应该", "不存", "无", ""}
)
_KINDS = {kind.value: kind for kind in FactKind} | {
    "身份": FactKind.IDENTITY,
    "偏好": FactKind.PREFERENCE,
    "喜好": FactKind.PREFERENCE,
    "交易": FactKind.TRANSACTION,
    "订单": FactKind.TRANSACTION,
    "事件": FactKind.EVENT,
    "计划": FactKind.EVENT,
}
_WEIGHTS = {"高": 0.9, "high": 0.9, "中": 0.6, "medium": 0.6, "低": 0.3, "low": 0.3}
_DEFAULT_IMPORTANCE = 0.5
LONGEST_ANSWER = 8_000
"""Characters read: ten facts fit five times over."""

_DECODER = json.JSONDecoder(strict=False)
_STRUCTURE = {"：": ":", "，": ",", "｛": "{", "｝": "}", "［": "[", "］": "]", "【": "[", "】": "]"}
_WORDS = {"True": "true", "False": "false", "None": "null", "是": "true", "否": "false"}
_WORD = re.compile(r"[^\W\d_]+")
_CLOSERS = {'"': '"', "“": '”“"', "”": '”“"', "'": "'"}
_AFTER_STRING = frozenset(":：,，}｝]］")

_FIELD = r"[*#\s\-]*(?:{name})[*\s]*[:：][*\s]*(?P<value>[^\n]*?)\s*(?=[*#\s\-]*(?:{names})[*\s]*[:：]|\n|$)"
_NAMES = {
    "keep": r"是否(?:需要|应该|要)?(?:存入|存储|写入|保存到?)?(?:长期)?记忆",
    "reason": r"原因|理由",
    "summary": r"摘要|总结|概括",
    "fact": r"事实|记忆内容",
    "intent": r"核心意图",
}


def _as_bool(value: object) -> object:
    if isinstance(value, str):
        word = value.strip().casefold().strip("。.!！\"'“”* ")
        if word in _YES:
            return True
        if word in _NO:
            return False
    return value


def _as_kind(value: object) -> object:
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    return next((kind for name, kind in _KINDS.items() if name in word), None)


def _as_importance(value: object) -> object:
    """0 to 1. Models also answer on a scale to 10 or in words; anything else is the middle."""
    if isinstance(value, str):
        value = _WEIGHTS.get(value.strip().casefold(), value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return _DEFAULT_IMPORTANCE
    if not 0 <= number <= 10:  # NaN and infinities too
        return _DEFAULT_IMPORTANCE
    return number if number <= 1 else number / 10


def _as_text(value: object) -> object:
    return value.strip() if isinstance(value, str) else ""


def _as_facts(value: object) -> object:
    """A list of facts; plain strings are facts without kind. What has no text is left out."""
    items: list[Any] = value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
    facts: list[object] = [{"text": item} if isinstance(item, str) else item for item in items]
    return [fact for fact in facts if isinstance(fact, dict) and _as_text(fact.get("text"))]  # pyright: ignore


Text = Annotated[str, BeforeValidator(_as_text)]


class ReadFact(BaseModel):
    """One fact as the model put it."""

    text: Text
    kind: Annotated[FactKind | None, BeforeValidator(_as_kind)] = None
    importance: Annotated[float, BeforeValidator(_as_importance)] = _DEFAULT_IMPORTANCE


class ReadJudgement(BaseModel):
    """The model's judgement, types put right, content not yet checked."""

    keep: Annotated[bool, BeforeValidator(_as_bool)]
    reason: Text = ""
    summary: Text = ""
    facts: Annotated[list[ReadFact], BeforeValidator(_as_facts)] = Field(default_factory=list[ReadFact])


def read_judgement(answer: str) -> ReadJudgement | None:
    """The judgement in a model's answer; None when there is none to be read."""
    text = _THINKING.sub("", answer)[:LONGEST_ANSWER]
    for candidate in _objects(text):
        try:
            return ReadJudgement.model_validate(candidate)
        except ValidationError:
            continue
    return _read_text_format(text)


def _objects(text: str) -> Iterator[object]:
    """The outermost JSON object in a text, as it stands and with its slips mended."""
    start = re.search("[{｛]", text)
    if start is None:
        return
    for mend in (str, mended):  # mending takes ten times as long as reading, and few need it
        try:
            value, _ = _DECODER.raw_decode(mend(text[start.start() :]))
        except (ValueError, RecursionError):
            continue
        yield value


def mended(text: str) -> str:
    """Nearly-JSON made JSON: Chinese quotes and punctuation, trailing commas, Python's words.

    Inside strings nothing changes but quotation marks that would end them.
    """
    out: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if character in "\"“”'":
            end = _string_end(text, place)
            out.append(json.dumps(_unescaped(text[place + 1 : end]), ensure_ascii=False))
            place = end + 1
            continue
        if character in ",，" and text[place + 1 :].lstrip()[:1] in ("}", "]", "｝", "］"):
            place += 1
            continue
        word = _WORD.match(text, place)
        piece = word.group() if word else character
        out.append(_WORDS.get(piece, _STRUCTURE.get(piece, piece)))
        place += len(piece)
    return "".join(out)


def _string_end(text: str, start: int) -> int:
    """Where the string that opens at `start` closes: at a mark with structure after it."""
    closers = _CLOSERS[text[start]]
    place = start + 1
    while place < len(text):
        if text[place] == "\\":
            place += 2
            continue
        if text[place] in closers and (text[place + 1 :].lstrip()[:1] or ",") in _AFTER_STRING:
            return place
        place += 1
    return len(text)


def _unescaped(body: str) -> str:
    try:
        return str(json.loads('"' + re.sub(r'(?<!\\)"', r"\"", body) + '"', strict=False))
    except ValueError:
        return body


def _read_text_format(text: str) -> ReadJudgement | None:
    """「核心意图：… 是否需要存入长期记忆：是 原因：…」, on one line or several."""
    keep = _field(text, "keep")
    if keep is None:
        return None
    word = re.split(r"[，,。；;（(\s]", keep, maxsplit=1)[0]
    facts = [match["value"] for match in re.finditer(_pattern("fact"), text) if match["value"]]
    try:
        return ReadJudgement.model_validate(
            {
                "keep": word,
                "reason": _field(text, "reason"),
                "summary": _field(text, "summary"),
                "facts": facts,
            }
        )
    except ValidationError:
        return None


def _field(text: str, name: str) -> str | None:
    found = re.search(_pattern(name), text)
    return found["value"].strip("* ") if found else None


def _pattern(name: str) -> str:
    return _FIELD.format(name=_NAMES[name], names="|".join(_NAMES.values()))
