"""A group in which many write at once, and the account of what each got for it.

Invariant: the same seed gives the same lines; every line has a marker that no other line has.
"""

import asyncio
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from simulators.onebot.platform import Id, SentMessage
from simulators.onebot.speaking import Speaking

FIRST_MEMBER = 20_001
_MARKER = re.compile(r"#\d+-\d+#")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one member says, and when."""

    user_id: int
    number: int
    """Of this member's lines, from 1."""
    at_seconds: float
    """From the start."""
    is_addressed: bool
    words: str

    @property
    def marker(self) -> str:
        """In the words. A bot that answers with what it was asked, or a model that does, gives it back."""
        return f"#{self.user_id}-{self.number}#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    line: Line
    message_id: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What came of a crowd's lines."""

    answers: dict[str, tuple[SentMessage, ...]]
    """By the marker of each addressed line."""
    unasked: tuple[SentMessage, ...]
    """Answers to lines that were not for the bot, or to none at all."""
    crossed: tuple[SentMessage, ...]
    """Answers that name another member than the one who asked."""
    out_of_order: tuple[Id, ...]
    """Members who were answered in another order than they asked."""

    @property
    def unanswered(self) -> tuple[str, ...]:
        return tuple(marker for marker, sent in self.answers.items() if not sent)

    @property
    def repeated(self) -> tuple[str, ...]:
        return tuple(marker for marker, sent in self.answers.items() if len(sent) > 1)

    @property
    def is_exact(self) -> bool:
        """One answer to each call, to whoever asked, in their order, and nothing else."""
        return not (self.unasked or self.crossed or self.out_of_order or self.unanswered or self.repeated)


def crowd(
    *,
    members: int = 50,
    messages: int = 200,
    seconds: float = 10.0,
    addressed: float = 0.5,
    seed: int = 0,
    words: Sequence[str] = ("几点开门？", "今天吃什么", "有人吗", "周末去哪玩"),
) -> tuple[Line, ...]:
    """Lines in the order of their times; each member writes at least once where there are enough.

    `addressed`: the share of lines that are for the bot.
    """
    dice = random.Random(seed)
    writers = [FIRST_MEMBER + number % members for number in range(messages)]
    dice.shuffle(writers)
    times = sorted(dice.uniform(0, seconds) for _ in range(messages))
    counts: dict[int, int] = {}
    lines: list[Line] = []
    for writer, at_seconds in zip(writers, times, strict=True):
        number = counts[writer] = counts.get(writer, 0) + 1
        lines.append(
            Line(
                user_id=writer,
                number=number,
                at_seconds=at_seconds,
                is_addressed=dice.random() < addressed,
                words=f"{dice.choice(words)} #{writer}-{number}#",
            )
        )
    return tuple(lines)


async def let_speak(
    client: Speaking, group_id: Id, lines: Iterable[Line], *, speed: float = 1.0
) -> list[Said]:
    """Say every line at its time, `speed` times as fast; 0 says all at once."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    said: list[Said] = []
    for line in lines:
        if speed:
            await asyncio.sleep(max(0.0, start + line.at_seconds / speed - loop.time()))
        message_id = await client.say_group(group_id, line.user_id, line.words, at_bot=line.is_addressed)
        said.append(Said(line=line, message_id=message_id))
    return said


def account_of(said: Iterable[Said], sent: Iterable[SentMessage]) -> Account:
    """Whose answer is what: by the marker in its text, or else by the message that it quotes."""
    lines = [each.line for each in said]
    by_marker = {line.marker: line for line in lines}
    by_id = {str(each.message_id): each.line for each in said}
    answers: dict[str, list[SentMessage]] = {line.marker: [] for line in lines if line.is_addressed}
    unasked: list[SentMessage] = []
    crossed: list[SentMessage] = []
    order: dict[int, list[int]] = {}
    for message in sent:
        found = _MARKER.findall(message.text)
        line = by_marker.get(found[0]) if found else by_id.get(message.reply_to)
        if line is None or not line.is_addressed:
            unasked.append(message)
            continue
        answers[line.marker].append(message)
        order.setdefault(line.user_id, []).append(line.number)
        others = set(message.mentions) - {str(line.user_id)}
        quoted = by_id.get(message.reply_to)
        if others or (quoted is not None and quoted is not line) or set(found) - {line.marker}:
            crossed.append(message)
    return Account(
        answers={marker: tuple(found) for marker, found in answers.items()},
        unasked=tuple(unasked),
        crossed=tuple(crossed),
        out_of_order=tuple(user for user, numbers in order.items() if numbers != sorted(numbers)),
    )
