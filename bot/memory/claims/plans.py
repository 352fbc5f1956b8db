"""A plan that is off: 「我打算去黄山」 and 「黄山去不成了」.

Invariant: pure; linear. The later words name what the plan was of, or say by its own verb that it isn't done; a time alone
names nothing.
"""

import re
from functools import lru_cache

_LATELY = 256
"""Texts whose terms are kept: one is held against every memory of its person."""
_PLAN = re.compile(
    r"打算|计划|准备|想(?:去|要|买|学|换|考|报|办|请|把|养|装)|要(?:去|来|回|考|参加|办|搬|买|飞|请|跟|和|带|做|开|上|交|出|换|装|学|报|养|把|结婚)|约(?:了|好|的|在)"
    r"|订(?:了|好|的)|定(?:了|好|在)|报(?:了|名)|预约|安排|下(?:个?月|周|个?星期|学期)|明[天年晚早]|后天|今晚|周[一二三四五六日天末1-7]|月底|年底"
    r"|国庆|五一|元旦|春节|过年|暑假|寒假|中秋|端午|清明|[0-9]+[月号日点]"
)
_OFF = re.compile(
    r"(?P<whole>取消|泡汤|黄了|退订|没(?:批|抢到|买到|订到|约上|约到|申请(?:到|下来)|赶上)|被?(?:拒|驳回)了|推到|推了|挪到|调(?:整)?到|放下了|半途而废|退(?:了)?学费|作废|弃权|放弃|退了|退掉|退票|搁置|放(?:一)?放|缓(?:一)?缓|推迟|延[后期]|改期|改签|改天|落空|搁浅|鸽了|计划有变|作罢|告吹"
    r"|太[^,]{1,4},(?:还是|就|改|换|决定|我们?)*去|没戏|算了|变卦|改(?:去|成|到|约|在|道|为|吃|看|买|学|坐|飞|回|订|报|办|签)|换(?:成|到|个)|先不"
    r"|决定不|打消|推掉|辞掉|吹了|不算数|不作数|没(?:能|去|办|买|走|约|考|学|看|来|回|吃)?成)"
    r"|延毕|(?P<verb>[\u4e00-\u9fff])(?:加)?不(?:成|了|上|起|动|去|来|到)了?"
    r"|不(?:打算|准备|想|能|用|要|再|会)*(?P<verb2>[\u4e00-\u9fff])(?:加)?[^,.]{0,8}了"
    r"|没(?P<verb3>去|办|买|走|约|考|学|看|来|回|搬|换|结|养)(?:了)?(?=$|[,.;!])"
)
_GOES_ELSEWHERE = re.compile(r"^(?:我们?|那|还是|决定|最后|后来|现在)*改(?:成|为)?去")
_THING = re.compile(
    r"(?P<n>(?![我你您他她它这那都就也先])[\u4e00-\u9fff])(?:先|就|也|我|还是|暂时|现在)*不(?:打算|准备|想|能)?(?P<v>[\u4e00-\u9fff])了"
)
"""「车先不买了」."""
_STOPPED = re.compile(
    r"(?:^|,)(?:我|现在|以后|就|已经|早就|都|最近|基本|所以|再也)*不(?:再|敢|能|怎么)?(?P<v>[喝吃玩用去抽养学练打看做骑开追刷])了?(?=$|[,.])"
)
_ANY_VERB = frozenset("去办做搞参走")
"""Of whatever was planned."""
_COMMON = frozenset("去来要想用买吃看开是有在到会能对好知过得行说问等")
"""Said of many things: alone they don't tell which plan is off."""
_BOOKED = re.compile(r"[票课房餐]")
_ENDING = re.compile(r"(?<=[房车票裙裤鞋])子")
"""「房子不买了」 after 「打算买房」."""
_OF_SOMETHING = re.compile(
    r"[^,的]{1,6}的(?!行程|计划|安排|打算|事|约|[机车船门]?票|酒店|房|课|团|活动|旅行|会)(?=[^,的]{1,6}(?:取消|推|改|退|黄|挪|延))"
)
"""「酒店的早餐取消了」 is of the breakfast."""
_WORD = re.compile(r"[a-z0-9]{2,}|[\u4e00-\u9fff]+")
_FRAME = re.compile(
    r"打算|计划|准备|想要?|要|安排|预约|约好?|订好?|定好?|报名|参加|我们?|咱们?|一起|跟|和|了|的|在|去|来|回|到|个|一下|现在|已经|不|没|吧|啊"
    r"|取消|推迟|改|换|决定|先|事|因为|所以|太|又|就|也|都|还|再|能|会|时间|时候"
    r"|今年|明年|下个?月|上个?月|这个?月|下个?周|这周|周末|周[一二三四五六日天末1-7]|今[天晚]|明[天晚早]|后天|月底|年底|[早中晚]上|[上下]午"
    r"|国庆|五一|元旦|春节|过年|暑假|寒假|中秋|端午|清明|[0-9]+[年月号日点]半?"
)
_TIME = re.compile(
    r"周[一二三四五六日天末1-7]|今[天晚]|明[天晚年]|后天|月底|年底|国庆|五一|元旦|春节|过年|暑假|寒假|中秋|端午|清明|[0-9]+[月号日]|下个?月|下周"
)


def is_off(new: str, old: str) -> bool:
    """`new`: a whole message in its form, `old`: an earlier clause, both of one owner."""
    if _PLAN.search(old) is None:
        return False
    new, old = (_ENDING.sub("", text.replace("会议", "开会")) for text in (_OF_SOMETHING.sub("", new), old))
    if _GOES_ELSEWHERE.match(new) and "去" in old:
        return True
    for found in _THING.finditer(new):
        if re.search(f"{found['v']}.{{0,2}}{found['n']}", old):
            return True
    off = list(_OFF.finditer(new))
    if not off:
        return False
    shared = _terms(new) & _terms(old)
    times = set(_TIME.findall(new)) & set(_TIME.findall(old))
    for found in off:
        verb = found["verb"] or found["verb2"] or found["verb3"]
        if verb is None:
            if shared or (
                times and _BOOKED.search(new) and set(_BOOKED.findall(new)) & set(_BOOKED.findall(old))
            ):
                return True
        elif (
            (verb in old and (shared or times or (verb not in _COMMON and _is_alone(new, found.start()))))
            or (verb in _ANY_VERB and times and found["verb"])
            or (verb in _ANY_VERB and shared)
        ):
            return True
    return False


def _is_alone(text: str, place: int) -> bool:
    """Nothing stands before it that it could be of."""
    return (
        re.fullmatch(r"(?:我们?|那|就|也|还是|现在|决定|先|又)*", text[:place].rpartition(",")[2]) is not None
    )


def is_stopped(new: str, old: str) -> bool:
    """What the earlier part of `new` names isn't done any more, as its end says; `old` says that it is done."""
    return any(
        found["v"] in old and f"不{found['v']}" not in old for found in _STOPPED.finditer(new)
    ) and not _terms(new).isdisjoint(_terms(old))


@lru_cache(_LATELY)
def _terms(text: str) -> frozenset[str]:
    """Pairs of characters, and whole words in letters or digits."""
    found: set[str] = set()
    for piece in _WORD.findall(_FRAME.sub(" ", text)):
        if piece[0].isascii():
            found.add(piece)
        else:
            found.update(piece[at : at + 2] for at in range(len(piece) - 1))
    return frozenset(found)
