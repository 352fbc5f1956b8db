"""What the house counts and times about itself, by the names an operator's monitor knows.

Invariant: no label ever names a person, an account or a text. `_total` counts since the start; a ratio is
of the latest outcomes and NaN before the first, and so is what could not be looked up at a scrape.
"""

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

ANSWER_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 4.5, 10.0, 30.0)
"""Seconds. 4.5 is WeChat's deadline for a passive reply (PROTOCOLS: 5 s an attempt)."""
ACK_BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.0, 4.5, 5.0, 6.5)
"""Seconds. WeChat stops listening at 5; an early delivery is held beyond that on purpose, so that it retries."""
STORE_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Seconds, around a synced commit and a search."""
LATEST = 500
"""Outcomes behind a ratio: few enough that a fault of now is seen, enough that one is no alarm."""
UNKNOWN = math.nan


class Share:
    """The share of the latest outcomes that held."""

    def __init__(self, name: str, meaning: str, registry: CollectorRegistry) -> None:
        self._outcomes: deque[bool] = deque(maxlen=LATEST)
        Gauge(name, meaning, registry=registry).set_function(self._now)

    def note(self, held: bool) -> None:
        self._outcomes.append(held)

    def _now(self) -> float:
        return sum(self._outcomes) / len(self._outcomes) if self._outcomes else UNKNOWN


class DeadLetters(Collector):
    """Counted by the store, which outlives the process: set at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.by_kind: dict[str, int] = {}
        registry.register(self)

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily("dead_letter", "Given up after their last try", labels=["kind"])
        for kind, count in self.by_kind.items():
            family.add_metric([kind], count)  # pyright: ignore[reportUnknownMemberType]
        yield family


class Metrics:
    """One registry per house, so that two houses in one process (tests) don't share counts."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._make_answers(registry)
        self._make_memory(registry)
        self._make_platform(registry)

    def _make_answers(self, registry: CollectorRegistry) -> None:
        self.answers = Counter(
            "jide_answers_total", "Messages answered, by deciding stage", ["decided_by"], registry=registry
        )
        self.answer_seconds = Histogram(
            "jide_answer_seconds", "Accepted to committed", registry=registry, buckets=ANSWER_BUCKETS
        )
        self.faq_hits = Share("faq_hit_ratio", "Of the latest answers, the share from the FAQ", registry)
        self.llm_errors = Share(
            "llm_error_ratio", "Of the latest questions to the chat model, the share without answer", registry
        )
        self.tokens = Counter(
            "tokens_total",
            "Tokens of the chat model, estimated where it names none",
            ["kind"],
            registry=registry,
        )
        self.note_tokens(0, 0)
        self.order_violations = Counter(
            "message_order_violations_total",
            "Messages begun before an earlier one of their sender was done, or after a later one",
            registry=registry,
        )
        self.event_loop_lag = Gauge(
            "event_loop_lag_seconds", "The worst lateness of a timer in the last seconds", registry=registry
        )

    def _make_memory(self, registry: CollectorRegistry) -> None:
        self.understood = Share(
            "entity_extraction_success_rate",
            "Of the latest turns that were judged for memories, the share whose judgement could be read",
            registry,
        )
        self.memory_upsert_seconds = Histogram(
            "memory_upsert_seconds",
            "Storing facts or vectors, durably",
            registry=registry,
            buckets=STORE_BUCKETS,
        )
        self.memory_recall_seconds = Histogram(
            "memory_recall_seconds",
            "Finding the facts for a message",
            registry=registry,
            buckets=STORE_BUCKETS,
        )
        self.degraded_recalls = Counter(
            "jide_degraded_recalls_total", "Recalls by keywords alone", registry=registry
        )
        self.failed_jobs = Counter(
            "jide_failed_jobs_total", "Consolidation tries that failed", registry=registry
        )
        self.index_sql_drift = Gauge(
            "index_sql_drift",
            "Facts that should have a vector minus vectors there, absolute",
            registry=registry,
        )
        self.index_sql_drift.set(UNKNOWN)
        self.reembedded = Counter(
            "jide_reembedded_total",
            "Texts embedded anew after a change of model",
            ["kind"],
            registry=registry,
        )
        for kind in ("fact", "passage"):
            self.reembedded.labels(kind)
        self.reembedding_left = Gauge(
            "jide_reembedding_left", "Texts whose vectors are of another model", registry=registry
        )

    def _make_platform(self, registry: CollectorRegistry) -> None:
        self.webhook_ack_seconds = Histogram(
            "webhook_ack_seconds",
            "From a genuine webhook, read, to its response",
            registry=registry,
            buckets=ACK_BUCKETS,
        )
        self.auth_rejects = Counter(
            "auth_reject_total",
            "Requests refused for their signature or token",
            ["channel"],
            registry=registry,
        )
        self.duplicate_replies = Counter(
            "duplicate_reply_total", "Second replies to one message that were held back", registry=registry
        )
        self.unknown_replies = Counter(
            "reply_unknown_total", "Replies of which nobody knows whether they arrived", registry=registry
        )
        self.inbox_oldest_age = Gauge(
            "inbox_oldest_age_seconds", "Age of the oldest message not yet answered", registry=registry
        )
        self.inbox_oldest_age.set(UNKNOWN)
        self.dead_letters = DeadLetters(registry)

    def answers_by_stage(self) -> dict[str, int]:
        """Deciding stage → messages since start."""
        return {
            sample.labels["decided_by"]: int(sample.value)
            for metric in self.answers.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        }

    def note_tokens(self, prompt: int, completion: int) -> None:
        """What one call of the chat model cost."""
        self.tokens.labels("prompt").inc(prompt)
        self.tokens.labels("completion").inc(completion)

    def exposition(self) -> bytes:
        """Everything, in Prometheus' text format 0.0.4."""
        return generate_latest(self.registry)


class DoorWatch:
    """What the platforms' adapters report of one channel. Counts from the start, so that 0 is shown too."""

    def __init__(self, metrics: Metrics, channel: str) -> None:
        self._metrics = metrics
        self._rejects = metrics.auth_rejects.labels(channel)

    def acknowledged(self, seconds: float) -> None:
        self._metrics.webhook_ack_seconds.observe(seconds)

    def refused(self) -> None:
        self._rejects.inc()


class _Stage:
    """A stage under way. A class of its own: a generator's costs four times as much, seven times a message."""

    __slots__ = ("_began", "_name", "_stages")

    def __init__(self, stages: dict[str, float], name: str) -> None:
        self._stages = stages
        self._name = name

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._stages[self._name] = (time.perf_counter() - self._began) * 1000


class StageTimes:
    """Milliseconds of each stage of one message, for its closing log line."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._stages: dict[str, float] = {}

    def stage(self, name: str) -> "_Stage":
        """`with times.stage("recall"):`"""
        return _Stage(self._stages, name)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def milliseconds(self) -> Mapping[str, float]:
        """Stage → how long it took, in the order in which the stages ended."""
        return dict(self._stages)

    def __str__(self) -> str:
        parts = [f"{name}={milliseconds:.0f}" for name, milliseconds in self._stages.items()]
        return " ".join([*parts, f"total={self.seconds * 1000:.0f}"])
