"""The documents of one version, ready to be searched.

Invariant: nothing of it changes once it is prepared.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import Bm25, exact_tokens
from bot.conversation.ports import Matrix
from bot.knowledge.passage import Passage
from bot.knowledge.ports import FlatIndex, PassageSheet
from bot.knowledge.splitting import keyword_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What those of one app_id may read."""

    passages: tuple[Passage, ...]
    tokens: tuple[frozenset[str], ...]
    bm25: Bm25
    index: FlatIndex | None
    matrix: Matrix
    places: NDArray[np.int64]
    """`(n,)`: the place in `passages` of each row of `matrix`."""
    rows: NDArray[np.int64]
    """The inverse, one a passage: its row in `matrix`, -1 for none."""


def prepare_all(sheet: PassageSheet, make_index: Callable[[Matrix], FlatIndex]) -> dict[str, Library]:
    """What each app_id with documents of its own may read, and under "" what all share."""
    owners = {"", *(passage.app_id for passage in sheet.passages)}
    return {owner: _prepare(_readable(sheet, owner), make_index) for owner in owners}


def _readable(sheet: PassageSheet, app_id: str) -> PassageSheet:
    passages = tuple(each for each in sheet.passages if each.app_id in ("", app_id))
    if len(passages) == len(sheet.passages):
        return sheet
    is_among = np.isin(sheet.embedded_ids, [each.id for each in passages])
    return PassageSheet(
        version=sheet.version,
        passages=passages,
        embedded_ids=sheet.embedded_ids[is_among],
        matrix=sheet.matrix[is_among],
    )


def _prepare(sheet: PassageSheet, make_index: Callable[[Matrix], FlatIndex]) -> Library:
    texts = [keyword_text(passage.heading, passage.text) for passage in sheet.passages]
    place_of = {passage.id: place for place, passage in enumerate(sheet.passages)}
    places = np.array([place_of[int(id_)] for id_ in sheet.embedded_ids], np.int64)
    rows = np.full(len(sheet.passages), -1, np.int64)
    rows[places] = np.arange(len(places))
    return Library(
        passages=sheet.passages,
        tokens=tuple(exact_tokens(text) for text in texts),
        bm25=Bm25(texts),
        index=make_index(sheet.matrix) if len(places) else None,
        matrix=sheet.matrix,
        places=places,
        rows=rows,
    )
