"""YAML read strictly: every refusal names its line and its step, in words.

Invariant: no key is ignored, and none may come twice.
"""

import difflib
import math
from collections.abc import Collection
from dataclasses import dataclass

import yaml
from yaml.reader import ReaderError

from .script import ScenarioError

_FAULTS = (
    ("\\t", "缩进用了制表符（Tab），要用空格"),
    ("mapping values are not allowed", "一行里多了冒号，或缩进不对；文字里有“: ”要加引号"),
    ("could not find expected ':'", "缺冒号，或冒号后面缺空格"),
    ("quoted scalar", "引号没有成对"),
    ("flow sequence", "方括号没有成对，或缺逗号"),
    ("flow mapping", "花括号没有成对，或缺逗号"),
    ("flow node", "括号没有成对，或后面缺内容"),
    ("cannot start any token", "文字不能以这个符号开头，要加引号"),
    ("block end", "缩进和上面的行对不齐"),
    ("alias", "文字以 * 或 & 开头要加引号"),
    ("anchor", "文字以 * 或 & 开头要加引号"),
    ("single document", "一个文件只写一个剧本，去掉“---”"),
)
"""Part of what PyYAML says, and what that means; the first that fits."""
_UNKNOWN_FAULT = "检查这一行和上一行的缩进、冒号、引号和括号"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One place in the file."""

    node: yaml.Node
    where: str = ""
    """Such as 第 3 步."""

    def wrong(self, problem: str) -> ScenarioError:
        step = f"（{self.where}）" if self.where else ""
        return ScenarioError(f"第 {self.line} 行{step}：{problem}")

    @property
    def line(self) -> int:
        return self.node.start_mark.line + 1

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    def within(self, where: str) -> "Node":
        return Node(node=self.node, where=where)

    def mapping(self, allowed: Collection[str] | None = None) -> dict[str, "Node"]:
        """Key → place. `allowed` None: the keys are names."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.wrong("这里要写成 “键: 值”")
        found: dict[str, Node] = {}
        for key_node, value_node in self.node.value:
            key = Node(node=key_node, where=self.where)
            name = key.text()
            if allowed is not None and name not in allowed:
                raise key.wrong(f"不认识 “{name}”{_suggestion(name, allowed)}")
            if name in found:
                raise key.wrong(f"“{name}” 写了两次")
            found[name] = Node(node=value_node, where=self.where)
        return found

    def items(self) -> list["Node"]:
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.wrong("这里要写成列表，每项以 “- ” 开头")
        return [Node(node=each, where=self.where) for each in self.node.value]

    def text(self) -> str:
        """Any single value, as it is written."""
        if not isinstance(self.node, yaml.ScalarNode) or self._is("null"):
            raise self.wrong("这里要写一段文字")
        return self.node.value

    def texts(self) -> tuple[str, ...]:
        """One text or a list of them."""
        return tuple(each.text() for each in self.items()) if self.is_list else (self.text(),)

    def flag(self) -> bool:
        if not self._is("bool"):
            raise self.wrong("这里写 true 或 false")
        return self.text().lower() in ("true", "yes", "on")

    def number(self) -> float:
        value = self.coordinate()
        if value < 0:
            raise self.wrong("这里的数不能小于 0")
        return value

    def coordinate(self) -> float:
        """A number that may be negative."""
        if not (self._is("int") or self._is("float")):
            raise self.wrong("这里要写一个数")
        value = float(yaml.safe_load(self.text()))
        if not math.isfinite(value):
            raise self.wrong("这里要写一个有限的数")
        return value

    def whole(self) -> int:
        """Negative ones too: errcode -1."""
        if not self._is("int"):
            raise self.wrong("这里要写一个整数")
        return int(yaml.safe_load(self.text()))

    def count(self) -> int:
        value = self.whole()
        if value < 0:
            raise self.wrong("这里的数不能小于 0")
        return value

    def counts(self) -> tuple[int, int]:
        """`3`, or `[1, 3]`: at least and at most."""
        if not self.is_list:
            return (self.count(), self.count())
        ends = [each.count() for each in self.items()]
        if len(ends) != 2 or ends[0] > ends[1]:
            raise self.wrong("范围写成 [最少, 最多]")
        return (ends[0], ends[1])

    def one_of(self, allowed: Collection[str]) -> str:
        value = self.text()
        if value not in allowed:
            raise self.wrong(f"不认识 “{value}”{_suggestion(value, allowed)}")
        return value

    def _is(self, kind: str) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == f"tag:yaml.org,2002:{kind}"


def read_nodes(text: str) -> Node:
    """Raises ScenarioError: not YAML, or empty."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"第 {mark.line + 1} 行：" if mark else ""
        raise ScenarioError(f"{place}不是正确的 YAML：{_in_words(error)}") from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioError(f"第 {line} 行：不是正确的 YAML：有不能用的控制字符") from error
    except yaml.YAMLError as error:
        raise ScenarioError(f"不是正确的 YAML：{_UNKNOWN_FAULT}") from error
    if root is None:
        raise ScenarioError("文件是空的")
    return Node(node=root)


def _in_words(error: yaml.MarkedYAMLError) -> str:
    said = f"{error.problem} {error.context}"
    return next((words for part, words in _FAULTS if part in said), _UNKNOWN_FAULT)


def _suggestion(name: str, allowed: Collection[str]) -> str:
    near = difflib.get_close_matches(name, allowed, n=1)
    return f"，是不是 “{near[0]}”" if near else f"，可以写 {'、'.join(allowed)}"
