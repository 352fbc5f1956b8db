"""Files beside the project: protocol cases and benchmark data that are read in place, never copied in.

JIDE_SHARED names the folder (default ../shared). A clone without it skips those tests with the reason;
where JIDE_REQUIRE_SHARED is 1 a missing file is a failure.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def require_shared(name: str) -> Path:
    """The path of `name` (such as `fixtures/wechat_vectors.json`) in the shared folder."""
    path = Path(os.environ.get("JIDE_SHARED") or ROOT.parent / "shared") / name
    if path.exists():
        return path
    missing = f"no shared file {name} (JIDE_SHARED names the folder)"
    if os.environ.get("JIDE_REQUIRE_SHARED") == "1":
        pytest.fail(missing)
    pytest.skip(missing, allow_module_level=True)
