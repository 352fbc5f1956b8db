"""`GroupStore` over SQL: what a group was told stays told."""

from pathlib import Path

from bot.storage.sql.group_switches import SqlGroupSwitches
from tests.integration.database_fixture import NOON, SteppingClock, open_database

ONE, OTHER = "onebot:10001:777", "onebot:10001:888"


async def test_a_group_is_on_until_it_is_switched_off(tmp_path: Path) -> None:
    clock = SteppingClock()
    async with open_database(tmp_path) as database:
        switches = SqlGroupSwitches(database, clock)
        assert await switches.switched_off() == frozenset()
        await switches.switch(ONE, is_on=False)
        await switches.switch(OTHER, is_on=False)
        await switches.switch(OTHER, is_on=False)
        assert await switches.switched_off() == {ONE, OTHER}
        await switches.switch(ONE, is_on=True)
        assert await switches.switched_off() == {OTHER}


async def test_a_start_finds_what_was_switched_and_when(tmp_path: Path) -> None:
    clock = SteppingClock()
    async with open_database(tmp_path) as database:
        await SqlGroupSwitches(database, clock).switch(ONE, is_on=True)
        clock.step(hours=1)
        await SqlGroupSwitches(database, clock).switch(ONE, is_on=False)
    async with open_database(tmp_path) as database:
        assert await SqlGroupSwitches(database, clock).switched_off() == {ONE}
        rows = await database.write(
            lambda connection: connection.execute("SELECT place, is_on, at FROM group_switch").fetchall()
        )
    assert rows == [(ONE, 0, int(NOON.timestamp() * 1000) + 3_600_000)]
