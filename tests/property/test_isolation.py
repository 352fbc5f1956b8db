"""No interleaving of people who remember, forget, clear and join shows one person another's memory."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.scope import Scope
from bot.storage.vectors.person_index import ENTRY_BYTES, LIMIT_BYTES, PersonIndex
from identity.model import Account
from tests.memory_stage import GROUP, MODEL, PRIVATE, Stage, open_stage, vector_of, vectors_of

PEOPLE = 4
PLACES = (PRIVATE, GROUP)

people = st.integers(0, PEOPLE - 1)
places = st.sampled_from(PLACES)
words = st.integers(0, 12).map("事情 {}".format)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("keep"), people, places, words),
        st.tuples(st.just("keep"), people, places, words),
        st.tuples(st.just("keep blind"), people, places, words),
        st.tuples(st.just("embed"), people, places, words),
        st.tuples(st.just("forget"), people, places, words),
        st.tuples(st.just("forget another's"), people, places, words),
        st.tuples(st.just("clear"), people, places, words),
        st.tuples(st.just("join"), people, places, words),
        st.tuples(st.just("search"), people, places, words),
    ),
    min_size=5,
    max_size=25,
)


@dataclass
class Model:
    """What each account said in each place and nobody forgot: fact id → (text, has a vector)."""

    said: dict[tuple[int, str], dict[int, tuple[str, bool]]] = field(default_factory=dict)

    def shelf(self, account: int, place: str) -> dict[int, tuple[str, bool]]:
        return self.said.setdefault((account, place), {})


@given(steps, st.sampled_from([3 * ENTRY_BYTES, LIMIT_BYTES]))
@settings(deadline=None, max_examples=20)
def test_search_shows_the_scopes_own_living_facts_only(events: list[tuple], limit_bytes: int) -> None:
    """With room for everyone, and for so few that entries come and go."""
    with TemporaryDirectory(prefix="记忆 ") as folder:
        asyncio.run(play(Path(folder), events, limit_bytes))


async def play(folder: Path, events: list[tuple], limit_bytes: int) -> None:
    async with open_stage(folder) as stage:
        index = PersonIndex(stage.facts, stage.clock, model_id=lambda: MODEL, limit_bytes=limit_bytes)
        accounts = [
            await stage.arrive(f"p{number}", f"union{number}" if number == 0 else "")
            for number in range(PEOPLE)
        ]
        model = Model()
        for event, who, place, text in events:
            accounts = [await stage.refreshed(account) for account in accounts]
            await act(stage, model, accounts, event, accounts[who], place.place, text)
            accounts = [await stage.refreshed(account) for account in accounts]
            for account in accounts:
                for each in PLACES:
                    await check(stage, index, model, accounts, account.scope(each.place))


async def act(
    stage: Stage, model: Model, accounts: list[Account], event: str, account: Account, place: str, text: str
) -> None:
    scope = account.scope(place)
    siblings = [each for each in accounts if each.person == account.person]
    own = {fact: (each, *stored) for each in siblings for fact, stored in model.shelf(each.id, place).items()}
    held = {text for text, _ in model.shelf(account.id, place).values()}
    if event.startswith("keep"):
        has_vector = event == "keep"
        vectors = vectors_of([text]) if has_vector else None
        ids = await stage.facts.keep(scope, [stage.fact(text)], vectors, MODEL, source_turn=None)
        assert bool(ids) == (text not in held)
        model.shelf(account.id, place).update(dict.fromkeys(ids, (text, has_vector)))
    elif event == "embed":
        waiting = await stage.facts.without_vector(scope, MODEL, 3)
        if waiting:
            texts = [fact.text for fact in waiting]
            ids = [fact.id for fact in waiting]
            await stage.facts.add_vectors(scope, ids, vectors_of(texts), MODEL)
            model.shelf(account.id, place).update({fact.id: (fact.text, True) for fact in waiting})
    elif event == "forget":
        chosen = [fact for fact, stored in own.items() if stored[1] == text]
        receipt = await stage.facts.forget_facts(scope, chosen)
        assert receipt.facts == len(chosen)
        for fact in chosen:
            del model.shelf(own[fact][0].id, place)[fact]
    elif event == "forget another's":
        others = [fact for shelf in model.said.values() for fact in shelf if fact not in own]
        assert (await stage.facts.forget_facts(scope, others)).total == 0
    elif event == "clear":
        await stage.facts.clear_person(account.person)
        for each in siblings:
            for cleared in PLACES:
                model.shelf(each.id, cleared.place).clear()
        # Work begun before the clearing comes too late.
        assert await stage.facts.keep(scope, [stage.fact(text)], None, MODEL, source_turn=None) == ()
    elif event == "join":
        await stage.accounts.learn_unionid(account.id, "union0")


async def check(
    stage: Stage, index: PersonIndex, model: Model, accounts: list[Account], scope: Scope
) -> None:
    own: dict[int, tuple[str, bool]] = {}
    held = [model.shelf(each.id, scope.place) for each in accounts if each.person == scope.person]
    for fact, stored in sorted(pair for shelf in held for pair in shelf.items()):
        if stored[0] not in {text for text, _ in own.values()}:  # of equal texts, the one stored first
            own[fact] = stored
    sheet = await stage.facts.fact_sheet(scope)
    assert {fact.id: fact.text for fact in sheet.facts} == {fact: text for fact, (text, _) in own.items()}
    query = vector_of("问题")
    embedded = {fact: text for fact, (text, has_vector) in own.items() if has_vector}
    found = dict((await index.search(scope, query, 100)).pairs())
    assert found.keys() == embedded.keys()
    for fact, text in embedded.items():
        assert np.isclose(found[fact], vector_of(text) @ query, atol=1e-5)
    best = await index.search(scope, query, 3)
    exact = sorted((float(vector_of(text) @ query) for text in embedded.values()), reverse=True)[:3]
    assert np.allclose(best.products, exact, atol=1e-5)
