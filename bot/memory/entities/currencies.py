"""What money is called: names and signs of currencies, read once from currencies.txt.

Invariant: a name belongs to one currency; 元 and 块 alone are yuan.
"""

import re
from functools import cache
from importlib.resources import files

HOME = "CNY"
_YUAN = "(?:元|圆)(?![旦素宵气件帅老月年首凶婴神音曲宝器]|宇宙|[一二]次)"
"""Not 元旦, 元素, 元宵, nor 一元二次方程."""
_NOUNS_OF_PIECES = (
    "手?表|蛋糕|[猪牛羊鸡鱼排]?肉|豆腐|地(?!方)|布|木?板|石|[墙瓷]?砖|糖|巧克力|香?皂|肥皂|饼|玻璃|电池|屏|硬盘|显卡|面包|[奖]?牌|玉|田|毛巾"
    "|橡皮|手帕|积木|拼图|披萨|牛排|地毯|窗帘|抹布|西瓜|儿|腹肌|内存|主板|滑板|移动|充电宝"
)
_PIECES = rf"块(?!{_NOUNS_OF_PIECES}|[^\W\d_]{{0,4}}?(?:手表|蛋糕|电池|硬盘|巧克力|面包))"
"""三块蛋糕 is no price."""


@cache
def codes() -> dict[str, str]:
    """Currency codes by name and sign, upper case."""
    table: dict[str, str] = {}
    for line in files("bot.memory.entities").joinpath("currencies.txt").read_text("utf-8").splitlines():
        if not line.startswith("#") and line.strip():
            code, names, signs = (part.strip() for part in line.split(";"))
            table |= {name.upper(): code for name in (*names.split(), *signs.split())}
    return table


def code_of(name: str) -> str:
    """The code of a currency by its name or sign."""
    return codes().get(name.upper(), HOME)


def _alternatives(names: list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def _is_word(name: str) -> bool:
    return name.isalpha() and not name.isascii()


@cache
def marks() -> str:
    """For a class of characters, case aside: every name and sign ends with one of them, and units of yuan as well."""
    ends = "".join({name[-1] for name in codes() if not (name.isascii() and name.isalpha())})
    return f"a-z元圆块{re.escape(ends)}"


@cache
def before_number() -> re.Pattern[str]:
    """A currency at the end of what stands before a number."""
    signs = _alternatives([name for name in codes() if not name.isalpha()])
    letters = _alternatives([name for name in codes() if name.isascii() and name.isalpha()])
    words = _alternatives([name for name in codes() if _is_word(name) and len(name) > 1 and name != "块钱"])
    return re.compile(
        rf"((?<![A-Za-z])(?:{signs}|{letters})|{signs[:0]}(?:{words}))\s{{0,2}}$", re.IGNORECASE
    )


@cache
def after_number() -> re.Pattern[str]:
    """A currency right behind a number: group 1 yuan, group 2 any by name, group 3 by sign or letters."""
    words = [
        name
        for name in codes()
        if _is_word(name) and name not in ("元", "圆", "块", "块钱", "欧", "镑", "刀", "盾", "铢")
    ]
    letters = [name for name in codes() if name.isascii() and name.isalpha()]
    short = "(?:欧|镑|盾|铢)(?![^\\W\\d_])|刀(?![具片叉法架子])"
    return re.compile(
        rf"\s?(?:({_YUAN}[整正]?|{_PIECES}钱?|块钱)|({_alternatives(words)}|{short})|([$€£](?![0-9])|(?:{_alternatives(letters)})(?![A-Za-z])))",
        re.IGNORECASE,
    )


@cache
def nothing_but_names() -> re.Pattern[str]:
    """A message of currency names alone."""
    words = _alternatives([name for name in codes() if len(name) > 1 and name != "块钱"])
    return re.compile(rf"\s*(?:(?:{words})[\s,，、和或.。!?]{{0,3}}){{1,6}}", re.IGNORECASE)


@cache
def names() -> re.Pattern[str]:
    """Any currency name of two letters or more."""
    return re.compile(
        _alternatives([name for name in codes() if len(name) > 1 and name != "块钱"]), re.IGNORECASE
    )
