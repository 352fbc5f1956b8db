"""The other ends of the wire, playable: for tests, for trying out, for a look at how it goes.

Invariant: nothing here imports `bot` or `identity`; a simulator that shared their code would share
their mistakes.
"""
