"""What the forms of the memory page ask to be forgotten.

Invariant: pure; what is no whole order is None.
"""

from datetime import datetime

from starlette.datastructures import FormData

from bot.console.site.shown import from_field
from bot.memory.time_zh import OPEN_END, OPEN_START, Window
from bot.playground.memory_desk import ForgetAsked, What

LONGEST_WORDS = 200
"""Characters, as many as an order to forget is read."""


def read_order(form: FormData, now: datetime) -> ForgetAsked | None:
    """`at`: when it was first asked, from the form that confirms it; else `now`."""
    try:
        what = What(_text(form, "what"))
        at = datetime.fromisoformat(_text(form, "at")) if _text(form, "at") else now
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    place = _text(form, "place")
    match what:
        case What.ALL:
            return ForgetAsked(what=what, at=at)
        case What.ONE:
            fact = _text(form, "fact")
            is_id = fact.isascii() and fact.isdecimal() and len(fact) < 19
            return ForgetAsked(what=what, at=at, place=place, fact=int(fact)) if is_id else None
        case What.WORDS:
            words = _text(form, "words").strip()
            is_order = 0 < len(words) <= LONGEST_WORDS
            return ForgetAsked(what=what, at=at, place=place, words=words) if is_order else None
        case What.WINDOW:
            window = _window(_text(form, "since"), _text(form, "until"))
            return ForgetAsked(what=what, at=at, place=place, window=window) if window else None


def _window(since: str, until: str) -> Window | None:
    """One end may be open. None: no time, or one that ends before it begins."""
    start, end = from_field(since), from_field(until)
    if (since and start is None) or (until and end is None) or (start is None and end is None):
        return None
    start, end = start or OPEN_START, end or OPEN_END
    return Window(start=start, end=end) if start < end else None


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""
