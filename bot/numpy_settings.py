"""What numpy is told before it is first imported.

Invariant: whoever runs the bot has the last word: what the environment says already stays.
"""

import os
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
DISABLED, ENABLED = "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"
ZEN_3_AND_4 = ("AuthenticAMD", "25")
"""Vendor and family. Zen 3 has no AVX-512; Zen 5 is another family, and has it whole."""


def settings(cpuinfo: str) -> dict[str, str]:
    """By name. `cpuinfo`: as Linux tells it; "" elsewhere."""
    told = {
        # With huge pages, filling a large person's vectors holds the interpreter for up to thirty milliseconds at a time,
        # while the system looks for two megabytes in one piece (docs/decisions/0123).
        "NUMPY_MADVISE_HUGEPAGE": "0",
    }
    first = dict(_pairs(cpuinfo.partition("\n\n")[0]))
    is_zen = (first.get("vendor_id"), first.get("cpu family")) == ZEN_3_AND_4
    if is_zen and "avx512f" in first.get("flags", "").split():
        # Its vpcompress to memory takes a hundred cycles, and numpy's sort and partition by AVX-512 live by it: by AVX2 they
        # are four times as fast (github.com/numpy/x86-simd-sort/issues/6).
        told[DISABLED] = "X86_V4"
    return told


def tell_numpy() -> None:
    """Through the environment."""
    for name, value in settings(_cpuinfo()).items():
        if name == DISABLED and ENABLED in os.environ:
            continue  # numpy refuses to start with both.
        os.environ.setdefault(name, value)


def _cpuinfo() -> str:
    try:
        return CPUINFO.read_text("ascii", "replace")
    except OSError:
        return ""


def _pairs(block: str) -> list[tuple[str, str]]:
    rows = (line.partition(":") for line in block.splitlines())
    return [(name.strip(), value.strip()) for name, _, value in rows]
