"""`/connect/model`: a chat model, chosen, tried and saved.

Invariant: as of `connect_wechat`.
"""

from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.connecting.fields import is_secret
from bot.connecting.presets import PRESETS
from bot.connecting.trials import ModelTrial
from bot.console.site.site import Site
from bot.console.site.views.connect_lights import Lights
from bot.console.site.views.connect_ports import VIEW, House, MadeSecrets, Once, typed
from bot.conversation.errors import ConfigurationError, RejectedInput

PATH = "/connect/model"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """What the form shows."""

    base_url: str = ""
    model: str = ""


class ModelPages:
    def __init__(self, site: Site, house: House, lights: Lights, made: MadeSecrets) -> None:
        self._site = site
        self._house = house
        self._lights = lights
        self._made = made
        self._tried = Once[tuple[_Chosen, ModelTrial]]()

    @property
    def routes(self) -> list[Route]:
        return [
            Route(PATH, self._page),
            Route(PATH, self._save, methods=["POST"]),
            Route(f"{PATH}/test", self._test, methods=["POST"]),
        ]

    async def _page(self, request: Request) -> Response:
        tried = self._tried.take(request)
        if tried is not None:
            return await self._show(request, tried[0], trial=tried[1])
        named = request.query_params.get("preset", "")
        preset = next((each for each in PRESETS if each.id == named), None)
        chosen = _Chosen(base_url=preset.base_url, model=preset.models[0]) if preset is not None else None
        return await self._show(request, chosen)

    async def _show(
        self,
        request: Request,
        chosen: _Chosen | None = None,
        *,
        trial: ModelTrial | None = None,
        problem: str = "",
    ) -> Response:
        found = await self._house.model()
        chosen = chosen or _Chosen(base_url=found.base_url, model=found.model)
        preset = next((each for each in PRESETS if each.base_url == chosen.base_url.rstrip("/")), None)
        return self._site.render(
            request,
            "connect_model.html",
            422 if problem else 200,
            found=found,
            light=await self._lights.of("model"),
            presets=PRESETS,
            preset=preset,
            chosen=chosen,
            made=self._made.shown(request, "model"),
            trial=trial,
            seconds=f"{trial.seconds:.1f}" if trial is not None else "",
            problem=problem,
        )

    async def _save(self, request: Request) -> Response:
        form = await self._site.form(request)
        chosen = _read(form)
        if unfit := _unfit(chosen, typed(form, "key")):
            return await self._show(request, chosen, problem=self._site.say(request, VIEW, unfit))
        try:
            made = await self._house.save_model(
                base_url=chosen.base_url, model=chosen.model, key=typed(form, "key")
            )
        except (ConfigurationError, RejectedInput) as error:
            return await self._show(request, chosen, problem=str(error))
        self._made.put(request, "model", made, has_token=False, has_aes_key=False)
        await self._site.note("connect.save", detail="model")
        return self._site.see(request, PATH, self._site.say(request, VIEW, "saved"))

    async def _test(self, request: Request) -> Response:
        form = await self._site.form(request)
        chosen = _read(form)
        if unfit := _unfit(chosen, typed(form, "key")):
            return await self._show(request, chosen, problem=self._site.say(request, VIEW, unfit))
        try:
            trial = await self._house.try_model(
                base_url=chosen.base_url, model=chosen.model, key=typed(form, "key")
            )
        except ConfigurationError as error:
            return await self._show(request, chosen, problem=str(error))
        self._tried.put(request, (chosen, trial))
        return self._site.see(request, f"{PATH}#trial")


def _unfit(chosen: _Chosen, key: str) -> str:
    """Whose words say what is wrong; "" where nothing is."""
    if not chosen.base_url or not chosen.model:
        return "unfit_model"
    return "unfit_secret" if key and not is_secret(key) else ""


def _read(form: FormData) -> _Chosen:
    return _Chosen(base_url=typed(form, "base_url"), model=typed(form, "model"))
