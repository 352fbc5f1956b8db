"""People of the proof of forgetting, the words that only they say, and how some of them have these forgotten.

Invariant: none of the words is part of another's, nor of any sentence of the house.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    word: str
    code: str
    amount: str
    orders: tuple[str, ...] = ()
    """What they say to have it forgotten; () for who forgets nothing."""

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.word, self.code, self.amount)

    def tellings(self) -> tuple[str, ...]:
        return (
            f"我最喜欢的杯子叫{self.word}",
            f"我的快递单号是{self.code}，请帮我查一下",
            f"我上次那件衣服花了{self.amount}元",
        )


PEOPLE = (
    Person(
        "ann",
        "青花瓷百灵",
        "SF7301928375",
        "7319.25",
        ("忘掉{word}", "把我的单号{code}忘了吧", "/忘记 {amount}"),
    ),
    Person("ben", "汝窑天青釉", "YT8820194657", "8821.40", ("#",)),
    Person("cai", "钧窑月白釉", "JD6654019283", "6654.15", ("忘记昨天说的",)),
    Person("dan", "哥窑金丝线", "ZT5530291847", "5531.60", ("忘记一切",)),
    Person("eva", "定窑白牡丹", "EM4419203756", "4412.35"),
    Person("fay", "建盏兔毫纹", "DB3308475612", "3309.80"),
    Person("gus", "德化羊脂白", "UC2217560394", "2218.95"),
    Person("hal", "耀州青刻花", "HT1106473829", "1107.45"),
)
