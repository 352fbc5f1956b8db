"""What the reader of one stream has been sent, so that an event holds what changed and no more.

Invariant: whoever puts each event in its place sees the page as it is; the first event of a box is all of it.
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from bot.console.site.site import Site


class Telling:
    """Of one stream."""

    def __init__(self, site: Site, request: Request) -> None:
        self._site = site
        self._request = request
        self._parts: dict[str, str] = {}
        self._boxes: dict[str, Mapping[str, object]] = {}

    def changed(self, template: str, context: Mapping[str, Any]) -> str:
        """A part of the page; "" where it is as it was."""
        html = self._site.fragment(self._request, template, **context)
        if self._parts.get(template) == html:
            return ""
        self._parts[template] = html
        return html

    def grown(
        self, box: str, item: str, items: Mapping[str, tuple[object, ...]], context: Mapping[str, Any]
    ) -> str:
        """A box of items. Where it only grew at its end: the items that changed, and the new ones.

        `item`: its template, which has the first of the item's values as `each`. `items`: by id, in their order;
        what an item looks like depends on its values alone.
        """
        before, self._boxes[box] = self._boxes.get(box), items
        if before is None or not _is_continued(list(before), list(items)):
            return self._site.fragment(self._request, box, **context)
        return "".join(
            self._site.fragment(self._request, item, **{**context, "each": values[0]})
            for name, values in items.items()
            if before.get(name) != values
        )


def _is_continued(before: list[str], after: list[str]) -> bool:
    """The same in the same order, but for old ones that went and new ones at the end."""
    left = set(after)
    gone = next((at for at, name in enumerate(before) if name in left), len(before))
    kept = before[gone:]
    return after[: len(kept)] == kept if kept else not before and not after
