"""No interleaving of keeping, forgetting, crashing and changing models compares vectors of two models, keeps a forgotten
one, or loses a living one."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.errors import VectorsOfAnotherModel
from bot.conversation.message import AccountKey
from bot.conversation.scope import Scope
from bot.renewing import Renewing
from bot.storage.sql import segments
from bot.storage.sql.reembedding import SqlVectors
from bot.storage.vectors.person_index import PersonIndex
from tests.memory_stage import GROUP, PRIVATE, Stage, open_stage
from tests.renewing_fakes import SaltedEmbedder, renewing_of

EMBEDDERS = (SaltedEmbedder("model-a", 8), SaltedEmbedder("model-b", 8), SaltedEmbedder("model-c", 5))
"""Two of them differ by nothing that a shape could show."""
PEOPLE = 3
PLACES = (PRIVATE.place, GROUP.place)
WORDS = ("事情 0", "事情 1", "事情 2", "事情 3")
FIRST = WORDS[:3]
"""What each of them has said before."""
STEPS_AT_MOST = 200
"""A hang guard."""

who = st.integers(0, PEOPLE - 1)
where = st.sampled_from(PLACES)
words = st.sampled_from(WORDS)
KINDS_OF_EVENTS = (
    *("keep", "keep", "keep blind", "fill", "forget", "forget", "clear", "join", "prefer", "change over"),
    *("step", "step", "step", "step", "crash"),
    # A change of model, by its number.
    *(0, 1, 2),
)
events = st.lists(st.tuples(st.sampled_from(KINDS_OF_EVENTS), who, where, words), min_size=20, max_size=50)


@dataclass
class Life:
    """What happens, and what is known to be held: fact id → text."""

    stage: Stage
    renewing: Renewing
    present: SaltedEmbedder
    texts: dict[int, str] = field(default_factory=dict)

    async def scopes(self) -> list[Scope]:
        found = [
            account
            for number in range(PEOPLE)
            if (account := await self.stage.accounts.find_account(key_of(number))) is not None
        ]
        return [account.scope(place) for account in found for place in PLACES]

    async def act(self, event: str | int, scope: Scope, text: str) -> None:
        facts, present = self.stage.facts, self.present
        if event in ("keep", "keep blind"):
            vectors = await present.embed_passages([text]) if event == "keep" else None
            ids = await facts.keep(
                scope, [self.stage.fact(text)], vectors, present.model_id, source_turn=None
            )
            self.texts.update(dict.fromkeys(ids, text))
        elif event == "fill":
            waiting = await facts.without_vector(scope, present.model_id, 3)
            vectors = await present.embed_passages([fact.text for fact in waiting])
            if waiting:
                await facts.add_vectors(scope, [fact.id for fact in waiting], vectors, present.model_id)
        elif event == "forget":
            held = {fact.id for fact in await facts.held_facts(scope) if fact.text == text}
            await facts.forget_facts(scope, sorted(held))
            for each in held:
                del self.texts[each]
        elif event == "clear":
            await facts.clear_person(scope.person)
            self.texts = await self.everything()
        elif event == "join":
            await self.stage.accounts.learn_unionid(scope.account, "union")
        else:
            await self.renew(event, scope)

    async def renew(self, event: str | int, scope: Scope) -> None:
        if event == "step":
            await self.renewing.step()
        elif event == "change over":
            vectors = SqlVectors(self.stage.database, self.stage.clock)
            if await vectors.change_over(scope, self.present.kind, ()):
                shown = {fact.id for fact in (await self.stage.facts.fact_sheet(scope)).facts}
                assert await self.search(scope, self.present) == shown
        elif event == "prefer":
            self.renewing.prefer(scope)
        elif isinstance(event, int):
            self.present = EMBEDDERS[event]
            self.renewing = renewing_of(self.stage, self.present)

    async def everything(self) -> dict[int, str]:
        held = [await self.stage.facts.held_facts(scope) for scope in await self.scopes()]
        return {fact.id: fact.text for facts in held for fact in facts}

    async def check(self) -> None:
        self.check_bytes()
        for scope in await self.scopes():
            for embedder in EMBEDDERS:
                await self.search(scope, embedder)

    async def search(self, scope: Scope, embedder: SaltedEmbedder) -> set[int] | None:
        """The facts found, each at the very distance that its model gives it. None: another model's answer."""
        index = PersonIndex(self.stage.facts, self.stage.clock, model_id=lambda: embedder.model_id)
        query = embedder.vector("问题")
        try:
            found = dict((await index.search(scope, query, 100)).pairs())
        except VectorsOfAnotherModel:
            return None
        for each, score in found.items():
            assert np.isclose(score, embedder.vector(self.texts[each]) @ query, atol=1e-5)
        return set(found)

    def check_bytes(self) -> None:
        """Every vector of either side is of a living fact and of its side's model; nothing lies beside them."""
        by_id = {each.model_id: each for each in EMBEDDERS}
        with contextlib.closing(sqlite3.connect(self.stage.database.path)) as connection:
            rows = connection.execute(
                "SELECT id, side, size, model, dimension, coming_size, coming_model, coming_dimension FROM shelf"
            ).fetchall()
            marked = {
                each for (each,) in connection.execute("SELECT id FROM fact WHERE model <> ''").fetchall()
            }
            told: set[int] = set()
            filled: set[int] = set()
            for shelf, side, *kinds in rows:
                for half, (size, model, dimension) in ((side, kinds[:3]), (1 - side, kinds[3:])):
                    packed = segments.load(connection, shelf, size, dimension, side=half)
                    for each, vector in zip(packed.fact_ids.tolist(), packed.matrix, strict=True):
                        assert np.array_equal(vector, by_id[model].vector(self.texts[each]))
                    told |= set(packed.fact_ids.tolist()) if half == side else set()
                    filled |= {(shelf << 1) | half} if size else set()
            assert told == marked
            used = {row[0] >> segments.SIDE_BITS for row in connection.execute("SELECT id FROM seg")}
            assert used == filled


def key_of(number: int) -> AccountKey:
    return AccountKey(channel="wechat", app_id="wx1", openid=f"p{number}")


@given(events)
@settings(deadline=None, max_examples=25)
def test_vectors_of_two_models_are_never_compared(happenings: list[tuple[str | int, int, str, str]]) -> None:
    with TemporaryDirectory(prefix="记忆 ") as folder:
        asyncio.run(play(Path(folder), happenings))


async def play(folder: Path, happenings: Sequence[tuple[str | int, int, str, str]]) -> None:
    life: Life | None = None
    remaining = list(happenings)
    while remaining or life is None:
        async with open_stage(folder) as stage:
            present = life.present if life else EMBEDDERS[0]
            is_first = life is None
            life = Life(stage, renewing_of(stage, present), present, life.texts if life else {})
            if is_first:
                for number in range(PEOPLE):
                    await stage.arrive(f"p{number}", "union" if number == 0 else "")
                for scope in await life.scopes():
                    for text in FIRST if scope.place == PRIVATE.place else FIRST[:1]:
                        await life.act("keep", scope, text)
            while remaining:
                event, number, place, text = remaining.pop(0)
                if event == "crash":
                    break
                scope = [each for each in await life.scopes() if each.place == place][number]
                await life.act(event, scope, text)
                await life.check()
            if not remaining:
                await come_to_rest(life)


async def come_to_rest(life: Life) -> None:
    for _ in range(STEPS_AT_MOST):
        for scope in await life.scopes():
            await life.act("fill", scope, "")
        if not await life.renewing.step():
            break
    else:
        raise AssertionError("never done")
    for scope in await life.scopes():
        await life.act("fill", scope, "")
    await life.check()
    assert await life.renewing.progress() is None
    for scope in await life.scopes():
        shown = {fact.id for fact in (await life.stage.facts.fact_sheet(scope)).facts}
        assert await life.search(scope, life.present) == shown
