"""Redis: a copy of the short-term windows, never the only one.

Invariant: every key has a TTL and may vanish; no call costs more than its deadline.
"""
