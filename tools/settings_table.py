"""The settings as a Markdown table for README.md, from the settings themselves.

`python tools/settings_table.py` prints it; with `--write` it replaces the one in README.md.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bot.settings_fields import env_text, known_fields  # noqa: E402 - the project's folder goes on the path first

BEGIN, END = "<!-- 设置表：由 tools/settings_table.py 生成 -->\n", "<!-- 设置表完 -->\n"


def settings_table() -> str:
    """One row a setting: name, default, meaning."""
    rows = ["| 设置 | 默认值 | 意思 |", "|---|---|---|"]
    for key, field in known_fields().items():
        default = env_text(field.default)
        rows.append(f"| `{key}` | {f'`{default}`' if default else ''} | {field.description} |")
    return "\n".join(rows) + "\n"


def with_table(readme: str) -> str:
    """README.md with today's table between its two marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{settings_table()}{END}{after}"


if __name__ == "__main__":
    path = ROOT / "README.md"
    if "--write" in sys.argv:
        path.write_text(with_table(path.read_text("utf-8")), "utf-8")
    else:
        sys.stdout.write(settings_table())
