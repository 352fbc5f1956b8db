"""Benchmarks: measured on this machine, from real input, with the goal beside each figure."""
