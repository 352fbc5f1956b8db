"""The simulator's clock: the same two as the WeChat simulator's.

Invariant: everything in this package that waits or dates something asks the one clock it was given.
"""

from simulators.wechat.clock import Clock, ManualClock, SystemClock

__all__ = ["Clock", "ManualClock", "SystemClock"]
