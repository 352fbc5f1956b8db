"""Benchmarks: measured on this machine, from real input, with the goal beside each figure."""

import bot  # noqa: F401  What it sets for the process holds here too, before numpy is imported.
