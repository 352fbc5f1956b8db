"""Words and numbers that look like times and are none: titles, names, phone numbers, versions, scores.

Invariant: a mask of the same length; where it hides something, no expression begins, ends or passes.
"""

import re

from bot.conversation.sieve import Sieve

HIDDEN = "\0"

_HIDDEN = re.compile(
    r"(?:早上|上午|中午|下午|晚上|傍晚)好(?![久多像不几])|过年好|新年好"
    r"|《[^《》]{1,40}》"
    r"|今日头条|明日方舟|明日之后|每日优鲜|每日一题|每日坚果|昨日重现|后天性|周黑鸭|周六福|周大福|七天无理由|七天酒店|三天两头|一天到晚|一年到头"
    r"|一年四季|有朝一日|终有一天|总有一天|有一天|那一天|这一天|哪一天|某一天|(?<![今昨明后前当整半几两一二三四五六七八九十0-9])天天(?!气)|(?<![今去明前后次来翌当])年年(?![初底末中尾])|(?<![上下本个当])月月(?![初底末中])|马上|一时|不三不四|三点式|三点水|[两三]点一线|五点共圆"
    r"|一点一滴|一点儿|一点点|有一点|年月日|岁月|时日|春秋|半天(?![前后内之以])"
    r"|(?:周末|国庆|元旦|春节|中秋|圣诞|五一|端午|七夕|新年)节?(?:快乐|愉快)|春节联欢|平安夜市|清明上河图|深夜食堂|黄昏恋|下午茶"
    r"|[陈李张王刘赵孙吴郑杨朱徐马胡](?:国庆|五一|立春|中秋|元旦|清明)(?![节假那期当黄])|[五六七八]一(?:广场|居士|中学|小学|大道|公园)"
    r"|黄金周边|夜儿子|牛头年|三月不知肉味|[早朝九]九晚[五六九]|一[天日周月年]一(?=[换次回个更结检])|双十(?![一二])"
    r"|离.{0,6}最近|最近的?(?:门店|店|网点|仓|站|地铁|快递点|距离|路)"
    r"|(?:订单|单号|尾号|房间|房号|编号|型号|密码)号?[是为:]?\s?[0-9]{3}(?![0-9])|618(?=开头|结尾|房|号|室|路|页|次|单元)"
    r"|v\s?[0-9]{1,4}(?:\.[0-9]{1,5}){1,4}"
    r"|(?<![0-9.])[0-9]{1,5}(?:\.[0-9]{1,5}){3,5}(?![0-9])"
    r"|(?<![0-9])[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,5}(?![0-9])"
    r"|[0-9]{3,4}-[0-9]{3,4}-?[0-9]{4}(?![0-9])"
    r"|[¥$€£]\s?[0-9][0-9,.]{0,15}"
    r"|(?:比分|比数|打成|战成|踢成)(?:是|为)?\s?[0-9]{1,3}\s?[:-]\s?[0-9]{1,3}"
    r"|[0-9]{1,3}\s?:\s?[0-9]{1,3}\s?(?:战胜|击败|领先|落败|战平|打平|获胜|大胜|险胜|惜败|的?比分)"
    r"|(?:赢|输|胜|负)了?\s?[0-9]{1,3}\s?:\s?[0-9]{1,3}"
)


_YEAR = r"(?:(?:[0-9]{2,4}|[零〇一二三四五六七八九]{2,4}|[去今明前]|大前)年的?\s?)?"
_NO_SUCH = re.compile(
    rf"{_YEAR}(?<![0-9])(?:1[3-9]|[2-9][0-9]|00?)月(?:[0-9]{{1,2}}[日号]?)?"
    rf"|{_YEAR}(?<![0-9])[0-9]{{1,2}}月(?:0{{1,2}}|3[2-9]|[4-9][0-9]|[0-9]{{3}})[日号]"
    r"|[上下这本]{1,3}个?(?:周|星期|礼拜)[八九089](?![0-9点个十百千万天月年号日时折块元人位件成次小层楼岁.:%])"
)
"""Months and days that no calendar has: no part of them is a time either."""
_ACROSS = re.compile(
    r"(?<=[以之今随然最售饭餐课午雨婚产术事背身先])后[天日]|(?<=[以之目眼跟面门店])前[天日]"
    r"|(?<=[证声透表文分发聪申注标光])明天(?=[然窗线花猫气生才空津使赋性际下体])|(?<=说)明天(?=[然窗线花猫生才])"
    r"|(?<=[当如现])今天(?=下(?![雨雪单午班周个]))"
    r"|(?<=[楼乡地底手线桥树山脚])下(?=周|星期|礼拜)|(?<=[桌街船床楼身网手山海岸])上(?=周|星期|礼拜)"
    r"|(?<=[桌路街船车床楼身网手地海山岸])上(?=午[餐饭休睡])|(?<=[留放剩省吃买订丢扔拿])下(?=午[餐饭])|(?<=其)中(?=午)"
    r"|(?<=[最更太尽及提])[早晚](?=上)|(?<=[以之从])前(?=年[轻纪龄])|(?<=[过回])去(?=年[轻纪龄])"
    r"|(?<=[课书版样剧])本(?=周|月)|周日(?=常)"
)
"""Characters that belong to the word before: 以后 · 天冷, 证明 · 天然, 楼下 · 周师傅, 最早 · 上架."""


_NO_TIMES = (_HIDDEN, _NO_SUCH, _ACROSS)
_SIEVE = Sieve(_NO_TIMES)


def hide(folded: str) -> str:
    """The text with what is no time made unreadable."""
    for place in _SIEVE.fitting(folded):
        folded = _NO_TIMES[place].sub(_unreadable, folded)
    return folded


def _unreadable(match: re.Match[str]) -> str:
    return HIDDEN * len(match[0])


def begins_within(text: str, start: int) -> bool:
    """Whether a number or Latin word goes on before: then what begins here was never said."""
    if not start:
        return False
    before, first = text[start - 1], text[start]
    if first.isascii() and first.isalnum() and before.isascii() and (before.isalnum() or before in "_#"):
        return True
    if start > 1 and first.isdigit() and before in ".:/-," and text[start - 2].isdigit():
        return True
    return first in _CHINESE and before in _CHINESE_OR_COUNTED


def goes_on(text: str, end: int) -> bool:
    """Whether it goes on behind."""
    last, behind = text[end - 1], text[end : end + 2]
    if not (last.isascii() and last.isdigit()) or not behind:
        return False
    if behind[0].isascii() and (behind[0].isalnum() or behind[0] in "_%"):
        return True
    return behind[0] in "元块万亿度斤" or (behind[0] in ".:/" and behind[1:].isdigit())


_CHINESE = "零〇一二三四五六七八九十两几"
_CHINESE_OR_COUNTED = _CHINESE + "第百千万点"
