"""Which command a message is: slash forms in Chinese and English, and plain words.

Invariant: pure; plain words count only as the whole message or in forms that say to whom they speak,
so that 「忘记密码怎么办」 or 「记住了吗」 never deletes or stores anything.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.commands.forget_order import ForgetOrder, forget_order
from bot.conversation.simplified import simplified
from bot.conversation.text import after_slash, content, normalise


class Command(StrEnum):
    """What can be asked for."""

    HELP = "help"
    ID = "id"
    MEMORY = "memory"
    REMEMBER = "remember"
    FORGET = "forget"
    CORRECT = "correct"
    EXPORT = "export"
    PAUSE = "pause"
    RESUME = "resume"
    CLEAR = "clear"
    FIND = "find"
    STATUS = "status"
    CONTINUE = "continue"
    CLAIM = "claim"
    PRIVACY = "privacy"
    CONFIRM = "confirm"
    CANCEL = "cancel"
    HUMAN = "human"
    SWITCH_ON = "switch_on"
    SWITCH_OFF = "switch_off"
    GROUP_MEMORY = "group_memory"
    GROUP_REMEMBER = "group_remember"
    GROUP_FORGET = "group_forget"
    GROUP_CLEAR = "group_clear"
    OPEN = "open"
    LINK = "link"
    LINK_CONFIRM = "link_confirm"
    LINK_REFUSE = "link_refuse"
    UNLINK = "unlink"
    LEAVE = "leave"
    CONFLICTS = "conflicts"
    DECIDE = "decide"
    PHONE = "phone"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A command and what it is about, as the person wrote it."""

    command: Command
    argument: str = ""
    is_plain: bool = False
    """Said in plain words, so it may also have been talk."""
    is_certain: bool = True
    """False: it was talk, if there is nothing to act on."""
    is_asking: bool = False
    """Asked whether it may be done: whoever asked is asked back."""
    is_too_long: bool = False
    """To be understood: whoever asked is told so."""


_SLASH = {
    **dict.fromkeys(("帮助", "菜单", "help"), Command.HELP),
    **dict.fromkeys(("我的编号", "编号", "id"), Command.ID),
    **dict.fromkeys(("我的记忆", "记忆", "memory"), Command.MEMORY),
    **dict.fromkeys(("记住", "记一下", "remember"), Command.REMEMBER),
    **dict.fromkeys(("忘记", "忘掉", "forget"), Command.FORGET),
    **dict.fromkeys(("更正", "改正", "correct"), Command.CORRECT),
    **dict.fromkeys(("导出", "导出记忆", "export"), Command.EXPORT),
    **dict.fromkeys(("暂停记忆", "pause"), Command.PAUSE),
    **dict.fromkeys(("恢复记忆", "resume"), Command.RESUME),
    **dict.fromkeys(("清除记忆", "清空记忆", "clear"), Command.CLEAR),
    **dict.fromkeys(("查人", "find"), Command.FIND),
    **dict.fromkeys(("状态", "status"), Command.STATUS),
    **dict.fromkeys(("继续", "continue"), Command.CONTINUE),
    **dict.fromkeys(("认领", "claim"), Command.CLAIM),
    **dict.fromkeys(("隐私", "privacy"), Command.PRIVACY),
    **dict.fromkeys(("确认", "confirm"), Command.CONFIRM),
    **dict.fromkeys(("取消", "cancel"), Command.CANCEL),
    **dict.fromkeys(("人工", "human"), Command.HUMAN),
    **dict.fromkeys(("开启", "on"), Command.SWITCH_ON),
    **dict.fromkeys(("关闭", "off"), Command.SWITCH_OFF),
    **dict.fromkeys(("群记忆", "groupmemory"), Command.GROUP_MEMORY),
    **dict.fromkeys(("群记住", "groupremember"), Command.GROUP_REMEMBER),
    **dict.fromkeys(("群忘记", "groupforget"), Command.GROUP_FORGET),
    **dict.fromkeys(("清除群记忆", "清空群记忆", "groupclear"), Command.GROUP_CLEAR),
    **dict.fromkeys(("群里可用", "open"), Command.OPEN),
    **dict.fromkeys(("绑定", "link"), Command.LINK),
    **dict.fromkeys(("确认绑定", "confirmlink"), Command.LINK_CONFIRM),
    **dict.fromkeys(("取消绑定", "refuselink"), Command.LINK_REFUSE),
    **dict.fromkeys(("解绑", "解除绑定", "unlink"), Command.UNLINK),
    **dict.fromkeys(("注销", "leave"), Command.LEAVE),
    **dict.fromkeys(("冲突", "conflicts"), Command.CONFLICTS),
    **dict.fromkeys(("裁决", "decide"), Command.DECIDE),
    **dict.fromkeys(("手机", "手机号", "手机号码", "phone"), Command.PHONE),
    **dict.fromkeys(("验证", "验证码", "verify"), Command.VERIFY),
}
_GLUED = (
    *("记住", "记一下", "忘记", "忘掉", "更正", "清除记忆", "清空记忆", "查人", "认领"),
    *("群记住", "群忘记", "群里可用", "绑定", "裁决"),
)
"""Chinese is written without spaces: 「/忘记尺码」 is /忘记 with an argument."""
BETWEEN = " \t:：,，"
"""What people put between a command and what it is about."""
_GLUED_TO_DIGITS = re.compile(r"(手机(?:号码?)?|验证码?)[ \t:：,，]*([+＋(（0-9０-９].*)", re.DOTALL)
"""「/手机13800138000」; but 「/手机壳多少钱」 is no command."""

UNSTORED = "[不保存]"
"""What stands in a text for a phone or a code."""

_WHOLE = {
    **dict.fromkeys(("帮助", "help"), Command.HELP),
    **dict.fromkeys(("我的编号",), Command.ID),
    **dict.fromkeys(
        (
            *("我的记忆", "你记得我什么", "你都记得我什么", "你还记得我什么", "你都记得我些什么"),
            *("你记得我哪些事", "你都记得什么", "你记住了我什么", "你都记住了我什么", "您都记得我什么"),
            *("您记得我什么", "whatdoyourememberaboutme", "whatdoyouknowaboutme"),
        ),
        Command.MEMORY,
    ),
    **dict.fromkeys(("清除记忆", "清空记忆", "清除我的记忆", "清空我的记忆", "删除我的记忆"), Command.CLEAR),
    **dict.fromkeys(("暂停记忆", "先别记了", "以后都别记", "都别记"), Command.PAUSE),
    **dict.fromkeys(("恢复记忆", "以后都记住", "可以记了", "继续记"), Command.RESUME),
    **dict.fromkeys(("导出记忆", "导出我的记忆", "导出我的数据"), Command.EXPORT),
    **dict.fromkeys(("继续", "好了吗", "然后呢"), Command.CONTINUE),
    **dict.fromkeys(("记住", "帮我记住", "帮我记一下"), Command.REMEMBER),
    **dict.fromkeys(("隐私", "隐私说明", "隐私政策"), Command.PRIVACY),
    **dict.fromkeys(("确认", "确认清除"), Command.CONFIRM),
    **dict.fromkeys(("取消",), Command.CANCEL),
    **dict.fromkeys(("确认绑定",), Command.LINK_CONFIRM),
    **dict.fromkeys(("取消绑定",), Command.LINK_REFUSE),
    **dict.fromkeys(("人工", "转人工", "人工客服", "转人工客服", "找真人", "找人工"), Command.HUMAN),
}
_NOT_THAT = frozenset(
    (
        *("别记了", "别记", "不要记", "不用记了", "别记住", "不要记住", "这个别记", "刚才的别记"),
        *("当我没说", "当我没说过", "就当我没说", "就当我没说过", "撤回", "收回"),
    )
)
_JUST_SAID = "刚才说的"
"""「别记了」 speaks of what was said last."""
_LONGEST_WHOLE = 40
"""Characters. Longer messages are no command in plain words of `_WHOLE`."""


def parse(text: str) -> Call | None:
    """The command in a text, or None. 「记住…」 in plain words is the judge's to recognise."""
    rest = after_slash(text)
    if rest is not None:
        return _parse_slash(rest)
    plain = simplified(text)
    if content(plain) in _NOT_THAT:
        return Call(command=Command.FORGET, argument=_JUST_SAID, is_plain=True)
    if len(text) <= _LONGEST_WHOLE and (command := _WHOLE.get(content(plain))) is not None:
        return Call(command=command, is_plain=True)
    order = forget_order(plain)
    return call_of(order) if order is not None else None


def call_of(order: ForgetOrder) -> Call:
    return Call(
        command=Command.FORGET,
        argument=order.what,
        is_plain=True,
        is_certain=order.is_certain,
        is_asking=order.is_asking,
    )


def is_slash_command(text: str) -> bool:
    """Any command of ours, with its slash."""
    rest = after_slash(text)
    return rest is not None and _parse_slash(rest) is not None


def is_switching_on(text: str) -> bool:
    call = parse(text)
    return call is not None and call.command is Command.SWITCH_ON


def _parse_slash(rest: str) -> Call | None:
    head, *tail = rest.split(maxsplit=1)
    command = _SLASH.get(normalise(simplified(head)))
    if command is not None:
        return Call(command=command, argument=tail[0].strip() if tail else "")
    for name in _GLUED:
        if simplified(rest[: len(name)]) == name:
            return Call(command=_SLASH[name], argument=rest[len(name) :].lstrip(BETWEEN).strip())
    if (glued := _GLUED_TO_DIGITS.match(rest)) is not None:
        return Call(command=_SLASH[glued[1]], argument=glued[2].strip())
    return None
