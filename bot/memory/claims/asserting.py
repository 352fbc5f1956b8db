"""What a clause only seems to claim: a change that is denied, what others advise or believe, an idle word; what still
holds; and what is told beside the first.

Invariant: pure; linear: gaps are bounded; over clauses in their form. What is doubtful asserts nothing, so that
nothing is closed for it.
"""

import re

from bot.memory.claims.claim import SELF
from bot.memory.claims.owners import owner_of

_CHANGED = r"(?:换|改|变|搬|卖|送[人走给]|离职|离开|辞|跳槽|分手|离婚|戒|退|停|注销|取消|扔|丢|断|放弃|转行|转学|毕业)"
_NO = r"(?:没有?|并没有?|并未|从未|从没|从来没有?|不会|不可能|没打算|不打算|没想过?|怎么(?:可能|会)|哪[能会]|哪里会)"
_DENIED = re.compile(
    # 「我不是不学日语了」, 「没有不养猫」
    r"(?<!是)(?:不是|没有|没|并非|怎么(?:可能|会)|哪[能会]|哪里)(?:我|真的|说|就|都|完全|彻底|想|要)*不(?!过|错|同|然)(?:再)?[^,.;]{1,12}"
    # 「我没说我喝咖啡了」, 「谁说我换号了」
    r"|(?:没有?|从未|从来?没|并未|哪有|哪里?|何时|什么时候|谁)(?:有)?(?:跟|和|对|告诉)?(?:你|您|你们)?(?:说|讲|提|承认|答应|告诉[你您])(?:过|了)?(?:我|要|会)"
    rf"|{_NO}(?:真的?|要|想)*(?:把|从|跟|和|给)[^,.;]{{1,10}}?{_CHANGED}"
    r"|没(?:有)?(?:换|改|变|搬|卖|离职|辞职?|跳槽|分手|离婚|戒|放弃|注销|取消|送[人走])(?!成)"
)
_OTHERS_THINK = re.compile(
    r"(?:劝|催|逼|怂恿|撺掇|误会|以为|怀疑|建议|希望|巴不得|盼着?|担心|想[让叫要]|猜|传|问)(?:说|是)?(?:我|咱)"
    r"|(?:有人|别人|人家|大家|他们|有的人|谁都|网友|亲戚)(?:们)?(?:都|也|还|老|总|一直|天天|又)*(?:劝|催|让|叫|说|传|讲|想|要)"
)
_IDLE = re.compile(
    r"^(?:哈+,?)?(?:那|干脆|不如|要不|大不了|实在不行|早知道)(?:我|就|还|也|把)*[^,.;]{1,20}(?:好了|算了|得了|拉倒|去吧)$"
    r"|(?:改名|改叫|改姓|搬到|搬去|转行|去当|当|辞了?职去|辞了去|改行)[^,.;]{1,12}(?:好了|算了|得了|拉倒)$"
)


def is_asserted(clause: str) -> bool:
    """It says itself that something is so."""
    return not (_DENIED.search(clause) or _OTHERS_THINK.search(clause) or _IDLE.search(clause))


_STILL = re.compile(
    r"(?:还是|还得是|还就是|仍然?是?|依然是?|依旧是?|照旧)(?:觉得|得|就|继续|住在?|用|喝|吃|穿|叫|在|打|加|发到?|寄到?|送到?|开|买)*(?P<v>[^,.;!?]{1,24})"
)
_TOKEN = re.compile(r"[0-9a-z@._\-]+")
_LEAST = 2
"""Characters of a word that is known again."""


def still_holds(new: str, old: str) -> bool:
    """`new` says of what `old` names that it is as before: 「43码大了，还是42合适」."""
    for found in _STILL.finditer(new):
        value = found["v"]
        if (token := _TOKEN.match(value)) is not None:
            if re.search(rf"(?<![0-9a-z]){re.escape(token.group())}(?![0-9a-z])", old):
                return True
        elif value[:_LEAST] in old and len(value) >= _LEAST:
            return True
    return False


_BESIDE = re.compile(
    r"还有(?:[1一]?[个辆台套间部张处份])|还(?:租|买|养|开|办|兼|做|在[^,.;]{1,10}(?:租|买|兼|做))|另外?[1一]?[个部张台辆套]|第[二2][个部张套]"
    r"|备用|小号|副[号卡]|也(?:可以|能|行|有)|还(?:能|可以)(?:打|加|用|发|联系|找)|[两二2]个?都|再(?:办|开|注册)了?[1一]?个|抄送"
)
_INSTEAD = re.compile(r"换|改|停机|停用|作废|注销|不用了|失效|不再|不住|退了|卖了")


def is_told_beside(text: str) -> bool:
    """A message tells of one more, and not of another in its place."""
    return _BESIDE.search(text) is not None and _INSTEAD.search(text) is None


_FOR = re.compile(r"^(?:就|再|要|想|得|所以|准备|打算)*(?:给|帮|替|为)")
_GOODS = re.compile(r"(?:[大小紧松短长]|不合[身适适]|穿不[上下了进]|坏)了?$")


def is_of_next(clause: str, following: str) -> bool:
    """「L码大了，给我妈换M」: what was bought is of whom the next clause names."""
    if "我" in clause or _GOODS.search(clause) is None or (found := _FOR.match(following)) is None:
        return False
    return following[found.end() :].startswith(("他", "她")) or owner_of(following) != SELF


_AGAIN = re.compile(
    r"^(?:那就?|还是|算了|我|就|先)*(?:改|换)(?:成|为|到|要)?(?P<n>[0-9]+|[一二两三四五六七八九十半]+)(?P<c>[份件套盒箱斤位人张间晚桌支双瓶本杯袋])(?:的|了|好了)?$"
)


def other_amount(clause: str) -> re.Match[str] | None:
    """「改成四份」: n of the measure c, of whatever was ordered last."""
    return _AGAIN.match(clause)
