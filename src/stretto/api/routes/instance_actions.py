"""What can be done to an instance, or to its newest run by number."""

from collections.abc import Awaitable
from typing import Final, Protocol

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.preview import Preview
from stretto.actions.restart import restart
from stretto.actions.stop import kill, stop
from stretto.actions.unblock import unblock
from stretto.api.desk import Call
from stretto.api.routing import (
    Asking,
    Asks,
    Calling,
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
from stretto.model.request import InstanceRestartRequest
from stretto.model.response import InstanceActionResponse, StartResponse, StartStatus
from stretto.ports.hints import Hints
from stretto.ports.store import Store

INSTANCE: Final = "/workflows/{workflow_id}/instances/{instance_id}"
RUN: Final = f"{INSTANCE}/runs/{{run_id}}"


@acts(f"{INSTANCE}/actions/restart", reads=InstanceRestartRequest)
async def restart_instance(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    given: Given[InstanceRestartRequest],
    asking: Asks,
    include: OptionalText = None,
) -> StartResponse | Preview:
    """Start a new run of an instance, or of what stands above it. Asked for again under the same id, it is
    answered as a start is: DUPLICATED, with the ids of the first. `include=queued`: with what a queued run
    waits for.
    """
    extras = start_extras(include)
    known = given.request_id or asking.request_id
    request, asking = msgspec.structs.replace(given, request_id=known), asking._replace(request_id=known)
    is_first = False

    async def act(store: Store, caller: Caller, hints: Hints) -> StartResponse:
        nonlocal is_first
        is_first = True
        return await restart(
            store,
            caller,
            workflow_id,
            instance_id,
            request,
            patience=call.patience(blocking=not asking.dry_run),
            hints=hints,
            evaluate=call.desk.evaluate,
        )

    done = await carried_out(call, asking, "RESTART", act, StartResponse)
    if isinstance(done, Preview):
        return done
    status = done.status if is_first else StartStatus.DUPLICATED
    return with_extras(msgspec.structs.replace(done, status=status), extras)


class _Action(Protocol):
    """One that takes a run, or whichever is the newest."""

    def __call__(
        self,
        store: Store,
        caller: Caller,
        workflow_id: str,
        instance_id: int,
        run_id: int | None = None,
        *,
        hints: Hints,
    ) -> Awaitable[InstanceActionResponse]: ...


def _acting(word: str, does: str, action: _Action) -> tuple[Route, Route]:
    """The routes of an action: on the newest run, and on one by its number. `does` has a place for which."""

    async def act_on(
        call: Call, asking: Asking, run: tuple[str, int, int | None]
    ) -> InstanceActionResponse | Preview:
        async def act(store: Store, caller: Caller, hints: Hints) -> InstanceActionResponse:
            return await action(store, caller, *run, hints=hints)

        return await carried_out(call, asking, word.upper(), act, InstanceActionResponse)

    async def newest(
        call: Calling, workflow_id: Name, instance_id: Number, asking: Asks
    ) -> InstanceActionResponse | Preview:
        return await act_on(call, asking, (workflow_id, instance_id, None))

    async def numbered(
        call: Calling, workflow_id: Name, instance_id: Number, run_id: Number, asking: Asks
    ) -> InstanceActionResponse | Preview:
        return await act_on(call, asking, (workflow_id, instance_id, run_id))

    return (
        acts(f"{INSTANCE}/actions/{word}")(named(newest, f"{word}_instance", does.format("the newest run"))),
        acts(f"{RUN}/actions/{word}")(
            named(numbered, f"{word}_run", does.format("a run that is the newest"))
        ),
    )


ROUTES: Final = (
    restart_instance,
    *_acting("stop", "Stop {}.", stop),
    *_acting("kill", "Kill {}.", kill),
    *_acting("unblock", "Unblock what the failure of {} holds back.", unblock),
)
