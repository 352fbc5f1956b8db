"""How people in a QQ group call the bot: a nickname or a prefix at the start of what they say.

Invariant: pure; the words behind the call are left as they were typed.
"""

from collections.abc import Sequence

_SEPARATORS = " \t\r\n\u3000,，:：、!！"
"""What people put after the name they call."""


class Calls:
    """The names and the prefix of one bot."""

    def __init__(self, *, nicknames: Sequence[str] = (), prefix: str = "") -> None:
        """`prefix` "" means none."""
        self._nicknames = sorted(filter(None, nicknames), key=len, reverse=True)
        self._prefix = prefix

    def taken_off(self, text: str, *, is_addressed: bool, is_group: bool) -> tuple[str, bool]:
        """The text without the prefix or nickname it begins with, and whether it had one.

        Chinese has no word boundary, so in a group 「小记你好」 is a call. Who is addressed anyway needs
        no call: there only a name that is set apart is one (「小记，你好」, not 「小记事本」).
        """
        if is_group and not is_addressed and self._prefix and text.startswith(self._prefix):
            # A command keeps its slash: that is how it is known.
            rest = text if self._prefix in "/／" else text[len(self._prefix) :].lstrip(_SEPARATORS)
            return rest, True
        for name in self._nicknames:
            if text[: len(name)].casefold() != name.casefold():
                continue
            rest = text[len(name) :]
            if not is_addressed or not rest or rest[0] in _SEPARATORS:
                return rest.lstrip(_SEPARATORS), True
        return text, False
