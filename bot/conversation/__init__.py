"""The words every room speaks: messages, replies, turns, scopes, errors, and the ports many rooms need.

Invariant: nothing here imports another room, and nothing here does I/O.
"""
