"""A stream tells what changed, and the page it is told to comes out as if all of it had been told."""

from typing import cast

import pytest
from starlette.requests import Request

from bot.console.site.site import Site
from bot.console.site.telling import Telling

BOX, ITEM = "box", "item"


class Drawing:
    """Draws a box as «a b c», and an item as itself."""

    def fragment(self, request: object, template: str, **context: object) -> str:
        if template == ITEM:
            return f"{context['each']} "
        return f"«{' '.join(map(str, cast('list[str]', context['items'])))}»"


@pytest.fixture
def telling() -> Telling:
    return Telling(cast("Site", Drawing()), cast("Request", None))


def told(telling: Telling, *items: str) -> str:
    """Items such as "1a": 1 is the id."""
    named = {each[0]: (each,) for each in items}
    return telling.grown(BOX, ITEM, named, {"items": list(items)})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((), (), ""),
        ((), ("1a",), "«1a»"),
        (("1a",), ("1a",), ""),
        (("1a",), ("1a", "2a"), "2a "),
        (("1a", "2a"), ("1b", "2a", "3a"), "1b 3a "),
        (("1a", "2a"), ("2a", "3a"), "3a "),
        (("1a", "2a"), ("2a",), ""),
        (("1a", "3a"), ("1a", "2a", "3a"), "«1a 2a 3a»"),
        (("2a",), ("1a", "2a"), "«1a 2a»"),
        (("1a", "2a", "3a"), ("1a", "3a"), "«1a 3a»"),
        (("1a", "2a"), ("3a",), "«3a»"),
        (("1a",), (), "«»"),
    ],
)
def test_only_what_changed_is_told(
    telling: Telling, before: tuple[str, ...], after: tuple[str, ...], expected: str
) -> None:
    assert told(telling, *before) == f"«{' '.join(before)}»", "at first all of it"
    assert told(telling, *after) == expected
    assert told(telling, *after) == ""


def test_a_part_is_told_when_it_changed(telling: Telling) -> None:
    said = [telling.changed(BOX, {"items": [each]}) for each in "1121"]
    assert said == ["«1»", "", "«2»", "«1»"]
    assert telling.changed("another box", {"items": ["1"]}) == "«1»"
