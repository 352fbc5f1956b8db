"""A YAML file → a Scenario, or a refusal that names line and step.

Invariant: a scenario that is returned can be played: its steps refer only to steps before them, and only
to events that WeChat sends to an account of its type.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from .account import Account, AccountType, Mode
from .faults import ApiFault
from .people import Way
from .script import (
    Action,
    PersonScript,
    Scenario,
    ScenarioError,
    ScenarioExpectation,
    SightExpectation,
    Step,
    StepExpectation,
)
from .script_nodes import Node, read_nodes

T = TypeVar("T")
D = TypeVar("D")

_ACTIONS = [str(action) for action in Action]
_TOP = ("title", "account", "mode", "bound", "watch", "people", "steps", "expect")
_STEP = (*_ACTIONS, "who", "at", "name", "menu", "deliver", "expect")
_DELIVER = {
    "attempts": "attempts",
    "drop": "drop_seconds",
    "retry_refused": "retry_refused_seconds",
    "overlap_after": "overlap_after_seconds",
    "unreachable": "unreachable",
}
_EVENTS = {
    Action.CLICK: "CLICK",
    Action.VIEW: "VIEW",
    Action.REPORT_LOCATION: "LOCATION",
    Action.TEMPLATE_SENT: "TEMPLATESENDJOBFINISH",
}
_AUTHORIZATION = {
    "revoke": "user_authorization_revoke",
    "modified": "user_info_modified",
    "cancellation": "user_authorization_cancellation",
}
_MAPPED = {
    Action.LOCATION: ("latitude", "longitude", "label"),
    Action.REPORT_LOCATION: ("latitude", "longitude"),
    Action.LINK: ("title", "description", "url"),
    Action.FOLLOW: ("scene", "trade_no"),
}
"""Actions whose argument is a mapping, and what it may hold; `true` takes what is usual."""
_BARE = (Action.VIDEO, Action.SHORTVIDEO, Action.UNSUPPORTED, Action.UNFOLLOW)


def load_scenario(path: Path) -> Scenario:
    """Raises ScenarioError; its message names the file too."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise ScenarioError(f"没有剧本文件 {path}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{path} 第 {line} 行：不是 UTF-8 编码") from error
    except OSError as error:
        why = "这是文件夹" if path.is_dir() else f"检查它的权限（{type(error).__name__}）"
        raise ScenarioError(f"读不了剧本文件 {path}：{why}") from error
    try:
        return replace(read_scenario(text, path.parent), path=path)
    except ScenarioError as error:
        raise ScenarioError(f"{path} {error}") from error


def read_scenario(text: str, folder: Path | None = None) -> Scenario:
    """`folder`: where the pictures of `image` steps lie. Raises ScenarioError."""
    root = read_nodes(text)
    top = root.mapping(_TOP)
    if "steps" not in top:
        raise root.wrong("缺 “steps”：要做的事")
    account = AccountType(top["account"].one_of(list(AccountType))) if "account" in top else None
    people = {name: _person(node) for name, node in _optional(top, "people", Node.mapping, {}).items()}
    steps: list[Step] = []
    for number, node in enumerate(top["steps"].items(), start=1):
        steps.append(_StepReader(node.within(f"第 {number} 步"), number, account, folder).read(steps))
    if not steps:
        raise top["steps"].wrong("一步也没有")
    named = {step.who for step in steps if step.who} | people.keys()
    return Scenario(
        title=_optional(top, "title", Node.text, "没有标题的剧本"),
        account=account,
        mode=Mode(top["mode"].one_of(list(Mode))) if "mode" in top else None,
        is_bound=_optional(top, "bound", Node.flag, None),
        watch_seconds=_optional(top, "watch", Node.number, 0.0),
        people={name: people.get(name, PersonScript()) for name in sorted(named)},
        steps=tuple(steps),
        expect=_scenario_expectation(top["expect"], named) if "expect" in top else ScenarioExpectation(),
    )


def _optional(fields: dict[str, Node], name: str, read: Callable[[Node], T], default: D) -> T | D:
    return read(fields[name]) if name in fields else default


def _person(node: Node) -> PersonScript:
    fields = node.mapping(("openid", "unionid"))
    return PersonScript(**{name: value.text() for name, value in fields.items()})


class _StepReader:
    """Reads one step."""

    def __init__(self, node: Node, number: int, account: AccountType | None, folder: Path | None) -> None:
        self._node = node
        self._number = number
        self._account = account
        self._folder = folder
        self._fields = node.mapping(_STEP)

    def read(self, before: list[Step]) -> Step:
        named = [name for name in self._fields if name in _ACTIONS]
        if len(named) != 1:
            raise self._node.wrong(f"每一步做一件事，这里有 {len(named)} 件：{'、'.join(_ACTIONS)} 选一个")
        action = Action(named[0])
        value = self._fields[action]
        self._refuse_what_never_comes(action, value)
        step = Step(
            number=self._number,
            line=self._node.line,
            action=action,
            who=self._who(action),
            argument=self._argument(action, value),
            at_seconds=_optional(self._fields, "at", Node.number, None),
            name=_optional(self._fields, "name", Node.text, ""),
            seconds=value.number() if action is Action.WAIT else 0.0,
            fault=_fault(value) if action is Action.API_FAULT else None,
            schedule=self._schedule(),
            expect=_step_expectation(self._fields["expect"])
            if "expect" in self._fields
            else StepExpectation(),
        )
        self._check_order(step, before)
        return step

    def _who(self, action: Action) -> str:
        if not action.is_by_person:
            for name in ("who", "menu"):
                if name in self._fields:
                    raise self._fields[name].wrong(f"“{action}” 不是谁做的，不写 “{name}”")
            return ""
        if "who" not in self._fields:
            raise self._node.wrong("缺 “who”：谁做的")
        return self._fields["who"].text()

    def _argument(self, action: Action, value: Node) -> dict[str, str]:
        if action in (Action.WAIT, Action.API_FAULT):
            return {}
        if action in _BARE or (action in _MAPPED and not value.is_mapping) or action is Action.IMAGE:
            return self._bare(action, value)
        if action in _MAPPED:
            fields = value.mapping(_MAPPED[action])
            for name in ("latitude", "longitude"):
                if name in fields:
                    fields[name].coordinate()
            if action is Action.LINK and "title" not in fields:
                raise value.wrong("链接缺 “title”")
            return {name: node.text() for name, node in fields.items()}
        if action is Action.AUTHORIZATION:
            return {"text": _AUTHORIZATION[value.one_of(list(_AUTHORIZATION))]}
        menu = {"menu": self._fields["menu"].text()} if "menu" in self._fields else {}
        if menu and action is not Action.SAY:
            raise self._fields["menu"].wrong("“menu” 只用在 “say” 上")
        return {"text": value.text(), **menu}

    def _bare(self, action: Action, value: Node) -> dict[str, str]:
        """`true`, or for a picture its file."""
        if action is Action.IMAGE and value.node.tag.endswith(":str"):
            path = (self._folder or Path()) / value.text()
            if not path.is_file():
                raise value.wrong(f"没有图片文件 {path}")
            return {"file": str(path)}
        if action is Action.LINK or not value.flag():
            raise value.wrong("链接要写 title、url" if action is Action.LINK else f"“{action}” 后面写 true")
        return {}

    def _schedule(self) -> dict[str, float]:
        if "deliver" not in self._fields:
            return {}
        node = self._fields["deliver"]
        found: dict[str, float] = {}
        for name, value in node.mapping(_DELIVER).items():
            found[_DELIVER[name]] = (
                float(value.count()) if name in ("attempts", "unreachable") else value.number()
            )
        if found.get("attempts") == 0 or found.get("drop_seconds") == 0:
            raise node.wrong("attempts 至少 1，drop 要大于 0")
        return found

    def _check_order(self, step: Step, before: list[Step]) -> None:
        timed = [each.at_seconds for each in before if each.at_seconds is not None]
        if step.at_seconds is not None and timed and step.at_seconds < timed[-1]:
            raise self._fields["at"].wrong(f"时间倒退了：前面已经是 {timed[-1]:g} 秒")
        names = {each.name for each in before if each.name}
        if step.name and step.name in names:
            raise self._fields["name"].wrong(f"前面已有一步叫 “{step.name}”")
        if step.action is Action.AGAIN and step.argument["text"] not in names:
            raise self._fields[step.action].wrong(f"前面没有一步叫 “{step.argument['text']}”")

    def _refuse_what_never_comes(self, action: Action, value: Node) -> None:
        if self._account is None or action not in _EVENTS:
            return
        if not Account(app_id="", token="", type=self._account).is_sent(_EVENTS[action]):
            raise value.wrong(f"微信不会把 {_EVENTS[action]} 发给这种账号（{self._account}）")


def _fault(node: Node) -> ApiFault:
    fields = node.mapping(("path", "times", "errcode", "status", "delay", "cut"))
    try:
        return ApiFault(
            path=_optional(fields, "path", Node.text, ""),
            times=_optional(fields, "times", Node.count, 1),
            errcode=_optional(fields, "errcode", Node.whole, 0),
            status=_optional(fields, "status", Node.count, 0),
            delay_seconds=_optional(fields, "delay", Node.number, 0.0),
            is_cut=_optional(fields, "cut", Node.flag, False),
        )
    except ValueError:
        raise node.wrong("故障至少一次，并且要写 errcode、status、delay、cut 之一") from None


def _step_expectation(node: Node) -> StepExpectation:
    allowed = (
        "shown", "contains", "lacks", "answer", "way", "kind", "attempts", "within", "same_bytes",
    )  # fmt: skip
    fields = node.mapping(allowed)
    return StepExpectation(
        shown=_optional(fields, "shown", Node.texts, None),
        contains=_optional(fields, "contains", Node.texts, ()),
        lacks=_optional(fields, "lacks", Node.texts, ()),
        answer=_optional(fields, "answer", Node.text, ""),
        way=Way(fields["way"].one_of(list(Way))) if "way" in fields else None,
        kind=_optional(fields, "kind", Node.text, ""),
        attempts=_optional(fields, "attempts", Node.counts, None),
        within_seconds=_optional(fields, "within", Node.number, None),
        same_bytes=_optional(fields, "same_bytes", Node.flag, False),
    )


def _scenario_expectation(node: Node, people: set[str]) -> ScenarioExpectation:
    fields = node.mapping(("lost", "double", "faults", "errcodes", "calls", "people"))
    calls = _optional(fields, "calls", Node.mapping, {})
    sights: dict[str, tuple[SightExpectation, ...]] = {}
    for name, value in _optional(fields, "people", Node.mapping, {}).items():
        if name not in people:
            raise value.wrong(f"剧本里没有 “{name}”")
        sights[name] = tuple(map(_sight_expectation, value.items()))
    codes = fields.get("errcodes")
    return ScenarioExpectation(
        lost=_optional(fields, "lost", Node.count, None),
        double=_optional(fields, "double", Node.count, None),
        faults=_optional(fields, "faults", Node.count, None),
        errcodes=None if codes is None else tuple(each.whole() for each in codes.items()),
        calls={path: value.counts() for path, value in calls.items()},
        people=sights,
    )


def _sight_expectation(node: Node) -> SightExpectation:
    if not node.is_mapping:
        return SightExpectation(shown=node.text())
    fields = node.mapping(("contains", "shown", "way"))
    return SightExpectation(
        contains=_optional(fields, "contains", Node.text, ""),
        shown=_optional(fields, "shown", Node.text, None),
        way=Way(fields["way"].one_of(list(Way))) if "way" in fields else None,
    )
