import pytest

from bot.commands.parsing import Command, parse


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("/帮助", Command.HELP, ""),
        ("／帮助", Command.HELP, ""),
        ("　/ HELP ", Command.HELP, ""),
        ("/ＨＥＬＰ", Command.HELP, ""),
        ("/我的编号", Command.ID, ""),
        ("/我的记忆", Command.MEMORY, ""),
        ("/忘记 我的尺码", Command.FORGET, "我的尺码"),
        ("/忘记尺码", Command.FORGET, "尺码"),
        ("/记住：我叫Ａnna\n住北京", Command.REMEMBER, "我叫Ａnna\n住北京"),
        ("/清除记忆", Command.CLEAR, ""),
        ("/清除记忆 12 本人要求", Command.CLEAR, "12 本人要求"),
        ("/清除记忆@张三 本人要求", Command.CLEAR, "@张三 本人要求"),
        ("/查人 oAbC", Command.FIND, "oAbC"),
        ("/状态", Command.STATUS, ""),
        ("/继续", Command.CONTINUE, ""),
        ("/认领 ABCD-EFGH", Command.CLAIM, "ABCD-EFGH"),
        ("/隐私", Command.PRIVACY, ""),
        ("/确认", Command.CONFIRM, ""),
        ("/取消", Command.CANCEL, ""),
    ],
)
def test_slash_commands(text: str, command: Command, argument: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.argument, call.is_plain) == (command, argument, False)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("你都记得我什么", Command.MEMORY),
        ("你记得我什么？", Command.MEMORY),
        ("继续", Command.CONTINUE),
        ("继续。", Command.CONTINUE),
        ("好了吗", Command.CONTINUE),
        ("好了吗？", Command.CONTINUE),
        ("然后呢", Command.CONTINUE),
        ("确认", Command.CONFIRM),
        ("确认。", Command.CONFIRM),
        ("取消", Command.CANCEL),
        ("隐私", Command.PRIVACY),
        ("帮助", Command.HELP),
        ("清除我的记忆", Command.CLEAR),
        ("记住", Command.REMEMBER),
    ],
)
def test_plain_words_as_the_whole_message(text: str, command: Command) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.argument, call.is_plain) == (command, "", True)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("忘记我刚才说的尺码", "我刚才说的尺码"),
        ("忘掉刚才说的", "刚才说的"),
        ("请忘掉我之前告诉你的地址。", "我之前告诉你的地址"),
        ("忘记我的生日", "我的生日"),
        ("你忘掉关于我的病史吧", "关于我的病史吧"),
        ("别记我说的电话", "我说的电话"),
        ("把我刚才说的尺码忘了", "我刚才说的尺码"),
        ("把我的地址忘掉吧", "我的地址"),
    ],
)
def test_forgetting_in_plain_words(text: str, what: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.argument, call.is_plain) == (Command.FORGET, what, True)


@pytest.mark.parametrize(
    "text",
    [
        "忘记密码怎么办",
        "忘了付款",
        "我忘记带身份证了",
        "忘记我的密码了",
        "忘了我的订单号怎么查",
        "删除我的订单",
        "继续买两件",
        "好了吗我的订单",
        "1",
        "我确认收货了",
        "取消订单",
        "隐私部位过敏怎么办",
        "/",
        "/::)",
        "/未知命令",
        "//",
        "清除记忆的方法",
        "",
    ],
)
def test_talk_is_no_command(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("忘掉我的单号SF123", "我的单号SF123"),
        ("忘掉SF1234567", "SF1234567"),
        ("别记我不吃香菜这件事", "我不吃香菜这件事"),
        ("我不吃香菜这件事别记了", "我不吃香菜这件事"),
        ("忘记今天早上的对话", "今天早上的对话"),
        ("不对，刚才说的忘了吧", "刚才说的"),
        ("我刚才说的地址，忘了吧", "我刚才说的地址"),
        ("请把昨天聊的都删了", "昨天聊的，全部"),
        ("麻烦你把我说的手机号删掉，谢谢", "我说的手机号"),
        ("刚才的话当我没说", "刚才的话"),
        ("我不希望你记得我的收入", "我的收入"),
        ("从你的记忆里把我的生日去掉", "我的生日"),
        ("全忘了吧", "全部"),
        ("把我忘了吧", "我"),
    ],
)
def test_more_ways_to_have_something_forgotten(text: str, what: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.argument, call.is_certain, call.is_asking) == (
        Command.FORGET,
        what,
        True,
        False,
    )


@pytest.mark.parametrize(
    "text", ["能忘记我的尺码吗", "可以把我的尺码忘掉吗", "我的尺码删了", "别再提我的尺码了", "我说的尺码忘了"]
)
def test_what_may_not_be_an_order_is_asked_back(text: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.is_certain, call.is_asking) == (Command.FORGET, False, True)


@pytest.mark.parametrize("text", ["把旺财忘掉", "工作的事你就别记着了", "忘掉花生过敏的事"])
def test_an_order_about_anything_may_be_talk(text: str) -> None:
    call = parse(text)
    assert call is not None and not call.is_certain and not call.is_asking


@pytest.mark.parametrize(
    "text",
    [
        "你是不是忘了我说的尺码",
        "你忘了我刚才说的话",
        "你怎么把我的生日忘了",
        "你把我的名字忘了",
        "别忘了我对花生过敏",
        "千万别忘记我的生日",
        "不要把我说的忘掉",
        "我对花生过敏这件事别忘掉",
        "先别删我的聊天记录",
        "不要清除我的记忆",
        "我忘了我说过什么",
        "忘记我昨天买的什么了",
        "忘了跟你说我住在北京",
        "忘了告诉你，我搬家了",
        "忘记说了，我要M码",
        "如果我说忘掉我的地址，你会怎么做",
        "他说“忘掉我说的”，我没理",
        "怎么让你忘掉我的地址",
        "你会忘记我说的话吗",
        "别记错了我的地址",
        "别记仇",
        "他的话你别记了",
        "我把密码忘了",
        "忘记登录密码了，怎么找回我的账号",
        "把我的账号删了",
        "清空购物车",
        "我的外卖丢了",
        "能不能取消订单",
        "可以清空购物车吗",
        "时间会让人忘掉一切烦恼",
        "不用记，我就问问",
    ],
)
def test_questions_warnings_and_talk_of_forgetting_order_nothing(text: str) -> None:
    assert parse(text) is None
