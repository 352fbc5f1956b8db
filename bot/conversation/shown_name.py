"""The name a group shows for a speaker, made fit to be shown again.

Invariant: on one line, without marks that turn or hide what stands beside it, and short. It is never a key.
"""

import re
import unicodedata

LONGEST = 32
"""Characters. QQ allows 20 to 30."""
_SPACES = re.compile(r"\s+")
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Unicode categories: controls, direction marks, surrogates, private and unassigned ones."""


def shown_name(raw: object) -> str:
    """ "" where there is nothing to show."""
    if not isinstance(raw, str):
        return ""
    line = _SPACES.sub(" ", raw[: 8 * LONGEST])
    visible = "".join(each for each in line if unicodedata.category(each) not in _HIDDEN)
    return visible.strip()[:LONGEST].rstrip()
