"""Reading the settings: process environment, then data/jide.env, then .env.{ENVIRONMENT}, then defaults.

Invariant: a value is the raw text until its field's type parses it, so a token `1e5`, `0123456` or
`true` stays what the operator wrote. A bad one raises ConfigurationError naming the key as written,
where it was written, and the fix; a secret's value never appears in it.
"""

import difflib
import io
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dotenv.parser import parse_stream
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_checks import check_together
from bot.settings_fields import RawValue, known_fields, refusal

ENVIRONMENT_NAME = "进程环境变量"
FILES_ONLY = frozenset({"LANGUAGE"})
"""gettext owns LANGUAGE in the process environment (`en_US:en` on many desktops): read from files only."""
NONEBOT_READS = frozenset({"HOST", "PORT", "LOG_LEVEL", "SUPERUSERS", "NICKNAME"})
"""What NoneBot would parse as JSON from the process environment, failing on a comma list."""


def read_settings(folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read and check every setting. `folder` is the project's (default: the working directory).

    Raises ConfigurationError.
    """
    folder = (folder or Path.cwd()).absolute()
    process = {
        key.upper(): RawValue(text=text, where=ENVIRONMENT_NAME)
        for key, text in (os.environ if environment is None else environment).items()
        if key.upper() not in FILES_ONLY
    }
    name = process["ENVIRONMENT"].text if "ENVIRONMENT" in process else "prod"
    tracked = _read_file(folder / f".env.{name}")
    data_text = next((raw["JIDE_DATA_DIR"].text for raw in (process, tracked) if "JIDE_DATA_DIR" in raw), "")
    data_folder = folder / Path(data_text or str(Settings.model_fields["jide_data_dir"].default)).expanduser()
    own = _read_file(data_folder / "jide.env")
    known = known_fields()
    written = tracked | own
    _refuse_unknown(written, process, known)
    values = {key: raw for key, raw in (written | process).items() if key in known}
    values.pop("JIDE_DATA_DIR", None)
    settings = _parse(values, known).model_copy(
        update={
            "jide_data_dir": data_folder,
            "sources": _sources(process, own, tracked, known),
            "others": _others(written, process, known),
        }
    )
    check_together(settings, values)
    return settings.model_copy(update={"doubts": _doubts(settings, written, known, folder, name, process)})


@contextmanager
def hidden_from_nonebot() -> Generator[None]:
    """Around `nonebot.init`: takes out of os.environ what NoneBot would misread, and puts it back."""
    hidden = {key: text for key, text in os.environ.items() if key.upper() in NONEBOT_READS}
    for key in hidden:
        del os.environ[key]
    try:
        yield
    finally:
        os.environ.update(hidden)


def _read_file(path: Path) -> dict[str, RawValue]:
    """The assignments of a dotenv file, without interpolation; {} where there is no such file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), "这个文件不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error
    except OSError as error:
        raise ConfigurationError(
            str(path), f"读不了这个文件（{error.strerror}）", "检查它的权限，或删掉它"
        ) from error
    values: dict[str, RawValue] = {}
    for binding in parse_stream(io.StringIO(text)):
        body = binding.original.string
        line = binding.original.line + body[: len(body) - len(body.lstrip())].count("\n")
        where = f"{path} 第 {line} 行"
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigurationError(
                str(path), f"第 {line} 行看不懂", "每行写成 名字=值；值里有引号时，整个值用另一种引号括起来"
            )
        if binding.key is not None and binding.value is not None:
            values[binding.key.upper()] = RawValue(text=binding.value, where=where)
    return values


def _refuse_unknown(
    written: dict[str, RawValue], process: dict[str, RawValue], known: Mapping[str, FieldInfo]
) -> None:
    """A name in one of our groups that is no setting is a slip of the pen."""
    groups = {key.partition("__")[0] for key in known if "__" in key}
    for key, raw in (written | process).items():
        group, nested, _ = key.partition("__")
        if key in known or group not in groups or not (nested or key in written):
            continue
        near = difflib.get_close_matches(key, known, n=1, cutoff=0)[0]
        near = near if near.startswith(f"{group}__") else next(k for k in known if k.startswith(f"{group}__"))
        raise ConfigurationError(key, f"没有这个设置（写在 {raw.where}）", f"是不是想写 {near}？")


def _parse(values: Mapping[str, RawValue], known: Mapping[str, FieldInfo]) -> Settings:
    """An empty value means the default."""
    nested: dict[str, Any] = {}
    for key, raw in values.items():
        group, _, name = key.lower().partition("__")
        if not raw.text.strip():
            continue
        if name:
            nested.setdefault(group, {})[name] = raw.text
        else:
            nested[group] = raw.text
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        key = "__".join(str(part) for part in detail["loc"][:2] if isinstance(part, str)).upper()
        raise refusal(key, _problem(detail), values, known) from error


def _problem(detail: ErrorDetails) -> str:
    """A pydantic error in Chinese, without the value."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "int_parsing" | "int_from_float" | "int_parsing_size":
            return "不是整数"
        case "float_parsing" | "finite_number":
            return "不是数字"
        case "bool_parsing":
            return "不是 true 或 false"
        case "greater_than":
            return f"应大于 {context['gt']:g}"
        case "greater_than_equal":
            return f"不能小于 {context['ge']:g}"
        case "less_than_equal":
            return f"不能大于 {context['le']:g}"
        case "literal_error":
            return f"只能是 {str(context['expected']).replace(' or ', '、')}"
        case _:
            return "写法不对"


def _sources(
    process: Mapping[str, RawValue],
    own: Mapping[str, RawValue],
    tracked: Mapping[str, RawValue],
    known: Mapping[str, FieldInfo],
) -> tuple[str, ...]:
    """Where settings were written, strongest first. A file that sets nothing is not named."""
    named = [ENVIRONMENT_NAME] if any(key in known for key in process) else []
    named += [next(iter(raw.values())).where.rpartition(" 第 ")[0] for raw in (own, tracked) if raw]
    return tuple(named)


def _others(
    written: Mapping[str, RawValue], process: Mapping[str, RawValue], known: Mapping[str, FieldInfo]
) -> dict[str, Any]:
    """Settings of other plugins, parsed as NoneBot would: JSON, else text."""
    others: dict[str, Any] = {}
    for key in written:
        if key in known or key in FILES_ONLY or key.startswith("ONEBOT_"):
            continue
        text = process.get(key, written[key]).text
        try:
            others[key.lower()] = json.loads(text)
        except ValueError:
            others[key.lower()] = text
    return others


def _doubts(
    settings: Settings,
    written: Mapping[str, RawValue],
    known: Mapping[str, FieldInfo],
    folder: Path,
    name: str,
    process: Mapping[str, RawValue],
) -> tuple[str, ...]:
    doubts = [
        f"SUPERUSERS 里的「{bare}」没写渠道，本机器人的命令不认它。请改成 wechat:{bare}、onebot:{bare} 或 qq:{bare}"
        for bare in settings.bare_superusers
    ]
    if settings.qq.setup_open:
        doubts.append("QQ__SETUP_OPEN 开着：回调地址存好后，请改回 false 再重启")
    if settings.console.port == settings.port:
        doubts.append(f"CONSOLE__PORT 和 PORT 都是 {settings.port}：运维端口不开，请把其中一个换掉")
    if settings.identity.port_token and not settings.console_port:
        doubts.append(
            "设了 IDENTITY__PORT_TOKEN，运维端口却没开：小程序后台没有地方提交手机号，请写 CONSOLE__PORT"
        )
    squeezed = {key.replace("_", ""): key for key in known}
    for key, raw in written.items():
        near = squeezed.get(key.replace("_", ""))
        if near and near != key:
            doubts.append(f"{key}（写在 {raw.where}）不起作用，是不是想写 {near}？")
    if "JIDE_DATA_DIR" in written and (raw := written["JIDE_DATA_DIR"]).where.startswith(
        str(settings.data_folder / "jide.env")
    ):
        doubts.append(f"JIDE_DATA_DIR 写在 {raw.where}不起作用：请写在进程环境变量或 .env.{name} 里")
    if "ENVIRONMENT" in process and not (folder / f".env.{name}").is_file():
        doubts.append(f"ENVIRONMENT={name}，却没有文件 {folder / f'.env.{name}'}")
    return tuple(doubts)
