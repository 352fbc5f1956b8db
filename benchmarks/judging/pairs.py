"""Labelled pairs of one person's statements, the earlier first: does the later put an end to the earlier? And what the
rules say of them: `python -m benchmarks.judging.pairs`.

Invariant: seeded; none comes from another list of this project. The rules were widened by those written by hand, so
their figures are no measure of them.
"""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.judging.sentences import SEED, slots_of, table
from bot.memory.claims import contradicts, read_claims

PER_FRAME = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    old: str
    new: str
    ends: bool
    is_written: bool


def pairs() -> list[Pair]:
    found = {(each.old, each.new): each for each in (*_written(), *_framed())}
    return list(found.values())


def main() -> int:
    given = pairs()
    for is_written, name in ((True, "手写"), (False, "句式")):
        of_kind = [each for each in given if each.is_written == is_written]
        for ends in (True, False):
            told = [
                contradicts(read_claims(each.new), read_claims(each.old))
                for each in of_kind
                if each.ends == ends
            ]
            print(
                f"{name}，{'后者取代前者' if ends else '并不'} {len(told)}：规则判为取代 {sum(told) / len(told):.3f}"
            )
    return 0


def _written() -> Iterator[Pair]:
    for label, old, new in table("pairs.tsv"):
        yield Pair(old=old, new=new, ends=label == "1", is_written=True)


def _framed() -> Iterator[Pair]:
    chance, slots = random.Random(SEED), slots_of()
    slots.pop("lead")
    for label, old, new in table("pair_frames.tsv"):
        for _ in range(PER_FRAME):
            drawn = {slot: chance.sample(values, 2) for slot, values in slots.items()}
            values = {slot: both[0] for slot, both in drawn.items()}
            values |= {f"{slot}2": both[1] for slot, both in drawn.items()}
            yield Pair(
                old=old.format(**values), new=new.format(**values), ends=label == "1", is_written=False
            )


if __name__ == "__main__":
    sys.exit(main())
