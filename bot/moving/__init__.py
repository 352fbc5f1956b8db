"""The file that carries a whole bot to another machine, under a passphrase.

Invariant: bytes of it are believed only after they were authenticated; nothing here knows what they mean.
"""
