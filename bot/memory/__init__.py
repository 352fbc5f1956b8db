"""Memory: what is kept of a conversation, how it is found again, and how it is forgotten.

Invariant: every read and write names a `Scope`; only the person's own words become facts.
"""
