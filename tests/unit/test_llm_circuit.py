"""The circuit opens after three failures, lets one call through per rest, and closes on success."""

import pytest

from bot.conversation.errors import ModelUnavailable, ModelUnpaid
from bot.llm.circuit import Circuit


class Seconds:
    """A clock that moves by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def circuit(seconds: Seconds) -> Circuit:
    return Circuit(monotonic=seconds)


def fail(circuit: Circuit, times: int, error: ModelUnavailable | None = None) -> None:
    for _ in range(times):
        circuit.note_failure(error or ModelUnavailable("超时"))


def test_two_failures_leave_it_closed_and_a_third_opens_it(circuit: Circuit) -> None:
    fail(circuit, 2)
    circuit.admit()
    fail(circuit, 1)
    with pytest.raises(ModelUnavailable, match="超时"):
        circuit.admit()


def test_a_success_between_starts_the_count_again(circuit: Circuit) -> None:
    fail(circuit, 2)
    circuit.note_success()
    fail(circuit, 2)
    circuit.admit()


def test_after_the_rest_exactly_one_call_goes_through(circuit: Circuit, seconds: Seconds) -> None:
    fail(circuit, 3)
    seconds.now += 29.9
    with pytest.raises(ModelUnavailable):
        circuit.admit()
    seconds.now += 0.2
    circuit.admit()
    with pytest.raises(ModelUnavailable):
        circuit.admit()


def test_a_trial_that_ends_in_nothing_is_followed_by_another_after_a_rest(
    circuit: Circuit, seconds: Seconds
) -> None:
    fail(circuit, 3)
    seconds.now += 31
    circuit.admit()  # its caller left: neither success nor failure is noted
    seconds.now += 31
    circuit.admit()


def test_a_good_trial_closes_it(circuit: Circuit, seconds: Seconds) -> None:
    fail(circuit, 3)
    seconds.now += 31
    circuit.admit()
    circuit.note_success()
    circuit.admit()
    circuit.admit()
    assert not circuit.is_open


def test_while_open_an_empty_balance_is_still_told_as_such(circuit: Circuit) -> None:
    fail(circuit, 3, ModelUnpaid("余额"))
    with pytest.raises(ModelUnpaid):
        circuit.admit()
