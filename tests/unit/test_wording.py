import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError
from bot.conversation.wording import LANGUAGES, Wording, built_in, placeholders

ROOT = Path(__file__).parents[2]


def test_both_languages_say_the_same_things_about_the_same_values() -> None:
    chinese, english = (built_in(language) for language in LANGUAGES)
    assert chinese.keys() == english.keys()
    for key, sentence in chinese.items():
        assert placeholders(sentence) == placeholders(english[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_a_text(language: str) -> None:
    for key, sentence in built_in(language).items():
        assert isinstance(sentence, str), key
        assert sentence.strip(), key


def test_chinese_is_short_and_calm() -> None:
    for key, sentence in built_in("zh_CN").items():
        assert not set("！!「」") & set(sentence), key
        assert len(sentence.encode()) <= 2_000, key


def said_in_code() -> Iterator[tuple[str, str, set[str]]]:
    """(where, key, the values given) of every `.say("key", …)` in the house."""
    for path in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "say" and node.args and isinstance(node.args[0], ast.Constant):
                values = {keyword.arg for keyword in node.keywords if keyword.arg}
                yield f"{path}:{node.lineno}", str(node.args[0].value), values


def test_the_code_says_only_what_the_catalogue_holds() -> None:
    catalogue = built_in("zh_CN")
    said = list(said_in_code())
    assert len(said) > 40
    for where, key, values in said:
        assert key in catalogue, where
        assert placeholders(catalogue[key]) <= values, where


def test_a_persons_text_is_never_a_template() -> None:
    wording = Wording({"heard": "您说“{text}”，{name}"})
    assert wording.say("heard", text="{name} {0} {}", name="{text}") == "您说“{name} {0} {}”，{text}"


def test_a_missing_value_is_a_mistake_in_the_code() -> None:
    with pytest.raises(KeyError):
        Wording({"heard": "{text}"}).say("heard")
    with pytest.raises(KeyError):
        Wording({}).say("unknown")


def test_the_operator_overrides_a_sentence(tmp_path: Path) -> None:
    own = tmp_path / "我的 设置" / "wording.toml"
    own.parent.mkdir()
    own.write_bytes('\ufeffping = "来啦"\r\nlate = """\r\n久等了\r\n{answer}"""\r\n'.encode())
    wording = Wording.load("zh_CN", own)
    assert wording.say("ping") == "来啦"
    assert wording.say("late", answer="{x}") == "久等了\n{x}"
    assert wording.say("greeting") == built_in("zh_CN")["greeting"]


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ('pong = "来啦"', "pong"),
        ('ping = "来啦 {who}"', "{who}"),
        ('late = "{reply}"', "{answer}"),
        ("ping = 3", "ping"),
        ('ping = " "', "ping"),
        ("[ping]\na = 1", "ping"),
        ("ping 来啦", "TOML"),
    ],
)
def test_a_bad_override_is_named(tmp_path: Path, own: str, named: str) -> None:
    path = tmp_path / "wording.toml"
    path.write_text(own, "utf-8")
    with pytest.raises(ConfigurationError, match=r"wording\.toml") as refused:
        Wording.load("zh_CN", path)
    assert named in str(refused.value)


def test_an_override_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wording.toml"
    path.write_bytes('ping = "来啦"'.encode("gbk"))
    with pytest.raises(ConfigurationError, match="UTF-8"):
        Wording.load("zh_CN", path)


def test_without_overrides_nothing_is_missed(tmp_path: Path) -> None:
    assert Wording.load("en", tmp_path / "none.toml").say("ping") == built_in("en")["ping"]


def test_an_unknown_language_names_the_setting() -> None:
    with pytest.raises(ConfigurationError, match="LANGUAGE"):
        Wording.load("fr")
