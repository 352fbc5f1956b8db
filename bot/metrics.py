"""What the house counts and times about itself.

Invariant: no label ever names a person, an account or a text.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram

ANSWER_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 4.5, 10.0, 30.0)
"""Seconds. 4.5 is WeChat's deadline for a passive reply (PROTOCOLS: 5 s an attempt)."""


class Metrics:
    """One registry per house, so that two houses in one process (tests) don't share counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "jide_answers_total",
            "Messages answered, by deciding stage",
            ["decided_by"],
            registry=self.registry,
        )
        self.answer_seconds = Histogram(
            "jide_answer_seconds", "Accepted to committed", registry=self.registry, buckets=ANSWER_BUCKETS
        )
        self.degraded_recalls = Counter(
            "jide_degraded_recalls_total", "Recalls by keywords alone", registry=self.registry
        )
        self.failed_jobs = Counter(
            "jide_failed_jobs_total", "Consolidation tries that failed", registry=self.registry
        )

    def answers_by_stage(self) -> dict[str, int]:
        """Deciding stage → messages since start."""
        return {
            sample.labels["decided_by"]: int(sample.value)
            for metric in self.answers.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        }


class StageTimes:
    """Milliseconds of each stage of one message, for its closing log line."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = (time.perf_counter() - began) * 1000

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def __str__(self) -> str:
        parts = [f"{name}={milliseconds:.0f}" for name, milliseconds in self._stages.items()]
        return " ".join([*parts, f"total={self.seconds * 1000:.0f}"])
