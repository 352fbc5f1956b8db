"""Vectors in memory: exact search, rebuilt from SQL at any time.

Invariant: nothing here is the truth. An index answers for one version of the store, or is thrown away.
"""
