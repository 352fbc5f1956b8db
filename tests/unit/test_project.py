"""The project's files keep what they promise to a clone on any machine."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKS = ("requirements.lock", "requirements-test.lock")
ROOMS = ("bot", "identity", "plugins", "simulators")
BUILD_FILES = ("pyproject.toml", "Makefile", "tools/install.sh", ".ci/run", ".env.prod", *LOCKS)
IMPORTED_AS = {
    "nonebot": "nonebot2",
    "nonebot.adapters.onebot": "nonebot_adapter_onebot",
    "nonebot.adapters.qq": "nonebot_adapter_qq",
    "faiss": "faiss_cpu",
    "re2": "google_re2",
    "yaml": "pyyaml",
    "argon2": "argon2_cffi",
    "dotenv": "python_dotenv",
    "pydantic_core": "pydantic",
}
"""Packages that are imported by another name than they are installed by."""
PINNED = re.compile(r"[a-z0-9._-]+==[^\s;]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n")


@pytest.mark.parametrize("name", BUILD_FILES)
def test_no_index_address_and_no_path_of_a_machine(name):
    text = (ROOT / name).read_text("utf-8")
    assert not re.search(
        r"--(extra-)?index-url|--find-links|--trusted-host|file://|\bpypi\b", text, re.IGNORECASE
    )
    assert not re.search(r"/(root|home|work|Users|opt|tmp)/", text)


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_of_a_lock_is_pinned_by_hash(name):
    text = (ROOT / name).read_text("utf-8")
    assert len(PINNED.findall(text)) > 50
    assert not PINNED.sub("", text).strip()


def pins(name: str) -> set[str]:
    return set(re.findall(r"^[a-z0-9._-]+==[^\\\n]+", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def test_tests_run_on_the_very_versions_that_users_run():
    assert pins("requirements.lock") < pins("requirements-test.lock")


def test_every_dependency_is_locked():
    locked = {pin.partition("==")[0] for pin in pins("requirements-test.lock")}
    optional = PROJECT["project"]["optional-dependencies"]
    for wanted in (*PROJECT["project"]["dependencies"], *optional["test"]):
        name = re.match(r"[A-Za-z0-9._-]+", wanted)
        assert name and name[0].lower().replace("_", "-") in locked, wanted


def test_every_dependency_has_its_reason():
    reasons = (ROOT / "docs/decisions/0001-dependencies.md").read_text("utf-8").lower()
    optional = PROJECT["project"]["optional-dependencies"].values()
    for wanted in (*PROJECT["project"]["dependencies"], *(one for extra in optional for one in extra)):
        name = re.match(r"[A-Za-z0-9._-]+", wanted)
        assert name and f"`{name[0].lower()}" in reasons, wanted


def test_every_folder_of_code_is_a_package():
    """The build collects packages: a folder without __init__.py would be missing from it."""
    for room in ROOMS:
        for module in (ROOT / room).rglob("*.py"):
            assert (module.parent / "__init__.py").is_file(), module


def contract(name: str) -> dict[str, list[str]]:
    return next(each for each in PROJECT["tool"]["importlinter"]["contracts"] if each["id"] == name)


def modules(package: str) -> set[str]:
    """The modules directly in a package, by their dotted names."""
    folder = ROOT / package.replace(".", "/")
    names = {path.name.removesuffix(".py") for path in folder.iterdir() if path.suffix in ("", ".py")}
    return {f"{package}.{name}" for name in names if not name.startswith("__") or name == "__main__"}


def test_every_room_has_its_layer():
    assert modules("bot") <= set(re.findall(r"[\w.]+", " ".join(contract("layers")["layers"])))


def test_the_wechat_adapter_may_not_import_its_neighbours():
    neighbours = modules("bot.channels") - {"bot.channels.wechat"}
    assert neighbours <= set(contract("wechat")["forbidden_modules"])


def test_modules_stay_small_enough_to_read():
    for room in ROOMS:
        for module in (ROOT / room).rglob("*.py"):
            assert len(module.read_text("utf-8").splitlines()) <= 300, module


def test_nothing_is_imported_that_is_not_declared():
    """What another package happens to bring may leave with its next release."""
    declared = {
        re.split(r"[\[><=; ]", wanted)[0].lower().replace("-", "_")
        for wanted in PROJECT["project"]["dependencies"]
    }
    local = {*ROOMS, *sys.stdlib_module_names}
    for room in ROOMS:
        for module in (ROOT / room).rglob("*.py"):
            # Fixtures for other people's tests, whose pytest it is.
            given = {"pytest"} if module.name == "fixtures.py" else set[str]()
            for name in imported(module) - local - given:
                assert IMPORTED_AS.get(name, name) in declared, f"{module} imports {name}"


def imported(module: Path) -> set[str]:
    """The top-level packages that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            adapter = re.match(r"nonebot\.adapters\.\w+", node.module)
            names.add(adapter[0] if adapter else node.module.partition(".")[0])
    return names


def test_bot_py_starts_the_package_of_its_name(tmp_path):
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/__init__.py").touch()
    (tmp_path / "bot/__main__.py").write_text("def main():\n    print('the package')\n")
    shutil.copy(ROOT / "bot.py", tmp_path)
    ran = subprocess.run(
        [sys.executable, "bot.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout == "the package\n", ran.stderr
