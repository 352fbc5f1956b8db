"""The numbers and accounts under which somebody is reached or known: telephone, mail, plate.

Invariant: pure; linear: gaps are bounded.
"""

import re
from collections.abc import Iterator

from bot.memory.claims.claim import LINK

_NUMBER_NAMES = {
    **dict.fromkeys(
        ("手机号", "手机号码", "手机", "电话", "电话号码", "号码", "联系电话", "联系方式"), "phone"
    ),
    **dict.fromkeys(("邮箱", "邮件", "email", "e-mail", "邮箱地址"), "email"),
    **dict.fromkeys(("微信", "微信号"), "wechat"),
    **dict.fromkeys(("qq", "qq号"), "qq"),
    **dict.fromkeys(("支付宝", "支付宝账号"), "alipay"),
    **dict.fromkeys(("车牌", "车牌号"), "plate"),
    **dict.fromkeys(("会员号", "会员卡号", "会员编号"), "member"),
    **dict.fromkeys(("工号", "学号", "房号", "房间号", "座位号", "门牌号"), "number"),
}
_PROVINCE = "[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]"
"""The first character of a number plate."""
_NUMBERED = re.compile(
    r"(?P<q>公司|单位|办公室?|家里?|家庭|备用|工作|私人|紧急|国内|国外|常用|另一?个"
    r"|第二个)?的?(?:新)?(?P<n>手机号码?|手机|电话号码?|联系电话|联系方式"
    r"|电话|号码?|邮箱地址|邮箱|邮件|e-?mail|微信号?|qq号?|支付宝账号|支付宝|车牌号?|会员(?:卡|编)?号|[工学]号"
    r"|房间?号|座位号|门牌号)"
    rf"(?:{LINK})?[^0-9a-z,]{{0,6}}(?P<v>{_PROVINCE}?[0-9a-z][0-9a-z@._*+\- ]{{2,40}})"
)
_NEW_PHONE = re.compile(
    r"^(?:我的?)?(?:现在|以后)?(?:新的?|换成了?|改成了?)(?:号码?)?(?:是|:)?,?(?P<v>1[3-9][0-9*]{9})(?![0-9])"
)
_REACHED = re.compile(
    r"^(?:我|以后|现在|如今|目前|今后|有事|请|麻烦|都|就|改|找我|联系我|给我)*(?:打|联系|拨|用|发|加)(?:这个)?(?:新号码?|号码"
    r"|电话)?(?P<v>1[3-9][0-9]{9})(?![0-9])"
)
_WHOSE = re.compile(r"公司|单位|家里|备用|座机|老婆|老公|[爸妈哥姐弟妹]|孩子|同事|朋友|快递|客服")


def find_numbers(clause: str) -> Iterator[tuple[str, str]]:
    """(slot, value) of a clause in its form."""
    if found := _NEW_PHONE.search(clause):
        yield "phone", found["v"]
        return
    if (found := _REACHED.search(clause)) and not _WHOSE.search(clause):
        yield "phone", found["v"]
        return
    for found in _NUMBERED.finditer(clause):
        name = _NUMBER_NAMES.get(found["n"], "number")
        if found["n"] in ("号", "号码") and len(found["v"]) < 7:
            continue
        if name == "number":
            name = f"number:{found['n']}"
        yield f"{name}:{found['q']}" if found["q"] else name, found["v"].replace(" ", "")
