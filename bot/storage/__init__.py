"""The stores: whatever the house remembers on disk or in Redis.

Invariant: no SQL and no Redis command anywhere else.
"""
