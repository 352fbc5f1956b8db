"""The form with which a player turns the knobs: who answers, and how slowly.

Invariant: what the form names and cannot be is left as it was.
"""

import contextlib
from typing import Protocol

from starlette.datastructures import FormData
from starlette.requests import Request

from bot.console.site.site import Site
from bot.playground.changes import Changes
from bot.playground.playing import SLOWEST_SECONDS, Knobs, ModelChoice


class Stage(Protocol):
    """Whose knobs are turned."""

    @property
    def knobs(self) -> Knobs: ...

    @property
    def changes(self) -> Changes: ...


def turn(site: Site, request: Request, view: str, stage: Stage, form: FormData, *, has_model: bool) -> str:
    """What is said of it, by the words of `view`: nothing to a form that says it itself. `has_model`: one is
    configured."""
    _turn(stage.knobs, form, has_model=has_model)
    stage.changes.note()
    return "" if text_of(form, "quiet") else site.say(request, view, "knobs_turned")


def _turn(knobs: Knobs, form: FormData, *, has_model: bool) -> None:
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
