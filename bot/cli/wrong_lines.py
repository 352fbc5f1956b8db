"""Lines of a list that are not carried out, and why.

Invariant: which lines they are does not depend on the order of the lines.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import typer

from bot.conversation.errors import RejectedInput

Wrong = tuple[int, str]
"""Its line, and why."""
SHOWN = 20
"""Wrong lines told one by one; --json has them all."""
LONGEST_OPENID = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A line that says what something is."""

    line: int
    about: Hashable
    says: Hashable


@dataclass(slots=True)
class Clashes:
    """Lines of one list that contradict one another."""

    wrong: dict[int, str] = field(default_factory=dict[int, str])

    def find(self, claims: Iterable[Claim], reason: str) -> None:
        """Every line about a thing of which the list says two. `reason`: with the `{lines}` that contradict it."""
        about: Mapping[Hashable, list[Claim]] = defaultdict(list)
        for each in claims:
            about[each.about].append(each)
        for same in about.values():
            if len({each.says for each in same}) > 1:
                for each in same:
                    others = [other.line for other in same if other.says != each.says]
                    self.note(each.line, reason.format(lines=_numbers(others)))

    def note(self, line: int, reason: str) -> None:
        self.wrong.setdefault(line, reason)


def check_openid(openid: str) -> None:
    """Raises RejectedInput."""
    if not openid or len(openid) > LONGEST_OPENID or not openid.isprintable() or " " in openid:
        raise RejectedInput("openid 是空的，或不像一个编号")


def tell_wrong(wrong: Sequence[Wrong]) -> None:
    for line, reason in wrong[:SHOWN]:
        typer.echo(f"第 {line} 行没有用：{reason}", err=True)
    if len(wrong) > SHOWN:
        typer.echo(f"还有 {len(wrong) - SHOWN} 行有误，加 --json 可看全部", err=True)


def wrong_as_json(wrong: Sequence[Wrong]) -> list[dict[str, object]]:
    return [{"line": line, "reason": reason} for line, reason in wrong]


def _numbers(lines: Sequence[int]) -> str:
    shown = "、".join(map(str, lines[:3]))
    return f"{shown} 等" if len(lines) > 3 else shown
