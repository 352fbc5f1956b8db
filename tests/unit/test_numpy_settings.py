"""What numpy is told, by the processor it runs on."""

import os
import subprocess
import sys

import pytest

from bot.numpy_settings import DISABLED, ENABLED, settings

ZEN_4 = (
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "flags\t\t: fpu avx2 avx512f\n\nprocessor\t: 1\n"
)


@pytest.mark.parametrize(
    ("cpuinfo", "is_told"),
    [
        (ZEN_4, True),
        (ZEN_4.replace(" avx512f", ""), False),
        (ZEN_4.replace(": 25", ": 26"), False),
        (ZEN_4.replace("AuthenticAMD", "GenuineIntel"), False),
        ("processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n", False),
        ("", False),
        ("no such form", False),
    ],
    ids=["zen 4", "zen 3", "zen 5", "intel", "arm", "not linux", "odd"],
)
def test_only_a_zen_4_sorts_without_avx512(cpuinfo: str, is_told: bool) -> None:
    told = settings(cpuinfo)
    assert told["NUMPY_MADVISE_HUGEPAGE"] == "0"
    assert (DISABLED in told) == is_told


def _on_zen_4(then: str, **said: str) -> str:
    """What a new process prints where numpy is told by this processor, and the environment says this."""
    asking = f"import os, bot.numpy_settings as it; it._cpuinfo = lambda: os.environ['CPU']; it.tell_numpy()\n{then}"
    here = {name: value for name, value in os.environ.items() if name != DISABLED}
    here |= {"CPU": ZEN_4, **said}
    told = subprocess.run(
        [sys.executable, "-c", asking], env=here, capture_output=True, text=True, check=True
    )
    assert not told.stderr
    return told.stdout


def test_who_names_features_for_numpy_is_not_contradicted() -> None:
    """numpy refuses to start with both lists."""
    assert _on_zen_4(f"print({DISABLED!r} in os.environ)", **{ENABLED: "X86_V3"}) == "False\n"


@pytest.mark.parametrize("said", [None, ""])
def test_numpy_takes_it_without_a_word_unless_it_was_told_otherwise(said: str | None) -> None:
    then = f"import numpy; print(os.environ[{DISABLED!r}], numpy.sort([2, 1]).tolist())"
    told = _on_zen_4(then, **({} if said is None else {DISABLED: said}))
    assert told.split("[")[0].strip() == ("X86_V4" if said is None else said)
    assert told.endswith("[1, 2]\n")
