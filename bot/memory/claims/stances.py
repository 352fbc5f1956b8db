"""What somebody does or likes, or does and likes no more: eats, plays, keeps, is allergic to.

Invariant: pure; linear: gaps are bounded. A stance is read only where the words say a habit, a taste or an end of one,
so that what was eaten once, or ordered, is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from bot.conversation.sieve import Sieve

_EAT = "吃|喝|抽|吸|沾|碰|饮|嚼"
_DO = "|".join(
    (
        "参加|学习|练习|负责|收集|学|练|打|跑|玩|看|听|写|画|弹|唱|跳|做|追|刷|逛|骑|游|踢|爬|养|种|炒|教",
        "坐|搭|用|戴|穿|染|订|订阅|管|上|去|住|租|续|报|点|用着|碰",
    )
)
_LIKE = "喜欢|爱|迷|粉|偏好|感兴趣|想要|需要|想|要"
_HAVE = "有"
_FEAR = "怕|害怕|恐惧"
_CLASSES = {
    **dict.fromkeys(_EAT.split("|"), "eat"),
    **dict.fromkeys(_DO.split("|"), "do"),
    **dict.fromkeys(_LIKE.split("|"), "like"),
    **dict.fromkeys(_FEAR.split("|"), "fear"),
    "有": "have",
    "": "any",
}
_VERB = "|".join(
    sorted(
        (*_EAT.split("|"), *_DO.split("|"), *_LIKE.split("|"), *_FEAR.split("|"), _HAVE),
        key=len,
        reverse=True,
    )
)
_OBJECT = r"(?P<o>(?!了|过|着)[0-9a-z\u4e00-\u9fff]{1,10}?)"
_CLOSE = r"(?:了|啦|咯|呢|的|哦|吧)*(?=$|[,.;!?])"
_MAY = "再|能|会|想|敢|可以|应该|[让准许]我?|得|太|怎么|大|是|打算|准备|经常|常"
_NO = rf"(?:再也不|很少|几乎不|已经不|早就不|现在不|以后不|不再|不怎么|不太|不|没|(?<![特分区级性个告])别)(?:{_MAY})*"
_ENDS_BEFORE = "|".join(
    (
        "戒掉?|改掉|摆脱|停[了用掉]?|放弃|取消|退出?|讨厌|厌恶|受不了|告别|离开|卖掉?|扔掉?|注销|解约|忌口?|吃不了",
        "喝不了|吃不惯|喝不惯|远离|退订|停[练学喝吃]",
    )
)
_ENDS_AFTER = (
    "戒掉?了?|停掉?了?|取消了?|卖掉?了|扔掉?了|丢了|送人了?|送走了?|送给[^,]{1,6}了?|给了?[^,]{1,6}养了?"
    "|被[^,]{1,6}(?:领走|接走|领养)了?|领养走了|走丢了|(?:上个?月|上周|昨天|前几天|去年)?(?:去世|走)了|没了|不要了"
    "|不用了|退掉?了|退订了|注销了|断了|黄了|解散了|关掉?了|吃不了了?|喝不了了?"
    "|送(?:了)?(?:朋友|同事|亲戚|邻居|别人|我?[妈爸姐哥弟妹]|回[^,]{1,4})了?|飞走了|摘了|摘掉了|拆了|拆掉了|卸了|死光了|(?:病|老|饿|全|都)?死了?|不在了|(?:回|去)了?[喵汪兔鼠鸟鱼龟猫狗]星球?了?|没救(?:活|回来|过来)|安乐死了?|跑丢了?|找不到了|放生了|转让了|给人了?"
    "|没养活|养不了了?|回老家养了?|戒掉了|删了|卸载了|退了课?|打不通了?|停机了|收起来了|淘汰了|搁置了|退租了|退掉了"
    "|退卡了|停课了|被偷了|丢失了|报废了|到期了|不续了|泡汤了|不办了|停更了|不行了|坏了|作废了"
    "|(?:没|未)(?:能)?(?:挺|熬|撑|扛)过[^,]{1,4}|翻(?:了)?肚皮?了?|寿终正寝了?|咽气了|往生了|夭折了|(?:安详|永远|平静)?地?离开(?:了我们?|我们?|人世)?了|病逝了?|过世了?"
    "|过继给[^,]{1,6}了?|(?:托付|转让|转送|让|转)给[^,]{1,6}了?|(?:被|让|叫|由)[^,]{1,6}(?:领|抱|收养|要|买|牵)(?:回去|走|去)(?:养)?了?"
    "|飞(?:出|走|跑)[^,]{0,8}|走失了|丢失了|跑出去(?:了|没回来)|再没回来|收养(?:走|去)了?|放回[^,]{1,6}了?|杀了(?:吃(?:了|掉了))?|吃掉了"
    "|注销掉了|销户了|销号了|封了|被封了?|登不上了?|拆掉了|撤了|停用了?|(?:断|掐|停)了(?:小|快|有|大)?[0-9半一二两三四五六七八九十几]{1,3}个?(?:年|月|天|周|星期)(?:多|了)?|已经掐了[^,]{1,5}|掐(?:掉)?了|断掉了?|戒(?:干净|断|成功)了?"
    "|(?:追|看|读|学|考|还|坐)完了|半途而废了?|荒废了|(?:搁|放|撂)下了|搁一边了|盘(?:出去|给[^,]{1,6})了?|倒闭了|转出去了|退订了?"
    "|吃伤了|吃腻了|喝腻了|玩腻了|喝伤了|退坑了?|弃坑了?|退(?:了)?(?:学)?费了|解除了|解绑了|停产了|关停了|报停了|欠费停机了?|转手了?|兑出去了?|弃用了"
)
_DENIED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NO}对{_OBJECT}(?P<v>过敏|感兴趣){_CLOSE}",
        rf"对{_OBJECT}(?:已经|现在|早就|也|都)?{_NO}(?P<v>过敏|感兴趣){_CLOSE}",
        rf"(?:^|[,.;!?]|说|我|现在){_OBJECT}(?:已经|现在|都)*{_NO}(?P<v>过敏){_CLOSE}",
        rf"{_NO}在{_OBJECT}(?:上班|工作|干|做|住|读书|上学|待|租)?{_CLOSE}",
        rf"把{_OBJECT}(?:都)?(?:送|卖|扔|还|退|捐|给|停|戒|取消|注销|辞)[^,]{{0,8}}了?$",
        rf"{_NO}(?P<v>喜欢|爱|想|要|能|会)?(?P<w>{_VERB}){_OBJECT}{_CLOSE}",
        rf"(?:{_ENDS_BEFORE})了?(?P<v>{_VERB})?{_OBJECT}{_CLOSE}",
        rf"(?:^|[,.;!?]|我|把|现在|以后|最近)(?:家的?|的|那[只条个辆]|养的)?{_OBJECT}(?:我|就|现在|已经|也|都|早就"
        rf"|最近|以后|给|被|让我|全)*(?:上个?月|上周|昨[天晚]|前[天晚]|前几天|前两天|前阵子|去年|今年|今天|今早|刚刚?|全|终于|彻底|遵医嘱|按医嘱|老了,|这事|那事|后来)*(?:{_ENDS_AFTER})(?=$|[,.;!?换买改])",
        rf"(?:^|[,.;!?]|我|现在|以后|最近){_OBJECT}(?:我|就|现在|已经|也|都|早就|最近|以后|实在|是)*{_NO}(?P<v>喜欢"
        rf"|爱|想|要|能|会)?(?P<w>{_VERB}){_CLOSE}",
    )
)
_FINISHED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:考上|考过|拿到|考到|通过|学会|完成|做完|写完|读完|办好|办完|修好|装好|找到|买到|交了)了?{_OBJECT}{_CLOSE}",
        rf"(?:^|[,.;!?]|我|的){_OBJECT}(?:我|都|已经|终于|也|全|基本)*(?:考上|考过|考完|拿到手?|通过|学会|完成|做完"
        rf"|写完|读完|结束|办好|办完|修好|装好|搞定|找到|痊愈|恢复|好全?)了$",
        rf"不{_OBJECT}了$",
    )
)
"""What is done is under way no more."""
DONE = "完"
"""The word of such a stance."""
_HABITS = "|".join(
    (
        "很|挺|最|特别|非常|超级?|比较|一直|经常|常常?|每[天周月年晚早][^,]{0,6}|天天|平时|习惯了?",
        "爱上了?|迷上了?|开始|又|重新|恢复|已经|现在|也|都|能|可以|会|敢|慢慢|终于|正在|在|都在|有时候?",
        "偶尔|只|就|改|决定|学会了?|离不开|喜欢|爱|钟爱|热爱|酷爱",
    )
)
_HABIT = rf"(?:{_HABITS})"
_HELD = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:吃|喝|闻|碰|摸)(?:了|到|点)?{_OBJECT}(?:就|会|都|也|之?后)*(?P<v>过敏){_CLOSE}",
        rf"对{_OBJECT}(?:有点|有|严重|很|会|也|都)*(?P<v>过敏|感兴趣|上瘾)(?:反应|体质)?{_CLOSE}",
        rf"{_HABIT}+(?P<w>{_VERB}){_OBJECT}{_CLOSE}",
        rf"(?P<v>喜欢|喜爱|热爱|爱好|偏爱|钟爱|爱上了?|迷上了?|离不开|习惯|最爱|怕)(?:是)?(?P<w>{_VERB})?{_OBJECT}{_CLOSE}",
        rf"(?:^|[,.;!?]|我|俺|本人)(?P<w>吃|喝|抽|养了?|学|练|玩|用|怕|有|需要|想要)(?:着|一[只条个])?{_OBJECT}{_CLOSE}",
        rf"{_HABIT}*[0-9一两几半][杯瓶根包顿碗支罐次回]{_OBJECT}{_CLOSE}",
        rf"(?:^|[,.;!?]|我|现在|以后|最近){_OBJECT}(?:我)?(?:现在|已经|也|都|又)*(?:能|可以|会|敢|爱|喜欢"
        rf"|开始)(?P<w>{_VERB}){_CLOSE}",
        r"无(?P<o>[\u4e00-\u9fff])不欢",
        rf"(?P<w>吃|喝|碰|闻){_OBJECT}(?:现在|已经|也|都|完全|就)*(?:没事|没问题|没压力|没反应|毫无压力|不在话下|不怕)了?$",
        rf"(?:^|[,.;!?]|我){_OBJECT}(?:我|现在|已经|也|都|完全|就)*(?:能接受|吃得惯|喝得惯|吃得下|随便(?P<w>吃|喝))了?$",
        rf"(?:^|[,.;!?]|我){_OBJECT}(?:我)?(?:(?:已经|最近)?(?:也|又|都)|现在(?:也|又|都)?)(?P<w>吃|喝|玩|用|看|学|做"
        rf"|养)(?:上)?了?{_CLOSE}",
    )
)
_STRIPPED = re.compile(
    r"(?:这|那)(?:件)?事$|的(?:坏)?(?:毛病|习惯)$|(?:那边|这边|那里)$|的(?:计划|安排|打算|行程|事|约|会员|课|卡|工作|活)$|^(?:了|着|过|个|[0-9一]{0,2}[只条点些杯根包瓶口个种位辆台份]"
    r"|[这那][个家种缸张台部辆条只]|[缸窝笼]|任何|太多?|很多|这么多|各种|那么)+|(?:了|着|过|的|这种东西|什么的|之类的?|类|课|了的)+$"
)
_NO_OBJECT = re.compile(
    rf"^(?:{_VERB}|什么|知道|懂|清楚?|明白|见|完|错|都|全|也|就|了|的|是|这样|那样|一样|去|来|到|起|着|下|上|得|很|太|会|能|我|你|您|他|她|它|人|事"
    rf"|东西|时间|空|问题|办法|.*(?:什么|怎么|多少|哪))$"
)
_ONCE = re.compile(r"昨[天晚]|今[天早晚]|刚才|上次|那次|一下|[了过](?:一?[次顿杯碗份])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """To something that is named."""

    object: str
    verb: str
    """Its class: eat, do, like, fear, have, allergic; any where the words leave it open."""
    word: str
    """The verb as it was said; "" for none."""
    holds: bool


_WISHED = re.compile(r"不(?:是很|太)?想(?:再|继续)?(?:住|待|租|上班|干|上)")
"""Nothing has ended yet for who only has enough of it."""


def find_stances(clause: str) -> Iterator[Stance]:
    """Of a clause in its form. One that denies affirms nothing."""
    denied = [] if _WISHED.search(clause) else list(_read(_DENIED, clause, holds=False))
    yield from denied
    yield from (replace(each, verb="any", word=DONE) for each in _read(_FINISHED, clause, holds=False))
    if not denied and not _ONCE.search(clause):
        yield from _read(_HELD, clause, holds=True)


def _read(patterns: tuple[re.Pattern[str], ...], clause: str, *, holds: bool) -> Iterator[Stance]:
    """Of denials every pattern that fits; of what is done the first, which says it best."""
    for place in _sieve(patterns).fitting(clause):
        found = patterns[place].search(clause)
        if found is None:
            continue
        groups = found.groupdict()
        word = groups.get("w") or groups.get("v") or ""
        stances = [
            Stance(object=name, verb=_class(word), word=word, holds=holds)
            for each in re.split(r"[、和跟与及]|以及|还有", groups["o"])
            if (name := _PET_WORDS.get(bare := _STRIPPED.sub("", each), bare)) and not _NO_OBJECT.match(name)
        ]
        yield from stances
        if stances and holds:
            return


@cache
def _sieve(patterns: tuple[re.Pattern[str], ...]) -> Sieve:
    return Sieve(patterns)


_PET_WORDS = {"二哈": "哈士奇", "狗狗": "狗", "小狗": "狗", "猫猫": "猫", "猫咪": "猫", "小猫": "猫"}


def _class(word: str) -> str:
    if word == "过敏":
        return "allergic"
    return _CLASSES.get(word.rstrip("了着"), "like")
