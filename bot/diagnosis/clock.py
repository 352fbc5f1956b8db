"""Whether this machine's clock can be trusted: WeChat's signatures, expiry and order hang on it.

Invariant: pure; the times are given.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.diagnosis.finding import Finding, failure, fine, warning

EARLIEST_YEAR = 2025
"""The program is not older than that; a board without a battery starts in 1970 or 2000."""
LATEST_YEAR = 2100
FAR_OFF = timedelta(minutes=5)
"""A certificate may seem not valid yet, and what was said 「刚才」 is in the future."""
A_LITTLE_OFF = timedelta(seconds=30)
SYNCHRONISE = "打开自动校时：sudo timedatectl set-ntp true"


def check_clock(
    now: datetime, others: Mapping[str, datetime], newest: Mapping[str, datetime]
) -> list[Finding]:
    """`others`: clocks of other machines, as of now. `newest`: times of what was stored before now."""
    if not EARLIEST_YEAR <= now.year < LATEST_YEAR:
        return [failure("clock", f"系统时间是 {now:%Y-%m-%d}，不可能", SYNCHRONISE)]
    for name, time in others.items():
        off = abs(now - time)
        if off > A_LITTLE_OFF:
            make = failure if off > FAR_OFF else warning
            return [make("clock", f"系统时间与 {name} 差 {off.total_seconds():.0f} 秒", SYNCHRONISE)]
    for name, time in newest.items():
        if time - now > FAR_OFF:
            said = f"{name} 的时间 {time:%Y-%m-%d %H:%M} 在系统时间之后：时钟倒退过"
            return [failure("clock", said, SYNCHRONISE)]
    compared = f"，与 {'、'.join(others)} 相符" if others else ""
    return [fine("clock", f"系统时间 {now.astimezone():%Y-%m-%d %H:%M:%S}{compared}")]
