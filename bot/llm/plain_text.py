"""Text as a model can take it.

Invariant: what comes out encodes as UTF-8 and holds no NUL.
"""

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")


def without_unsafe_characters(text: str) -> str:
    """Drop NUL (C code stops reading there) and lone surrogates (they cannot be encoded).

    A pair of surrogates never reaches Python as two characters, so each one found is alone.
    """
    return _UNSAFE.sub("", text)
