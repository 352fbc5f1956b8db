"""Kind and importance of a statement by its words.

Invariant: pure, linear; words that say nothing of the kind give none.
"""

import re

from bot.conversation.sieve import Sieve
from bot.conversation.simplified import simplified
from bot.memory.fact import FactKind
from bot.memory.normalise import normalise

_SORTS: tuple[tuple[FactKind, float, re.Pattern[str]], ...] = tuple(
    (kind, importance, re.compile(pattern))
    for kind, importance, pattern in (
        (
            FactKind.PREFERENCE,
            0.9,
            r"过敏|不耐受|忌口|不能吃|不能喝|吃素|素食|清真|allergic|vegetarian|vegan",
        ),
        (
            FactKind.IDENTITY,
            0.8,
            r"我(?:的)?(?:名字|姓名|昵称|全名)?叫(?!了|他|她|你|您|车|外卖|人|什么|啥)|叫我|我姓|名字[叫是]|我的名字"
            r"|我住|住在|家住|我家在|来自|老家|的?生日|我(?:今年)?[0-9一二三四五六七八九十]{1,3}岁"
            r"|我属[鼠牛虎兔龙蛇马羊猴鸡狗猪]"
            r"|my name is|call me|i live in|i'm from|i am from|my birthday",
        ),
        (
            FactKind.PREFERENCE,
            0.7,
            r"穿.{0,6}码|尺码|鞋码|码数|穿.{0,4}号|身高|体重|腰围|\bsize\b",
        ),
        (
            FactKind.TRANSACTION,
            0.6,
            r"订单|下单|下了单|单号|买了|买的|买过|退款|退货|换货|发票|付了|付款|支付|快递(?!地址)|收货(?!地址|人"
            r"|电话)|补偿|优惠券|充值|定金|订了"
            r"|order|refund|bought|paid",
        ),
        (
            FactKind.IDENTITY,
            0.7,
            r"电话|手机号|邮箱|微信号|地址|男朋友|女朋友|男友|女友|对象(?!是谁)|老公|老婆|妻子|丈夫|女儿|儿子|孩子"
            r"|宝宝|爸|妈|弟弟|妹妹|哥哥|姐姐|爷爷|奶奶|养了|我家的?(?:猫|狗)"
            r"|职业|工作是|在.{1,14}(?:工作|上班|上学|读书|做)|血型|怀孕|糖尿病|高血压|近视"
            r"|\bi work\b|my (?:wife|husband|son|daughter|cat|dog|job|phone|email|address)",
        ),
        (
            FactKind.PREFERENCE,
            0.6,
            r"喜欢(?!你|您)|最?爱(?!你|您|情|人)|讨厌(?!你|您)|偏好|习惯|不吃|不喝|不加|少糖|无糖|最怕|我怕|我用的"
            r"|常用|上下班|通勤|戒了|感兴趣|更想要"
            r"|\b(?:like|love|hate|prefer|favou?rite)\b",
        ),
        (
            FactKind.EVENT,
            0.5,
            r"明天|后天|今晚|明晚|下周|下个?月|明年|周[一二三四五六日天末]|星期"
            r"|[0-9一二三四五六七八九十]+[月号日点](?!码)|打算|计划|准备|预约|约了"
            r"|要去|出差|考试|面试|搬家|结婚|旅[行游]|手术|昨天|前天|上周|上个?月|去年|在学|在减肥|开始学|在考|在准备"
            r"|tomorrow|next (?:week|month|year)|plan(?:ning)? to|going to",
        ),
        (
            FactKind.IDENTITY,
            0.6,
            r"我(?:的)?(?:眼睛|视力|耳朵|听力|腿脚|腿|肠胃|胃|腰|颈椎|心脏|皮肤|嗓子|膝盖|牙口?|身体|睡眠)(?:一直|从小|天生)?(?:不太|不怎么|不|很|比较|有点|特别)*(?:好(?!了)|差|弱|敏感|背)"
            r"|我(?:完全|根本)?(?:看|听|读)不懂(?:英|日|韩|法|德|外|中|繁体|粤|普通话|方言|五线谱)|我不(?:会|识)(?:说|讲|写|看)?(?:英|日|韩|外|中|粤|普通话|拼音|字|游泳|开车|骑车|做饭|打字)",
        ),
        (
            FactKind.IDENTITY,
            0.6,
            r"^(?:其实)?(?:我|本人|俺)(?:现在|以前|今年|曾经)?是(?!说|想|来|不是|要|在|谁|什么|否)|^i(?:'m| am) an? ",
        ),
    )
)
"""First match wins: what is most particular stands first."""
_SIEVE = Sieve([words for _, _, words in _SORTS])


def sort_of(text: str) -> tuple[FactKind, float] | None:
    """Kind and importance (0 to 1) of a statement by its words. None: nothing says."""
    normal = simplified(normalise(text))
    fitting = (_SORTS[place] for place in _SIEVE.fitting(normal))
    return next(((kind, weight) for kind, weight, words in fitting if words.search(normal)), None)
