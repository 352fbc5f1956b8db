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
        "能忘记我的尺码吗",
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
