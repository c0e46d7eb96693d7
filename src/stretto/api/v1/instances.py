"""Instances of the task engine's surface."""

from collections.abc import Awaitable, Callable
from typing import Final

from stretto.actions.parts.offload import offload
from stretto.actions.pause import pause, resume
from stretto.actions.reading.all_runs import list_all_runs
from stretto.actions.reading.instances import get_run_status, get_run_with_steps
from stretto.actions.stop import stop
from stretto.api.desk import Call
from stretto.api.routing import Calling, Name, OptionalText
from stretto.api.v1.listing import Limit, Offset, window
from stretto.api.v1.routing import gets, posts
from stretto.api.v1.shapes import (
    V1Instance,
    V1InstanceAnswer,
    V1InstanceList,
    V1InstanceListAnswer,
    V1TaskList,
    V1TaskListAnswer,
)
from stretto.api.v1.views import instance_key, instance_line, instance_view, tasks_of
from stretto.api.v1.words import instance_in, instance_word, statuses_in
from stretto.model.errors import WrongState
from stretto.model.status import RunStatus
from stretto.ports.history import RunFilter

LATEST: Final = "latest"
LOOK_EVERY: Final = 50  # milliseconds
SOME: Final = 20


@gets("/instances")
async def read_all(
    call: Calling, status: OptionalText = None, limit: Limit = SOME, offset: Offset = 0
) -> V1InstanceListAnswer:
    """Instances of all workflows, newest first."""
    wanted = RunFilter(statuses=statuses_in(status), roots=True)
    found = await window(
        lambda page: list_all_runs(call.store, call.reader, wanted, page), instance_key, limit, offset
    )
    items = tuple(map(instance_line, found.elements))
    return V1InstanceListAnswer(data=V1InstanceList(total=found.total, items=items, has_more=found.has_more))


@gets("/instances/{instance}")
async def read(call: Calling, instance: Name) -> V1InstanceAnswer:
    """An instance with its progress."""
    return V1InstanceAnswer(data=await _view(call, instance))


@gets("/instances/{instance}/tasks")
async def read_tasks(call: Calling, instance: Name) -> V1TaskListAnswer:
    """The tasks of an instance, in the order of the workflow."""
    run, steps = await get_run_with_steps(call.store, call.reader, *instance_in(instance), LATEST)
    tasks = tuple(await offload(len(steps), tasks_of, run, steps))
    return V1TaskListAnswer(data=V1TaskList(total=len(tasks), items=tasks, has_more=False))


@posts("/instances/{instance}/pause")
async def hold(call: Calling, instance: Name) -> V1InstanceAnswer:
    """Let nothing new begin; what runs goes on to its end."""
    await _hold(call, instance, "pause", pause)
    return await _once(call, instance, lambda status: status is not RunStatus.IN_PROGRESS)


@posts("/instances/{instance}/resume")
async def let_go(call: Calling, instance: Name) -> V1InstanceAnswer:
    """Let a paused instance go on."""
    await _hold(call, instance, "resume", resume)
    return await _once(call, instance, lambda status: status is not RunStatus.PAUSED)


@posts("/instances/{instance}/cancel")
async def cancel(call: Calling, instance: Name) -> V1InstanceAnswer:
    """End an instance; one that has ended can not be ended again."""
    status = await _status(call, instance)
    if status.is_terminal:
        raise WrongState(f"Cannot cancel instance [{instance}]: it has ended {instance_word(status)}")
    await stop(call.store, call.reader, *instance_in(instance), hints=call.hints)
    return await _once(call, instance, lambda status: status.is_terminal)


async def _hold(call: Call, instance: str, verb: str, action: Callable[..., Awaitable[object]]) -> None:
    """Ask for it; a refusal has the words of this surface."""
    try:
        await action(call.store, call.reader, *instance_in(instance), hints=call.hints)
    except WrongState:
        status = instance_word(await _status(call, instance))
        raise WrongState(f"Cannot {verb} instance [{instance}]: it is {status}") from None


async def _status(call: Call, instance: str) -> RunStatus:
    return await get_run_status(call.store, call.reader, *instance_in(instance), LATEST)


async def _once(call: Call, instance: str, holds: Callable[[RunStatus], bool]) -> V1InstanceAnswer:
    """The instance once it is so; who asked for it waits a little, and then has it as it is."""
    clock = call.desk.clock
    end = clock.steady() + call.desk.action_within / 1_000
    while not holds(await _status(call, instance)):
        left = round((end - clock.steady()) * 1_000)
        if left <= 0:
            break
        await clock.sleep_until(clock.now() + min(left, LOOK_EVERY))
    return V1InstanceAnswer(data=await _view(call, instance))


async def _view(call: Call, instance: str) -> V1Instance:
    run, steps = await get_run_with_steps(call.store, call.reader, *instance_in(instance), LATEST)
    return await offload(len(steps), instance_view, run, steps)


ROUTES: Final = (read_all, read, read_tasks, hold, let_go, cancel)
