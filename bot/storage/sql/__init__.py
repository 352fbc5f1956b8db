"""The stores over SQL: one file, one writer, two readers.

Invariant: what a store's method has returned from is committed and synced to disk.
"""
