"""The finished sentences of answers that are still being written, for who must speak before the rest is there.

Invariant: what was shown of an answer is decided once and never taken back; it is in memory alone, neither stored
nor logged, and gone when the answer is committed or fails. One event loop uses it.
"""

from collections.abc import Callable

from bot.answering.sentences import sentence_ends

STEP_CHARACTERS = 32
"""How exactly the room is measured first: a sentence, about."""


def _anything(_: str) -> bool:
    return True


class Draft:
    """The text of one answer so far, Markdown as the model writes it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._passed: Callable[[str], str] = str
        self._shown: str | None = None
        """None: nobody has asked yet."""

    def begin(self, passed: Callable[[str], str]) -> None:
        """Start anew. `passed` is what becomes of the final text: only what it leaves alone is ever shown."""
        self._pieces.clear()
        self._passed = passed

    def add(self, piece: str) -> None:
        """The next piece of the model's text."""
        self._pieces.append(piece)

    def discard(self) -> None:
        """The answer failed: half of it is none. What was shown before stays shown."""
        self._pieces.clear()

    def take(self, fits: Callable[[str], bool] = _anything) -> str:
        """The longest beginning of finished sentences that fits; it counts as shown from now on.

        "" while there is none. Once something was shown, or `shown` was asked for, the same text each time.
        """
        if self._shown is None:
            self._shown = self._finished(fits) or None
        return self._shown or ""

    def shown(self) -> str:
        """What was shown; nothing more is, from now on: the caller lays out the rest."""
        if self._shown is None:
            self._shown = ""
        return self._shown

    def _finished(self, fits: Callable[[str], bool]) -> str:
        # As if no more had come than may fit: a long answer costs no more time than a page.
        text = _about_what_fits("".join(self._pieces), fits)
        passed = self._passed(text)
        for end in sentence_ends(passed):
            beginning = passed[:end]
            if text.startswith(beginning) and self._passed(beginning) == beginning and fits(beginning):
                return beginning
        return ""


def _about_what_fits(text: str, fits: Callable[[str], bool]) -> str:
    """A beginning of the text, at most `STEP_CHARACTERS` longer than what fits."""
    low, high = 0, STEP_CHARACTERS
    while high < len(text) and fits(text[:high]):
        low, high = high, high * 2
    while high - low > STEP_CHARACTERS:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    return text[:high]


class Drafts:
    """The drafts of the answers being made, by message: the channel's app_id and the message's key."""

    def __init__(self) -> None:
        self._drafts: dict[tuple[str, str], Draft] = {}

    def begin(self, app_id: str, key: str) -> Draft:
        """A new draft. Its maker calls `end` in any case."""
        draft = self._drafts[app_id, key] = Draft()
        return draft

    def take(self, app_id: str, key: str, fits: Callable[[str], bool] = _anything) -> str:
        """See `Draft.take`; "" where no answer is being made.

        `fits` says whether a beginning fits where it is to be shown, as its channel renders it.
        """
        draft = self._drafts.get((app_id, key))
        return draft.take(fits) if draft is not None else ""

    def shown(self, app_id: str, key: str) -> str:
        """See `Draft.shown`: for `rest_of`, in the moment in which the pages of the answer are laid out."""
        draft = self._drafts.get((app_id, key))
        return draft.shown() if draft is not None else ""

    def end(self, app_id: str, key: str) -> None:
        """The answer is committed, or failed."""
        self._drafts.pop((app_id, key), None)


def rest_of(text: str, shown: str) -> str:
    """What of an answer is still to be shown: all of it where it doesn't begin with what was shown.

    "" where everything was.
    """
    return text.removeprefix(shown)
