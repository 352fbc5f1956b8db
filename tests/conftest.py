"""What every test shares: nothing but the repository root on the path and quiet logs."""

import sys
from pathlib import Path

import pytest
from loguru import logger

ROOT = Path(__file__).resolve().parent.parent
END_TO_END = ROOT / "tests" / "e2e"
sys.path.insert(0, str(ROOT))


@pytest.fixture(autouse=True, scope="session")
def quiet_logs() -> None:
    """NoneBot's and our log lines go nowhere; a test that wants them adds its own sink."""
    logger.remove()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the tests, a file's stay together, and all that run whole bots are one process's:
    each of these times what a platform waits for."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        is_whole = END_TO_END in item.path.parents
        item.add_marker(pytest.mark.xdist_group("e2e" if is_whole else str(item.path)))
