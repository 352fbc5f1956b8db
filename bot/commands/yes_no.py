"""「好」 and 「不」 as a whole message, for what waits for 「确认」.

Invariant: pure; neither carries anything out: a word that may answer something else is not enough to delete by.
"""

from bot.conversation.simplified import simplified
from bot.conversation.text import content

_YES_WORDS = (
    "好 好的 好吧 好啊 好呀 是 是的 对 对的 嗯 嗯嗯 行 行吧 可以 可以的 没问题 要 同意 确定 确定的 清除 清吧 删吧 删除 忘吧 忘掉"
    " 忘了吧 ok okay yes y sure 1"
)
_NO_WORDS = (
    "不 不要 不用 不用了 不要了 不了 不是 不行 不可以 不同意 不确认 不清除 不清了 不删 不删了 不忘了 不对 算了 算了吧 还是算了"
    " 还是算了吧 那算了 先不 先不了 先不要 先算了 别 别删 别清 别清除 别忘 等等 等一下 停 否 保留 留着 后悔了 no n nope"
)
_YES = frozenset(_YES_WORDS.split())
_NO = frozenset(_NO_WORDS.split())


def says_yes(text: str) -> bool:
    return content(simplified(text)) in _YES


def says_no(text: str) -> bool:
    return content(simplified(text)) in _NO
