"""Errors as providers really word them, and what each means for us."""

import pytest

from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.llm.provider_faults import Fault, as_house_error, judge, read_error

ANSWERS = [
    # status, body (as the openai package hands it over: the inner object), fault
    (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}, Fault.UNPAID),
    (402, {"message": "Insufficient Balance", "code": "invalid_request_error"}, Fault.UNPAID),
    (400, {"message": "Access denied", "code": "Arrearage"}, Fault.UNPAID),
    (403, {"message": "Your account balance is insufficient.", "code": "x"}, Fault.UNPAID),
    (403, {"message": "your account has an overdue balance", "code": "AccountOverdueError"}, Fault.UNPAID),
    (403, {"message": "no access to this model"}, Fault.UNPAID),
    (429, {"message": "You exceeded your current quota", "type": "insufficient_quota"}, Fault.UNPAID),
    (429, {"message": "quota", "type": "exceeded_current_quota_error"}, Fault.UNPAID),
    (429, {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}, Fault.UNPAID),
    (400, {"code": "data_inspection_failed", "message": "Input data may contain …"}, Fault.REFUSED),
    (400, {"code": "DataInspectionFailed", "message": ""}, Fault.REFUSED),
    (400, {"code": "content_filter", "message": "filtered"}, Fault.REFUSED),
    (400, {"code": "invalid_request_error", "message": "Content Exists Risk"}, Fault.REFUSED),
    (400, {"code": "SensitiveContentDetected", "message": ""}, Fault.REFUSED),
    (400, {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}, Fault.REFUSED),
    (403, {"message": "Your input requires moderation"}, Fault.REFUSED),
    (429, {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}, Fault.BUSY),
    (500, {"message": "oops"}, Fault.BUSY),
    (503, "<html>nginx</html>", Fault.BUSY),
    (0, None, Fault.BUSY),
    (400, {"message": "maximum context length is 8192 tokens"}, Fault.BROKEN),
    (404, {"message": "model not found"}, Fault.BROKEN),
    (422, [{"loc": ["body"]}], Fault.BROKEN),
    (301, "", Fault.BROKEN),
]


@pytest.mark.parametrize(("status", "body", "fault"), ANSWERS)
def test_each_provider_error_means_what_it_says(status: int, body: object, fault: Fault) -> None:
    assert judge(read_error(status, body)) is fault


def test_an_error_wrapped_in_another_object_is_read_too() -> None:
    assert judge(read_error(200, {"error": {"code": "Arrearage"}})) is Fault.UNPAID


def test_a_prompt_quoted_by_a_broken_server_raises_no_payment_alert() -> None:
    quoted = {"message": "cannot parse: 我的话费欠费了，余额不足怎么办"}
    assert judge(read_error(500, quoted)) is Fault.BUSY
    assert judge(read_error(422, quoted)) is Fault.BROKEN


@pytest.mark.parametrize("fault", list(Fault))
def test_no_word_of_the_provider_reaches_the_error(fault: Fault) -> None:
    said = read_error(400, {"code": "bad code\n密钥", "message": "prompt was: 我对花生过敏, key sk-123"})
    text = str(as_house_error(fault, said, "api.example.com"))
    assert "花生" not in text
    assert "sk-123" not in text
    assert "密钥\n" not in text


def test_each_fault_becomes_its_error() -> None:
    said = read_error(400, {"code": "some.code"})
    assert type(as_house_error(Fault.UNPAID, said, "h")) is ModelUnpaid
    assert type(as_house_error(Fault.REFUSED, said, "h")) is ModelRefused
    assert type(as_house_error(Fault.BUSY, said, "h")) is ModelUnavailable
    assert "some.code" in str(as_house_error(Fault.BROKEN, said, "h"))
