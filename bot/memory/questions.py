"""What kind of question a text is: none, simple, about the person, about the bot.

Invariant: pure; decided by the words alone.
"""

import re

from bot.memory.normalise import normalise

_ABOUT_ONESELF = re.compile(
    r"记得我|认识我|了解我|知道我(?!们)|记住我(?:什么|哪些)|记得(?:关于)?我的|我是谁|我叫(?:什么|啥)|我的名字|我姓什么"
    r"|关于我|我是(?:个|一个)?(?:什么样|怎样|做什么)|该?怎么称呼我|该?叫我什么|有没有忘记?我|忘了我"
    r"|remember me|who am i|know about me|my name"
)
_ABOUT_BOT = re.compile(
    r"^(?:请问|那|嗨|你好|hi|hello)?[,\s]*(?:你|您|你们|您们)"
    r"(?:是谁|叫什么|叫啥|是什么|是机器人|是真人|是人|是ai|是不是|多大|几岁|的名字"
    r"|会什么|会做什么|能做什么|能干|有什么功能|可以做什么)"
    r"|^who are you|^what are you|^what can you do"
)
_ASKS = re.compile(
    r"[?]\s*$|[吗么呢]\s*[.!~?]*\s*$|什么|为什么|(?<!不)怎么|怎样|如何|哪(?!怕)|谁|(?<![好十])几[点岁个号天件次]|多少|多久|多大|多长|多远"
    r"|是不是|有没有|能不能|会不会|可不可以|要不要|好不好|行不行|对不对|可以吗|能否|可否|是否|^请问|啥"
    r"|^(?:what|who|when|where|why|how|which|can|could|do|does|did|is|are|will|would|should)\b"
)
_SEVERAL = re.compile(r"和|跟|以及|还有|分别|对比|比较|区别|哪些|所有|全部|都有|列出|总结|[,;?!.].")

SIMPLE_LENGTH = 16
"""Characters. Longer questions seldom ask for one thing only."""


def is_about_oneself(text: str) -> bool:
    """「还记得我吗」「我是谁」: who the person is matters more than what the words share."""
    return bool(_ABOUT_ONESELF.search(normalise(text)))


def is_about_bot(text: str) -> bool:
    """「你是谁」「你叫什么名字」: no memory of the person answers it."""
    normal = normalise(text)
    return bool(_ABOUT_BOT.search(normal)) and not _ABOUT_ONESELF.search(normal)


def is_question(clause: str) -> bool:
    """One clause asks something. A statement with a question mark is a question too."""
    return bool(_ASKS.search(normalise(clause)))


def is_simple(text: str) -> bool:
    """Asks for one thing: fewer memories serve it."""
    normal = normalise(text)
    body = normal.rstrip("?!.~ ")
    return len(body) <= SIMPLE_LENGTH and not _SEVERAL.search(body) and not is_about_oneself(normal)
