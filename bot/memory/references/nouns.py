"""The nouns and measure words that things said before are pointed at with, and what each may stand for.

Invariant: pure data.
"""

import re

from bot.memory.entities.entity import EntityType

ORDER = "订单号?|单号|运单号?|快递单号?|物流单号?|快递|包裹|单子|笔?订单"
_AMOUNT = "补偿款?|优惠券?|赔偿|赔付|金额|价格|价钱|价|退款|差价|运费|钱|红包|押金|定金|费用|数目|数额"
_DATE = "日期|时间|日子|天(?!气)"
_CONTACT = "电话号?码?|手机号?码?|微信号?|邮箱|号码|联系方式|qq号?"
_PRODUCT = "商品|产品|东西|衣服|裤子|鞋子?|裙子|外套|杯子|手机|耳机|包包|货"
_ISSUE = "问题|投诉|售后|事情|事儿?|情况"
NOUNS = (
    (EntityType.ORDER_ID, re.compile(ORDER, re.IGNORECASE)),
    (EntityType.AMOUNT, re.compile(_AMOUNT)),
    (EntityType.DATE, re.compile(_DATE)),
    (EntityType.CONTACT_INFO, re.compile(_CONTACT, re.IGNORECASE)),
    (EntityType.PRODUCT_NAME, re.compile(_PRODUCT)),
    (EntityType.ISSUE_TYPE, re.compile(_ISSUE)),
)
NOUN = f"(?:{ORDER}|{_CONTACT}|{_PRODUCT}|{_AMOUNT}|{_ISSUE}|{_DATE})"
MEASURES = {
    "单": EntityType.ORDER_ID,
    "票": EntityType.ORDER_ID,
    "件": EntityType.PRODUCT_NAME,
    "款": EntityType.PRODUCT_NAME,
    "双": EntityType.PRODUCT_NAME,
    "条": EntityType.PRODUCT_NAME,
    "台": EntityType.PRODUCT_NAME,
    "部": EntityType.PRODUCT_NAME,
    "把": EntityType.PRODUCT_NAME,
    "笔": EntityType.AMOUNT,
}
MEASURE = f"(?:个|{'|'.join(MEASURES)})"

OTHER_NOUNS = re.compile(
    "地址|住址|名字|姓名|昵称|生日|人(?!民)|医生|老师|朋友|同事|同学|客服|师傅|小哥|老板|店(?!里)|群|链接|视频|图片|照片|文件|方案|建议|办法|活动|话题"
)
"""What is pointed at with these is nothing that is kept as an entity: 「那个地址」 is no parcel and no phone."""


def type_of(noun: str | None, measure: str | None) -> EntityType | None:
    """None: the words don't say."""
    if noun:
        return next((kind for kind, nouns in NOUNS if nouns.fullmatch(noun)), None)
    return MEASURES.get(measure or "")
