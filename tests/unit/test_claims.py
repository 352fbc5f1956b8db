"""What a later memory closes, what it only says again, and what it leaves alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.claims import contradicts, read_claims, says_the_same
from bot.memory.claims.claim import SELF

AT = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


def closes(new: str, old: str) -> bool:
    return contradicts(read_claims(new), read_claims(old))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我住在杭州", "我搬家了，地址改成上海市浦东新区世纪大道100号"),
        ("我家在成都", "我搬到重庆了"),
        ("我的收货地址是北京市朝阳区", "收货地址换成上海市徐汇区"),
        ("我公司在望京", "我们公司搬到亦庄了"),
        ("我穿42码的鞋", "我现在穿43码"),
        ("我鞋码是42", "鞋码改成43了"),
        ("裤子我穿32码", "裤子现在要穿34码了"),
        ("我手机号是13812345678", "我换手机号了，新的是13912345678"),
        ("我的邮箱是a@b.com", "邮箱换成c@d.com"),
        ("叫我小王", "别叫我小王了，叫我王工"),
        ("我在腾讯上班", "我跳槽到阿里了"),
        ("我在腾讯上班", "我辞职了"),
        ("我是老师", "我退休了"),
        ("我在读高二", "我已经高三了"),
        ("我开的是大众", "我换了辆比亚迪"),
        ("我用小米手机", "我手机换成华为了"),
        ("我体重70公斤", "我现在75公斤了"),
        ("我今年29岁", "我今年30岁了"),
    ],
)
def test_one_value_of_a_slot_takes_the_others_place(old: str, new: str) -> None:
    assert closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我喜欢喝咖啡", "我不喝咖啡了"),
        ("我每天一杯咖啡", "我戒咖啡了"),
        ("我爱喝可乐", "可乐我不喝了"),
        ("我不吃辣", "我现在能吃辣了"),
        ("我对芒果过敏", "我对芒果不过敏了"),
        ("我养了一只猫", "猫送人了"),
        ("我在学日语", "日语不学了，现在学西班牙语"),
        ("我每周去三次健身房", "健身房我退卡了，不去了"),
        ("我怕狗", "我现在不怕狗了"),
        ("我吃素", "我最近开始吃鱼吃肉了"),
    ],
)
def test_a_habit_that_ended_or_began_closes_its_opposite(old: str, new: str) -> None:
    assert closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我单身", "我上个月结婚了"),
        ("我女朋友叫小雅", "我跟女朋友分手了"),
        ("我怀孕了", "宝宝出生了"),
        ("我租房住", "我买房了"),
        ("奶茶我一般要全糖", "以后奶茶要三分糖"),
        ("我面试是下周三下午两点", "面试改到下周五了"),
        ("我下周三下午三点有个面试", "面试改时间了，周五上午十点"),
        ("我国庆打算去三亚玩", "国庆不去三亚了，改去成都"),
        ("我下周五要去上海出差", "出差取消了"),
        ("我每周三练琴", "我现在改成每周五练琴"),
        ("我用的是联通的卡", "我从联通换成电信了"),
        ("我生日是5月12日", "我生日不是5月12日，是5月21日"),
        ("我每天早上跑步", "跑步改到晚上了"),
    ],
)
def test_states_plans_and_named_changes(old: str, new: str) -> None:
    assert closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我妈穿38码的鞋", "我现在穿43码的鞋"),
        ("我爸爸抽烟", "我戒烟了"),
        ("我儿子对牛奶过敏", "我不喝牛奶了"),
        ("我妈妈生日是3月5日", "我生日是5月12日"),
        ("小李住在北京", "我搬到上海了"),
        ("我大儿子10岁", "我小儿子6岁"),
        ("我住在北京", "小李住在上海"),
        ("我手机号是13812345678", "我老婆的手机号是13912345678"),
    ],
)
def test_nobody_elses_memory_is_closed(old: str, new: str) -> None:
    assert not closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我公司地址是北京市海淀区", "我搬家了，地址改成上海市"),
        ("我家的地址是朝阳路8号", "公司地址改成建国路88号"),
        ("我住在杭州", "我老家在绍兴"),
        ("我上衣穿L码", "我裤子现在穿32码"),
        ("我左眼近视300度", "我现在右眼近视200度"),
        ("我的微信是abc123", "我的QQ换成12345678了"),
        ("我在咖啡店上班", "我不喝咖啡了"),
        ("我喜欢喝咖啡", "我不喝奶茶了"),
        ("我喜欢喝咖啡", "我不喝黑咖啡了"),
        ("我喝咖啡要加糖", "我喝茶不加糖"),
        ("奶茶我要全糖", "咖啡要无糖"),
        ("我在腾讯上班", "我是程序员"),
        ("我对花生过敏", "我对芒果过敏"),
    ],
)
def test_another_slot_stays(old: str, new: str) -> None:
    assert not closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我住在杭州", "我住在杭州西湖区"),
        ("我有一只猫", "我又养了一只狗"),
        ("我喜欢跑步", "我现在喜欢游泳"),
        ("我喜欢喝美式", "我也喜欢喝拿铁"),
        ("我周三有面试", "我周五也有一个面试"),
        ("我的订单号是2026111803", "我的订单号是2026111804"),
        ("我昨天买了咖啡", "我不喝咖啡了"),
        ("我住在杭州", "我下个月打算搬到上海"),
        ("我以前住北京", "我住在上海"),
        ("我去过北京", "我现在住上海"),
        ("我喜欢吃苹果", "我手机换成苹果了"),
    ],
)
def test_what_may_hold_beside_it_stays(old: str, new: str) -> None:
    assert not closes(new, old)


def test_who_is_called_by_a_name_is_not_the_person() -> None:
    assert [clause.owner for clause in read_claims("小李住在北京").clauses] != [SELF]
    assert [clause.owner for clause in read_claims("我妈喜欢喝茶，血糖高").clauses] == ["妈妈", "妈妈"]


def test_whoever_says_the_same_closes_nothing() -> None:
    assert not closes("我住在杭州", "我住在杭州")


SAME = [
    ("我对花生过敏", "花生我过敏"),
    ("我对花生过敏", "我一吃花生就会过敏"),
    ("我住在成都", "我家在成都"),
    ("我不吃葱", "葱我不吃"),
    ("我的鞋码是42", "我穿42码的鞋"),
    ("我付了199元", "我支付了一百九十九块"),
    ("我的生日是3月8日", "我3月8号生日"),
    ("我的订单号是DD20260001", "订单编号DD20260001"),
    ("我每周二健身", "每星期二我都健身"),
    ("我有高血压", "我患有高血压"),
    ("我老婆叫小红", "我妻子名字是小红"),
    ("我戒烟了", "我不抽烟了"),
]
DIFFERENT = [
    ("我对花生过敏", "我对花生不过敏"),
    ("我住在成都", "我以前住在成都"),
    ("我住在成都", "我住在重庆"),
    ("我不吃葱", "我不太吃葱"),
    ("我的鞋码是42", "我的鞋码是43"),
    ("我付了199元", "我付了199美元"),
    ("我付了199元", "我收了199元"),
    ("我的生日是3月8日", "我的生日是3月18日"),
    ("我的生日是3月8日", "我妈的生日是3月8日"),
    ("我的订单号是DD20260001", "我的订单号是DD20260002"),
    ("我的会员卡尾号8832", "我的会员卡尾号8823"),
    ("我每周二健身", "我每周四健身"),
    ("我养了一只猫", "我养了两只猫"),
    ("我借了小李500元", "小李借了我500元"),
    ("我妈怕狗", "狗怕我妈"),
    ("我体重70公斤", "我体重70斤"),
    ("我打算去北京", "我去北京了"),
    ("我在戒烟", "我戒烟了"),
    ("我周末不吃辣", "我不吃辣"),
    ("我们不吃辣", "我不吃辣"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_one(one: str, other: str) -> None:
    assert says_the_same(one, AT, other, AT)
    assert says_the_same(other, AT, one, AT)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_anything_that_counts_is_two(one: str, other: str) -> None:
    assert not says_the_same(one, AT, other, AT)
    assert not says_the_same(other, AT, one, AT)


def test_tomorrow_is_another_day_each_time() -> None:
    assert says_the_same("我明天面试", AT, "明天我面试", AT)
    assert not says_the_same("我明天面试", AT, "我明天面试", AT + timedelta(days=3))


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    reading = read_claims(text)
    assert not contradicts(reading, reading)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我每天跑五公里", "今天只跑了三公里"),
        ("我每天喝牛奶", "昨天没喝牛奶"),
        ("我骑车上班", "这几天下雨坐地铁"),
        ("我每周三练琴", "这周三不练琴了"),
        ("我每天十一点睡", "周末两点才睡"),
    ],
)
def test_an_exception_ends_no_habit(old: str, new: str) -> None:
    assert not closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我爱喝咖啡", "咖啡喝完了"),
        ("我喜欢看庆余年", "庆余年看完了"),
        ("我用海飞丝洗头", "海飞丝用完了"),
        ("我戴眼镜", "眼镜丢了"),
        ("我吃降压药", "降压药吃完了，再买点"),
        ("我家猫叫可乐", "可乐喝完了"),
        ("我女儿在上幼儿园", "女儿被奶奶接走了"),
        ("我对猫过敏", "猫送人了，还是过敏"),
    ],
)
def test_what_is_used_up_lost_or_fetched_ends_no_habit(old: str, new: str) -> None:
    assert not closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我左膝盖疼", "右手好了"),
        ("我失眠", "我嗓子好了"),
        ("我手机号是13812345678", "我手机尾号5678"),
        ("我手机号是13912345678", "老号注销了"),
        ("我订了酒店", "酒店的早餐取消了"),
        ("我手机是小米的", "手机壳换成透明的了"),
        ("我骑车上班", "我升主管了"),
        ("我老板姓高", "我老板是湖南人"),
        ("我同桌是晓彤", "我女儿换同桌了，她同桌是建国"),
        ("我住浦东", "我从浦东出发了"),
        ("我手机号是13812345678", "13812345678打不通的话打座机"),
        ("我家狗今天洗澡", "今天加班，最后走了"),
    ],
)
def test_another_part_number_thing_or_role_stays(old: str, new: str) -> None:
    assert not closes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我住浦东", "我从浦东搬走了"),
        ("我手机尾号3307", "号码换了，尾号是5812"),
        ("我手机号是13812345678", "13812345678停用了"),
        ("我微信是abc_123", "那个微信被封了"),
        ("我每顿吃三个馒头", "我现在每顿只吃一个馒头"),
        ("我订了两张桌", "改成三张"),
        ("我家狗没打疫苗", "我家狗打疫苗了"),
        ("我室友是阿强", "阿强搬走了，新室友叫建国"),
        ("我家的猫叫雪糕", "雪糕得了肾病，没救回来"),
        ("我家猫在康宁医院洗牙", "洗牙换到爱宠医院了"),
        ("我爸在菜市场上班", "我爸退休了"),
        ("我不会游泳，我妈怕水", "我妈不怕水了"),
    ],
)
def test_words_that_take_back_the_earlier_ones(old: str, new: str) -> None:
    assert closes(new, old)


@given(st.text(alphabet="不了没从号,改成搬房的1235我", max_size=200))
def test_nothing_contradicts_itself(text: str) -> None:
    assert not closes(text, text)
