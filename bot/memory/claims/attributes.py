"""The attributes of which one value holds at a time: sizes, places, numbers, names, work, school, dates.

Invariant: pure; linear: gaps are bounded.
"""

import re
from collections.abc import Iterator
from functools import cache

from bot.conversation.sieve import Sieve
from bot.memory.claims.claim import LINK
from bot.memory.claims.numbers import find_numbers
from bot.memory.pattern_tables import rows_of

LONGEST_VALUE = 40
"""Characters: an address with its room."""

_TEXT = rf"(?P<v>[^,.;!?:]{{1,{LONGEST_VALUE}}})"
_CITY_TEXT = r"(?P<v>[^,.;!?:]{1,30}?)"
_END = r"(?=$|[,.;!?])"

_ITEMS = "|".join(
    (
        "内裤|内衣|文胸|鞋子?|靴子?|拖鞋|裤子?|牛仔裤|短裤|裙子?|连衣裙|上衣|衣服|t恤|衬衫|外套|羽绒服",
        "毛衣|卫衣|西装|大衣|帽子?|手套|戒指|袜子?|校服|工服|球衣|婚纱",
    )
)
_ITEM = re.compile(_ITEMS)
_GENERAL_ITEMS = {
    "鞋子": "鞋",
    "衣服": "衣",
    "上衣": "上衣",
    "裤子": "裤",
    "裙子": "裙",
    "帽子": "帽",
    "袜子": "袜",
}
_SIZE_WORD = (
    r"(?:[2-9]?x{1,4}[sl]|[sml](?![a-z])|均码|加[大小]码|[大中小]码|[0-9]{2,3}(?:\.5)?(?=码|号|$|[,.了的吧])"
    r"|[0-9]{1,2}(?=号))"
)
_SIZE = re.compile(
    rf"(?P<before>.{{0,24}}?)(?:穿|码|尺[码寸]|号码?|戴|size)(?:{LINK})?[^0-9a-z,]{{0,8}}?(?P<v>{_SIZE_WORD})(?:码"
    rf"|号)?(?P<after>.{{0,10}})"
)
_NEEDED = re.compile(
    rf"^(?:我们?|我家|家里?)?[^,这那件条双]{{0,4}}?(?P<i>{_ITEMS})(?:现在|都|已经|得|要|该|只能|必须)*(?:买|换|穿|要|拿)(?P<v>[0-9]{{2,3}}|[2-9]?x{{0,4}}[sml])"
    r"(?P<u>码|号)?(?:的)?(?P<t>了)?$"
)
"""「裤子要34码了」; a bare number may be a price."""
_BARE_SHOE = re.compile(
    r"(?:鞋子?|脚)(?:现在|已经|得|要|是|买|都|其实|实际|应该|量了?|出来|下来)*(?P<v>[34][0-9](?:\.5)?)(?=$|[,.了的码号])"
)
_SHOES = range(30, 50)

_PLACE_KINDS = {
    **dict.fromkeys(("收货", "收件", "邮寄", "送货", "快递", "配送", "寄件"), "收货"),
    **dict.fromkeys(("公司", "单位", "办公", "办公室", "工作"), "公司"),
    **dict.fromkeys(("学校", "宿舍"), "学校"),
    "老家": "老家",
    "父母家": "父母家",
    "店铺": "店",
    "店": "店",
}
_ADDRESS = re.compile(
    rf"(?P<q>收货|收件|邮寄|送货|快递|配送|寄件|公司|单位|办公室?|工作|学校|宿舍|老家|父母家|店铺?|家庭"
    rf"|家里?)?的?(?:新)?(?:地址|住址)(?:{LINK}{_TEXT}|(?P<w>[^,.;!?:的给发写改]{{0,20}}(?:路|街|巷|弄|大道|小区|花园|公寓"
    rf"|大厦)[^,.;!?:]{{0,20}}))"
)
_DELIVERED = re.compile(rf"收货(?:地|点)?(?:改|换)(?:到|成|为){_TEXT}")
_PUT_RIGHT = re.compile(r"改|换|变|更新|新地址|新的")
_SENT_TO = re.compile(
    rf"(?:以后|快递|包裹|东西|都|改){{1,3}}(?:请|麻烦)?(?:帮我)?(?:都|改)?(?:寄|送|发)到{_TEXT}"
)
_LIVES = re.compile(
    rf"(?:(?<![不没居])住(?!院|宿费|店|宾馆|酒店|过|不|的|址|房|处|宅)(?:在|到|去)?"
    rf"|(?:搬家?|迁居?|搬迁)(?:到|去|来|回|进|至)了?"
    rf"|搬(?=[^家走出进迁运东了过来回砖新到去至,.][^,.]{{1,3}}了$)|定居(?:在|到)?|现居|家[在住]|租(?:在|到)|落户(?:在|到)?|移居(?:到)?|回到了?)(?!了?$){_TEXT}"
)
_PREMISES = re.compile(
    r"(?P<q>公司|单位|办公室|学校|店(?=[面铺子开在搬迁挪换现已])|工作室)(?:[面铺子])?(?:现在|已经|刚|要|马上)?(?:(?:搬家?|迁|挪|转)(?:到|去|来)了?|开?在"
    r"|换到了?)(?P<v>[^,.;!?:]{2,20}?)(?:那边|附近|上班)?(?=$|[,.;!?了])"
)
_LIVES_IN = re.compile(
    rf"(?:在|换到了?){_CITY_TEXT}(?:租房|定居|居住|生活|住|租了?[^,]{{0,4}}房)(?!院|酒店|宾馆|过)"
)
_STAYS = re.compile(r"出差|酒店|宾馆|民宿|旅[行游]|暂时|临时|几天|玩|度假|公司搬|单位搬|店搬|办公室搬|医院")
_HOME_TOWN = re.compile(
    r"(?:老家|籍贯|祖籍)(?:现在)?(?:在|是|:)(?P<v>[^,.;!?:]{2,16})|来自(?P<w>[^,.;!?:]{2,12})"
)

_NAME_OF = re.compile(
    rf"(?:(?:名字|姓名|本名|大名|全名|真名)(?:{LINK})|(?:身份证|户口)(?:本)?上?(?:已经|现在)?(?:改成|改为|改叫)|(?:我|^)(?:现在|已经)?(?:改名[叫为成]?|改回(?:本|原|真|旧|老)名|叫做?)(?!我|了|人|车"
    rf"|外卖|他|她|你|您))(?P<v>[^,.;!?:]{{1,12}})"
)
_CALLED = re.compile(
    r"(?<![别不])(?:叫我|称呼我(?:为)?|喊我|管我叫)(?!去|来|起|做|干|别)(?P<v>[^,.;!?:]{1,10}?)(?:就行|就好|吧"
    r"|就可以|好了|即可|$|[,.;!?])"
)
_NICK = re.compile(
    rf"(?P<n>昵称|网名|微信(?=叫)|微信昵称|微信名|游戏名|游戏id|小名|英文名)(?:{LINK}|改|换)(?P<v>[^,.;!?:]{{1,16}})|(?P<n2>英文名)(?P<w>[a-z]{{2,12}})"
)

_PET_NAME = re.compile(
    r"(?:猫咪?|狗狗?|兔子?|仓鼠|鹦鹉|乌龟|它)(?:的名字|名字|现在|已经)*(?:改名[叫为成]?|改叫|(?<!不)叫)(?P<v>[^,.;!?:]{1,6}?)(?:了|$|[,.;!?])"
)

_OCCUPATIONS = (
    "师|医生|护士|会计|律师|司机|学生|警察|军人|记者|编辑|厨师|经理|主管|总监|老板|助理|教练|模特|主播|作家|翻译"
    "|秘书|店长|自由职业者?|全职(?:妈妈|爸爸|太太|主妇)"
    "|博主|运营|前台|销售|客服|保安|研究生|大学生|博士生?|实习生|公务员|程序员|飞行员|研究员|服务员|管理员|快递员"
    "|前端|后端|测试|运维|算法|架构|柜员|出纳|导购|保姆|月嫂|木工|电工|导游|翻译|空乘|空姐|船员|法务|采购|行政|人事|hr|文案|策划|美工|剪辑|摄影|化妆|裁缝|监理|理财|审计|收银|仓管|调度|网管"
    "|售货员|营业员|演员|职员|店员|教授|法官|工人|农民|外卖员|骑手|产品|设计|开发|创业|个体户"
)
_WORKS_AT = re.compile(
    rf"在(?P<v>[^,.;!?:在]{{1,20}}?)(?:上班|工作|任职|就职|打工|实习|供职|(?:做|当"
    rf"|干)(?=[^,]{{0,6}}(?:{_OCCUPATIONS})))(?!服|餐|群)"
)
_JOINED = re.compile(
    r"是(?P<x>[^,.;!?:是]{2,12}?(?:公司|厂|银行|医院|学校|大学|局|集团))的(?!地址|电话|客户)"
    r"|(?:跳槽|跳|入职|加入|换工作|换公司|调)(?:到|去|了|至|进)+(?!开会|出差|学习|培训|帮忙|支援)(?P<v>[^,.;!?:]{2,16}?)(?:上班|工作|了|公司)?(?=$|[,.;!?])"
    rf"|(?:新公司|新单位|公司|单位|工作单位)(?:名字)?(?:是|叫|换成了?|改成了?|换到了?|换了){_TEXT.replace('<v>', '<w>')}"
)
_OCCUPIED = re.compile(
    rf"(?:(?:职业|工作|岗位|职位|本职)(?:{LINK})|(?:是|当|做|转行|改行|转岗|升职?|晋升|提拔|转正)(?:了|成|为|到|去"
    rf"|做|当|名|一名|一个|一位|个|位|起)*)(?P<v>[^,.;!?:是]{{0,8}}?(?:{_OCCUPATIONS}))"
    rf"(?:了|的|工作|管理|一行)*{_END}"
)
_STUDIES = re.compile(
    r"在(?P<v>[^,.;!?:在]{2,16}?)(?:上学|读书|念书|上大学|读大学|念大学|读研|读博|(?:读|上|念)(?=[高初大小研博]"
    r"|[1-6]年级)|上幼儿园|上小学|上初中|上高中|就读)"
    r"|(?:转学|转|考上|考到|考进|升入|就读于|保送)(?:到|了|去)?(?P<w>[^,.;!?:]{1,12}(?:大学|中学|小学|学校|学院|高中"
    r"|幼儿园|附中|附小|[一二三四五六七八九十0-9]{1,3}[中小]))"
)
_MAJOR = re.compile(rf"专业(?:{LINK}|转到)(?P<v>[^,.;!?:]{{2,12}})")
_DRIVES = re.compile(
    r"(?:开的(?:车)?(?:是|换成了?)|(?:车子?|座驾)(?:现在)?(?:是|换成了?|换了|换的)|换了?(?:新)?车,?(?:开|买"
    r"|换)?(?:的)?(?:是)?|开(?:着)?[一1]?[辆台]|换了?[一1]?[辆台])"
    r"(?:[一1]?[辆台])?(?P<v>[^,.;!?:了]{2,14})"
)
_RIDES = re.compile(
    r"(?<![会学不能])(?:开|换成|换了)(?:的是)?(?:[一1]?[辆台])?(?P<v>[^,.;!?:了的开换学]{1,8}车)(?=$|[,.;!?了上])"
)
_PHONES = re.compile(
    r"(?:用|换)(?:的)?(?:是|了|成|上了?|着)?(?P<v>(?:iphone|苹果|华为|小米|红米|oppo|vivo|荣耀|三星|一加|魅族|pixel"
    r"|realme)[^,.;!?:]{0,12})"
)
_COUNT = re.compile(r"(?P<v>[0-9一两二三四五六]{1,2})[个只条](?P<n>孩子|小孩|娃|宝宝|女儿|儿子|猫|狗)")
_DEVICE = "手机|电脑|笔记本|平板|相机|耳机|手表|路由器|冰箱|洗衣机|电视|信用卡|运营商|宽带|套餐|输入法|浏览器|操作系统|系统"
_USES = re.compile(
    rf"(?P<n>{_DEVICE})(?:型号|品牌)?(?:现在)?(?:用的?)?(?:{LINK})(?P<v>[^,.;!?:]{{1,16}})"
    rf"|用的?(?:是)?(?P<w>[^,.;!?:的不]{{1,12}}?)(?:的)?(?P<m>{_DEVICE})(?:了)?{_END}"
    rf"|换(?:了|成)(?P<x>[^,.;!?:的]{{1,12}}?)(?:的)?(?P<o>{_DEVICE}){_END}"
)
_FAVOURITE = re.compile(
    rf"最(?:喜欢|爱|常)(?P<verb>[吃喝看听玩穿用去]?)的?(?P<n>[\u4e00-\u9fff]{{1,6}}?)?(?:{LINK})(?P<v>[^,.;!?:]{{1,14}})"
    r"|最(?:喜欢|爱)(?P<verb2>[吃喝看听玩穿用去]?)(?P<w>[^,.;!?:的是]{1,12})"
)

_TAIL = re.compile(
    r"(?:那边|这边|那里|这里|附近|一带|上班|工作|生活|居住|来着|左右|吧|了|啦|呢|哦|啊|呀|的|住|哈|嘛|喔|这个|新的?)+$"
)
_LEAD = re.compile(r"^(?:到|在|是|去|了|新的?|[一1]个|一?[名位]|我|那边|的|:|叫)+")

_CORRECTED = re.compile(r"不是[^,]{1,16}?,?(?:而|应该|其实)?是")
_NICKNAME = re.compile(r"[小老阿大].{1,2}")


def cut(value: str) -> str:
    """A value without what only stands around it."""
    return _TAIL.sub("", _LEAD.sub("", value)).strip(" \"'“”")


def find_attributes(clause: str) -> Iterator[tuple[str, str]]:
    """(slot, value) of a clause in its form; values not empty."""
    for slot, value in _all(_CORRECTED.sub("是", clause)):
        if value := cut(value):
            is_called = slot == "name" and _NICKNAME.fullmatch(value)
            yield "call" if is_called else slot, value


def _all(clause: str) -> Iterator[tuple[str, str]]:
    yield from _sizes(clause)
    yield from _places(clause)
    yield from find_numbers(clause)
    plain, sieve = _plain()
    for place in sieve.fitting(clause):
        slot, pattern = plain[place]
        if found := pattern.search(clause):
            yield slot, _value(found)
    if found := _PET_NAME.search(clause):
        yield "petname", found["v"]
    if found := _NICK.search(clause):
        name = found["n"] or found["n2"]
        yield f"nick:{'微信名' if name.startswith('微信') else name}", _value(found)
    yield from _things(clause)


def _things(clause: str) -> Iterator[tuple[str, str]]:
    if found := _USES.search(clause):
        name = found["n"] or found["m"] or found["o"]
        value = found["v"] or found["w"] or found["x"]
        if not re.fullmatch(r"[0-9\- *]+", value):
            yield f"thing:{name}", value
    elif (found := _PHONES.search(clause)) and not re.search(_DEVICE, clause):
        yield "thing:手机", found["v"]
    if found := _RIDES.search(clause):
        yield "car", found["v"]
    if found := _COUNT.search(clause):
        yield f"count:{found['n']}", found["v"]
    if found := _FAVOURITE.search(clause):
        yield f"favourite:{found['verb'] or found['verb2'] or ''}{found['n'] or ''}", found["v"] or found["w"]


def _sizes(clause: str) -> Iterator[tuple[str, str]]:
    found = _SIZE.search(clause)
    if found is None:
        if found := _BARE_SHOE.search(clause):
            yield "size:鞋", found["v"]
        elif (found := _NEEDED.search(clause)) and (found["u"] or not found["v"].isdigit()):
            yield f"size:{_GENERAL_ITEMS.get(found['i'], found['i'])}", found["v"]
        return
    value = found["v"]
    item = _ITEM.search(clause)
    if item is not None:
        name = _GENERAL_ITEMS.get(item.group(), item.group())
    elif "脚" in clause or (value[0].isdigit() and value[-1].isdigit() and int(float(value)) in _SHOES):
        name = "鞋"
    else:
        name = "衣"
    yield f"size:{'鞋' if name == '靴子' else name}", value


def _places(clause: str) -> Iterator[tuple[str, str]]:
    if found := _ADDRESS.search(clause):
        kind = _PLACE_KINDS.get(found["q"] or "", "家")
        yield f"place:{kind}", _value(found)
        if not found["q"] and _PUT_RIGHT.search(clause):
            # Whichever was told: 「地址改成…」.
            yield "place:收货", _value(found)
        return
    if found := (_SENT_TO.search(clause) or _DELIVERED.search(clause)):
        yield "place:收货", found["v"]
        return
    if found := _HOME_TOWN.search(clause):
        yield "place:老家", _value(found)
        return
    if found := _PREMISES.search(clause):
        yield f"place:{_PLACE_KINDS.get(found['q'], found['q'])}", found["v"]
        return
    if _STAYS.search(clause):
        return
    if found := (_LIVES.search(clause) or _LIVES_IN.search(clause)):
        yield "place:家", found["v"]


def _value(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return groups["v"] or groups.get("w") or groups.get("x") or ""


@cache
def _plain() -> tuple[list[tuple[str, re.Pattern[str]]], Sieve]:
    """Slots whose value is what one pattern finds: those of the table, read once, before the others."""
    plain = [(slot, re.compile(words)) for slot, words in rows_of("bot.memory.claims", "measures.txt", 2)]
    plain += (
        ("call", _CALLED),
        ("name", _NAME_OF),
        ("employer", _WORKS_AT),
        ("employer", _JOINED),
        ("occupation", _OCCUPIED),
        ("school", _STUDIES),
        ("major", _MAJOR),
        ("car", _DRIVES),
    )
    return plain, Sieve([pattern for _, pattern in plain])
