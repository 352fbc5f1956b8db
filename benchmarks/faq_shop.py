"""Rules and messages of one kind of shop, for the FAQ benchmark: the same for the same seed.

Invariant: nothing is measured here.
"""

import random
from collections.abc import Sequence

from bot.rules.faq import FaqRule, Match

_SUBJECTS = (
    "退款",
    "退货",
    "换货",
    "发票",
    "快递",
    "运费",
    "积分",
    "会员",
    "优惠券",
    "订单",
    "尺码",
    "颜色",
    "库存",
    "保修",
    "安装",
    "预约",
    "账号",
    "密码",
    "余额",
    "提现",
)
_ASKED = (
    "怎么办理",
    "多久到账",
    "在哪里查",
    "可以取消吗",
    "怎么修改",
    "要多少钱",
    "什么时候开始",
    "有没有限制",
    "怎么联系",
    "需要什么材料",
)
_PLACES = (
    "北京",
    "上海",
    "广州",
    "成都",
    "杭州",
    "武汉",
    "西安",
    "南京",
    "重庆",
    "长沙",
    "线上",
    "门店",
    "总部",
    "学校",
    "医院",
)


class Shop:
    """Makes rules and messages of one kind of shop, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)

    def rules(self, count: int, kinds: Sequence[Match]) -> list[FaqRule]:
        return [self._rule(number, kinds[number % len(kinds)]) for number in range(count)]

    def _rule(self, number: int, match: Match) -> FaqRule:
        pick = self._random.choice
        place, subject, asked = pick(_PLACES), pick(_SUBJECTS), pick(_ASKED)
        forms = {
            Match.EXACT: f"{place}{number}号店{subject}{asked}",
            Match.CONTAINS: f"{subject}{number}{asked}",
            Match.FUZZY: f"{place}{number}号店{subject}{asked}",
            Match.REGEX: pick(
                (
                    rf"{place}.{{0,8}}{subject}{number}(怎么|如何|多少)",
                    rf"^(请问)?{number}号店({subject}|{pick(_SUBJECTS)}).{{0,6}}[吗呢么]?$",
                    rf"{subject}单号\s*{number}\d{{4}}",
                )
            ),
        }
        return FaqRule(id=str(number), match=match, patterns=(forms[match],), answer=f"答案 {number}")

    def messages(self, count: int, length: int, rules: Sequence[FaqRule]) -> list[str]:
        """Half ask what a rule holds, a quarter nearly, a quarter something else. Each of `length`."""
        pick = self._random.choice
        texts: list[str] = []
        for turn in range(count):
            text = pick((pick(rules).patterns[0], f"{pick(_SUBJECTS)}{turn}{pick(_ASKED)}", self._talk(12)))
            rest = max(length - len(text), 0)
            texts.append((self._talk(rest // 2) + text + self._talk(rest - rest // 2))[:length])
        return texts

    def random_text(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choices(alphabet, k=length))

    def _talk(self, length: int) -> str:
        words = (*_SUBJECTS, *_ASKED, *_PLACES, "我", "昨天", "买的", "，", "12", "ok", "了")
        return "".join(self._random.choices(words, k=length))[:length]
