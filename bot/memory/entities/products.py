"""Find what goods a message is about: names of the catalogue, 「A 款」, 那件红色卫衣, 买了一双运动鞋.

Invariant: pure; a name of the catalogue is found whatever its case and spaces, and the longest one wins.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files

Span = tuple[int, int]

_CLASSIFIER = "件|双|条|台|款|部|把|套|瓶|盒|顶|副|辆|张|只|支|箱|袋|包|罐|本|个|块|桶|床|提|对"
COLOURS = "红|黑|白|蓝|绿|黄|紫|灰|粉|橙|棕|银|金|米|咖啡|卡其|深蓝|浅蓝|藏青|粉红|酒红|墨绿|浅灰|深灰|米白|天蓝|玫红"
_ADJECTIVES = (
    rf"(?:{COLOURS})色?|大|小|大号|小号|中号|加大|新|旧|长袖|短袖|加厚|加绒|薄|厚|纯棉|真丝|羊毛|羊绒|真皮|牛皮|不锈钢|陶瓷|玻璃|木|实木|塑料|硅胶"
    r"|蓝牙|无线|有线|智能|电动|便携|折叠|迷你|儿童|婴儿|宝宝|男士|女士|男款|女款|男|女|情侣|老人|学生|夏季|冬季|春季|秋季|夏|冬|运动|休闲|商务"
    r"|苹果|华为|小米|耐克|阿迪|安踏|李宁|三星|戴森|美的|格力|海尔|索尼|联想|优衣库|格子|条纹|圆领|高领|连帽|修身|宽松|高腰|碎花|复古"
)
_LETTERED = re.compile(r"(?<![0-9A-Za-z])([A-Za-z][0-9]?|[0-9]{1,2}|[甲乙丙丁])\s?(?:号)?款(?![0-9式项])")
_NAMED_MODEL = re.compile(
    rf"(?:(?:{COLOURS})色|升级|标准|豪华|基础|加厚|加绒|经典|旗舰|入门|尊享|限量|普通|高配|低配|顶配|长|短|薄|厚|大|小)款"
)
_MAY_NAME_MODEL = re.compile("款")
_MAY_POINT = re.compile("那|这|上次|之前")
_POINTED = re.compile(
    rf"(?:那|这|上次(?:买)?的?|之前(?:买)?的?)(?:一)?(?:{_CLASSIFIER})((?:(?:{_ADJECTIVES})的?){{0,4}})([\u4e00-\u9fffA-Za-z0-9]{{1,8}})"
)
_STOP = re.compile(
    r"[的是有了吗呢吧啊怎什多还就能可会要我你他她它到在给和跟很太不没坏破脏掉发退换买卖价颜质尺都也被把用穿已那这呀嘛哦么几想说叫为从对比该让再又才只请帮]|大小|好看|好用|收到|什么|订单|单号|快递|怎样|如何|缩水|起球|开线|断了|漏|裂|碎|便宜|贵"
)
_NO_GOODS = re.compile(
    "人|单|事|问题|号码?|单号|钱|订单|电话|时候|东西|商品|产品|店家?|商家|活动|价格?|补偿|邮箱|微信|话|意思|月|星期|地址|包裹|快递|客服"
)


def find_products(text: str, catalogue: Sequence[str] = ()) -> Iterator[tuple[Span, str, float]]:
    """(place, normalised, certainty) in a folded text; one place may come twice."""
    if catalogue:
        yield from _listed(text, _catalogue(tuple(catalogue)))
    for pattern in (_LETTERED, _NAMED_MODEL) if _MAY_NAME_MODEL.search(text) else ():
        for found in pattern.finditer(text):
            if text[max(0, found.start() - 1) : found.start()] not in (*"这那哪一两几第",):
                yield found.span(), _plain(found.group()), 0.9
    goods, modifiers = _goods()
    for found in goods.finditer(text):
        start = found.start()
        before = modifiers.search(text[max(0, start - 16) : start])
        start -= len(before.group()) if before else 0
        yield (start, found.end()), _plain(text[start : found.end()]), 0.7
    if _MAY_POINT.search(text):
        yield from _pointed(text)


def _pointed(text: str) -> Iterator[tuple[Span, str, float]]:
    """那件 and the noun behind it, up to the first word that belongs to no noun."""
    for found in _POINTED.finditer(text):
        noun = found[2]
        stop = _STOP.search(noun)
        noun = noun[: stop.start()] if stop else noun
        if (noun and not _NO_GOODS.fullmatch(noun) and len(noun) > 1) and found.group()[1:2] != "个":
            start, end = found.start(1), found.start(2) + len(noun)
            yield (start, end), _plain(text[start:end]), 0.5


@cache
def _goods() -> tuple[re.Pattern[str], re.Pattern[str]]:
    lines = files("bot.memory.entities").joinpath("goods.txt").read_text("utf-8").splitlines()
    heads = {word for line in lines if not line.startswith("#") for word in line.split() if len(word) > 1}
    alternatives = "|".join(map(re.escape, sorted(heads, key=len, reverse=True)))
    behind = r"(?![店厂号卡费上端里]|尾号|后四位|登录|联系|套餐|银行|充值|话费|系统|软件|支付)"
    return (
        re.compile(rf"(?:{alternatives}){behind}"),
        re.compile(rf"(?:(?:{_ADJECTIVES})的?){{1,4}}$"),
    )


_Index = dict[str, list[tuple[str, str]]]


@lru_cache(8)
def _catalogue(names: tuple[str, ...]) -> _Index:
    """By their first character: names without spaces, and as they are listed; longest first."""
    index: _Index = {}
    for name in names:
        if squeezed := _squeezed(name):
            index.setdefault(squeezed[0], []).append((squeezed, name))
    return {first: sorted(listed, key=lambda pair: -len(pair[0])) for first, listed in index.items()}


def _listed(text: str, index: _Index) -> Iterator[tuple[Span, str, float]]:
    """Only names that begin with a character of the text are compared."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(_lower(text[place]) for place in places)
    at = 0
    while at < len(squeezed):
        listed = index.get(squeezed[at], ())
        found = next((pair for pair in listed if _stands(squeezed, at, pair[0])), None)
        length = len(found[0]) if found else 1
        if found:
            yield (places[at], places[at + length - 1] + 1), found[1], 1.0
        at += length


def _stands(text: str, at: int, name: str) -> bool:
    """Not within a longer word: iPhone 15 is no part of iPhone 150."""
    if not text.startswith(name, at):
        return False
    return not _joins(text[at - 1 : at], name[0]) and not _joins(
        name[-1], text[at + len(name) : at + len(name) + 1]
    )


def _joins(left: str, right: str) -> bool:
    both = (left + right).isascii() and left.isalnum() and right.isalnum()
    return both and left.isdigit() == right.isdigit()


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _squeezed(name: str) -> str:
    return "".join(_lower(character) for character in name if not character.isspace())


def _plain(name: str) -> str:
    """红色的卫衣 and 红色卫衣 are one."""
    return _squeezed(name).replace("的", "")
