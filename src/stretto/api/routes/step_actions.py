"""What can be done to a step. `blocking`: the answer comes when the owner of the run has said yes or no."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

import msgspec

from stretto.actions.act_on_step import bypass_step, kill_step, stop_step
from stretto.actions.caller import Caller
from stretto.actions.parts.messages import Patience
from stretto.actions.preview import Preview
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.api.desk import Call
from stretto.api.routing import (
    Asks,
    Calling,
    Flag,
    Given,
    Name,
    Number,
    OptionalText,
    Route,
    acts,
    carried_out,
    named,
    start_extras,
    with_extras,
)
from stretto.model.request import StepRestartRequest
from stretto.model.response import StepActionResponse, StepRestartResponse
from stretto.ports.hints import Hints
from stretto.ports.store import Store

STEP: Final = "/workflows/{workflow_id}/instances/{instance_id}/steps/{step_id}"


@acts(f"{STEP}/actions/restart", reads=StepRestartRequest)
async def restart(  # noqa: PLR0913, PLR0917 - one for each parameter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    step_id: Name,
    given: Given[StepRestartRequest],
    asking: Asks,
    blocking: Flag = True,
    include: OptionalText = None,
) -> StepRestartResponse | Preview:
    """Start a new attempt of a step, or a new run that begins there. `include=queued`: with what a queued run
    waits for.
    """
    extras = start_extras(include)
    known = given.request_id or asking.request_id
    request, asking = msgspec.structs.replace(given, request_id=known), asking._replace(request_id=known)

    async def act(store: Store, caller: Caller, hints: Hints) -> StepRestartResponse:
        return await restart_step(
            store,
            caller,
            workflow_id,
            instance_id,
            step_id,
            request,
            patience=call.patience(blocking=blocking and not asking.dry_run),
            hints=hints,
            evaluate=call.desk.evaluate,
        )

    done = await carried_out(call, asking, "RESTART", act, StepRestartResponse)
    return done if isinstance(done, Preview) else with_extras(done, extras)


class _Action(Protocol):
    """One that takes a step and nothing else."""

    def __call__(
        self,
        store: Store,
        caller: Caller,
        workflow_id: str,
        instance_id: int,
        step_id: str,
        *,
        patience: Patience | None,
        hints: Hints,
    ) -> Awaitable[StepActionResponse]: ...


def _acting(word: str, does: str, action: Callable[[Call], _Action]) -> Route:
    """The route of an action, by the word that its path ends with."""

    async def route(
        call: Calling,
        workflow_id: Name,
        instance_id: Number,
        step_id: Name,
        asking: Asks,
        blocking: Flag = True,
    ) -> StepActionResponse | Preview:
        patience = call.patience(blocking=blocking and not asking.dry_run)

        async def act(store: Store, caller: Caller, hints: Hints) -> StepActionResponse:
            do = action(call)
            return await do(store, caller, workflow_id, instance_id, step_id, patience=patience, hints=hints)

        return await carried_out(call, asking, word.upper(), act, StepActionResponse)

    return acts(f"{STEP}/actions/{word}")(named(route, word, does))


ROUTES: Final = (
    restart,
    _acting("stop", "Stop a step.", lambda _call: stop_step),
    _acting("kill", "Kill a step.", lambda _call: kill_step),
    _acting(
        "skip",
        "Skip a step; what follows it goes on, in a new run if the run has ended.",
        lambda call: partial(skip_step, evaluate=call.desk.evaluate),
    ),
    _acting("bypass", "End a step's wait for signals.", lambda _call: bypass_step),
)
