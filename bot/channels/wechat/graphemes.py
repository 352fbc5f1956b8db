"""Where a text may be cut without splitting what a reader sees as one character.

Invariant: never cuts inside a grapheme cluster of UAX #29. It may join a little more than the standard
asks (any character after a joiner or virama), which costs nothing here.
"""

import unicodedata

_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Mc", "Me"})
_REGIONAL = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_LEADS = range(0x1100, 0x1160)
_VOWELS_AND_TAILS = range(0x1160, 0x1200)
_SYLLABLES = range(0xAC00, 0xD7A4)
"""A Hangul syllable is one code point, or a lead, vowels and tails typed one by one."""
_THAI_LAO_AM = "\u0e33\u0eb3"
_VIRAMA_CLASS = 9


def is_boundary(text: str, at: int) -> bool:
    """Whether `text` may be cut before index `at`. Both ends may."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if ord(before) in _REGIONAL and ord(after) in _REGIONAL:
        # Flags are pairs: count the letters before this one.
        start = at
        while start and ord(text[start - 1]) in _REGIONAL:
            start -= 1
        return (at - start) % 2 == 0
    return not _is_joined(before, after)


def _is_joined(before: str, after: str) -> bool:
    if after < "\u0300":
        # Nothing this low extends what is before it, but for the second half of a line end.
        return (before == "\r" and after == "\n") or before == _JOINER
    return (
        before == _JOINER
        or after in (_JOINER, "\u200c")
        or after in _THAI_LAO_AM
        or ord(after) in _SKIN_TONES
        or ord(after) in _TAGS
        or unicodedata.category(after) in _MARKS
        or unicodedata.combining(before) == _VIRAMA_CLASS
        or _is_hangul_joined(ord(before), ord(after))
    )


def _is_hangul_joined(before: int, after: int) -> bool:
    if before in _LEADS:
        return after in _LEADS or after in _VOWELS_AND_TAILS or after in _SYLLABLES
    return after in _VOWELS_AND_TAILS and (before in _VOWELS_AND_TAILS or before in _SYLLABLES)
