"""When something of the person's is: a birthday, a meeting, an operation.

Invariant: pure; a time is compared by its words, so a day that is said in two ways is two.
"""

import re
from collections.abc import Iterator

_ALIKE = {
    **dict.fromkeys(("结婚", "婚期", "办婚礼"), "婚礼"),
    **dict.fromkeys(("开会", "例会", "会"), "会议"),
    **dict.fromkeys(("飞机", "高铁", "火车", "动车"), "航班"),
    **dict.fromkeys(("检查",), "体检"),
    **dict.fromkeys(("旅行",), "旅游"),
    **dict.fromkeys(("复诊",), "复查"),
    **dict.fromkeys(("笔试",), "考试"),
}
_ONE_ONLY = "结婚(?!纪念|证)|生日|结婚纪念日|纪念日|婚期|预产期|婚礼|入职日期|毕业时间"
_SEVERAL = (
    "面试|笔试|考试|高考|考研|手术|会议|例会|开会|体检|复查|复诊|检查|航班|飞机|高铁|火车|动车|聚会|聚餐|约会|出差"
    "|旅行|旅游|搬家|答辩|比赛|演出|直播|上课|课|预约"
    "|拔牙|看牙|婚宴|满月酒|派对|讲座|培训|开学|报到|出院|住院|入住|退房|取件|取货|送货|配送|收货|上门|安装|维修"
    "|保养|年检|演唱会|电影|健身|瑜伽|练琴|钢琴课|游泳课|团建|家长会|会(?=改|推|取消|延|提前)|签约|交房"
)
_EVENT = re.compile(rf"(?P<one>{_ONE_ONLY})|(?P<many>{_SEVERAL})")
_NUMBER = "[0-9一二两三四五六七八九十]"
_WHEN = re.compile(
    rf"(?:[今明后昨前]天|大后天|[今明]晚|[今明去后]年|[上下这本]+个?(?:周|星期|礼拜|月)(?:[一二三四五六日天末1-7])?"
    rf"|每?(?:周|星期|礼拜)[一二三四五六日天末1-7]|每天"
    rf"|{_NUMBER}{{1,4}}年{_NUMBER}{{1,3}}月(?:{_NUMBER}{{1,3}}[日号])?|{_NUMBER}{{1,3}}月{_NUMBER}{{1,3}}[日号]?"
    rf"|{_NUMBER}{{1,3}}[日号]|农历[^,]{{2,8}}|[0-9]{{1,2}}[./-][0-9]{{1,2}}|{_NUMBER}{{1,3}}月(?:份|底|初|中旬)?"
    rf"|[年月]底|周末|国庆|春节|过年|中秋|五一|元旦|暑假|寒假|端午|清明)"
    rf"?(?:的)?(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|晚|早)?(?:{_NUMBER}{{1,3}}(?:点半?|:[0-9]{{2}}"
    rf"|点{_NUMBER}{{1,3}}分?))?"
)


def find_dates(clause: str) -> Iterator[tuple[str, str, bool]]:
    """(slot, when, whether there may be several) of a clause in its form; none without both."""
    event = _EVENT.search(clause)
    if event is None:
        return
    times = times_in(clause)
    if times:
        # 「从周三改到周五」: the last one holds.
        yield f"date:{_ALIKE.get(event.group(), event.group())}", times[-1], event["many"] is not None


def times_in(clause: str) -> list[str]:
    return [found.group() for found in _WHEN.finditer(clause) if found.group()]


def event_in(clause: str) -> str:
    """What a clause names that has a time; "" for nothing."""
    found = _EVENT.search(clause)
    return found.group() if found else ""
