"""States of which one holds at a time, told by their words: single or married, with sugar or without.

Invariant: pure; linear. The first state of a group that fits is meant, so denials stand before what they deny in
states.txt.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from bot.conversation.sieve import Sieve
from bot.memory.pattern_tables import rows_of

_DENIED = re.compile(r"(?:不|别|没|不要|不用|不是|别再|不再|不想|不走|取消)[^,]{0,3}$")
_OF_ORDERS = {"sugar", "ice", "spice", "cup"}
"""Told of one drink or dish: they say nothing of another."""
_DISHES = re.compile(
    r"咖啡|拿铁|美式|奶茶|果茶|柠檬茶|豆浆|可乐|饮料|粥|面|粉|火锅|烧烤|麻辣烫|米线|外卖|汤|茶|水|酒|牛奶|果汁|菜"
)


def find_states(clause: str) -> Iterator[tuple[str, str]]:
    """(slot, state) of a clause in its form."""
    states, sieve = _states()
    told = ""
    for place in sieve.fitting(clause):
        group, state, words = states[place]
        if group == told or (found := words.search(clause)) is None:
            continue
        if not _DENIED.search(clause[: found.start()]):
            told = group
            dish = _DISHES.search(clause) if group in _OF_ORDERS else None
            yield f"state:{group}:{dish.group() if dish else ''}", state


@cache
def _states() -> tuple[list[tuple[str, str, re.Pattern[str]]], Sieve]:
    """The table, read once: group, state, words; the states of each group behind each other in their order."""
    found: dict[str, list[tuple[str, str, re.Pattern[str]]]] = {}
    for group, state, words in rows_of("bot.memory.claims", "states.txt", 3):
        found.setdefault(group, []).append((group, state, re.compile(words)))
    states = list(chain.from_iterable(found.values()))
    return states, Sieve([words for _, _, words in states])
