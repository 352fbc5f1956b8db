"""The group of settings of memory: what is kept, how much of it is recalled, and how it is ranked.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

from typing import Any, Literal

from pydantic import Field, field_validator

from bot.settings_groups import ModelSettings


class MemorySettings(ModelSettings):
    base_url: str = Field(
        default="",
        description="整理记忆用的模型接口地址；留空则同 LLM__BASE_URL",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: str = Field(
        default="",
        repr=False,
        description="整理记忆用的模型的密钥；留空、接口地址也留空时同 LLM__API_KEY",
        examples=["您的密钥"],
    )
    model: str = Field(
        default="", description="整理记忆用的模型，可以比对话的便宜；留空则用对话模型", examples=["qwen3-4b"]
    )
    consent: Literal["on", "off"] = Field(default="on", description="是否保存长期记忆：on 保存，off 不保存")
    short_term_turns: int = Field(default=10, ge=1, le=100, description="对话里带上最近几轮")
    short_term_budget_tokens: int = Field(
        default=2000, ge=100, le=100_000, description="最近几轮合计最多多少 token，超出则去掉较早的"
    )
    summary_after_turns: int = Field(
        default=15,
        ge=0,
        le=100,
        description="满几轮对话，或超出上面的 token 数，就把较早的整理成摘要，代替它们带进对话；原话照样保存；0 是不用摘要",
    )
    summary_keeps: int = Field(default=3, ge=1, le=50, description="整理摘要时，最近几轮不整理，原样带上")
    recall_k: int = Field(
        default=5, ge=1, le=50, description="普通的问题想起几条记忆；简单的少些，要汇总的多些"
    )
    recall_k_by_model: bool = Field(
        default=False,
        description="问题大小看不出来时，是否先问整理记忆用的模型该想起几条：true 或 false；每个这样的问题多等一会儿",
    )
    recall_budget_tokens: int = Field(
        default=1500,
        ge=100,
        le=100_000,
        description="想起的记忆合计最多多少 token，放不下的不带；最有用的一条总会带上",
    )
    ranker: Literal["ours", "literal"] = Field(
        default="ours",
        description="记忆怎么排先后：ours 综合向量、词、单号、话题等；literal 照公式 0.6·相似 + 0.3·e^(-0.001·小时) + 0.1·相关",
    )
    keep_after_leaving_days: int = Field(
        default=7,
        ge=0,
        le=365,
        description="取消关注或删除好友后，封存的记忆过几天删除；期间回来可以恢复；0 是马上删除",
    )
    checking_line: bool = Field(
        default=False,
        description="用户怪机器人忘了、而回答要等时，先说一句「让我查一下」：true 或 false；只在能主动发消息的渠道",
    )

    @field_validator("consent", "ranker", mode="before")
    @classmethod
    def _lower(cls, text: Any) -> Any:
        return text.lower() if isinstance(text, str) else text
