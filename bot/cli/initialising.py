"""`jide init`: ask a few questions and write `data/jide.env`.

Invariant: the file is checked before it takes its name, only its owner can read it, and one that is there
is never overwritten unasked; its old text is kept beside it.
"""

import difflib
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from bot.cli.running import Refusal, is_sure, say_json, typed
from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_fields import known_fields
from bot.settings_file import NAME, Answers, check, random_secret, text_of, write
from bot.settings_source import read_settings

NEXT = {"jide doctor": "检查", "jide run": "启动"}
PLAIN = "明文"
"""Typed instead of a key: WeChat's plain mode."""


def initialise(given: Sequence[str], *, asks: bool, overwrites: bool, as_json: bool) -> None:
    """`given`: `KEY=value`, or `KEY` for the value of that environment variable; the rest is asked for or
    made. No coroutine: asyncio would keep Ctrl+C from a question. Raises RejectedInput or ConfigurationError.
    """
    path = data_folder() / NAME
    try:
        if path.exists() and not overwrites and not (asks and _may_rewrite(path)):
            raise Refusal(f"没有改动：{path} 已经有了", "要重写就加 --force，旧的会改名留着")
        answers = _ask_all() if asks else answers_of(given)
    except EOFError:
        raise Refusal("没有问完，什么都没有写", "不想回答就用 jide init --yes，或用 --set 写明") from None
    settings = check(answers)
    kept = write(path, text_of(answers), keeps_old=True)
    if as_json:
        kept_as = str(kept) if kept else None
        say_json({"file": str(path), "kept": kept_as, "paste": to_paste(settings), "next": [*NEXT]})
        return
    typer.echo(f"已写 {path}，只有您能读" + (f"；旧的在 {kept.name}" if kept else ""))
    for line in what_next(settings):
        typer.echo(line)


def answers_of(given: Sequence[str]) -> Answers:
    """Without questions: what is given, over the defaults; an account's secrets are made where they are not.

    Raises Refusal.
    """
    answers = {"HOST": "127.0.0.1", "PORT": "8080", "ONEBOT__ACCESS_TOKEN": secrets.token_urlsafe(24)}
    known = [key for key in known_fields() if key != "JIDE_DATA_DIR"]  # it says where this file is
    for each in given:
        name, has_value, value = each.partition("=")
        key = name.strip().upper()
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise Refusal(f"没有设置 {key}", f"是不是 {near[0]}？" if near else "全部设置的说明在 .env.prod")
        if not has_value and key not in os.environ:
            raise Refusal(f"没有叫 {key} 的环境变量", f"设好它，或写成 --set {key}=值")
        answers[key] = value if has_value else os.environ[key]
    if answers.get("WECHAT__APP_ID"):
        answers = {"WECHAT__TOKEN": random_secret(32), "WECHAT__AES_KEY": random_secret(43)} | answers
    return {key: value for key, value in answers.items() if value}


def data_folder() -> Path:
    """Of the settings, also where one of them is wrong: that is why one writes them anew."""
    try:
        return read_settings().data_folder
    except ConfigurationError:
        named = os.environ.get("JIDE_DATA_DIR") or str(Settings.model_fields["jide_data_dir"].default)
        return Path.cwd() / Path(named).expanduser()


def to_paste(settings: Settings) -> dict[str, dict[str, str]]:
    """By platform, what its console asks for, under the console's names."""
    wechat, onebot, pastes = settings.wechat, settings.onebot, dict[str, dict[str, str]]()
    if wechat.app_id:
        pastes["wechat"] = {
            "URL": f"https://您的域名{wechat.path}",
            "Token": wechat.token,
            "EncodingAESKey": wechat.aes_key,
            "消息加解密方式": "安全模式" if wechat.aes_key else "明文模式",
        }
    if onebot.access_token:
        url = f"ws://{settings.host}:{settings.port}/onebot/v11/ws"
        pastes["onebot"] = {"URL": url, "Token": onebot.access_token}
    return pastes


def what_next(settings: Settings) -> list[str]:
    """What to paste where, and what to type."""
    from rich.cells import set_cell_size

    where = {
        "wechat": "公众号后台「设置与开发 → 基本配置 → 服务器配置」里填"
        f"（域名的反向代理到 {settings.host}:{settings.port}）：",
        "onebot": "QQ 客户端（NapCat 等）里新建「WebSocket 客户端（反向）」：",
    }
    lines: list[str] = []
    for platform, pairs in to_paste(settings).items():
        lines += [
            "",
            where[platform],
            *(f"  {set_cell_size(name, 14)}  {value or '任意'}" for name, value in pairs.items()),
        ]
    lines += ["", "接着执行：", *(f"  {command:<12}  # {what}" for command, what in NEXT.items())]
    if not settings.superusers:
        lines.append("启动后，对机器人发日志里的“/认领 ……”，您就是管理员")
    return lines


def _ask_all() -> Answers:
    typer.echo("没有的就直接按回车，以后可以再改。")
    answers: Answers = {}
    for group in (_ask_wechat, _ask_onebot, _ask_model, _ask_server, _ask_superusers):
        answers |= _until_right(group)
    return answers


def _until_right(ask_group: Callable[[], Answers]) -> Answers:
    """Ask again where the answers do not hold."""
    while True:
        answers = ask_group()
        try:
            check(answers)
        except ConfigurationError as error:
            typer.echo(f"{error.key} {error.problem}。{error.fix}", err=True)
        else:
            return answers


def _ask_wechat() -> Answers:
    app_id = typed("公众号的 AppID（没有就回车）")
    if not app_id:
        return {}
    token = typed("公众号的令牌 Token（回车随机生成）") or random_secret(32)
    key = typed(f"EncodingAESKey，43 位（回车随机生成；明文模式输入“{PLAIN}”）")
    answers = {"WECHAT__APP_ID": app_id, "WECHAT__TOKEN": token}
    if key != PLAIN:
        answers |= {"WECHAT__AES_KEY": key or random_secret(43)}
    question = "AppSecret：认证过的公众号填了它，慢的回答用客服消息送到（没有就回车）"
    secret = typed(question, hides=True)
    return answers | ({"WECHAT__APP_SECRET": secret} if secret else {})


def _ask_onebot() -> Answers:
    if not is_sure("要接 QQ 吗？"):
        return {}
    return {"ONEBOT__ACCESS_TOKEN": typed("OneBot 令牌（回车随机生成）") or secrets.token_urlsafe(24)}


def _ask_model() -> Answers:
    base_url = typed("对话模型的接口地址，例 https://api.deepseek.com/v1（没有就回车）")
    if not base_url:
        return {}
    answers = {
        "LLM__BASE_URL": base_url,
        "LLM__API_KEY": typed("对话模型的密钥（本机的模型就回车）", hides=True),
    }
    answers["LLM__MODEL"] = typed("对话模型的名字，例 deepseek-v4-flash")
    vision = typed("看图的模型，同一个接口和密钥，例 qwen3-vl（不看图就回车）")
    return answers | ({"LLM__VISION_MODEL": vision} if vision else {})


def _ask_server() -> Answers:
    return {
        "HOST": typed("监听的地址：只在本机或反向代理后用 127.0.0.1，对外用 0.0.0.0", "127.0.0.1"),
        "PORT": typed("监听的端口", "8080"),
    }


def _ask_superusers() -> Answers:
    superusers = typed("管理员，写成 渠道:编号，多个用逗号分开（还不知道就回车，启动后可认领）")
    return {"SUPERUSERS": superusers} if superusers else {}


def _may_rewrite(path: Path) -> bool:
    return is_sure(f"{path} 已经有了，要重写吗？旧的会改名留着")
