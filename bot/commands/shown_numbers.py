"""Which numbers somebody saw last, in each place: what 「第2条」 means to them.

Invariant: a number that was shown keeps its meaning until a list is shown anew; no words are kept. After a restart
nobody has seen any, so a number is asked about first.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.conversation.scope import AccountId, Scope
from bot.memory.fact import Fact
from bot.memory.numbering import Shown, number_of, numbered

MOST_LISTS = 2_000
"""The least used go first, and count as not shown."""


class ShownNumbers:
    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[AccountId, str], Shown] = OrderedDict()

    def of(self, scope: Scope) -> Shown:
        return self._lists.get((scope.account, scope.place), Shown())

    def show(
        self, scope: Scope, held: Sequence[Fact], texts: Iterable[str], *, is_anew: bool
    ) -> dict[str, int]:
        """The numbers to show `texts`, of what is held, with. `is_anew`: those shown before mean nothing any more."""
        before = Shown() if is_anew else self.of(scope)
        numbers = number_of(held, before)
        later = {
            number: fact.id for number, fact in numbered(held, before).items() if number > len(before.ids)
        }
        seen = {numbers[text] for text in texts if text in numbers}
        self._keep(scope, Shown(ids=(*before.ids, *later.values()), seen=before.seen | seen))
        return numbers

    def put_in_place(self, scope: Scope, old: int, new: int) -> None:
        """The fact `new` is what the number of `old` means now."""
        shown = self.of(scope)
        if old in shown.ids:
            self._keep(scope, replace(shown, ids=tuple(new if fact == old else fact for fact in shown.ids)))

    def _keep(self, scope: Scope, shown: Shown) -> None:
        key = (scope.account, scope.place)
        self._lists[key] = shown
        self._lists.move_to_end(key)
        if len(self._lists) > MOST_LISTS:
            self._lists.popitem(last=False)
