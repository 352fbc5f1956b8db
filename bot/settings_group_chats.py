"""The group of settings of QQ's group chats.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

from typing import Any

from pydantic import Field, field_validator

from bot.groups.quiet import read_hours
from bot.settings_groups import Section, split_list


class GroupSettings(Section):
    """When the bot speaks in groups. As it comes: when it is called, and never else."""

    keywords: tuple[str, ...] = Field(
        default=(),
        description="群里的话含有其中一个词，就算是在叫机器人；多个用逗号分开，留空则不用",
        examples=["客服,开团"],
    )
    random_rate: float = Field(
        default=0.0, ge=0, le=1, description="没人叫时随机插话的比例，0 到 1；0 是不插话，0.05 是二十句插一句"
    )
    quiet_hours: str = Field(
        default="",
        description="安静的时间，北京时间，可跨零点，几段用逗号分开；这时不因关键词开口也不插话，被叫到仍会答；留空则没有",
        examples=["23:00-07:00"],
    )
    cooldown_seconds: int = Field(
        default=30, ge=0, le=86_400, description="同一个群里，两次没人叫而开口之间至少隔几秒"
    )
    commands_need_call: bool = Field(
        default=True, description="群里的命令是否要先 @ 机器人：true 或 false；false 则直接发“/帮助”也会应"
    )
    lines: int = Field(
        default=10, ge=0, le=50, description="回答时带上群里刚说过的几句话，只在内存里，不保存；0 则不带"
    )
    other_bots: tuple[str, ...] = Field(
        default=(),
        description="群里别的机器人，写成 渠道:编号，多个用逗号分开；它们说什么都不理",
        examples=["onebot:10086"],
    )
    loop_replies: int = Field(
        default=6,
        ge=0,
        le=100,
        description="有人连续几次在回答后三秒内又叫机器人，就当作别的机器人，十分钟不理；0 则不管",
    )

    @field_validator("keywords", "other_bots", mode="before")
    @classmethod
    def _split(cls, raw: Any) -> Any:
        return split_list(raw) if isinstance(raw, str) else raw

    @field_validator("other_bots")
    @classmethod
    def _check_bots(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_address, entries))

    @field_validator("quiet_hours")
    @classmethod
    def _check_hours(cls, hours: str) -> str:
        read_hours(hours)
        return hours


def _address(entry: str) -> str:
    channel, _, openid = (part.strip() for part in entry.replace("：", ":", 1).partition(":"))
    if not (channel and openid):
        raise ValueError(f"「{entry}」要写成 渠道:编号，例如 onebot:10086")
    return f"{channel.lower()}:{openid}"
