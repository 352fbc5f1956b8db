"""Links: what stands behind one isn't the person's word, and a memory of it would be handed on by the bot.

Invariant: an address of mail is none.
"""

import re

from bot.memory.normalise import normalise

_LINK = re.compile(
    r"[a-z][a-z0-9+.\-]{1,10}://|\bwww\.|(?<![@\w.\-])(?:[a-z0-9\-]{1,63}\.){1,4}"
    r"(?:com|cn|net|org|io|xyz|top|ly|me|cc|vip|info|club|site|shop|app|dev|ai|co|tv|link|ru|tk|gg|online)(?![a-z0-9@])"
    r"|(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[:/]|$)|(?:^|[^\w@])[a-z0-9.\-]{1,63}\s?(?:点|dot)\s?(?:com|cn|net)\b"
    r"|(?:扫码|长按识别|点击(?:链接|下方|这里)|链接(?:在|:|如下)|淘口令|口令红包|[¥￥][a-z0-9]{8,14}[¥￥])"
)


def has_link(text: str) -> bool:
    return _LINK.search(normalise(text)) is not None
