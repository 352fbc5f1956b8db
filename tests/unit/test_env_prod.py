"""The tracked file of defaults tells every setting, truthfully, and sets none."""

import re
from pathlib import Path

from bot.settings import Settings
from bot.settings_fields import env_text, known_fields
from bot.settings_source import read_settings

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / ".env.prod").read_text("utf-8").splitlines()
ASSIGNMENT = re.compile(r"# ([A-Z_]+)=(.*)")


def listed() -> list[tuple[str, str, str]]:
    """(comment above, key, default) of every commented-out setting."""
    found = [(LINES[i - 1], match) for i, line in enumerate(LINES) if (match := ASSIGNMENT.fullmatch(line))]
    return [(above, match[1], match[2]) for above, match in found]


def test_it_lists_exactly_the_settings_with_their_defaults():
    expected = [(key, env_text(field.default)) for key, field in known_fields().items()]
    assert [(key, default) for _, key, default in listed()] == expected


def test_each_has_its_description_above():
    described = {key: field.description for key, field in known_fields().items()}
    for above, key, _ in listed():
        description = described[key]
        assert description and re.search("[一-鿿]", description), key
        assert description in above, key


def test_nothing_in_it_is_set():
    assert all(line.startswith("#") or not line for line in LINES)


def test_written_out_in_full_it_means_the_defaults(tmp_path):
    text = "\n".join(f"{key}={default}" for _, key, default in listed() if key != "JIDE_DATA_DIR")
    (tmp_path / ".env.prod").write_text(text, "utf-8")
    settings = read_settings(tmp_path, {})
    assert settings.model_dump(exclude={"jide_data_dir"}) == Settings().model_dump(exclude={"jide_data_dir"})
    assert settings.doubts == ()
