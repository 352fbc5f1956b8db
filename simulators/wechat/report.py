"""What came of a scenario, for programs and, as 简体中文 lines, for people.

Invariant: `is_ok` is false exactly when some expectation failed; each failure is told in words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import indent

from .account import Account, AccountType, Mode
from .accounting import Tally
from .deliveries import Attempt, Ending
from .expecting import WAYS, StepResult
from .people import Sight
from .script import Action, Scenario, Step

_ACCOUNTS = {
    AccountType.UNVERIFIED_SUBSCRIPTION: "未认证订阅号",
    AccountType.VERIFIED_SUBSCRIPTION: "认证订阅号",
    AccountType.VERIFIED_SERVICE: "认证服务号",
}
_MODES = {Mode.PLAIN: "明文模式", Mode.COMPATIBLE: "兼容模式", Mode.SAFE: "安全模式"}
_ACTIONS = {
    Action.SAY: "说",
    Action.TAP: "点了",
    Action.VOICE: "发语音",
    Action.IMAGE: "发图片",
    Action.VIDEO: "发视频",
    Action.SHORTVIDEO: "发小视频",
    Action.LOCATION: "发位置",
    Action.LINK: "发链接",
    Action.UNSUPPORTED: "发了不支持的消息",
    Action.FOLLOW: "关注",
    Action.UNFOLLOW: "取消关注",
    Action.SCAN: "扫码",
    Action.REPORT_LOCATION: "上报位置",
    Action.CLICK: "点菜单",
    Action.VIEW: "点菜单打开网页",
    Action.TEMPLATE_SENT: "模板消息送达结果",
    Action.AUTHORIZATION: "授权变更",
    Action.AGAIN: "再投递一次",
    Action.WAIT: "等待",
    Action.API_FAULT: "接口故障",
    Action.CALL: "调用",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    scenario: Scenario
    account: Account
    started_at: float
    """Unix seconds."""
    results: tuple[StepResult, ...]
    """In the order of the steps."""
    tally: Tally
    markers: Mapping[int, str] = field(default_factory=dict[int, str])
    """By a delivery's number: what tells its answer from all others."""
    problems: tuple[str, ...] = ()
    """Of the scenario as a whole."""
    seen: tuple[tuple[str, Sight], ...] = ()
    """All that anybody saw until the end, in order, with who it was: also what came long after its step."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Every failed expectation, with its step."""
        by_step = (
            f"第 {result.step.number} 步（第 {result.step.line} 行）：{problem}"
            for result in self.results
            for problem in (*result.problems, *self._end_problems(result))
        )
        return (*by_step, *self.problems)

    @property
    def is_ok(self) -> bool:
        return not self.failures

    def text(self) -> str:
        """The whole report."""
        return "\n".join(self._lines())

    def _end_problems(self, result: StepResult) -> Iterator[str]:
        """What only the end can tell of a step with a marker."""
        number = result.delivery.number if result.delivery else None
        if number in self.markers and number in self.tally.double:
            yield f"含 “{self.markers[number]}” 的回答看到了不止一次"

    def _lines(self) -> Iterator[str]:
        account = f"{_ACCOUNTS[self.account.type]}，{_MODES[self.account.mode]}"
        yield f"剧本：{self.scenario.title}（{account}）"
        for result in self.results:
            yield from self._step_lines(result)
        yield f"所有人看到的，按先后{'' if self.seen else '：什么也没有'}"
        for who, sight in self.seen:
            yield f"  {self._at(sight.at)} 秒  {who}（{WAYS[sight.way]}）：{_indented(sight)}"
        for problem in self.problems:
            yield f"✗ {problem}"
        counted = self.tally
        yield (
            f"共 {len(self.results)} 步：丢失 {len(counted.lost)}，重复 {len(counted.double)}，"
            f"故障提示 {counted.faults}；{f'{len(self.failures)} 项不符' if self.failures else '全部符合'}"
        )

    def _step_lines(self, result: StepResult) -> Iterator[str]:
        step, problems = result.step, (*result.problems, *self._end_problems(result))
        mark = "✗" if problems else "✓"
        yield f"{mark} 第 {step.number} 步  {result.started_seconds:.1f} 秒  {_told(step)}"
        if result.delivery is not None:
            attempts = "；".join(self._attempt(attempt) for attempt in result.delivery.attempts)
            yield f"    投递 {len(result.delivery.attempts)} 次：{attempts}"
            if result.delivery.verdict and result.delivery.verdict.problem:
                yield f"    回复不合格：{result.delivery.verdict.problem}"
        for sight in result.sights:
            yield f"    {self._at(sight.at)} 秒看到（{WAYS[sight.way]}）：{_indented(sight)}"
        for problem in problems:
            yield f"    不符：{problem}"

    def _attempt(self, attempt: Attempt) -> str:
        came = {Ending.DROPPED: "无回应，断开", Ending.REFUSED: "连不上"}.get(
            attempt.ending, f"HTTP {attempt.status}"
        )
        if attempt.status == 200:
            came = "success" if attempt.body in (b"", b"success") else "有回复"
        return f"{self._at(attempt.started_at)}–{self._at(attempt.ended_at)} 秒 {came}"

    def _at(self, moment: float) -> str:
        return f"{moment - self.started_at:.1f}"


def _indented(sight: Sight) -> str:
    """What has no words is told by its kind."""
    return indent(sight.shown, "      ").lstrip() or f"[{sight.kind}]"


def _told(step: Step) -> str:
    words = " ".join(step.argument.values())
    if step.action is Action.WAIT:
        words = f"{step.seconds:g} 秒"
    elif step.fault is not None:
        words = step.fault.path or "任何接口"
    said = f"：{words}" if words else ""
    return f"{step.who}{' ' if step.who else ''}{_ACTIONS[step.action]}{said}"
