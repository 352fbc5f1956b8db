"""What every test shares: nothing but the repository root on the path and quiet logs."""

import sys
from pathlib import Path

import pytest
from loguru import logger

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


@pytest.fixture(autouse=True, scope="session")
def quiet_logs() -> None:
    """NoneBot's and our log lines go nowhere; a test that wants them adds its own sink."""
    logger.remove()
