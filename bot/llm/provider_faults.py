"""What a provider's error means for us: out of money, content declined, busy, or out of order.

Invariant: only the status and the provider's own error fields are read, never a prompt.
Codes and wordings: error pages of OpenAI, Azure OpenAI, DeepSeek, 阿里云百炼 (DashScope), 智谱, 火山方舟,
Moonshot, SiliconFlow and OpenRouter, and the reports of their users.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import cast

from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid, RejectedInput

REFUSAL = "这个话题我不便回答，换个问题吧。"


class Fault(Enum):
    """How to go on after an error."""

    UNPAID = auto()
    """The operator must pay, correct the key or enable the model. No retry."""
    REFUSED = auto()
    """The content was declined. No retry: the same words would be declined again."""
    BUSY = auto()
    """May pass at once: worth one retry."""
    BROKEN = auto()
    """Anything else: a wrong model name, a malformed request, nonsense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderError:
    """The fields of an error answer that every provider has in some form."""

    status: int
    """HTTP status; 0 when there was no answer."""
    code: str = ""
    words: str = ""
    """Code, type and message in lower case, for matching only: it may quote the prompt."""


# Bounded, and only looked for in answers with the statuses below: a server may quote the prompt,
# and someone who writes 「我的话费欠费了」 must not raise a payment alert.
_WORDS_READ = 300
_UNPAID_STATUSES = frozenset({200, 400, 403, 429})
_UNPAID = re.compile(
    r"insufficient[ _-]?(user[ _])?(balance|quota|credit|fund)|balance is insufficient"
    r"|exceeded_current_quota|arrearage|overdue|billing[ _](hard[ _]limit|not[ _]active)"
    r"|欠费|余额不足|请充值"
)
_REFUSED_STATUSES = frozenset({200, 400, 403, 422, 451})
_REFUSED = re.compile(
    r"content[ _-]?filter|data[ _]?inspection[ _]?failed|content[ _]policy|content exists risk"
    r"|content[ _]moderation|requires moderation|sensitive ?content|textriskdetection"
    r"|considered high risk|responsibleaipolicy|敏感内容"
)
_CODES = {"1113": Fault.UNPAID, "1301": Fault.REFUSED}
"""智谱's numbers: 1113 欠费, 1301 unsafe content."""
_REFUSING_FINISHES = frozenset({"content_filter", "sensitive"})
"""`sensitive` is 智谱's word for content_filter."""


def read_error(status: int, body: object) -> ProviderError:
    """Find code, type and message in an error body of whatever form."""
    fields = _as_mapping(body)
    inner = _as_mapping(fields.get("error")) or fields
    code = str(inner.get("code") or fields.get("code") or "")
    parts = [code] + [str(inner.get(name) or "") for name in ("type", "message", "detail", "msg")]
    words = " ".join(part[:_WORDS_READ] for part in parts).lower()
    return ProviderError(status=status, code=code, words=words)


def judge(error: ProviderError) -> Fault:
    """Decide how to go on."""
    status, words = error.status, error.words
    if error.code in _CODES:
        return _CODES[error.code]
    if status in _REFUSED_STATUSES and _REFUSED.search(words):
        return Fault.REFUSED
    if status in (401, 402) or (status in _UNPAID_STATUSES and _UNPAID.search(words)):
        return Fault.UNPAID
    if status == 403:
        # A key without the right to this model, or a closed region: only the operator can mend it.
        return Fault.UNPAID
    if status in (0, 408, 409, 425, 429) or status >= 500:
        return Fault.BUSY
    return Fault.BROKEN


def is_refusing(finish_reason: str | None) -> bool:
    """Whether this finish_reason says that the provider withheld the answer."""
    return finish_reason in _REFUSING_FINISHES


def as_house_error(fault: Fault, error: ProviderError, where: str) -> ModelUnavailable | RejectedInput:
    """The error of the house. `where` is the provider's host.

    Holds the status and the code, not the message: servers quote prompts and keys in messages.
    """
    code = re.sub(r"[^\w.\-]", "", error.code, flags=re.ASCII)[:40]
    said = f"{where} 返回 {error.status}" + (f"（{code}）" if code else "")
    if error.status == 0:
        said = f"连不上 {where}"
    match fault:
        case Fault.REFUSED:
            return ModelRefused(REFUSAL)
        case Fault.UNPAID:
            return ModelUnpaid(f"{said}：请检查余额、密钥和模型权限", status=error.status)
        case Fault.BUSY:
            return ModelUnavailable(said, status=error.status)
        case Fault.BROKEN:
            hint = "：请检查地址和模型名" if error.status in (301, 302, 307, 308, 404, 405) else ""
            return ModelUnavailable(said + hint, status=error.status)


def _as_mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
