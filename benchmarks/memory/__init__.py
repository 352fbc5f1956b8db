"""Benchmarks of recall, of the life of facts, and of forgetting."""
