"""Of whom a clause speaks: the person, somebody of theirs, or a pet.

Invariant: pure; linear. Whoever can't be told apart from the person by words is the person.
"""

import re
from functools import lru_cache

from bot.memory.claims.claim import SELF
from bot.memory.third_parties import names_somebody

_KIN = {
    "妈妈": "我妈妈|妈妈|妈咪|老妈|母亲|我妈|妈",
    "爸爸": "我爸爸|爸爸|老爸|父亲|我爸|爸",
    "父母": "父母|爸妈|爸爸妈妈|二老",
    "婆婆": "婆婆",
    "公公": "公公",
    "岳母": "岳母|丈母娘",
    "岳父": "岳父|老丈人",
    "妻子": "老婆|妻子|媳妇儿?|太太|爱人|夫人",
    "丈夫": "老公|丈夫|我先生",
    "女友": "女朋友|女友",
    "男友": "男朋友|男友",
    "对象": "对象|另一半|未婚[夫妻]",
    "大女儿": "大女儿|大闺女",
    "小女儿": "小女儿|小闺女|二女儿",
    "女儿": "女儿|闺女",
    "大儿子": "大儿子",
    "小儿子": "小儿子|二儿子",
    "儿子": "儿子",
    "老大": "老大",
    "老二": "老二",
    "孩子": "孩子|小孩|宝宝|娃|宝贝",
    "哥哥": "哥哥|我哥|大哥|表哥|堂哥",
    "姐姐": "姐姐|我姐|大姐|表姐|堂姐|姐夫",
    "弟弟": "弟弟|我弟|表弟|堂弟",
    "妹妹": "妹妹|我妹|表妹|堂妹|妹夫",
    "爷爷": "爷爷",
    "奶奶": "奶奶",
    "外公": "外公|姥爷",
    "外婆": "外婆|姥姥|外婆家",
    "叔": "叔叔|舅舅|伯伯|姑姑|姨妈|阿姨|舅妈|婶婶|小姨",
    "孙": "孙子|孙女|外孙",
    "侄": "侄子|侄女|外甥女?",
    "室友": "室友|舍友",
    "同事": "同事",
    "同学": "同学|同桌",
    "朋友": "朋友|闺蜜|哥们|兄弟",
    "老板": "老板|领导|上司|组长|店长|校长|院长",
    "老师": "班主任|导师",
    "邻居": "邻居|隔壁|楼上|楼下|对门",
    "房东": "房东",
    "客户": "客户",
    "猫": (
        "猫咪?|小猫|大橘|橘猫|橘白猫?|布偶猫?|英短|美短|狸花猫?|蓝猫|三花猫?|加菲猫?|暹罗猫?|缅因猫?|无毛猫"
        "|奶牛猫|波斯猫|猫粮|猫砂"
    ),
    "狗": (
        "狗狗?|小狗|金毛|泰迪|柯基|拉布拉多|哈士奇|二哈|边牧|比熊|萨摩耶?|柴犬|法斗|雪纳瑞|博美|吉娃娃"
        "|德牧|贵宾犬?|巴哥|阿拉斯加|秋田犬?|马尔济斯|土狗|田园犬|狗粮"
    ),
    "宠物": "兔子|仓鼠|鹦鹉|乌龟|宠物|金鱼|锦鲤|龙猫|荷兰猪|豚鼠|孔雀鱼|热带鱼|八哥|文鸟|刺猬|守宫|蜥蜴|小鸟",
}
_WORDS = sorted(
    ((word, owner) for owner, words in _KIN.items() for word in words.split("|")),
    key=lambda pair: -len(pair[0]),
)
_ANY = "|".join(word for word, _ in _WORDS)
OTHERS = "?"
"""Before the first characters of a clause about somebody who is called by a name."""
_MINE = r"(?:(?:我们?|俺|咱们?|本人)(?:的|家的?|们家的?)?)?"
_SUBJECT = re.compile(
    rf"^(?:(?:以后|现在|最近|今年|目前|其实|平时|还有|另外|帮|给|替|为|跟|和|要给|想给|要帮|想帮|我给|我帮|我替"
    rf"|我想给|我要给|我?把|我?将)*){_MINE}"
    rf"(?P<who>{_ANY})(?![店包砂粮毛]|(?:[那这]边|的事)我)"
)
_LATELY = 512
"""Clauses read so: each memory of a person is looked at once for every new one."""
_POSSESSED = re.compile(rf"(?P<who>{_ANY})的")
_SPEAKER = re.compile(r"^(?:以后|现在|最近|今年|目前|其实|平时)?(?:我|俺|本人|咱)")
_ANYBODY = re.compile(rf"(?:{_ANY})(?![店包砂粮毛])")
_AS_NAME = re.compile(r"(?:我|俺|本人)?(?:现在|以后)?(?:叫|称呼|喊)我?")


def owner_of(clause: str, before: str = SELF) -> str:
    """`clause`: in its form (see `claim.form`). `before`: whom the clause before it was about, for one without a
    subject."""
    if _AS_NAME.match(clause):
        return SELF
    if found := _SUBJECT.match(clause):
        return _owner(found["who"])
    if found := _POSSESSED.search(clause):
        return _owner(found["who"])
    if _SPEAKER.match(clause):
        return SELF
    return f"{OTHERS}{clause[:3]}" if names_somebody(clause) else before


def as_oneself(clause: str) -> str:
    """A clause about somebody of the person's as if they said it of themselves."""
    return _SUBJECT.sub("我", clause, count=1)


_HAD = re.compile(
    rf"(?:有|养|生|捡|领养|收养|买|抱|交|谈|认识|带|请)(?:了|着|过|回|来)*[^,]{{0,6}}?(?:(?P<who>{_ANY})|[0-9一两几][只条匹](?P<any>.?))"
)
_GETS_NAME = re.compile(r"^(?:名字|小名|它|取名|起名|都)?(?:就)?(?:叫|是叫|取名|起名)(?!我)")


def who_is_named(before: str, clause: str) -> str:
    """Of 「我养了只猫，叫年糕」 the cat; "" where the clause names nobody whom the one before it spoke of."""
    if _GETS_NAME.match(clause) is None or (found := _HAD.search(before)) is None:
        return ""
    return _owner(found["who"]) if found["who"] else "宠物"


def _owner(word: str) -> str:
    return next(owner for each, owner in _WORDS if each == word or re.fullmatch(each, word))


@lru_cache(_LATELY)
def with_owners(text: str) -> str:
    """A text in its form with each of these people called by one word."""
    return _ANYBODY.sub(lambda found: _owner(found.group()), text)
