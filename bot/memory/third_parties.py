"""Claims about third parties (「张三欠我钱」「李四的电话是…」): in a group they are nobody's to keep.

Invariant: pure, and linear in the text. What the speaker says of themselves, of their own family or of things
(「周五开团」「群里的口令是…」) is no such claim. Names are known by their form alone, so some pass unknown.
"""

import re

from bot.memory.normalise import normalise

_SURNAMES = (
    "张王李赵陈刘杨吴徐孙朱胡郭罗宋郑谢韩唐冯董曹袁邓傅沈曾彭吕"
    "苏卢蒋蔡贾丁魏薛潘杜戴钟汪姜范姚谭廖邹熊崔邱秦顾侯邵孟阎欧龚尹黎贺"
)
"""Of the hundred most frequent those that hardly begin another word: 周 (周五), 黄 (黄色), 高 (高中) are not
among them."""
_NO_NICKNAME = "时|心|区|程|组|号|说|吃|票|狗|猫|米|于|是|家|规|板|师|公|婆|实|约|概|学|厅|厦|门|众|多|里|姨|伯|部|型|小|半|量"
"""What follows 小, 老, 阿 or 大 in words that name nobody (小时, 老家, 大概)."""
_TITLES = "(?:总|哥|姐|工|老师|主任|经理|同学|先生|女士|师傅|医生|护士|校长|院长|律师|教练)"
_NAME = (
    rf"(?:[小老阿大](?!{_NO_NICKNAME})[\u4e00-\u9fff]|(?!戴[了着过上个眼牙手表帽口戒项耳围隐头面假助美])[{_SURNAMES}](?:[\u4e00-\u9fff]{{1,2}}?|某某?|{_TITLES})"
    rf"|[\u4e00-\u9fff]{_TITLES}|某某某?|那个?[\u4e00-\u9fff]{{1,6}}的|[胖瘦黑傻疯][子妞]|二[蛋狗丫]"
    r"|[大二三]?(?:姐夫|妹夫|嫂子|舅妈|姑父)|群里(?:那|有)个?)"
)
_ROLE = (
    "(?:群主|管理员?|楼上|隔壁|对门|班主任|老师|教练|老板娘?|领导|上司|经理|主管|同事|同学|室友|舍友|班长|组长|队长|队友|网友"
    "|邻居|房东|客户|门卫|保安|同桌|闺蜜|兄弟|哥们|前任|前夫|前妻|前男友|前女友|某人|有人|有的人|那谁|那个谁|那家伙|这家伙)"
)
_SAYS_OF = (
    "(?:的|是|不是|有|没|在|被|把|要|会|能|又|也|都|就|已经|经常|老是|总是|天天|昨天|昨晚|今天|今年|去年|上周|下周|上个月|最近"
    "|从来|居然|真的|其实|这人|欠|骗|偷|借|抢|打|骂|说|坐|跟|和|对|做|干|爱|恨|得|离|结|怀|死|病|住|喜欢|讨厌|暗恋|出轨|赌|吸|考"
    "|抄|挂|撒|装|抠|穷|富|胖|丑|长|看|收|信|整|身|[0-9一二三四五六七八九十百千])"
)
_FEATURES = (
    "(?:电话|手机|号码|微信|qq|地址|住址|家|工资|收入|年薪|存款|房|车|生日|年龄|身高|体重|成绩|分数|身份证|密码|账号|银行卡|病"
    "|学历|工作|单位|老公|老婆|对象|男朋友|女朋友|男友|女友|孩子|儿子|女儿|爸|妈|前任|情人|秘密|真名|本名|名字|脸|人品|八字|过去)"
)
_THINGS = (
    "(?!活动|群|店|公司|学校|会员|比赛|聚会|会议|课程|服务器|副本|商品|订单|快递|酒店|餐厅|医院|银行|平台)"
)
_OTHERS = re.compile(
    r"[他她]们?|@|(?:欠|骗了?|偷了?|坑了?|打了?|骂了?)(?:了)?我"
    rf"|^(?:我们?(?:的|班|组|公司|单位|部门|店里?|学校|小区|群里?)?)?{_ROLE}(?!.{{0,4}}我)[\u4e00-\u9fff]"
    rf"|^{_NAME}{_SAYS_OF}"
    rf"|^(?!我|俺|本人|咱|自己){_THINGS}[\u4e00-\u9fff]{{2,6}}的{_FEATURES}(?:是|有|在|为|叫|:|[0-9]|$)"
    r"|[“「\"][^”」\"]{1,12}[”」\"](?:就|才|也)?是"
    r"|^(?!我|俺|本人|咱|今|明|后|昨|前|上|下|每|周|星期|以后|平时)[\u4e00-\u9fff]{2,4}"
    r"(?:欠|骗|偷|借|打了|骂|说|是个|是骗|出轨|离婚|怀孕|坐牢|喜欢|暗恋)"
)
_NAMED = re.compile(rf"{_NAME}{_SAYS_OF}")
_TELLS = re.compile(
    r"^(?:我|俺|咱们?)?(?:就|也|都|早就|刚|刚刚|昨天|今天|可以|敢|跟你们?|告诉你们?|和你们?){0,4}"
    r"(?:知道|听说|看到|看见|发现|觉得|怀疑|认为|记得|保证|作证|证明|告诉|爆料|说)(?:一下|了|过|的是|你们?|大家)?[,:]?"
)
"""「我知道张三…」 speaks of 张三."""
_ASKED = re.compile(
    r"^(?:[\u4e00-\u9fff]{1,4}[,:])?(?:请|麻烦)?(?:你)?(?:帮我)?(?:记住?|记一下|记得)(?:一下|了|住)?[,:]?"
)


def is_about_others(clause: str) -> bool:
    """A claim about a third party: not stored from a group."""
    said = _ASKED.sub("", normalise(clause))
    told = _TELLS.sub("", said)
    return any(_OTHERS.search(piece) is not None for text in {said, told} for piece in text.split(","))


def names_somebody(clause: str) -> bool:
    """It begins with a name of which something is said (「小李住在…」): it speaks of whoever has that name."""
    return _NAMED.match(normalise(clause)) is not None
