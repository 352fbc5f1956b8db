"""What no log line may hold, whoever wrote it: phones, openids, mail addresses, identity numbers, keys.

Invariant: every other character stays. It errs towards hiding: a number that only looks like a phone is
no loss in a log. The known form of a thing is hidden; a QQ number has none that tells it from a count.
"""

import re
from collections.abc import Iterable

import re2

from bot.conversation.masking import MASK, MAY_HOLD_SECRETS, half_width, mask_secrets

SHORTEST_SECRET = 6
"""A shorter setting is a part of ordinary words: hiding it would blacken the log and say what it is."""

_QUOTED_BREAK = r"(?<=\\[nrt])"
"""A line break as `repr` writes it: the letter is no part of what follows."""
_SHAPES = re.compile(
    "|".join(
        (
            # WeChat: `o` and 27 more, a unionid one more at times. A digit or capital tells it from a name.
            rf"(?:(?<![A-Za-z0-9_\-])|{_QUOTED_BREAK})"
            r"o(?=[a-z_\-]{0,27}[A-Z0-9])[A-Za-z0-9_\-]{27,28}(?![A-Za-z0-9_\-])",
            # QQ's official bots: openids of people and groups, ids of messages.
            rf"(?:(?<![A-Za-z0-9])|{_QUOTED_BREAK})[0-9A-F]{{32}}(?![A-Za-z0-9])",
            r"ROBOT1\.0_[A-Za-z0-9_.!\-]+",
            r"(?<![0-9])(?:(?:\+|00)?86[ \-]?)?1[3-9][0-9](?:[ \-]?[0-9]{4}){2}(?![0-9])",
            r"\+[1-9](?:[ \-]?[0-9]){7,14}(?![0-9])",
            r"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{1,63}){1,8}",
            # Birthdays within: what is none is no identity number. The check digit may be mistyped.
            rf"(?:(?<![0-9A-Za-z])|{_QUOTED_BREAK})"
            r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{4}[0-9Xx](?![0-9A-Za-z])",
            rf"(?:(?<![A-Za-z0-9])|{_QUOTED_BREAK})"
            r"(?:sk|pk|rk)-[A-Za-z0-9_\-]{6,}",
            r"(?P<scheme>://)[^\s/@]{1,256}@",
            r"(?P<name>[?&][a-z_]{0,16}(?:signature|token|secret|key|openid|echostr|nonce)=)[^&\s\"'<>]+",
        )
    )
)
_MAY_BE_PRIVATE = re2.compile(
    r"o[A-Za-z0-9_\-]{27}|[0-9A-F]{32}|ROBOT1\.0_|[0-9][ \-]?(?:[0-9][ \-]?){6}[0-9]|@|(?:sk|pk|rk)-|://"
    r"|(?:signature|token|secret|key|openid|echostr|nonce)="
    rf"|{MAY_HOLD_SECRETS}"
)
"""What each of the shapes and each secret holds, in RE2's one pass: most lines have none of it, and are looked at no
closer."""


def redact(text: str, hidden: Iterable[str] = ()) -> str:
    """The text with everything private replaced by `MASK`.

    `hidden`: secrets of this house, which no form gives away; those under `SHORTEST_SECRET` are left.
    """
    for secret in hidden:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    if not _MAY_BE_PRIVATE.search(half_width(text)):
        return text
    text, _ = mask_secrets(text)
    folded = half_width(text)
    kept: list[str] = []
    end = 0
    for match in _SHAPES.finditer(folded):
        # What introduces a secret stays, to say which it was.
        introduced = max(match.start(), match.end("scheme"), match.end("name"))
        kept += (text[end:introduced], MASK)
        end = match.end()
    return "".join((*kept, text[end:]))
