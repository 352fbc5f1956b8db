"""Models: OpenAI-compatible chat and embeddings, and the embedded embedder that needs no key.

Invariant: a model that is slow, dead, unpaid or absent raises an error of the house within its
deadline; no library's exception, and no text a person wrote, leaves this room in an error.
"""
