"""Who the bot is, in the operator's words, as of now."""

import os
from pathlib import Path

import pytest

from bot.persona import OWN_FOLDER, Persona, Personas


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "persona.md"


@pytest.fixture
def persona(own: Path, tmp_path: Path) -> Persona:
    default = tmp_path / "default.md"
    default.write_text("# 记得\n\n你是记得。\n", "utf-8")
    return Persona(own, default)


def test_the_house_has_one(persona: Persona) -> None:
    assert persona.text() == "# 记得\n\n你是记得。"
    assert persona.name() == "记得"


def test_an_edit_shows_at_once(persona: Persona, own: Path) -> None:
    own.write_bytes("\ufeff# 小店助手\r\n只说人话。\r\n".encode())
    assert persona.name() == "小店助手"
    assert "只说人话。" in persona.text()
    own.write_text("# 大店助手\n", "utf-8")
    assert persona.name() == "大店助手"


def test_an_edit_of_the_same_length_shows_too(persona: Persona, own: Path) -> None:
    own.write_text("# 甲\n", "utf-8")
    assert persona.name() == "甲"
    own.write_text("# 乙\n", "utf-8")
    os.utime(own, ns=(1, own.stat().st_mtime_ns + 1))
    assert persona.name() == "乙"


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_emptied_file_is_none(persona: Persona, own: Path, text: str) -> None:
    own.write_text(text, "utf-8")
    assert persona.name() == "记得"
    assert "你是记得" in persona.text()


def test_a_deleted_file_is_none(persona: Persona, own: Path) -> None:
    own.write_text("# 甲\n", "utf-8")
    assert persona.name() == "甲"
    own.unlink()
    assert persona.name() == "记得"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("你是小店的助手，语气友好。\n", "记得"),
        ("你是小店的助手。\n\n# 小店\n", "小店"),
        ("#\n## 小店\n", "小店"),
        ("### 小店 ###", "小店 ###"),
    ],
)
def test_the_name_is_the_first_heading(persona: Persona, own: Path, text: str, name: str) -> None:
    own.write_text(text, "utf-8")
    assert persona.name() == name


def test_bytes_that_are_no_utf8_do_not_stop_it(persona: Persona, own: Path) -> None:
    own.write_bytes("# 小店\n".encode("gbk"))
    assert persona.name()


def test_an_account_may_have_its_own(tmp_path: Path) -> None:
    default = tmp_path / "default.md"
    default.write_text("# 记得\n", "utf-8")
    personas = Personas(tmp_path, default)
    assert personas.of("wx1").name() == "记得"
    (tmp_path / "persona.md").write_text("# 小店\n", "utf-8")
    own = tmp_path / OWN_FOLDER / "wx1" / "persona.md"
    own.parent.mkdir(parents=True)
    own.write_text("# 分店\n", "utf-8")
    assert [personas.of(each).name() for each in ("wx1", "wx2", "")] == ["分店", "小店", "小店"]
    own.write_text("  \n", "utf-8")
    assert personas.of("wx1").name() == "小店"


@pytest.mark.parametrize("app_id", ["../wx1", "a/b", "..", ".", "", "wx1\x00", "很长" * 40])
def test_an_id_leads_to_no_other_folder(tmp_path: Path, app_id: str) -> None:
    default = tmp_path / "default.md"
    default.write_text("# 记得\n", "utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "persona.md").write_text("# 小店\n", "utf-8")
    assert Personas(tmp_path / "data", default).of(app_id).name() == "小店"
