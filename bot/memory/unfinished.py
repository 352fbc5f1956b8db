"""Statements that are begun and not finished: 「我叫」, 「我的地址」, 「那个单号」.

Invariant: pure, linear. As a memory one would answer the question it belongs to with itself.
"""

import re

from bot.conversation.text import content

_BEGUN = re.compile(
    r"(?:(?:您|你)?忘了吗?|我|俺|咱|本人|的|那个?|这个?|上次|之前)*"
    r"(?:订?单号?|[订运]单号码?|快递单?号?|包裹|退款|地址|电话号?码?|手机号?码?|名字|姓名|尺[码寸]|鞋码|码数|生日|邮箱|微信号?|年龄"
    r"|身高|体重|预算|口味|问题|意思|情况|资料|信息|账号|密码|妈呀|老?天[哪呐啊]?|娘[哎诶]?)?"
    r"(?:叫做?|是|喜欢|爱|住|在|穿|想|有|会|吃|喝|用|买|姓|属|来自|对|和|跟|不|没)*[呢啊吧呀嘛哦了的]*"
)
"""It names what it would speak of, and says nothing of it."""


def is_unfinished(text: str) -> bool:
    return _BEGUN.fullmatch(content(text)) is not None
