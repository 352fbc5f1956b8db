"""However a platform repeats itself, each message is one entry, one turn, one answer."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.integration.database_fixture import A_REPLY, a_delivery, a_message, open_stores

KEYS = st.sampled_from(["1", "2", "3", " 1", "键"])
ARRIVALS = st.lists(st.lists(KEYS, min_size=1, max_size=4), min_size=1, max_size=6)


async def deliver(folder: Path, arrivals: list[list[str]]) -> None:
    """Each inner list arrives at once; what is new is then answered, in the order it was admitted."""
    async with open_stores(folder) as stores:
        account = await stores.account("o-li")
        ids: dict[str, int] = {}
        for burst in arrivals:
            admissions = await asyncio.gather(*(stores.inbox.admit(a_message(key)) for key in burst))
            for key, admission in zip(burst, admissions, strict=True):
                assert admission.is_new is (key not in ids)
                assert ids.setdefault(key, admission.inbox_id) == admission.inbox_id
                if admission.is_new:
                    assert admission.delivery is None
                    pages = a_delivery(admission.inbox_id, f"答{key}")
                    await stores.ledger.commit_turn(
                        admission.inbox_id,
                        account.scope(""),
                        a_message(key),
                        A_REPLY,
                        pages,
                        consolidate=False,
                    )
                again = await stores.inbox.admit(a_message(key))
                assert again.delivery is not None
                assert again.delivery.pages == (f"答{key}",)
        assert await stores.rows("SELECT count(*), count(DISTINCT inbox_id) FROM turn") == [(len(ids),) * 2]
        assert await stores.inbox.unfinished() == ()


@settings(max_examples=15, deadline=None)
@given(ARRIVALS)
def test_admission_is_idempotent(arrivals: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(deliver(Path(folder), arrivals))
