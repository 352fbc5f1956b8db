"""What a clause leaves out because the one before it named it: 「电话换了，现在是139…」.

Invariant: pure; linear. Only a clause that says that something changed hands its name on, to the next one alone.
"""

import re

_MOVED = r"(?:我|都|已经|也|又|刚|刚刚|早就?|全|要|得|最近)*"
_NAMES = (
    r"手机号码?|手机|电话号?码?|联系电话|联系方式|号码?|微信号?|qq号?|邮箱|邮件地址|收货地址|收件地址|地址|住址|车牌号?|支付宝|鞋码|鞋号|尺码|码数"
    r"|身高|体重|腰围|预算|生日|昵称|网名|英文名|名字|血型|工号|会员号"
)
_NAMED = re.compile(
    rf"^(?:我们?|我们?家|家里?|本人|原来|之前|以前|刚才|刚刚|上次|那个|这个|老|旧|的|[0-9]{{3,4}}(?:开头)?)*(?P<n>{_NAMES})(?:的)?{_MOVED}"
    rf"(?:换|改|变|停机|停用|不用|用不了|注销|弃用|丢|作废|更新|销|失效|不对|错|记错|说错|写错|不是|搬|打不通|报错"
    rf"|欠费|登不上|掉了|废了|被封|给[^,]{{1,4}}用|过户|别打|别用|别加|不要|满|被盗|封)[^,.]{{0,8}}$"
)
_CHANGED = re.compile(
    rf"^(?:我们?|我们?家|家里?)?{_MOVED}(?:换|改|更新|更改|修改|更正)(?:了|过|掉|一下|下)*(?:个|新)*(?P<n>{_NAMES})(?:了|啦)?$"
)
_VALUE = re.compile(
    r"^(?:现在|以后|目前|如今|今后|最新|正确|请|麻烦|统一|应该|其实|实际|尾号(?:是)?)*(?:的)?(?:新的?(?:号码?|地址|邮箱|微信|那个)?|号码?)?(?:现在)?"
    r"(?:是|用|改用|改成|改为|换成|换到|加|打|发|寄到?|联系|变成|为|叫|:|写)*(?:这个)?[,:]?(?P<v>[^,.;!?].{1,39}?)(?:联系|找|打)?(?:我|这个)?(?:吧|就行|就好)?$"
)
_CODE = re.compile(r"[0-9a-z@._*+\-]{4,40}")
_MOBILE = re.compile(r"1[3-9][0-9]{9}")
_MEASURED = re.compile(r"(?P<n>身高|体重|腰围|胸围|臀围|脚长)(?:又|再|重新)?(?:量|称|测)?(?:了|了下|一下)?$")
_MEASURE = re.compile(r"(?:是|有|才|只有|现在|其实)*[0-9]+(?:\.[0-9])?(?:cm|厘米|公分|斤|公斤|kg)?(?:了)?")
_OF_PHONE = re.compile(r"(?:号码?|电话|手机|联系我?|打我?)$")
_HOME = re.compile(
    r"搬(?:家|走|出|好)*(?:了|啦)$|搬新家了?$|换(?:了)?(?:个|新)*(?:房子?|住处|住的?地方|地方|城市|小区)(?:住)?了?$|买(?:了)?(?:新)?房(?:子)?了$"
)
_AT_HOME = re.compile(
    r"^(?:我)?(?:现在|新家|目前|以后|如今|新房子?|新地方|人)(?:住|就|搬)*(?:在|到|是)(?P<v>[^,.;!?]{2,40})$"
)
_JOB = re.compile(r"(?:换|辞|离|跳|丢|裁|调)[^,.]{0,4}(?:工作|职|槽|单位|公司|岗|员)?了$")
_AT_JOB = re.compile(r"^(?:我)?(?:现在|新公司|新单位|目前|如今)(?:就)?(?:在|去|是|到)(?P<v>[^,.;!?]{2,20})$")
_OUTGROWN = re.compile(
    r"(?P<i>鞋子?|裤子?|裙子?|上衣|衣服|帽子?|戒指|手套|内衣|外套|衬衫)?[^,.]{0,4}?(?:[0-9]{2,3}|[2-9]?x*[sml](?![a-z]))(?:码|号)?(?:的)?"
    r"(?:有点|太|都|已经|现在|偏)*(?:小|大|紧|松|挤脚?|短|穿不[上下了进]|塞不[下进]|不合[身适])了?$"
)
_TAKEN = re.compile(
    r"^(?:给我|帮我|以后|都|就|我|现在|请|麻烦)*(?:得|要|该|记成|登记成|备注成|换成?|改成?|拿|拍|买|穿|选){1,3}(?P<v>[0-9]{2,3}|[2-9]?x*[sml])(?:码|号)?(?:的|了|吧)*$"
)
"""「L码小了，要XL」."""
_HOUSEHOLD = re.compile(r"上班|工作|公司|读书|上学|出差|家|医院|学|做|用")


def carried(before: str, clause: str) -> str:
    """A clause with what the one before it named, to be read instead of it; "" where it says all itself. Both in
    their form."""
    if (found := _NAMED.match(before) or _CHANGED.match(before)) is not None:
        value = _VALUE.match(clause)
        if value is not None and _fits(found["n"], value["v"]):
            is_phone = found["n"] in ("号", "号码") and (_MOBILE.fullmatch(value["v"]) or "尾号" in clause)
            link = "改成" if found["n"] in ("地址", "住址") else "是"
            return f"{'手机号' if is_phone else found['n']}{link}{value['v']}"
        return ""
    if _HOME.search(before) and (at := _AT_HOME.match(clause)) and not _HOUSEHOLD.search(at["v"]):
        return f"住在{at['v']}"
    if (measured := _MEASURED.search(before)) and _MEASURE.fullmatch(clause):
        return f"{measured['n']}{clause}"
    if _OF_PHONE.search(before) and _MOBILE.fullmatch(clause):
        return f"手机号是{clause}"
    if (of := _OUTGROWN.search(before)) and (taken := _TAKEN.match(clause)):
        item = of["i"] or ""
        return f"{item}穿{taken['v']}码" if item or not taken["v"].isdigit() else f"鞋穿{taken['v']}码"
    if _JOB.search(before) and (at := _AT_JOB.match(clause)):
        place = re.sub(r"(?:那边|这边)?(?:上班|工作)?了?$", "", at["v"])
        return f"在{place}上班"
    return ""


def _fits(name: str, value: str) -> bool:
    """A number is one of letters and digits; an address, a name, a measure isn't held to a form."""
    is_coded = not re.search(r"地址|住址|名|码数|尺码|鞋|身高|体重|腰围|预算|生日|血型", name)
    if is_coded:
        return _CODE.fullmatch(value.strip()) is not None
    return not re.match(r"(?:了|的|不|没|因为|所以)", value)
