"""The exact index, and the cache of indexes of the people who write most lately."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.memory import growing
from bot.memory.fact import MemoryVersion
from bot.memory.ports import VectorSheet
from bot.storage.vectors import person_index
from bot.storage.vectors.flat import FaissFlat
from bot.storage.vectors.person_index import FEW, PersonIndex

D = 16
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def matrix_of(n: int, seed: int = 0) -> Matrix:
    rows = np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class FrozenClock:
    time = NOW

    def now(self) -> datetime:
        return self.time


class Sheets:
    """As much of a FactStore as an index asks for."""

    def __init__(self) -> None:
        self.sheets: dict[tuple[int, str], VectorSheet] = {}
        self.rewritten_at: dict[tuple[int, str], int] = {}
        self.loads = 0

    def put(self, scope: Scope, matrix: Matrix, *, version: int, fresh_until: datetime | None = None) -> None:
        """As if everything before had gone."""
        self.rewritten_at[scope.person, scope.place] = version
        self.sheets[scope.person, scope.place] = VectorSheet(
            version=MemoryVersion(epoch=0, shelves=((1, version),)),
            fact_ids=np.arange(len(matrix), dtype=np.int64) + 100,
            matrix=matrix,
            fresh_until=fresh_until,
            slots=(len(matrix),),
        )

    def add(self, scope: Scope, matrix: Matrix, *, version: int) -> None:
        sheet = self.sheets[scope.person, scope.place]
        rows = np.concatenate([sheet.matrix, matrix])
        self.sheets[scope.person, scope.place] = replace(
            sheet,
            version=MemoryVersion(epoch=0, shelves=((1, version),)),
            fact_ids=np.arange(len(rows), dtype=np.int64) + 100,
            matrix=rows,
            slots=(len(rows),),
        )

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
        self.loads += 1
        return self.sheets[scope.person, scope.place]

    async def newer_vectors(
        self, scope: Scope, model_id: str, dimension: int, version: MemoryVersion, slots: Sequence[int]
    ) -> VectorSheet | None:
        if version.shelves[0][1] < self.rewritten_at[scope.person, scope.place]:
            return None
        sheet = self.sheets[scope.person, scope.place]
        newer = slice(slots[0], None)
        return replace(sheet, fact_ids=sheet.fact_ids[newer], matrix=sheet.matrix[newer])


def scope_of(person: int, place: str = "") -> Scope:
    return Scope(person=PersonId(person), account=AccountId(person), epoch=0, place=place)


def index_over(sheets: Sheets, clock: FrozenClock | None = None, **options: int) -> PersonIndex:
    return PersonIndex(sheets, clock or FrozenClock(), model_id=lambda: "m", **options)  # type: ignore[arg-type]


def test_flat_search_is_exact() -> None:
    matrix = matrix_of(500)
    query = matrix[123]
    hits = FaissFlat(matrix).search(query, 7)
    best = np.argsort(-(matrix @ query))[:7]
    assert [row for row, _ in hits] == best.tolist()
    assert hits[0][1] == pytest.approx(1.0, abs=1e-5)


def test_flat_search_gives_no_more_than_there_is() -> None:
    assert len(FaissFlat(matrix_of(3)).search(matrix_of(1)[0], 10)) == 3
    assert FaissFlat(matrix_of(0)).search(matrix_of(1)[0], 10) == []
    assert FaissFlat(matrix_of(3)).search(matrix_of(1)[0], 0) == []


def test_what_an_index_was_made_of_changes_no_more() -> None:
    matrix = matrix_of(3)
    FaissFlat(matrix)
    with pytest.raises(ValueError, match="read-only"):
        matrix[:] = 0


@pytest.mark.parametrize(
    "query",
    [
        np.empty(0, dtype=np.float32),
        np.ones(D + 1, dtype=np.float32),
        np.full(D, np.nan, dtype=np.float32),
        np.ones((1, D), dtype=np.float32),
    ],
    ids=["empty", "of another dimension", "nan", "a matrix"],
)
def test_what_is_no_vector_is_refused(query: np.ndarray) -> None:
    with pytest.raises(EmbedderUnavailable):
        FaissFlat(matrix_of(3)).search(query, 2)


async def test_what_two_messages_ask_at_once_is_loaded_once() -> None:
    class Slow(Sheets):
        async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
            sheet = await super().vector_sheet(scope, model_id, dimension)
            await asyncio.sleep(0)
            return sheet

    sheets, matrix = Slow(), matrix_of(3)
    sheets.put(scope_of(1), matrix, version=1)
    index = index_over(sheets)
    found = await asyncio.gather(*(index.search(scope_of(1), matrix[1], 1) for _ in range(3)))
    assert [hits.ids[0] for hits in found] == [101] * 3
    assert sheets.loads == 1


async def test_a_query_without_dimension_is_refused() -> None:
    sheets = Sheets()
    sheets.put(scope_of(1), np.empty((0, 0), dtype=np.float32), version=1)
    with pytest.raises(EmbedderUnavailable):
        await index_over(sheets).search(scope_of(1), np.empty(0, dtype=np.float32), 2)


async def test_a_person_is_loaded_once_a_version() -> None:
    sheets, scope = Sheets(), scope_of(1)
    index = index_over(sheets)
    sheets.put(scope, matrix_of(5), version=1)
    for _ in range(3):
        assert (await index.search(scope, matrix_of(5)[2], 1)).ids[0] == 102
    assert sheets.loads == 1
    sheets.put(scope, matrix_of(9, seed=1), version=2)
    assert (await index.search(scope, matrix_of(9, seed=1)[7], 1)).ids[0] == 107
    assert sheets.loads == 2


async def test_what_was_added_is_searched_without_loading_anew() -> None:
    sheets, scope = Sheets(), scope_of(1)
    index = index_over(sheets)
    matrix, query = matrix_of(108), matrix_of(1, seed=2)[0]
    sheets.put(scope, matrix[:100], version=1)
    await index.search(scope, query, 1)
    for version, (start, end) in enumerate([(100, 103), (103, 108), (108, 108)], start=2):
        sheets.add(scope, matrix[start:end], version=version)
        found = await index.search(scope, query, 6)
        best = np.argsort(-(matrix[:end] @ query))[:6]
        assert (found.ids - 100).tolist() == best.tolist()
        assert len((await index.search(scope, query, 199)).ids) == end
    assert (await index.search(scope, matrix[107], 1)).ids[0] == 207
    # Room for sixteen was made when three came, of which eight are taken.
    assert index.size_bytes == (100 + growing.LEAST_ROOM) * (4 * D + 8) + person_index.ENTRY_BYTES
    assert sheets.loads == 1


async def test_what_is_added_to_few_rows_lies_in_one_piece_with_them() -> None:
    sheets, scope = Sheets(), scope_of(1)
    index = index_over(sheets)
    matrix, query = matrix_of(FEW + 4), matrix_of(1, seed=2)[0]
    sheets.put(scope, matrix[:3], version=1)
    await index.search(scope, query, 1)
    for version, (start, end) in enumerate([(3, 4), (4, FEW), (FEW, FEW + 4)], start=2):
        sheets.add(scope, matrix[start:end], version=version)
        found = await index.search(scope, query, 6)
        best = np.argsort(-(matrix[:end] @ query), kind="stable")[:6]
        assert (found.ids - 100).tolist() == best.tolist()
        assert found.products == pytest.approx((matrix @ query)[best], rel=1e-5)
    assert sheets.loads == 1
    assert index._entries[scope.person, scope.place].loaded.floats == 0


async def test_what_is_added_on_one_side_is_not_seen_on_another() -> None:
    matrix, query = matrix_of(12), matrix_of(1, seed=2)[0]
    ids = np.arange(12)
    held = person_index._Rows.of(ids[:4], matrix[:4])
    one = held.with_added(ids[4:6], matrix[4:6])
    another = held.with_added(ids[6:9], matrix[6:9])
    more = one.with_added(ids[9:], matrix[9:])
    beside = one.with_added(ids[6:7], matrix[6:7])
    for rows, expected in [
        (held, [0, 1, 2, 3]),
        (one, [0, 1, 2, 3, 4, 5]),
        (another, [0, 1, 2, 3, 6, 7, 8]),
        (more, [0, 1, 2, 3, 4, 5, 9, 10, 11]),
        (beside, [0, 1, 2, 3, 4, 5, 6]),
    ]:
        found = rows.search(query, 12, None)
        assert dict(found.pairs()) == {
            each: pytest.approx(matrix[each] @ query, abs=1e-6) for each in expected
        }


async def test_much_that_is_added_is_loaded_anew_at_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(person_index, "FEW", 4)
    monkeypatch.setattr(person_index, "MOST_ADDED", 10)
    sheets, scope = Sheets(), scope_of(1)
    index = index_over(sheets)
    matrix, query = matrix_of(40), matrix_of(1, seed=2)[0]
    sheets.put(scope, matrix[:20], version=1)
    loads: list[int] = []
    for version, end in enumerate([20, 22, 25, 26, 27, 30, 31], start=2):
        sheets.add(scope, matrix[sheets.sheets[scope.person, ""].slots[0] : end], version=version)
        found = await index.search(scope, query, 9)
        assert (found.ids - 100).tolist() == np.argsort(-(matrix[:end] @ query))[:9].tolist()
        loads.append(sheets.loads)
    # Ten had been added when the 31st came.
    assert loads == [1, 1, 1, 1, 1, 1, 2]


async def test_vectors_of_another_model_are_loaded_anew() -> None:
    sheets, scope, model_id = Sheets(), scope_of(1), "m"
    index = PersonIndex(sheets, FrozenClock(), model_id=lambda: model_id)  # type: ignore[arg-type]
    sheets.put(scope, matrix_of(5), version=1)
    await index.search(scope, matrix_of(1)[0], 1)
    model_id = "n"
    sheets.add(scope, matrix_of(1, seed=1), version=2)
    await index.search(scope, matrix_of(1)[0], 1)
    assert sheets.loads == 2


async def test_what_has_expired_is_not_kept_for_what_was_added() -> None:
    sheets, scope, clock = Sheets(), scope_of(1), FrozenClock()
    index = index_over(sheets, clock)
    sheets.put(scope, matrix_of(5), version=1, fresh_until=NOW + timedelta(days=1))
    await index.search(scope, matrix_of(1)[0], 1)
    sheets.add(scope, matrix_of(1, seed=1), version=2)
    clock.time = NOW + timedelta(days=1)
    await index.search(scope, matrix_of(1)[0], 1)
    assert sheets.loads == 2


async def test_an_index_is_stale_when_the_first_fact_expires() -> None:
    sheets, scope, clock = Sheets(), scope_of(1), FrozenClock()
    index = index_over(sheets, clock)
    sheets.put(scope, matrix_of(5), version=1, fresh_until=NOW + timedelta(days=1))
    await index.search(scope, matrix_of(1)[0], 1)
    clock.time = NOW + timedelta(hours=23)
    await index.search(scope, matrix_of(1)[0], 1)
    assert sheets.loads == 1
    sheets.put(scope, matrix_of(2), version=1)
    clock.time = NOW + timedelta(days=1)
    assert len((await index.search(scope, matrix_of(1)[0], 9)).ids) == 2


async def test_places_of_a_person_are_apart() -> None:
    sheets = Sheets()
    sheets.put(scope_of(1), matrix_of(4), version=1)
    sheets.put(scope_of(1, "g"), matrix_of(2), version=1)
    index = index_over(sheets)
    assert len((await index.search(scope_of(1), matrix_of(1)[0], 9)).ids) == 4
    assert len((await index.search(scope_of(1, "g"), matrix_of(1)[0], 9)).ids) == 2


async def test_the_least_recently_used_go_first_and_the_size_is_kept() -> None:
    sheets = Sheets()
    for person in range(1, 5):
        sheets.put(scope_of(person), matrix_of(100), version=1)
    each = 100 * (4 * D + 8) + person_index.ENTRY_BYTES
    index = index_over(sheets, limit_bytes=3 * each)
    query = matrix_of(1)[0]
    for person in (1, 2, 3, 1, 4):
        await index.search(scope_of(person), query, 1)
        assert index.size_bytes <= 3 * each
    loads = sheets.loads
    for person in (1, 3, 4):
        await index.search(scope_of(person), query, 1)
    assert sheets.loads == loads == 4
    await index.search(scope_of(2), query, 1)
    assert sheets.loads == 5


async def test_a_person_larger_than_the_cache_is_served_all_the_same() -> None:
    sheets, scope = Sheets(), scope_of(1)
    sheets.put(scope, matrix_of(100), version=1)
    index = index_over(sheets, limit_bytes=10)
    assert len((await index.search(scope, matrix_of(1)[0], 5)).ids) == 5
    assert index.size_bytes == 0


async def test_a_large_person_is_searched_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    sheets, scope = Sheets(), scope_of(1)
    sheets.put(scope, matrix_of(50), version=1)
    monkeypatch.setattr(person_index, "INLINE_FLOATS", 10)
    query = matrix_of(50)[33]
    assert (await index_over(sheets).search(scope, query, 1)).ids[0] == 133


async def test_another_dimension_is_loaded_anew() -> None:
    sheets, scope = Sheets(), scope_of(1)
    sheets.put(scope, matrix_of(5), version=1)
    index = index_over(sheets)
    await index.search(scope, matrix_of(1)[0], 1)
    sheets.sheets[scope.person, ""] = replace(
        sheets.sheets[scope.person, ""], matrix=np.eye(5, 4, dtype=np.float32)
    )
    assert len((await index.search(scope, np.ones(4, dtype=np.float32), 9)).ids) == 5


@pytest.mark.parametrize("rows", [FEW // 2, FEW * 3])
async def test_only_the_facts_named_compete(rows: int) -> None:
    sheets, scope = Sheets(), scope_of(1)
    matrix = matrix_of(rows)
    sheets.put(scope, matrix, version=1)
    index = index_over(sheets)
    everything = await index.search(scope, matrix[0], rows)
    some = everything.ids[5:9]
    found = await index.search(scope, matrix[0], 3, some)
    assert found.ids.tolist() == some[:3].tolist()
    assert found.products == pytest.approx(everything.products[5:8], abs=1e-6)
    assert len((await index.search(scope, matrix[0], 99, some)).ids) == 4
    for nothing in ([10**9], []):
        assert not len((await index.search(scope, matrix[0], 3, np.array(nothing, np.int64))).ids)
