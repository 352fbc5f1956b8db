"""The desk at which the playground's memories are looked at, put together.

Invariant: nothing is opened here.
"""

from collections.abc import Callable

from bot.container.stores import Stores
from bot.conversation.ports import Clock
from bot.erasing import Erasing
from bot.forgetting import Forgetting
from bot.groups.lines import GroupLines
from bot.memory.forget import Forget
from bot.memory.ports import TurnWindow
from bot.playground.memory_desk import MemoryDesk
from bot.storage.sql.kept import SqlKept


def make_memory_desk(
    stores: Stores, window: TurnWindow, lines: GroupLines, clock: Clock, on_work: Callable[[], None]
) -> MemoryDesk:
    forget = Forget(stores.facts, stores.turn_log)
    return MemoryDesk(
        kept=SqlKept(stores.database),
        accounts=stores.accounts,
        facts=stores.facts,
        forget=forget,
        forgetting=Forgetting(forget=forget, window=window, lines=lines, audit=stores.audit),
        erasing=Erasing(
            facts=stores.facts,
            departures=stores.departing,
            window=window,
            lines=lines,
            accounts=stores.accounts,
        ),
        export=stores.export,
        audit=stores.audit,
        on_work=on_work,
        clock=clock,
    )
