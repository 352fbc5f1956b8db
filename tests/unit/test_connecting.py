"""What the connecting pages go by: arrivals, addresses, trials, and keyword replies as rules."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.connecting.addresses import Callback, Doubt, callback
from bot.connecting.arrivals import ANYONE, SETUP_TIME, Arrivals
from bot.connecting.door_watch import NotedDoor
from bot.connecting.keyword_replies import Standing, read_replies
from bot.connecting.presets import PRESETS
from bot.connecting.trials import ApiTrial, ModelFault, try_model
from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatLine
from bot.llm.provider_faults import as_house_error, judge, read_error
from bot.metrics import Metrics
from bot.rules.faq import FaqRule, Match
from bot.settings_groups import http_address
from tests.shared_files import require_shared

WEB = frozenset({80, 443})


class Hands:
    def __init__(self) -> None:
        self.at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


async def test_a_proof_takes_an_earlier_refusal_away() -> None:
    hands = Hands()
    arrivals = Arrivals(hands)
    door = NotedDoor(Metrics(), "wechat", arrivals)
    assert arrivals.at("wechat", "wx1").proven_at is None
    door.verified("wx1", holds=False)
    assert arrivals.at("wechat", "wx1").refused_at == hands.at
    door.verified("wx1", holds=True)
    assert (arrivals.at("wechat", "wx1").proven_at, arrivals.at("wechat", "wx1").refused_at) == (
        hands.at,
        None,
    )
    assert arrivals.at("wechat", "wx2").proven_at is None
    door.refused()
    assert arrivals.at("wechat", ANYONE).refused_at == hands.at


async def test_a_connection_that_ended_is_no_connection() -> None:
    arrivals = Arrivals(Hands())
    arrivals.note_connection("onebot", "10086")
    arrivals.note_connection("onebot", "10087")
    assert arrivals.connected("onebot") == ("10086", "10087")
    arrivals.note_end("onebot", "10086")
    assert arrivals.connected("onebot") == ("10087",)
    assert arrivals.connected("qq") == ()


async def test_whoever_follows_hears_at_once_and_of_each_change() -> None:
    arrivals = Arrivals(Hands())
    changes = arrivals.changes()
    await anext(changes)
    following = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    assert not following.done()
    arrivals.note_proof("qq", "1")
    await following
    arrivals.note_proof("qq", "1")  # before they look again: not missed
    await anext(changes)
    await changes.aclose()  # type: ignore[attr-defined]


async def test_validation_closes_by_itself() -> None:
    hands = Hands()
    arrivals = Arrivals(hands)
    assert arrivals.setup_until is None
    arrivals.open_setup()
    assert arrivals.setup_until == hands.at + SETUP_TIME
    hands.at += SETUP_TIME - timedelta(seconds=1)
    assert arrivals.setup_until is not None
    hands.at += timedelta(seconds=1)
    assert arrivals.setup_until is None
    arrivals.open_setup()
    arrivals.close_setup()
    assert arrivals.setup_until is None


@pytest.mark.parametrize(
    ("typed", "url", "doubt"),
    [
        ("", "", Doubt.NONE),
        ("bot.example.com", "https://bot.example.com/wechat", Doubt.NONE),
        ("http://bot.example.com/", "http://bot.example.com/wechat", Doubt.NONE),
        ("https://bot.example.com/wechat", "https://bot.example.com/wechat", Doubt.NONE),
        ("https://example.com/bot/", "https://example.com/bot/wechat", Doubt.NONE),
        ("HTTPS://Bot.Example.com:443", "https://bot.example.com:443/wechat", Doubt.NONE),
        ("https://bot.example.com:8080", "https://bot.example.com:8080/wechat", Doubt.PORT),
        ("http://127.0.0.1", "http://127.0.0.1/wechat", Doubt.PRIVATE),
        ("192.168.1.2:80", "https://192.168.1.2:80/wechat", Doubt.PRIVATE),
        ("http://[::1]", "http://[::1]/wechat", Doubt.PRIVATE),
        ("localhost", "https://localhost/wechat", Doubt.PRIVATE),
        ("http://8.8.8.8", "http://8.8.8.8/wechat", Doubt.NONE),
        ("我的网站", "", Doubt.NO_ADDRESS),
        ("ftp://bot.example.com", "", Doubt.NO_ADDRESS),
        ("https://bot.example.com:99999", "", Doubt.NO_ADDRESS),
        ("https://a@bot.example.com", "", Doubt.NO_ADDRESS),
        ("javascript:alert(1)", "", Doubt.NO_ADDRESS),
        ("https://[", "", Doubt.NO_ADDRESS),
    ],
)
def test_an_address_is_joined_with_the_path(typed: str, url: str, doubt: Doubt) -> None:
    assert callback(typed, "/wechat", WEB) == Callback(url=url, doubt=doubt)


class Answers:
    """A chat model that does what it is told."""

    def __init__(self, does: Callable[[], str]) -> None:
        self._does = does

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        return self._does()


def raising(error: Exception) -> Callable[[], str]:
    def does() -> str:
        raise error

    return does


def of_provider(status: int, body: object) -> Exception:
    said = read_error(status, body)
    return as_house_error(judge(said), said, "api.example.com")


@pytest.mark.parametrize(
    ("error", "fault", "status"),
    [
        (of_provider(401, {"error": {"message": "Authentication Fails"}}), ModelFault.KEY, 401),
        (ModelUnpaid("密钥含有不能使用的字符"), ModelFault.KEY, 0),
        (of_provider(402, {"error": {"message": "Insufficient Balance"}}), ModelFault.UNPAID, 402),
        (of_provider(400, {"code": "Arrearage"}), ModelFault.UNPAID, 400),
        (of_provider(429, {"error": {"code": "1113", "message": "您的账户已欠费"}}), ModelFault.UNPAID, 429),
        (of_provider(403, {"error": {"message": "no access"}}), ModelFault.FORBIDDEN, 403),
        (of_provider(404, {"error": {"message": "model not found"}}), ModelFault.NAME, 404),
        (of_provider(400, {"error": {"message": "Model Not Exist"}}), ModelFault.NAME, 400),
        (of_provider(0, None), ModelFault.NETWORK, 0),
        (of_provider(429, {"error": {"message": "rate limit"}}), ModelFault.BUSY, 429),
        (of_provider(502, None), ModelFault.BUSY, 502),
        (ModelUnavailable("在 30 秒内没有回答"), ModelFault.SILENT, 0),
        (of_provider(200, {"hello": "world"}), ModelFault.SILENT, 200),
        (TimeoutError(), ModelFault.SILENT, 0),
        (ModelRefused("不便回答"), ModelFault.REFUSED, 0),
    ],
)
async def test_each_fault_of_a_model_has_its_kind(error: Exception, fault: ModelFault, status: int) -> None:
    trial = await try_model(Answers(raising(error)))
    assert (trial.fault, trial.status, trial.is_fine) == (fault, status, False)


async def test_a_model_that_answers_is_timed() -> None:
    trial = await try_model(Answers(lambda: "好"))
    assert trial.is_fine
    assert trial.seconds >= 0


def test_a_trial_is_fine_only_with_a_token() -> None:
    assert ApiTrial().is_fine
    assert not ApiTrial(errcode=-1).is_fine
    assert not ApiTrial(is_away=True).is_fine


def test_presets_are_addresses_that_settings_take() -> None:
    assert [each.id for each in PRESETS] == ["deepseek", "qwen", "zhipu", "ollama"]
    for each in PRESETS:
        assert http_address(each.base_url) == each.base_url
        assert each.models


def keyword(
    name: str, words: Mapping[str, str], replies: Sequence[Mapping[str, Any]], mode: str = "reply_all"
) -> dict[str, Any]:
    """As WeChat tells it. `words`: keyword → match_mode."""
    return {
        "rule_name": name,
        "reply_mode": mode,
        "keyword_list_info": [
            {"type": "text", "match_mode": how, "content": word} for word, how in words.items()
        ],
        "reply_list_info": list(replies),
    }


def said(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}


def of(*rules: object, **more: Any) -> dict[str, Any]:
    return {"is_autoreply_open": 1, "keyword_autoreply_info": {"list": list(rules)}, **more}


PICTURE = {"type": "img", "content": "media-1"}


def test_the_published_answer_is_read() -> None:
    cases = json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
    entries = (
        cases if isinstance(cases, list) else next(each for each in cases.values() if isinstance(each, list))
    )
    answer = next(
        each["expected"]["json"] for each in entries if each["id"] == "api-wpy-get-current-autoreply-info"
    )
    replies = read_replies(answer, ())
    assert [(each.name, each.standing, each.left_out) for each in replies.proposals] == [
        ("autoreply-news", Standing.NO_TEXT, ("news",)),
        ("autoreply-voice", Standing.NO_TEXT, ("voice",)),
        ("autoreply-text", Standing.NEW, ()),
        ("autoreply-video", Standing.NO_TEXT, ("video",)),
    ]
    (rule,) = replies.proposals[2].rules
    assert (rule.match, rule.patterns, rule.answer) == (Match.CONTAINS, ("text测试",), "hello!text!")
    assert (replies.on_follow, replies.default) == ("Thanks for your attention!", "Hello, this is autoreply!")


def test_each_way_of_comparing_is_a_rule() -> None:
    answer = of(keyword("时间", {"几点": "equal", "营业时间": "contain"}, [said("九点"), said("到六点")]))
    (proposal,) = read_replies(answer, ()).proposals
    assert [(rule.id, rule.match, rule.patterns) for rule in proposal.rules] == [
        ("公众号-时间", Match.CONTAINS, ("营业时间",)),
        ("公众号-时间-2", Match.EXACT, ("几点",)),
    ]
    assert {rule.answer for rule in proposal.rules} == {"九点\n到六点"}
    assert {rule.channels for rule in proposal.rules} == {frozenset({"wechat"})}


def test_of_texts_that_take_turns_the_first_is_taken_and_told() -> None:
    answer = of(keyword("笑话", {"笑话": "equal"}, [said("甲"), said("乙")], mode="random_one"))
    (proposal,) = read_replies(answer, ()).proposals
    assert (proposal.rules[0].answer, proposal.is_random) == ("甲", True)


def test_a_text_beside_a_picture_is_taken_and_the_picture_told() -> None:
    (proposal,) = read_replies(of(keyword("图", {"图": "equal"}, [PICTURE, said("看图")])), ()).proposals
    assert (proposal.standing, proposal.left_out) == (Standing.PARTLY, ("img",))
    assert proposal.rules[0].answer == "看图"


def test_what_the_faq_has_is_not_proposed() -> None:
    known = [
        FaqRule(id="公众号-时间", match=Match.EXACT, patterns=("几点？", "Ａ"), answer="自己写的"),
        FaqRule(id="别的", match=Match.CONTAINS, patterns=("地址",), answer="自己写的"),
    ]
    answer = of(
        keyword("甲", {"a": "equal"}, [said("x")]),
        keyword("时间", {"a": "equal", "几点": "equal"}, [said("y")]),
        keyword("乙", {"几点": "equal"}, [said("later")]),
    )
    first, second, third = read_replies(answer, known).proposals
    assert (first.standing, first.is_possible) == (Standing.KNOWN, False)
    assert [(rule.id, rule.patterns) for rule in second.rules] == [("公众号-时间-2", ("几点",))]
    assert third.standing is Standing.KNOWN, "the rule before it takes the word already"


@pytest.mark.parametrize("word", ["", "   ", "长" * 501])
def test_a_keyword_that_no_rule_can_have_is_told(word: str) -> None:
    (proposal,) = read_replies(of(keyword("坏", {word: "equal"}, [said("x")])), ()).proposals
    assert (proposal.standing, proposal.rules) == (Standing.UNFIT, ())


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"keyword_autoreply_info": None},
        {"keyword_autoreply_info": {"list": None}},
        {"keyword_autoreply_info": {"list": [None, "x", 5]}, "add_friend_autoreply_info": "x"},
        {"keyword_autoreply_info": {"list": [{"reply_list_info": [None], "keyword_list_info": 3}]}},
    ],
)
def test_odd_answers_are_nothing_to_import(answer: dict[str, Any]) -> None:
    replies = read_replies(answer, ())
    assert not any(each.is_possible for each in replies.proposals)
    assert (replies.is_on, replies.on_follow, replies.default) == (False, "", "")


def test_what_no_file_can_hold_is_left_out_of_a_text() -> None:
    answer = of(keyword("控\x00制", {"a\x0bb": "equal"}, [said("一\r\n二 \x08三\u3000\n")]))
    (proposal,) = read_replies(answer, ()).proposals
    (rule,) = proposal.rules
    assert (rule.id, rule.patterns, rule.answer) == ("公众号-控制", ("ab",), "一\n二 三")
