"""The core's benchmarks: storing, searching, answering, starting. `make bench-core`.

Invariant: a peer runs in the same process run as ours, in turn with it, on the same input; only a chat model
and an embedder are ever stubbed, and only here.
"""
