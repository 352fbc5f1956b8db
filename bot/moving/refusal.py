"""Why a bundle cannot be opened.

Invariant: every way a bundle fails is one of `Fault`, told in words with what to do.
"""

from enum import Enum

from bot.conversation.errors import RejectedInput


class Fault(Enum):
    """What a program that reads the refusal can act on."""

    NOT_A_BUNDLE = "not_a_bundle"
    NEWER_FORMAT = "newer_format"
    WRONG_PASSPHRASE = "wrong_passphrase"  # noqa: S105 (a word for programs)
    TRUNCATED = "truncated"
    DAMAGED = "damaged"


_WORDS = {
    Fault.NOT_A_BUNDLE: ("这不是 jide move 写的包", "检查文件名；jide backup 写的备份用 jide restore"),
    Fault.NEWER_FORMAT: ("这个包由更新版本的程序写成", "升级这台机器上的程序，再解开"),
    Fault.WRONG_PASSPHRASE: (
        "口令不对",
        "换一个口令再试；口令没有别的办法找回，忘了就在原来的机器上重做一个包",
    ),
    Fault.TRUNCATED: ("这个包不完整，末尾缺了一截", "从原来的机器重新拷贝一次，拷完再拔盘"),
    Fault.DAMAGED: ("这个包损坏了，或被人改过", "从原来的机器重新拷贝一次；还是这样就重做一个包"),
}


class BundleRefusal(RejectedInput):
    """A file that is not opened. Nothing was changed."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.problem, self.fix = _WORDS[fault]
        super().__init__(f"{self.problem}。修正：{self.fix}")
