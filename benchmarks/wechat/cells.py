"""The cells of the table: account × mode × speed of the model × situation, and their questions.

Invariant: the questions were written by somebody who had not seen the code; each cell has one of its own.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from simulators.wechat import AccountType, Mode

LATENCIES = (0.1, 3.0, 4.9, 7.0, 12.0, 17.0, 40.0)
SENTENCES = 4
"""Of each answer, written evenly over the model's time."""
PIECE = 16
"""Characters of one event of a stream, as fast models send them."""
QUESTIONS = Path(__file__).resolve().parents[1] / "questions" / "wechat_pending.yaml"


class Situation(StrEnum):
    QUESTION = "一个问题"
    SECOND = "答着时又问一个"
    FOLLOWING = "刚关注就问"
    CONCURRENT = "几次投递同时到"
    RESTART = "中途断电重启"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    account: AccountType
    mode: Mode
    latency_seconds: float
    situation: Situation
    number: int
    question: str
    second: str

    @property
    def openid(self) -> str:
        """One person a cell."""
        number = f"{self.latency_seconds:g}".replace(".", "_")
        return f"o{self.account.name}-{self.mode}-{number}-{self.situation.name}"

    @property
    def asked(self) -> str:
        """With the pace that the model is to take."""
        return paced(self.question, self.latency_seconds, self.number)

    @property
    def asked_second(self) -> str:
        return paced(self.second, LATENCIES[0], self.number)


def paced(question: str, seconds: float, number: int) -> str:
    """`number` tells the runs of one cell from those of another with the same words."""
    return f"{question} [[total={seconds:g} sentences={SENTENCES} piece={PIECE} cell={number}]]"


def sentence_starts(question: str) -> list[str]:
    """What each sentence of the answer to a question begins with: how it is known again."""
    return [f"第{number}句答“{question}" for number in range(1, SENTENCES + 1)]


def grid() -> list[Cell]:
    written: dict[str, Any] = yaml.safe_load(QUESTIONS.read_text("utf-8"))
    pairs, first_words = written["pairs"], written["after_following"]
    cells: list[Cell] = []
    for number, (account, mode, latency, situation) in enumerate(
        product(
            (AccountType.UNVERIFIED_SUBSCRIPTION, AccountType.VERIFIED_SERVICE),
            (Mode.PLAIN, Mode.SAFE),
            LATENCIES,
            Situation,
        )
    ):
        pair = pairs[number % len(pairs)]
        is_first = situation is Situation.FOLLOWING
        cells.append(
            Cell(
                account=account,
                mode=mode,
                latency_seconds=latency,
                situation=situation,
                number=number,
                question=first_words[number % len(first_words)] if is_first else pair["first"],
                second=pair["second"],
            )
        )
    return cells
