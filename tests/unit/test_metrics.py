"""The names a monitor relies on, and what feeds them."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.metrics import LATEST, DoorWatch, Metrics, StageTimes

PROMISED = {
    "entity_extraction_success_rate",
    "memory_upsert_seconds_count",
    "memory_recall_seconds_count",
    "faq_hit_ratio",
    "llm_error_ratio",
    "webhook_ack_seconds_count",
    "message_order_violations_total",
    "duplicate_reply_total",
    "reply_unknown_total",
    "inbox_oldest_age_seconds",
    "dead_letter_total",
    "tokens_total",
    "index_sql_drift",
    "event_loop_lag_seconds",
    "auth_reject_total",
}
LABELS = {"decided_by", "kind", "channel", "le"}
"""All there are: none can name a person."""


def samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """(name, label values…) → value, as a monitor reads them."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
    }


def used_metrics() -> Metrics:
    metrics = Metrics()
    for channel in ("wechat", "onebot"):
        DoorWatch(metrics, channel)
    metrics.dead_letters.by_kind.update(message=0, job=0)
    metrics.answers.labels("model").inc()
    return metrics


def test_every_promised_name_is_there_from_the_start():
    names = {key[0] for key in samples(used_metrics())}
    assert names >= PROMISED
    assert {name for name in names - PROMISED if not name.startswith("jide_")} <= {
        f"{name.removesuffix('_count').removesuffix('_total')}{tail}"
        for name in PROMISED
        for tail in ("_bucket", "_sum", "_created")
    }


def test_labels_are_few_and_known():
    labels = {
        label
        for family in text_string_to_metric_families(used_metrics().exposition().decode())
        for sample in family.samples
        for label in sample.labels
    }
    assert labels == LABELS


def test_a_ratio_is_unknown_before_its_first_outcome():
    read = samples(Metrics())
    for name in ("faq_hit_ratio", "llm_error_ratio", "entity_extraction_success_rate"):
        assert math.isnan(read[name,])
    assert math.isnan(read["index_sql_drift",]) and math.isnan(read["inbox_oldest_age_seconds",])


def test_a_ratio_forgets_what_is_long_past():
    metrics = Metrics()
    metrics.llm_errors.note(True)
    metrics.llm_errors.note(False)
    assert samples(metrics)["llm_error_ratio",] == 0.5
    for _ in range(LATEST):
        metrics.llm_errors.note(False)
    assert samples(metrics)["llm_error_ratio",] == 0.0


def test_dead_letters_are_as_last_counted():
    metrics = Metrics()
    metrics.dead_letters.by_kind.update(message=3, job=1)
    assert samples(metrics)["dead_letter_total", "message"] == 3
    metrics.dead_letters.by_kind.clear()
    assert ("dead_letter_total", "message") not in samples(metrics)


def test_tokens_are_counted_by_kind():
    metrics = Metrics()
    metrics.note_tokens(100, 7)
    metrics.note_tokens(1, 1)
    read = samples(metrics)
    assert (read["tokens_total", "prompt"], read["tokens_total", "completion"]) == (101, 8)


def test_a_door_reports_for_its_channel():
    metrics = Metrics()
    wechat = DoorWatch(metrics, "wechat")
    wechat.refused()
    wechat.acknowledged(0.25)
    read = samples(metrics)
    assert read["auth_reject_total", "wechat"] == 1
    assert (read["webhook_ack_seconds_count",], read["webhook_ack_seconds_sum",]) == (1, 0.25)


def test_two_houses_count_apart():
    first, second = Metrics(), Metrics()
    first.duplicate_replies.inc()
    assert samples(second)["duplicate_reply_total",] == 0


def test_stage_times_name_each_stage_once_and_the_total_last():
    times = StageTimes()
    with times.stage("recall"):
        pass
    with pytest.raises(ValueError, match="broken"), times.stage("answer"):
        raise ValueError("broken")
    names = [part.partition("=")[0] for part in str(times).split()]
    assert names == ["recall", "answer", "total"]
