"""Read FAQ rules out of YAML, naming the line of whatever is wrong.

Invariant: values are taken as the operator wrote them (`09:00`, `yes` and `1e5` stay text), and no
YAML tag ever makes an object.
"""

from collections.abc import Sequence
from typing import NoReturn

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.conversation.errors import ConfigurationError
from bot.rules.faq import DEFAULT_THRESHOLD, LONGEST_QUESTION, FaqBook, FaqRule, Match, check_pattern

try:
    # Ten times as fast: 10,000 rules in a second.
    from yaml import CSafeLoader as Loader
except ImportError:
    from yaml import SafeLoader as Loader

CHANNELS = ("wechat", "onebot", "qq")
"""What `channels` may name: a misspelt one would silently never fire."""
FIELDS = ("id", "match", "patterns", "answer", "priority", "channels", "threshold")
LONGEST_PATTERN = LONGEST_QUESTION
"""Characters. A longer one would never be met."""


def read_book(text: str, file_name: str) -> FaqBook:
    """The rules of a file, made ready.

    Raises:
        ConfigurationError: with file, line, reason and fix in 简体中文.
    """
    return FaqBook(_Reader(file_name).rules(text))


class _Reader:
    def __init__(self, file_name: str) -> None:
        self._file_name = file_name

    def rules(self, text: str) -> list[FaqRule]:
        root = self._parse(text)
        if root is None or (isinstance(root, ScalarNode) and not root.value):
            return []
        if not isinstance(root, SequenceNode):
            self._refuse(root, "最外层要是一个列表", "每条规则以“- ”开头")
        rules: list[FaqRule] = []
        lines: dict[str, int] = {}
        for node in root.value:
            rule = self._rule(node)
            if rule.id in lines:
                self._refuse(node, f"id“{rule.id}”与第 {lines[rule.id]} 行重复", "换一个 id，或删掉 id")
            lines[rule.id] = rule.line
            rules.append(rule)
        return rules

    def _parse(self, text: str) -> Node | None:
        try:
            return Loader(text).get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse_line(
                mark.line + 1 if mark else 1,
                f"YAML 写法不对（{error.problem or error.context or '无法解析'}）",
                "检查缩进、冒号后的空格；含 *、&、:、#、\\ 的文字请加单引号",
            )
        except (yaml.YAMLError, RecursionError) as error:
            self._refuse_line(1, f"无法读取（{error}）", "用 UTF-8 保存，删去控制字符")

    def _rule(self, node: Node) -> FaqRule:
        fields = self._fields(node)
        for name in ("patterns", "answer"):
            if name not in fields:
                self._refuse(node, f"缺少 {name}", f"写上 {name}: …")
        match = self._match(fields.get("match"))
        return FaqRule(
            id=self._text(fields["id"]) if "id" in fields else f"line-{_line(node)}",
            match=match,
            patterns=self._patterns(fields["patterns"], match),
            answer=self._text(fields["answer"], keeps_lines=True),
            priority=int(self._number(fields.get("priority"), 0, (-1_000_000, 1_000_000))),
            channels=self._channels(fields.get("channels")),
            threshold=self._number(fields.get("threshold"), DEFAULT_THRESHOLD, (50, 100)),
            line=_line(node),
        )

    def _fields(self, node: Node) -> dict[str, Node]:
        if not isinstance(node, MappingNode):
            self._refuse(node, "每条规则要有 patterns 和 answer", "照文件开头的例子写")
        fields: dict[str, Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            if name not in FIELDS:
                self._refuse(key, f"不认识“{name}”", f"可用的有 {'、'.join(FIELDS)}")
            if name in fields:
                self._refuse(key, f"{name} 写了两次", "删掉一个")
            fields[name] = value
        return fields

    def _match(self, node: Node | None) -> Match:
        if node is None:
            return Match.CONTAINS
        written = self._text(node).lower()
        if written not in set(Match):
            self._refuse(node, f"match 不能是“{written}”", f"可用的有 {'、'.join(Match)}")
        return Match(written)

    def _patterns(self, node: Node, match: Match) -> tuple[str, ...]:
        patterns: list[str] = []
        for item in self._items(node):
            pattern = self._text(item)
            if len(pattern) > LONGEST_PATTERN:
                self._refuse(item, f"pattern 有 {len(pattern)} 个字", f"不要超过 {LONGEST_PATTERN} 个字")
            try:
                check_pattern(match, pattern)
            except ValueError as error:
                self._refuse(item, str(error), "改好这一条", error)
            patterns.append(pattern)
        return tuple(patterns)

    def _channels(self, node: Node | None) -> frozenset[str]:
        if node is None:
            return frozenset()
        channels = frozenset(self._text(item).lower() for item in self._items(node))
        for unknown in channels.difference(CHANNELS):
            self._refuse(node, f"没有“{unknown}”这个渠道", f"可用的有 {'、'.join(CHANNELS)}")
        return channels

    def _items(self, node: Node) -> Sequence[Node]:
        """A list; a single value stands for a list of one."""
        if isinstance(node, ScalarNode):
            return [node]
        if not isinstance(node, SequenceNode) or not node.value:
            self._refuse(node, "这里要是一个不空的列表", "写成 [甲, 乙]，或每行一个“- ”")
        return node.value

    def _text(self, node: Node, *, keeps_lines: bool = False) -> str:
        if not isinstance(node, ScalarNode):
            self._refuse(node, "这里要是文字", "含特殊符号时加单引号")
        text = str(node.value).strip()
        if not text:
            self._refuse(node, "这里是空的", "写上内容，或删掉这条规则")
        return text if keeps_lines else " ".join(text.split("\n"))

    def _number(self, node: Node | None, default: float, span: tuple[float, float]) -> float:
        if node is None:
            return default
        written = self._text(node)
        try:
            number = float(written)
        except ValueError:
            number = float("nan")
        if not span[0] <= number <= span[1]:
            self._refuse(node, f"“{written}”不对", f"写 {span[0]:g} 到 {span[1]:g} 的数字")
        return number

    def _refuse(self, node: Node, problem: str, fix: str, cause: Exception | None = None) -> NoReturn:
        self._refuse_line(_line(node), problem, fix, cause)

    def _refuse_line(self, line: int, problem: str, fix: str, cause: Exception | None = None) -> NoReturn:
        raise ConfigurationError(f"{self._file_name} 第 {line} 行", problem, fix) from cause


def _line(node: Node) -> int:
    return node.start_mark.line + 1
