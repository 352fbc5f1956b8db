"""Chat models that are ready to choose: address and name, as their providers' documents have them.

Invariant: each address speaks OpenAI's chat completions.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One provider."""

    id: str
    """Names its words."""
    base_url: str
    models: tuple[str, ...]
    """The first is proposed."""
    keys_at: str
    """Where its keys are made; "" where it needs none."""


PRESETS = (
    # api-docs.deepseek.com: deepseek-chat was an alias, taken away in July 2026.
    Preset(
        id="deepseek",
        base_url="https://api.deepseek.com",
        models=("deepseek-v4-flash", "deepseek-v4-pro"),
        keys_at="https://platform.deepseek.com/api_keys",
    ),
    # help.aliyun.com/zh/model-studio: OpenAI Chat 接口兼容.
    Preset(
        id="qwen",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        models=("qwen-plus", "qwen-turbo", "qwen-max"),
        keys_at="https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
    # docs.bigmodel.cn: OpenAI API 兼容. Its path ends in v4.
    Preset(
        id="zhipu",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        models=("glm-4-flash", "glm-4.7", "glm-5"),
        keys_at="https://bigmodel.cn/usercenter/proj-mgmt/apikeys",
    ),
    # ollama.com/blog/openai-compatibility. The name is whatever `ollama pull` fetched.
    Preset(id="ollama", base_url="http://127.0.0.1:11434/v1", models=("qwen3", "qwen2.5"), keys_at=""),
)
