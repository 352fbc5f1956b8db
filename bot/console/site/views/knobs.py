"""The form with which a player turns the knobs: who answers, and how slowly.

Invariant: what the form names and cannot be is left as it was.
"""

import contextlib

from starlette.datastructures import FormData

from bot.playground.playing import SLOWEST_SECONDS, Knobs, ModelChoice


def turn(knobs: Knobs, form: FormData, *, has_model: bool) -> None:
    """`has_model`: one is configured."""
    with contextlib.suppress(ValueError):
        seconds = float(text_of(form, "latency"))
        if 0 <= seconds <= SLOWEST_SECONDS:
            knobs.latency_seconds = seconds
    with contextlib.suppress(ValueError):
        choice = ModelChoice(text_of(form, "model"))
        if choice is ModelChoice.STUB or has_model:
            knobs.model = choice


def text_of(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""
