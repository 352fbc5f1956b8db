"""Rules: what is answered without a model. The trivial filter and the FAQ."""
