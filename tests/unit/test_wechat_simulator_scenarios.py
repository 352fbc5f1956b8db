"""Scenarios: the examples play, failures are told, a wrong file is refused with its line and step."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulators.wechat import (
    ManualClock,
    Report,
    Scenario,
    ScenarioError,
    load_scenario,
    openid_of,
    read_scenario,
    run_scenario,
    server_for,
    tally,
)
from simulators.wechat.customer_service import CustomerService
from simulators.wechat.scenarios import FOLDER
from tests.wechat_callbacks import Answer, Callback, Posted, answering, echoing, says_text, silent

PACE = re.compile(r"\[\[total=(\d+)\]\]")
CONTINUE = '<a href="weixin://bizmsgmenu?msgmenucontent=继续&amp;msgmenuid=1">继续</a>'
KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"


def seconds_of(question: str) -> float:
    found = PACE.search(question)
    return float(found[1]) if found else 0.0


def patient(clock: ManualClock) -> Callback:
    """A model account for passive replies: one run a message, held past 14.5 s, fetched with 继续."""
    started: dict[str, float] = {}
    held: dict[str, tuple[str, float]] = {}

    async def says(posted: Posted) -> Answer:
        fields, now = posted.fields, clock.now()
        question, openid = fields.get("Content", fields.get("EventKey", "")), posted.openid
        if question == "继续":
            kept, ready_at = held.pop(openid)
            await clock.sleep(ready_at - now)
            return Answer(body=says_text(openid, f"答：{kept}"))
        began = started.setdefault(fields.get("MsgId", question), now)
        seconds = seconds_of(question)
        left = began + seconds - now
        is_last = now - began >= 9.5
        if is_last and left > 4.5:
            held[openid] = (question, began + seconds)
            await clock.sleep(4.0)
            return Answer(body=says_text(openid, f"多想一会儿，回复“{CONTINUE}”"))
        await clock.sleep(left)
        return Answer(body=says_text(openid, f"答：{question}"))

    return Callback(says=says)


async def play(
    scenario: str | Path | Scenario, callback: Callback, clock: ManualClock | None = None, **options: Any
) -> Report:
    clock = clock or ManualClock()
    if isinstance(scenario, str):
        scenario = read_scenario(scenario)
    elif isinstance(scenario, Path):
        scenario = load_scenario(scenario)
    calls = options.pop("calls", None)
    transport = httpx.ASGITransport(app=callback)
    server = server_for(scenario, "http://bot.test/", "t", "wx1", transport=transport, clock=clock, **options)
    async with server:
        return await clock.run(run_scenario(scenario, server, calls=calls))


@pytest.mark.parametrize("name", ["slow_answers", "outage"])
async def test_an_example_of_passive_replies(name: str):
    clock = ManualClock()
    report = await play(FOLDER / f"{name}.yaml", patient(clock), clock)
    assert report.is_ok, report.text()


class Serving:
    """A model account with customer service: `success` at once, the answer when it is ready; what was not taken
    is told with the next reply, and fetched with 继续."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._held = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self.http = httpx.AsyncClient()
        self.callback = Callback(says=self._says)

    async def _says(self, posted: Posted) -> Answer:
        question = posted.fields.get("Content") or posted.fields["EventKey"]
        if question == "继续":
            return Answer(body=says_text(posted.openid, self._held))
        if not seconds_of(question):
            told = f"（还有，回复“{CONTINUE}”）" if self._held else ""
            return Answer(body=says_text(posted.openid, f"答：{question}{told}"))
        task = asyncio.create_task(self._serve(posted.openid, question))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return Answer()

    async def _serve(self, openid: str, question: str) -> None:
        await self._clock.sleep(seconds_of(question))
        asked = {"grant_type": "client_credential", "appid": "wx1", "secret": "s"}
        token = (await self.http.post("/cgi-bin/stable_token", json=asked)).json()["access_token"]
        message = {"touser": openid, "msgtype": "text", "text": {"content": f"答：{question}"}}
        sent = await self.http.post(
            "/cgi-bin/message/custom/send",
            params={"access_token": token},
            content=json.dumps(message, ensure_ascii=False),
        )
        self._held = f"答：{question}" if sent.json()["errcode"] else ""


async def test_the_example_of_customer_service():
    clock = ManualClock()
    serving, scenario = Serving(clock), load_scenario(FOLDER / "customer_service.yaml")
    transport = httpx.ASGITransport(app=serving.callback)
    server = server_for(
        scenario, "http://bot.test/", "t", "wx1", app_secret="s", transport=transport, clock=clock
    )
    base = "https://api.weixin.qq.com"
    async with server, httpx.AsyncClient(transport=server.api.transport(), base_url=base) as serving.http:
        report = await clock.run(run_scenario(scenario, server))
    assert report.is_ok, report.text()
    assert server.people[openid_of("小明")].unionid == "u-xiaoming"


async def test_every_type_of_the_example_arrives():
    callback = answering(Answer())
    report = await play(FOLDER / "every_type.yaml", callback)
    assert report.is_ok, report.text()
    kinds = [posted.fields.get("Event") or posted.fields["MsgType"] for posted in callback.posted]
    assert len(kinds) == len(report.results) == 19
    assert len(set(kinds)) == 15


def test_every_example_can_be_read():
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {"first_words", "every_type", "slow_answers", "customer_service", "outage"}
    for name in names:
        assert load_scenario(FOLDER / f"{name}.yaml").steps


async def test_a_call_step_does_what_the_caller_says():
    down: list[bool] = []

    async def says(posted: Posted) -> Answer:
        return Answer(status=503) if down else Answer(body=says_text(posted.openid, "好"))

    async def stop() -> None:
        down.append(True)

    text = "steps:\n- {who: 甲, say: 一, expect: {shown: 好}}\n- call: 停\n- {who: 甲, say: 二, expect: {way: fault}}"
    report = await play(text, Callback(says=says), calls={"停": stop})
    assert report.is_ok, report.text()
    with pytest.raises(ScenarioError, match="第 3 行（第 2 步）：这里没有 “停”"):
        await play(text, echoing())


async def test_steps_with_a_time_go_on_beside_each_other():
    clock = ManualClock()
    text = """
steps:
- {at: 0, who: 甲, say: 一, expect: {contains: 一}}
- {at: 1, who: 乙, say: 二, expect: {contains: 二}}
- {who: 甲, say: 三, expect: {contains: 三}}
- wait: 2.5
"""
    report = await play(text, echoing(clock, 4.0, 1.0, 0.0), clock)
    assert report.is_ok, report.text()
    assert [result.started_seconds for result in report.results] == [0.0, 1.0, 4.0, 4.0]
    deliveries = [result.delivery for result in report.results[:2]]
    ends = [each.ended_at - report.started_at for each in deliveries if each is not None]
    assert ends == [4.0, 2.0]


async def test_a_step_without_a_time_waits_until_what_must_come_has_come():
    clock = ManualClock()
    text = "steps:\n- {who: 甲, say: 一, expect: {contains: 没有的话, within: 12}}\n- {who: 甲, say: 二}"
    report = await play(text, echoing(clock), clock)
    assert [result.started_seconds for result in report.results] == [0.0, 12.0]
    assert report.failures == ("第 1 步（第 2 行）：应该看到含 “没有的话” 的话，看到的是“听到：一”",)


@pytest.mark.parametrize(
    ("expect", "problem"),
    [
        ("{shown: 别的}", "应该看到“别的”，看到的是“听到：一”"),
        ("{shown: []}", "应该看到什么也没有，看到的是“听到：一”"),
        ("{contains: [听到, 二]}", "应该看到含 “二” 的话，看到的是“听到：一”"),
        ("{lacks: 一}", "不该看到含 “一” 的话：“听到：一”"),
        ("{answer: 二}", "应该看到含 “二” 的话，看到的是“听到：一”"),
        ("{way: fault}", "应该由故障提示送到，实际是被动回复"),
        ("{contains: 听到, way: fault}", "应该由故障提示送到，实际是被动回复"),
        ("{kind: image}", "应该是 image，实际是 text"),
        ("{attempts: 2}", "应该投递 2 次，实际 1 次"),
        ("{attempts: [2, 3]}", "应该投递 2 到 3 次，实际 1 次"),
    ],
)
async def test_a_step_that_goes_otherwise_is_told(expect: str, problem: str):
    report = await play(f"steps:\n- {{who: 甲, say: 一, expect: {expect}}}", echoing())
    assert report.failures[0] == f"第 1 步（第 2 行）：{problem}"
    assert not report.is_ok
    assert f"    不符：{problem}" in report.text()


@pytest.mark.parametrize(
    "expect",
    [
        "{shown: 听到：一}",
        "{contains: 听到, lacks: 二, answer: 一, way: passive, kind: text, attempts: [1, 3]}",
        "{same_bytes: true}",
    ],
)
async def test_a_step_that_goes_as_wanted_is_not(expect: str):
    report = await play(f"steps:\n- {{who: 甲, say: 一, expect: {expect}}}", echoing())
    assert report.is_ok, report.text()


async def test_what_never_came_is_told_once_and_long_texts_are_cut():
    callback = answering(Answer(body=says_text(openid_of("甲"), "长" * 100 + "\n第二行")))
    report = await play(
        "steps:\n- {who: 甲, say: 一, expect: {contains: 没有, way: fault, within: 0}}", callback
    )
    assert report.failures == (f"第 1 步（第 2 行）：应该看到含 “没有” 的话，看到的是“{'长' * 40}…”",)
    assert "长\n      第二行\n" in report.text()


async def test_silence_is_watched_as_long_as_the_step_says():
    clock = ManualClock()
    report = await play(
        "steps:\n- {who: 甲, say: 一, expect: {shown: [], within: 9}}", answering(Answer()), clock
    )
    assert report.is_ok, report.text()
    assert clock.now() - report.started_at == 9


@pytest.mark.parametrize(
    ("expect", "problem"),
    [
        ("{lost: 0}", "丢失应该是 0，实际 1"),
        ("{double: 1}", "重复应该是 1，实际 0"),
        ("{faults: 0}", "故障提示应该是 0，实际 1"),
        ("{errcodes: [45015]}", "接口应该报错 [45015]，实际 []"),
        (
            "{calls: {message/custom/send: [1, 2]}}",
            "接口 message/custom/send 应该被调用 1 到 2 次，实际 0 次",
        ),
        ("{people: {甲: []}}", "甲应该看到 0 句，实际 1 句"),
        ("{people: {甲: [好]}}", "甲看到的第 1 句不对：“该公众号提供的服务出现故障，请稍后再试”（故障提示）"),
        ("{people: {甲: [{way: passive}]}}", "甲看到的第 1 句不对"),
    ],
)
async def test_the_whole_that_goes_otherwise_is_told(expect: str, problem: str):
    report = await play(f"steps:\n- {{who: 甲, say: 一}}\nexpect: {expect}", silent())
    assert len(report.failures) == 1
    assert report.failures[0].startswith(problem)


async def test_an_answer_seen_twice_is_double():
    text = "steps:\n- {who: 甲, say: 一, expect: {answer: 好}}\n- {who: 甲, say: 二}"
    report = await play(
        text + "\nexpect: {double: 1, lost: 0}", answering(Answer(body=says_text(openid_of("甲"), "好")))
    )
    assert report.tally.double == (1,)
    assert report.failures == ("第 1 步（第 2 行）：含 “好” 的回答看到了不止一次",)


async def test_the_report_reads_as_a_story():
    clock = ManualClock()
    text = "title: 试一试\nmode: safe\nsteps:\n- {who: 小明, say: 一}\n- {who: 小明, click: 菜单}"
    report = await play(text, silent(), clock, aes_key=KEY)
    assert report.text() == (
        "剧本：试一试（认证服务号，安全模式）\n"
        "✓ 第 1 步  0.0 秒  小明 说：一\n"
        "    投递 3 次：0.0–5.0 秒 无回应，断开；5.0–10.0 秒 无回应，断开；10.0–15.0 秒 无回应，断开\n"
        "    15.0 秒看到（故障提示）：该公众号提供的服务出现故障，请稍后再试\n"
        "✓ 第 2 步  15.0 秒  小明 点菜单：菜单\n"
        "    投递 3 次：15.0–20.0 秒 无回应，断开；20.0–25.0 秒 无回应，断开；25.0–30.0 秒 无回应，断开\n"
        "    30.0 秒看到（故障提示）：该公众号提供的服务出现故障，请稍后再试\n"
        "所有人看到的，按先后\n"
        "  15.0 秒  小明（故障提示）：该公众号提供的服务出现故障，请稍后再试\n"
        "  30.0 秒  小明（故障提示）：该公众号提供的服务出现故障，请稍后再试\n"
        "共 2 步：丢失 2，重复 0，故障提示 2；全部符合"
    )


@pytest.mark.parametrize("later", ["- wait: 9", "watch: 9"])
async def test_the_report_tells_what_came_long_after_its_step(later: str):
    """In order of time, not of steps or people."""
    clock = ManualClock()
    serving = Serving(clock)
    scenario = read_scenario(
        "steps:\n- {at: 0, who: 小明, say: '慢 [[total=7]]'}\n- {at: 1, who: 小红, say: 快}\n" + later
    )
    transport = httpx.ASGITransport(app=serving.callback)
    server = server_for(
        scenario, "http://bot.test/", "t", "wx1", app_secret="s", transport=transport, clock=clock
    )
    base = "https://api.weixin.qq.com"
    async with server, httpx.AsyncClient(transport=server.api.transport(), base_url=base) as serving.http:
        report = await clock.run(run_scenario(scenario, server))
    assert "\n".join(report.text().splitlines()[-4:-1]) == (
        "所有人看到的，按先后\n"
        "  1.0 秒  小红（被动回复）：答：快\n"
        "  7.0 秒  小明（客服消息）：答：慢 [[total=7]]"
    )


async def test_a_report_of_silence_says_so():
    report = await play("steps:\n- {who: 甲, say: 一}", answering(Answer()))
    assert "\n所有人看到的，按先后：什么也没有\n" in report.text()


@pytest.mark.parametrize(
    ("text", "needs_api"),
    [
        ("", False),
        ("expect: {calls: {message/custom/send: 0}, errcodes: []}", False),
        ("expect: {calls: {message/custom/send: 1}}", True),
        ("expect: {errcodes: [45015]}", True),
        ("expect: {people: {甲: [{way: customer_service}]}}", True),
        ("- {who: 甲, say: 二, expect: {way: customer_service}}", True),
        ("- {who: 甲, say: 二, expect: {way: passive}}", False),
        ("- api_fault: {errcode: 45015}", True),
    ],
)
def test_which_scenarios_need_the_api(text: str, needs_api: bool):
    assert read_scenario(STEP + text).needs_api is needs_api


async def test_a_malformed_reply_is_told_in_the_report():
    report = await play("steps:\n- {who: 甲, say: 一}", answering(Answer(body="oops")))
    assert "    回复不合格：not XML" in report.text()


async def test_nothing_to_tap_fails_the_step():
    report = await play("steps:\n- {who: 甲, tap: 继续}", echoing())
    assert report.failures == ("第 1 步（第 2 行）：这时没有叫 “继续” 的可以点的词",)


async def test_again_before_it_is_over_fails_the_step():
    clock = ManualClock()
    text = "steps:\n- {at: 0, who: 甲, say: 一, name: 一}\n- {at: 1, again: 一}"
    report = await play(text, echoing(clock, 3.0), clock)
    assert report.failures == ("第 2 步（第 3 行）：这时没有叫 “一” 的结束的步骤",)


async def test_other_bytes_the_second_time_are_told():
    replies = [Answer(body=says_text(openid_of("甲"), text)) for text in ("好", "坏")]
    text = "steps:\n- {who: 甲, say: 一, name: 一}\n- {again: 一, expect: {same_bytes: true}}"
    report = await play(text, answering(*replies))
    assert report.failures == ("第 2 步（第 3 行）：每次投递应该得到同样的回复，实际有 2 种",)


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("account: unverified_subscription", {"account": None}, "剧本要账号类型"),
        ("mode: safe", {"aes_key": ""}, "没有 EncodingAESKey"),
    ],
)
async def test_a_server_that_does_not_fit_is_refused(text: str, options: dict[str, Any], problem: str):
    scenario = read_scenario(text + "\nsteps:\n- {who: 甲, say: 一}")
    with pytest.raises(ScenarioError, match=problem):
        if "aes_key" in options:
            server_for(scenario, "http://bot.test/", "t", "wx1")
        other = read_scenario("steps:\n- {who: 甲, say: 一}")
        async with server_for(other, "http://bot.test/", "t", "wx1") as server:
            await run_scenario(scenario, server)


async def test_an_api_fault_needs_an_api():
    text = "steps:\n- api_fault: {errcode: 45009}"
    with pytest.raises(ScenarioError, match="第 2 行（第 1 步）：这个账号没有 AppSecret"):
        await play(text, echoing())


STEP = "steps:\n- {who: 甲, say: 一}\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "文件是空的"),
        ("[", "第 1 行：不是正确的 YAML：括号没有成对"),
        ("a: b: c", "第 1 行：不是正确的 YAML：一行里多了冒号"),
        (STEP + "\ttitle: 一", "第 3 行：不是正确的 YAML：缩进用了制表符"),
        (STEP + "title: '一", "第 3 行：不是正确的 YAML：引号没有成对"),
        (STEP + "title: @一", "第 3 行：不是正确的 YAML：文字不能以这个符号开头"),
        (STEP + "title: *一", "第 3 行：不是正确的 YAML：文字以 * 或 & 开头"),
        (STEP + "title: [一\nmode: safe", "第 4 行：不是正确的 YAML：方括号没有成对"),
        (STEP + "expect: {lost: 0", "第 3 行：不是正确的 YAML：花括号没有成对"),
        ("title: 一\n  mode: safe\n", "第 2 行：不是正确的 YAML：一行里多了冒号"),
        ("steps:\n  - wait: 1\n - wait: 2", "第 3 行：不是正确的 YAML：缩进和上面的行对不齐"),
        (STEP + "title\nmode: safe", "第 4 行：不是正确的 YAML：缺冒号"),
        (STEP + "---\ntitle: 一", "第 3 行：不是正确的 YAML：一个文件只写一个剧本"),
        (STEP + "title: 一\x07", "第 3 行：不是正确的 YAML：有不能用的控制字符"),
        (STEP + "title: !<", "第 3 行：不是正确的 YAML：检查这一行"),
        ("- 一", "第 1 行：这里要写成 “键: 值”"),
        ("title: 无", "第 1 行：缺 “steps”：要做的事"),
        ("steps: []", "第 1 行：一步也没有"),
        ("steps: 一", "第 1 行：这里要写成列表"),
        (STEP + "stepz: []", "第 3 行：不认识 “stepz”，是不是 “steps”"),
        (STEP + "title: 一\ntitle: 二", "第 4 行：“title” 写了两次"),
        (STEP + "account: 订阅号", "第 3 行：不认识 “订阅号”，可以写 unverified_subscription、"),
        (STEP + "mode: aes", "第 3 行：不认识 “aes”，"),
        (STEP + "watch: 一会儿", "第 3 行：这里要写一个数"),
        (STEP + "watch: .inf", "第 3 行：这里要写一个有限的数"),
        (STEP + "bound: 是", "第 3 行：这里写 true 或 false"),
        (STEP + "people: {甲: {phone: 1}}", "第 3 行：不认识 “phone”"),
        (STEP + "title:", "第 3 行：这里要写一段文字"),
        (STEP + "- {who: 甲, sya: 二}", "第 3 行（第 2 步）：不认识 “sya”，是不是 “say”"),
        (STEP + "- {who: 甲}", "第 3 行（第 2 步）：每一步做一件事，这里有 0 件"),
        (STEP + "- {who: 甲, say: 一, click: 二}", "第 3 行（第 2 步）：每一步做一件事，这里有 2 件"),
        (STEP + "- {say: 一}", "第 3 行（第 2 步）：缺 “who”：谁做的"),
        (STEP + "- {who: 甲, wait: 1}", "第 3 行（第 2 步）：“wait” 不是谁做的，不写 “who”"),
        (STEP + "- {wait: -1}", "第 3 行（第 2 步）：这里的数不能小于 0"),
        (STEP + "- {who: 甲, say: [一]}", "第 3 行（第 2 步）：这里要写一段文字"),
        (STEP + "- {who: 甲, video: false}", "第 3 行（第 2 步）：“video” 后面写 true"),
        (STEP + "- {who: 甲, link: true}", "第 3 行（第 2 步）：链接要写 title、url"),
        (STEP + "- {who: 甲, link: {url: u}}", "第 3 行（第 2 步）：链接缺 “title”"),
        (STEP + "- {who: 甲, location: {latitude: 北}}", "第 3 行（第 2 步）：这里要写一个数"),
        (STEP + "- {who: 甲, image: 没有.png}", "第 3 行（第 2 步）：没有图片文件"),
        (STEP + "- {who: 甲, click: 一, menu: '1'}", "第 3 行（第 2 步）：“menu” 只用在 “say” 上"),
        (STEP + "- {who: 甲, authorization: gone}", "第 3 行（第 2 步）：不认识 “gone”"),
        (STEP + "- {again: 一}", "第 3 行（第 2 步）：前面没有一步叫 “一”"),
        (STEP + "- {api_fault: {}}", "第 3 行（第 2 步）：故障至少一次"),
        (STEP + "- {who: 甲, say: 一, deliver: {attempts: 0}}", "第 3 行（第 2 步）：attempts 至少 1"),
        (STEP + "- {who: 甲, say: 一, deliver: {attempts: 1.5}}", "第 3 行（第 2 步）：这里要写一个整数"),
        (STEP + "- {who: 甲, say: 一, deliver: {attempts: -1}}", "第 3 行（第 2 步）：这里的数不能小于 0"),
        (STEP + "- {who: 甲, say: 一, expect: {seen: 二}}", "第 3 行（第 2 步）：不认识 “seen”"),
        (STEP + "- {who: 甲, say: 一, expect: {way: post}}", "第 3 行（第 2 步）：不认识 “post”"),
        (
            STEP + "- {who: 甲, say: 一, expect: {attempts: [3, 1]}}",
            "第 3 行（第 2 步）：范围写成 [最少, 最多]",
        ),
        (STEP + "expect: {people: {乙: []}}", "第 3 行：剧本里没有 “乙”"),
        (STEP + "expect: {lose: 0}", "第 3 行：不认识 “lose”，是不是 “lost”"),
        (
            "steps:\n- {at: 3, who: 甲, say: 一}\n- {at: 2, who: 甲, say: 二}",
            "第 3 行（第 2 步）：时间倒退了：前面已经是 3 秒",
        ),
        (
            "steps:\n- {who: 甲, say: 一, name: a}\n- {who: 甲, say: 二, name: a}",
            "第 3 行（第 2 步）：前面已有一步叫 “a”",
        ),
        (
            "account: verified_subscription\nsteps:\n- {who: 甲, report_location: true}",
            "第 3 行（第 1 步）：微信不会把 LOCATION 发给这种账号",
        ),
        (
            "account: unverified_subscription\nsteps:\n- {who: 甲, click: 菜单}",
            "第 3 行（第 1 步）：微信不会把 CLICK 发给这种账号",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_words(text: str, problem: str):
    with pytest.raises(ScenarioError, match="^" + re.escape(problem)):
        read_scenario(text)


def test_a_refusal_names_its_file(tmp_path: Path):
    path = tmp_path / "剧本.yaml"
    with pytest.raises(ScenarioError, match=rf"^没有剧本文件 {re.escape(str(path))}$"):
        load_scenario(path)
    with pytest.raises(ScenarioError, match=r"^读不了剧本文件 .*：这是文件夹$"):
        load_scenario(tmp_path)
    path.write_bytes(b"title: a\nmode: \xff")
    with pytest.raises(ScenarioError, match=r"剧本\.yaml 第 2 行：不是 UTF-8 编码$"):
        load_scenario(path)
    path.write_text("steps: []", "utf-8")
    with pytest.raises(ScenarioError, match=r"剧本\.yaml 第 1 行：一步也没有"):
        load_scenario(path)


async def test_a_picture_beside_the_scenario_is_sent(tmp_path: Path):
    (tmp_path / "图.png").write_bytes(b"picture")
    path = tmp_path / "剧本.yaml"
    path.write_text("steps:\n- {who: 甲, image: 图.png}", "utf-8")
    scenario, callback = load_scenario(path), answering(Answer())
    transport = httpx.ASGITransport(app=callback)
    async with server_for(scenario, "http://bot.test/", "t", "wx1", transport=transport) as server:
        await run_scenario(scenario, server)
        assert server.media.get(callback.posted[0].fields["MediaId"]).content == b"picture"


async def test_lost_and_double_without_markers():
    """By whom a customer-service message answers: the oldest message that has nothing, then the newest."""
    clock = ManualClock()
    transport = httpx.ASGITransport(app=answering(Answer()))
    scenario = read_scenario("steps:\n- {who: 甲, say: 一}")
    async with server_for(
        scenario, "http://bot.test/", "t", "wx1", transport=transport, clock=clock
    ) as server:
        service = CustomerService(server.people, server.media, clock)

        def serve(text: str) -> None:
            service.send({"touser": "oA", "msgtype": "text", "text": {"content": text}})

        await server.say("oA", "一")
        clock.advance(1)
        await server.say("oA", "二")
        assert tally(server).lost == (1, 2)
        serve("答一")
        assert tally(server).lost == (2,)
        serve("答二")
        serve("答二的第二页")
        assert tally(server) == tally(server, {})
        assert (tally(server).lost, tally(server).double) == ((), ())
        serve("答二")
        assert tally(server).double == (2,)
        assert tally(server, {1: "答一", 2: "没有"}).lost == (2,)
        assert tally(server, {1: "答二", 2: "答一"}).double == (1,)


async def test_a_hand_over_is_not_lost():
    body = (
        "<xml><ToUserName>oA</ToUserName><FromUserName>gh_simulated</FromUserName>"
        "<CreateTime>1</CreateTime><MsgType>transfer_customer_service</MsgType></xml>"
    )
    scenario = read_scenario("people: {甲: {openid: oA}}\nsteps:\n- {who: 甲, say: 人工}\nexpect: {lost: 0}")
    report = await play(scenario, answering(Answer(body=body)))
    assert report.is_ok, report.text()


async def test_a_broken_off_run_leaves_no_task():
    clock = ManualClock()
    before = asyncio.all_tasks()

    async def fails() -> None:
        raise RuntimeError("boom")

    text = "steps:\n- {at: 0, who: 甲, say: 一}\n- {at: 1, call: 坏}"
    with pytest.raises(RuntimeError, match="boom"):
        await play(text, silent(), clock, calls={"坏": fails})
    assert asyncio.all_tasks() == before
