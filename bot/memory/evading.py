"""What is neither a yes nor a no: hesitation (「嗯……我想想」), irony (「才怪」), an apology (「对不起，没看清」).

Invariant: pure, linear. What may be meant so answers nothing; only an apology may have an answer behind it.
"""

import re
from collections.abc import Sequence

from bot.conversation.text import content

_HESITATES = re.compile(
    r"(?:我|让我|容我|得|要|再|先|好好)(?:仔细|好好)?(?:想想|想一[想下]|想下|考虑|确认|核实|核对|回忆|查|看看|看一[看下]|看下|问问|问一?下|量)|^(?:嗯+)?想想|想一下|想想看|考虑一?下"
    r"|不好说|说不[好准清]|难说|不一定|不见得|未必|看(?:情况|心情|时候|场合|人|天气|季节|吧)|分情况|视情况|看具体|随便|随缘|都行|无所谓"
    r"|不(?:太|大|是很|很)?(?:确定|清楚|知道|记得|晓得)|记不[清得住]|忘了|没印象|应该吧|大概吧|也许|可能吧|好像吧|算是吧|等等|等会|等下|稍等|待会|回头再|再说吧|以后再说"
    r"|怎么说呢|这个嘛|那个嘛|这要看|要看|取决于"
)
_IRONIC = re.compile(
    r"才怪|才不|想得美|想得倒美|(?:你|您)?猜(?!对|中|得|的|着)|做梦|个(?:鬼|屁|头|毛|锤子)|见鬼|鬼才|可能吗|怎么可能|你说呢|谁说的?|谁告诉|是又怎|又怎么?样|又如何|关你|管得着|要你管"
    r"|扯淡|扯吧|笑话|开(?:什么|啥)?玩笑|你说什么都|说什么都对|你(?:觉得|看)呢|呵呵$|^呵呵|信你|逗你|骗你|哄你|反正|爱咋咋|随你(?:怎么)?(?:说|想)"
)
_TRAILS = re.compile(
    r"^(?:嗯+|呃+|额+|哦+|啊+|这|那|那个|这个|对|是)[\s,，]*(?:…+|\.{3,}|。{3,}|、{2,})[\s…。.]*$"
)
"""「嗯……」, and no more."""
_SORRY = re.compile(
    r"^(?:非常|真|真的|很|太|实在|啊|哎呀?|噢|哦)*(?:对不[起住]|抱歉|不好意思|失礼|见谅|sorry)(?:了|啊|哈|哦|呀|呢)*",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"^(?:我)?(?:刚才?|刚刚|一直)?(?:才?看到|才?回|没(?:看|听|注意)|手滑|[发点打按看回]错|[回来]晚|才看|网|信号|在?忙|在(?:开|上|外|路|吃|洗|睡)|走神|睡着|不是故意|让[你您]|久等|打扰)"
)
_UNREAD = re.compile(r"没(?:看|听|搞|弄|太|怎么)?(?:清|懂|明白|见|到|看)|手滑|[发点打按]错|什么意思|没注意")
"""They answer something that they didn't read."""


def evades(reply: str) -> bool:
    """A reply as it was written answers nothing."""
    said = content(reply)
    return bool(_HESITATES.search(said) or _IRONIC.search(said) or _TRAILS.match(reply.strip()))


def without_apology(texts: Sequence[str]) -> list[str]:
    """A reply's clauses without what is only polite; none where it says that the question was not read."""
    left: list[str] = []
    is_sorry = False
    for text in texts:
        bare = text.strip()
        found = _SORRY.match(bare)
        if found is None:
            left.append(text)
            continue
        is_sorry = True
        rest = bare[found.end() :].strip()
        if rest and not _EXCUSE.match(rest):
            left.append(rest)
    if is_sorry and left and _UNREAD.search(left[0]):
        return []
    return [each for each in left if not (is_sorry and _EXCUSE.match(each.strip()))]
