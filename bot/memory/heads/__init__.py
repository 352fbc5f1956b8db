"""Small learned heads over the vectors of the embedded embedder."""
