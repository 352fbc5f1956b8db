"""Plays a scenario against a callback and says what came of it.

Invariant: a step that fails an expectation stops nothing: the report tells of every step.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from .account import Mode
from .accounting import tally
from .acts import ACTS
from .expecting import StepResult, check_scenario, check_step, is_met
from .people import Sight, openid_of
from .records import Delivery, Seen
from .report import Report
from .script import Action, Scenario, ScenarioError, Step, merged
from .script_reading import load_scenario
from .server import WeChatServer

PATIENCE_SECONDS = 20.0
"""For what must be seen: three deliveries and some more."""

Calls: TypeAlias = Mapping[str, Callable[[], Awaitable[None]]]
"""What `call` steps do, by name."""


async def run_scenario(
    scenario: Scenario | Path,
    server: WeChatServer,
    *,
    calls: Calls | None = None,
    openid_of: Callable[[str], str] = openid_of,
) -> Report:
    """`server` is open, and plays an account such as the scenario wants (see `server_for`).

    Raises ScenarioError: it cannot be played so.
    """
    if isinstance(scenario, Path):
        scenario = load_scenario(scenario)
    return await _Play(scenario, server, calls or {}, openid_of).run()


def server_for(
    scenario: Scenario, url: str, token: str, app_id: str, aes_key: str = "", **options: Any
) -> WeChatServer:
    """A server that plays the scenario's account. `options`: of `WeChatServer`, for what it leaves open.

    Raises ScenarioError: it wants a mode that needs a key, and there is none.
    """
    wanted: dict[str, Any] = {}
    if scenario.account is not None:
        wanted["account_type"] = scenario.account
    if scenario.mode is not None:
        wanted["mode"] = scenario.mode
    if scenario.is_bound is not None:
        wanted["is_bound"] = scenario.is_bound
    if scenario.mode in (Mode.COMPATIBLE, Mode.SAFE) and not aes_key:
        raise ScenarioError(f"剧本要加解密方式 {scenario.mode}，但没有 EncodingAESKey")
    return WeChatServer(url, token, app_id, aes_key, **options | wanted)


class _Play:
    def __init__(
        self, scenario: Scenario, server: WeChatServer, calls: Calls, openid_of: Callable[[str], str]
    ) -> None:
        self._scenario = scenario
        self._server = server
        self._calls = calls
        self._openids = {name: each.openid or openid_of(name) for name, each in scenario.people.items()}
        self._named: dict[str, Delivery] = {}
        self._results: dict[int, StepResult] = {}
        self._started_at = 0.0

    async def run(self) -> Report:
        self._refuse_what_does_not_fit()
        for name, person in self._scenario.people.items():
            if person.unionid:
                self._server.people[self._openids[name]].unionid = person.unionid
        self._started_at = self._server.clock.now()
        await self._play_steps()
        await self._server.clock.sleep(self._scenario.watch_seconds)
        results = [self._results[number] for number in sorted(self._results)]
        markers = {
            result.delivery.number: result.step.expect.answer
            for result in results
            if result.delivery is not None and result.step.expect.answer
        }
        counted = tally(self._server, markers)
        return Report(
            scenario=self._scenario,
            account=self._server.account,
            started_at=self._started_at,
            results=tuple(results),
            tally=counted,
            markers=markers,
            problems=check_scenario(self._scenario.expect, self._server, self._openids, counted),
            seen=self._seen(),
        )

    def _seen(self) -> tuple[tuple[str, Sight], ...]:
        """Since the start, by everybody whom the scenario names."""
        sights = [
            (name, sight) for name, openid in self._openids.items() for sight in self._server.seen(openid)
        ]
        sights.sort(key=lambda each: each[1].at)
        return tuple(each for each in sights if each[1].at >= self._started_at)

    async def _play_steps(self) -> None:
        going: set[asyncio.Task[None]] = set()
        try:
            for step in self._scenario.steps:
                if step.at_seconds is None:
                    await asyncio.gather(*going)
                    going.clear()
                else:
                    due = self._started_at + step.at_seconds
                    await self._server.clock.sleep(due - self._server.clock.now())
                task = asyncio.create_task(self._play(step))
                going.add(task)
                if step.at_seconds is None or not step.action.is_by_person:
                    await task
            await asyncio.gather(*going)
        finally:
            for task in going:
                task.cancel()
            await asyncio.gather(*going, return_exceptions=True)

    async def _play(self, step: Step) -> None:
        clock = self._server.clock
        started_at = clock.now()
        openid = self._openids.get(step.who, "")
        before = len(self._server.seen(openid))
        seen, problem = None, ""
        match step.action:
            case Action.WAIT:
                await clock.sleep(step.seconds)
            case Action.API_FAULT:
                assert step.fault is not None
                self._server.api.faults.add(step.fault)
            case Action.CALL:
                await self._calls[step.argument["text"]]()
            case _:
                try:
                    seen = await self._act(step, openid)
                except LookupError:
                    what = "结束的步骤" if step.action is Action.AGAIN else "可以点的词"
                    problem = f"这时没有叫 “{step.argument['text']}” 的{what}"
        result = StepResult(
            step=step,
            started_seconds=started_at - self._started_at,
            delivery=seen.delivery if seen else None,
            sights=self._server.seen(openid)[before:],
            problems=(problem,) if problem else (),
        )
        if seen is not None:
            await self._wait_for(result, openid, before, started_at)
            is_again = step.action is Action.AGAIN
            original = self._named[step.argument["text"]] if is_again else None
            result = result.judged(self._server.seen(openid)[before:], ())
            result = result.judged(result.sights, check_step(result, original))
        self._results[step.number] = result

    async def _wait_for(self, result: StepResult, openid: str, before: int, started_at: float) -> None:
        """What must come, until it has; what must not, as long as the step says."""
        expect, clock = result.step.expect, self._server.clock
        if not expect.waits:
            if expect.within_seconds is not None:
                await clock.sleep(started_at + expect.within_seconds - clock.now())
            return
        seconds = PATIENCE_SECONDS if expect.within_seconds is None else expect.within_seconds

        def is_so() -> bool:
            return is_met(expect, self._server.seen(openid)[before:])

        await self._server.people.wait_until(is_so, started_at + seconds - clock.now())

    async def _act(self, step: Step, openid: str) -> Seen:
        """Raises LookupError: nothing to tap, or to deliver again."""
        wechat, argument = self._server, step.argument
        schedule = merged(wechat.schedule, step.schedule) if step.schedule else None
        if step.action is Action.AGAIN:
            return await wechat.again(self._named[argument["text"]], schedule=schedule)
        seen = await ACTS[step.action](wechat, openid, argument, schedule)
        if step.name and seen.delivery is not None:
            self._named[step.name] = seen.delivery
        return seen

    def _refuse_what_does_not_fit(self) -> None:
        scenario, account = self._scenario, self._server.account
        if scenario.account is not None and scenario.account is not account.type:
            raise ScenarioError(f"剧本要账号类型 {scenario.account}，这里是 {account.type}")
        if scenario.mode is not None and scenario.mode is not account.mode:
            raise ScenarioError(f"剧本要加解密方式 {scenario.mode}，这里是 {account.mode}")
        if scenario.is_bound is not None and scenario.is_bound is not account.is_bound:
            raise ScenarioError("剧本与这个账号在是否绑定开放平台上不一致")
        for step in scenario.steps:
            if step.action is Action.CALL and step.argument["text"] not in self._calls:
                raise ScenarioError(
                    f"第 {step.line} 行（第 {step.number} 步）：这里没有 “{step.argument['text']}” 可调用"
                    "（“call” 由调用 run_scenario 的程序提供）"
                )
            if step.action is Action.API_FAULT and not account.app_secret:
                raise ScenarioError(
                    f"第 {step.line} 行（第 {step.number} 步）：这个账号没有 AppSecret，也就没有接口可出故障"
                )
