"""What a message asks for, in commands: one, or 「忘记…」 and 「记住…」 together.

Invariant: pure; what is too long to be understood as an order is told so, never taken for something to remember.
"""

import re
from dataclasses import replace

from bot.commands.forget_order import LONGEST, begins_forgetting, order_beside_another
from bot.commands.parsing import Call, Command, call_of, parse
from bot.conversation.simplified import simplified
from bot.memory.clauses import forgot_to_tell
from bot.memory.explicit import explicit_memory

LONGEST_TO_REMEMBER = 1_000
"""Characters. A longer text is a document: its sender is told to send its things one by one."""

_BEGINS_REMEMBERING = re.compile(r"\s*(?:请|麻烦|帮我|你|您)*(?:记住|记一下|记下)(?=.{2})")
"""「记住：我怕忘记」 asks for nothing to be forgotten."""
_ONWARD = r"(?:然后|接着|再|并且?|同时|另外|还有|顺便|改|请|麻烦|帮我|给我|你|您|要|,|，|\s)"
_REMEMBER = r"[/／]?(?:记住|记一下|记下|记着)"
_FORGET = (
    r"[/／]?(?:请|麻烦|帮我|你|您)*(?:忘记|忘掉|忘了|别记|不要记|删掉|删除|(?:把|将)[^,，。]{1,40}[忘删])"
)
_PARTED = r"[,，。.;；!！\s]"
_FORGET_FIRST = re.compile(
    rf"(?P<forget>.+?)(?:{_PARTED}{_ONWARD}{{0,6}}|再|然后)(?P<remember>{_REMEMBER}.+)", re.DOTALL
)
_REMEMBER_FIRST = re.compile(
    rf"(?P<remember>{_REMEMBER}.+){_PARTED}{_ONWARD}{{0,6}}(?P<forget>{_FORGET}.+)", re.DOTALL
)


def recognise(text: str) -> tuple[Call, ...]:
    """() for none. Of two, the first is to forget."""
    if len(text) <= LONGEST_TO_REMEMBER and (both := _both(text)):
        return both
    call = parse(text)
    if call is not None and not (call.is_plain and _BEGINS_REMEMBERING.match(text)):
        is_long = call.command is Command.REMEMBER and len(text) > LONGEST_TO_REMEMBER
        return (replace(call, is_too_long=is_long),)
    if len(text) > LONGEST and begins_forgetting(simplified(text[: LONGEST + 1])):
        return (Call(command=Command.FORGET, is_plain=True, is_too_long=True),)
    said = text[forgot_to_tell(text) :] or text
    words = explicit_memory(said[:LONGEST_TO_REMEMBER])
    if words is None:
        return ()
    is_long = len(text) > LONGEST_TO_REMEMBER
    return (Call(command=Command.REMEMBER, argument=words, is_plain=True, is_too_long=is_long),)


def _both(text: str) -> tuple[Call, ...]:
    for form in (_FORGET_FIRST, _REMEMBER_FIRST):
        found = form.fullmatch(text.strip())
        if found is None:
            continue
        forget, remember = _forget(found["forget"]), _remember(found["remember"])
        if forget is not None and remember is not None:
            return forget, remember
    return ()


def _forget(part: str) -> Call | None:
    if part.startswith(("/", "／")):
        call = parse(part)
        return call if call is not None and call.command is Command.FORGET and call.argument else None
    order = order_beside_another(simplified(part))
    return call_of(order) if order is not None else None


def _remember(part: str) -> Call | None:
    words = explicit_memory(part.lstrip("/／"))
    if words is None and part.startswith(("/", "／")):
        call = parse(part)
        words = call.argument if call is not None and call.command is Command.REMEMBER else None
    return Call(command=Command.REMEMBER, argument=words, is_plain=True) if words else None
