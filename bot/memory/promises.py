"""What the bot binds itself to in an answer: 「24 小时内回复您」「补偿您20元优惠券，单号…」.

Invariant: pure; linear time. A promise is a piece of the answer as it was said. Policies, refusals, questions, advice
and what the answer quotes are none, and nothing here says anything of the person.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

LONGEST_READ = 2_000
"""Characters of an answer: a longer one is a document."""
LONGEST_PROMISE = 200
_LATELY = 1_024
"""Answers whose promises are kept: each is asked of by the worker, and again at each of the person's next messages."""
MOST_PROMISES = 5
"""Of one answer."""
LONGEST_CLAUSE = 80
"""Characters looked at: a promise is a plain sentence."""
LONGEST_ATTACHED = 30
"""Characters of what follows a promise in its sentence and says more of it (三天内到账)."""

_YOU = "(?:[您你]们?|大家|各位)"
_ME = "(?:我们?|咱们?|俺们?|这边|本店|小店|店里|店长|客服|人工|专员|同事|师傅|仓库|售后|财务|技术|工作人员)"
_NUMBER = "[0-9零一二两三四五六七八九十半几]"
_SPAN = rf"{_NUMBER}{{1,4}}\s?(?:个)?(?:半)?\s?(?:小时|钟头|分钟|秒钟?|天|日|个?工作日|周|星期|月|年)"
_DAY = (
    r"今[天晚早日]|明[天晚早日]|后[天日]|当[天晚日]|下个?(?:(?:周|星期|礼拜)[一二三四五六日天末]?|月)|周[一二三四五六日天末]|星期[一二三四五六日天]"
    rf"|礼拜[一二三四五六日天]|月底|月初|年底|早上|上午|中午|下午|晚上|{_NUMBER}{{1,3}}[点号月]"
)
_SOON = (
    "马上|立刻|立即|这就|现在就|即刻|稍后|稍候|待会儿?|等会儿?|等下|一会儿?|过会儿?|回头|尽快|尽早|第一时间|到时候?|届时|下次|下回|下一?单"
    "|以后每|每[天周月]|之后|随后|优先"
)
_DEADLINE = rf"{_SPAN}(?:之?内|以内|左右|之?后|以后|之?前|以前)|(?:{_DAY})(?:之前|以前|前|内)?"
_FUTURE = rf"(?:(?<![不体机社开员协])会(?!员|议|话|计)|将(?!军|来|就)|一定|{_SOON}|{_DEADLINE})"

_GIVES = "补偿?|补[发寄送贴]|赔[偿付]?|退[还回给款]?|返[还现]?|赠?送|赠|免[除掉去]?|减免?|报销|垫付|换"
_DOES = (
    rf"{_GIVES}|申请|发|寄|留|预留|保留|安排|登记|反馈|核实|核对|核查|查|处理|跟进|催|打[^，,]{{0,3}}折|打(?:个)?电话|致电|回电|加急|加送|加[^，,]{{0,5}}(?:[元块天分课份个]|小时)"
    "|升级|联系|转[给达告交接]|提交|上报|约|订|准备|提醒|通知|回复|答复|回访|办|改|取消|调|修|维修|优惠|延长|延保|开[票具]|解决|盯|确认"
    "|充|兑换|恢复|补上|上门|派|配|带|做|整理|讲|出|公布|更新|加|锁定|打[到给款]|说法|交[代待]|结果|交涉|沟通|协商|申诉"
)
_SERVES = (
    "安排|返还|退[给还款您你]|补[给偿发寄您你]|赔|报销|承担|处理|跟进|联系|核实|交涉|沟通|协商|催|留着|留到|保留|寄|派"
    "|通知|提醒|转给|转告|上门"
)
_ARRIVES = (
    "到账|回复|答复|回电|联系|发[出货给放]|出库|送[到达上]|寄[出到]|处理|解决|安排|退[到回还给款]|补[发寄上给]|上门|完成|给[您你]|到[您你]|打款"
    "|通知|告[诉知]|寄|派|做[完好]|打到|转到|办[好妥]|搞定|修好|出结果|有结果|开[好出]|换[好新]|揽收|到货"
)

_PROMISES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:{_ME}[^，,]{{0,6}}?|[向跟给]{_YOU})(?:承诺|保证|答应(?!过))(?!书|金|人|期)|(?:承诺|保证|答应)(?:{_YOU}|不?会|不再|绝不|给|帮|{_FUTURE})",
        # 我帮您…, 我明天上午给您…: who says 我 and for whom has bound themself.
        rf"{_ME}[^，,]{{0,16}}?(?:给|为|帮|替|向|跟|和|陪|让|请|同|通知|提醒|联系|回复|答复|告诉|叫|喊|教|接|打|等|补|退|赔|送|还){_YOU}",
        rf"{_ME}[^，,]{{0,12}}?(?:{_FUTURE})(?:[^，,]{{0,14}}?)(?:{_DOES}|告[诉知]|去|来|给|帮|让|叫|喊|找|问|看|记|写|回来|转|教|说明)",
        rf"{_ME}(?:先|再|也|就|亲自)?(?:去|来|让|找|联系|叫|派)[^，,]{{0,14}}?(?:{_DOES}|问|看)",
        # Without a subject: for whom, and what is done for them.
        rf"(?:给|为|帮|替|向|跟){_YOU}(?!的?(?:建议|回复|答复|方案|资料|消息|解释|报价|感觉|印象))[^，,]{{0,14}}?(?:{_DOES})",
        rf"(?:{_FUTURE})[^，,]{{0,14}}?(?:给|为|帮|替|向|跟|通知|提醒|联系|回复|答复|告诉|叫|陪){_YOU}",
        rf"(?:^|[^您你])(?:{_GIVES}){_YOU}",
        rf"{_ME}(?:先|再|也|就|亲自|来|去|全额|统一|直接|负责|这边|跟[^，,]{{1,8}}?){{0,3}}(?:{_SERVES})(?![^，,]{{0,4}}一下$)",
        rf"(?:通知|提醒|联系|回复|答复|告[诉知]|转[告给]|[退补发寄打]给|@){_YOU}[^，,]{{0,6}}$",
        rf"(?:一定|{_SOON}|{_DEADLINE})[^，,的]{{0,10}}?(?:{_ARRIVES})",
        rf"(?:{_DEADLINE})把{_YOU}的?[^，,]{{1,12}}(?:[完好到出]|给{_YOU})",
        r"(?:由|归)?(?:我们?|咱们?|本店|店里|商家|平台)(?:这边)?(?:来|全部|全额|都)?(?:承担|负责|报销|出|包(?!装|裹)|垫付|退|赔|付|补)",
        rf"(?:{_SPAN}(?:之?内|以内|之?后)|(?:{_DAY})(?:之前|以前|前|就|能)?)[^，,]{{0,8}}?(?:{_ARRIVES})",
        rf"(?:赠送?|补发?|返|送|续|延长|延期|抹[掉去]|减免?|多加)[^，,您你]{{0,8}}?{_NUMBER}{{1,5}}\s?(?:个月|[天年元块分份张件次只双瓶盒倍]|积分|小时)",
        rf"(?:不收|不要|不用)(?:{_YOU}的?)?(?:的)?(?:运费|邮费|钱|费用|手续费|差价)|免费(?:给{_YOU})?(?:上门|维修|更换|清洗|保养|升级|退换|配送|寄|送|修|换)",
        rf"(?:直接|重新|免费|明天|今天|额外)补[发寄]|(?:{_YOU}|这一?单|本单)[^，,]{{0,6}}(?:免[邮单]|半价|包邮|[一二三四五六七八九]折)|^(?:赠|补发|补寄)[^，,]{{0,6}}[一两][份个张件只双瓶盒]|^赠[^，,]{{1,8}}[一两]",
        rf"(?:[免退补赔返减](?:还|回|给|{_YOU}的?|掉|除|全部|来回|双程|一半|部分){{0,3}})(?:运费|邮费|差价|费用|{_NUMBER}{{1,5}}\s?[元块])|(?:运费|邮费|费用|差价)[^，,]{{0,3}}不用{_YOU}[出付担承]",
    )
)
_BENEFIT = re.compile(
    r"补偿|赔[偿付]|补[发寄]|优惠券|代金券|红包|积分|延保|退[款还]|差价|[元块]券?|试用装|赠品|礼"
)
_REFUSED = re.compile(
    r"不能|无法|没法|不会|没办法|不可以|不支持|做不到|[办退换补赔送改给发做]不了|暂时没|恐怕|不便|不敢|不保证|难以|没有权限|不承诺|不一定|未必|不行"
)
_BOUND_NOT_TO = re.compile(r"(?:承诺|保证|答应)[^，,]{0,6}(?:不会?|绝不)")
_POLICY = re.compile(
    r"一般|通常|正常情况|规定|政策|规则|规范|按照|默认|凡是?|所有|每位|会员(?:可|享|日)|支持[^，,]{0,6}(?:退|换)|活动期间|(?:下单|付款|支付|签收|发货|收货|收到货?|审核|申请|提交|寄回)[^，,]{0,6}后|如果|若|倘若|假如|要是|如需|如有|万一|一旦"
    r"|只要|的话|满[0-9一二两三四五六七八九十]|时间[是为]|工作时间|营业时间|最好|可能|大概率|预计|应该"
)
_ADVICE = re.compile(
    rf"^(?:麻烦|请(?!放心|稍|等|您放心|你放心)|建议|记得|不妨|可以|需要|只需|欢迎)|建议(?:[您你]|[^，,]{{0,4}}先)"
    rf"|{_YOU}(?:可以|可|能|需要?|先|自己|也可|只[要需]|得|要|去|在[^，,]{{0,8}}(?:里|上|处))"
)
_ABLE = re.compile(rf"(?:{_ME})?(?:还|也)?(?:可以|能够?|可)(?!靠)")
_THEIRS = re.compile(
    rf"^(?:{_YOU}(?!的|放心|别|那)|(?:物流|快递|系统|页面|天气|预报|包裹)[^，,]{{0,6}}显示|快递员|骑手|司机|系统|银行|平台|他们?|她们?|它|对方|商家|朋友|同学|老师|医生)(?!.{{0,16}}(?:我|我们))"
)
_GETS = re.compile(rf"^{_YOU}(?:会|将|就)?(?:会|能)?(?:收到|得到|获得|拿到)")
_DONE = re.compile(r"已经?|刚[才刚]?|了$|过了?$|(?<![底初末日天月点周号年一二三四五六])之前|上次|上回")
_INFORMS = re.compile(
    rf"(?:给|为|跟){_YOU}的(?:建议|回复|答复|方案|资料|消息|解释|报价)|(?:给|为|帮|替|向|跟|和){_YOU}(?:再|简单|详细|大致|先)?(?:推荐|介绍|解释|说明|列|总结|分析|翻译|展示|举|查到|分享|科普|描述|梳理|对比|算)|为{_YOU}服务|帮助{_YOU}|(?:尽力|努力|随时|一直|继续)|会员|(?:讲|说|念|写|唱|背|列|看)[^，,]{{0,12}}[:：]"
)
_QUESTION = re.compile(r"[？?]|[吗么](?:[。~～！!]|$)")
_TAG = re.compile(
    r"^(?:[您你](?:看|觉得|说)?(?:这样|如何|呢|怎么样|可以|行)?)?(?:可以|好|行|成|方便|需要|要|同意|接受)?(?:吗|不好|不行|不|呢|么|吧)?$"
)
_OFFERED = re.compile(r"要不要|需不需要|是否|想不想|要我|需要我|如何|怎么|哪|什么|谁|几")
_LEAD = re.compile(
    r"^(?:(?:好的?呢?|好呀|好嘞|嗯+|行|没问题|可以(?:的|(?=[，,]))|收到|明白了?|了解|亲亲?|哦|那么?|当然|是的|对的?|抱歉|非常抱歉|不好意思|对不起|实在|真的|您放心|你放心|放心|请放心|另外|同时|并且|而且|所以|因此|这样吧?)[，,、\s]*)+(?=.)"
)
_SENTENCE = re.compile(r"[^。！!？?；;\n]+[。！!？?；;]?")
_CLAUSE = re.compile(r"[^，,]+")
_NAMES_ITS_NUMBER = re.compile(
    r"^\s*(?:您的|你的)?(?:补偿|赔付|优惠券?|券|工单|售后|退款|投诉|流水|受理|快递|运单|物流|补发)?的?(?:单号|编号|券码|券号|兑换码|流水号|凭证号?|号码)"
)
_QUOTED = re.compile(
    r"[:：]\s{0,3}(?:“[^”\n]{0,600}”|「[^」\n]{0,600}」|\"[^\"\n]{0,600}\")|^>.*$", re.MULTILINE
)
_MAY = re.compile(r"[会将给为帮替补赔退送承保答让催跟通提免返联内前后我明今天周月寄派]")
_BREAKS_OFF = re.compile(r"^(?:[您你请但]|不过|可是|如果|若|只是|因为|由于|祝)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What the bot said that it will do."""

    text: str
    """Its clauses as they were said, without 「好的」 before and the full stop behind."""
    start: int
    end: int


@lru_cache(_LATELY)
def find_promises(answer: str) -> tuple[Promise, ...]:
    """The promises of an answer, in order, one a sentence; at most `MOST_PROMISES`."""
    answer = answer[:LONGEST_READ]
    if not _MAY.search(answer):
        return ()
    read = _QUOTED.sub(lambda quoted: "。" * len(quoted.group()), answer)
    found: list[Promise] = []
    for sentence in _SENTENCE.finditer(read):
        if found and found[-1].end >= sentence.start() - 2 and _NAMES_ITS_NUMBER.match(sentence.group()):
            found[-1] = _made(answer, found[-1].start, sentence.end())
        elif (span := _in_sentence(sentence.group())) is not None:
            found.append(_made(answer, sentence.start() + span[0], sentence.start() + span[1]))
    return tuple(found[:MOST_PROMISES])


def is_compensation(text: str) -> bool:
    """It gives something: money, goods, a discount."""
    return bool(_BENEFIT.search(text) or re.search(_GIVES, text) or re.search(r"折|承担|费", text))


def _made(answer: str, start: int, end: int) -> Promise:
    piece = answer[start : min(end, start + LONGEST_PROMISE)].rstrip(" \t\r\n。！!；;~～，,")
    return Promise(text=piece, start=start, end=start + len(piece))


def _in_sentence(sentence: str) -> tuple[int, int] | None:
    clauses = list(_clauses(sentence))
    if _QUESTION.search(sentence) and clauses:
        *clauses, (_, asked) = clauses
        if _TAG.match(asked.rstrip("？?。！! ")):
            return None
    start, end, before = -1, -1, ""
    for place, clause in clauses:
        if _is_promise(clause, before):
            start = place if start < 0 else start
            end = place + len(clause)
        elif start >= 0:
            if not _says_more(clause):
                break
            end = place + len(clause)
        before += clause
    return (start, end) if start >= 0 else None


def _clauses(sentence: str) -> Iterator[tuple[int, str]]:
    """(place, words) without what only leads to them."""
    for clause in _CLAUSE.finditer(sentence):
        text = clause.group()
        bare = _LEAD.sub("", text.lstrip(" \t*-•#")).lstrip()
        place = clause.end() - len(bare)
        if bare.strip():
            yield place, bare.rstrip("。！!；;~～ ")


def _is_promise(clause: str, before: str) -> bool:
    clause = clause[:LONGEST_CLAUSE]
    if _POLICY.search(clause) or _POLICY.search(before[-LONGEST_CLAUSE:]) or _OFFERED.search(clause):
        return False
    if _REFUSED.search(clause) and not _BOUND_NOT_TO.search(clause):
        return False
    if _GETS.match(clause):
        return bool(_BENEFIT.search(clause))
    if _ADVICE.search(clause) or _THEIRS.search(clause) or _INFORMS.search(clause):
        return False
    if _ABLE.match(clause):
        return False
    if _DONE.search(clause):
        return bool(_BENEFIT.search(clause) and re.search(rf"(?:给|为|帮|替){_YOU}", clause))
    return any(pattern.search(clause) for pattern in _PROMISES)


def _says_more(clause: str) -> bool:
    return len(clause) <= LONGEST_ATTACHED and not _BREAKS_OFF.match(clause) and not _REFUSED.search(clause)
