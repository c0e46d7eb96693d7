"""A foreach whose iterations go on after one has failed, and restarts of those that failed."""

import pytest
from tests.unit.actions.world import ANN, World, flow

from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.engine.effects import StartWork
from stretto.engine.events import ResultState
from stretto.model.request import InstanceRestartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.history import RunList
from stretto.ports.run_snapshot import InstancePage

INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
LOOP = (
    "foreach: {id: f, concurrency: 1, FIELDS"
    "params: {loop_params: {value: {i: {value: [1, 2, 3, 4, 5, 6], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}], transition: {successors: {after: 'true'}}}"
)


class Worker:
    """Work that fails in some iterations, and notes which ran."""

    def __init__(self, *failing: int) -> None:
        self.failing = set(failing)
        self.ran: list[int] = []

    def __call__(self, effect: StartWork) -> ResultState:
        attempt = effect.attempt
        if attempt.step_id != "g":
            return ResultState.DONE
        self.ran.append(attempt.run.instance_id)
        return ResultState.FATAL_ERROR if attempt.run.instance_id in self.failing else ResultState.DONE


def looped(fields: str, *failing: int) -> tuple[World, Worker]:
    worker = Worker(*failing)
    world = World(worker)
    world.publish(flow(LOOP.replace("FIELDS", fields), "{id: after, type: Python}"))
    world.start()
    world.settle()
    return world, worker


def restarted(world: World, worker: Worker) -> list[int]:
    """The iterations that run again after the cause of the failure is gone."""
    worker.failing, worker.ran = set(), []
    request = InstanceRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    return worker.ran


def test_by_default_no_iteration_begins_after_a_failure() -> None:
    world, worker = looped("", 2)
    assert worker.ran == [1, 2]
    assert world.steps() == {"f": "FATALLY_FAILED"}
    assert restarted(world, worker) == [2, 3, 4, 5, 6]
    assert world.status() == "SUCCEEDED"


@pytest.mark.parametrize("fields", ["", "strict_ordering: true, ", "failure_mode: FAIL_AFTER_RUNNING, "])
def test_all_iterations_run_and_then_the_step_fails(fields: str) -> None:
    world, worker = looped(f"continue_on_failure: true, {fields}", 2, 4)
    assert worker.ran == [1, 2, 3, 4, 5, 6]
    assert world.steps() == {"f": "FATALLY_FAILED"}
    assert world.status() == "FAILED"
    assert restarted(world, worker) == [2, 4]
    assert world.status() == "SUCCEEDED"
    assert world.steps() == {"f": "SUCCEEDED", "after": "SUCCEEDED"}


def test_what_fails_again_is_all_that_is_left() -> None:
    world, worker = looped("continue_on_failure: true, ", 2, 4, 6)
    worker.failing, worker.ran = {4}, []
    world.do(restart(world.store, ANN, "flow", 1, InstanceRestartRequest(restart_policy=INCOMPLETE)))
    world.settle()
    assert worker.ran == [2, 4, 6]
    assert world.status() == "FAILED"
    assert restarted(world, worker) == [4]
    assert world.status() == "SUCCEEDED"


def test_failed_iterations_of_a_step_whose_failure_was_ignored() -> None:
    """The run has succeeded: its failed iterations run again by a restart from the loop."""
    world, worker = looped("continue_on_failure: true, failure_mode: IGNORE_FAILURE, ", 3)
    assert worker.ran == [1, 2, 3, 4, 5, 6]
    assert world.status() == "SUCCEEDED"
    assert world.steps() == {"f": "COMPLETED_WITH_ERROR", "after": "SUCCEEDED"}
    worker.failing, worker.ran = set(), []
    request = StepRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart_step(world.store, ANN, "flow", 1, "f", request))
    world.settle()
    assert worker.ran == [3]
    assert world.steps() == {"f": "SUCCEEDED", "after": "SUCCEEDED"}


def test_a_restart_does_not_read_the_iterations_that_succeeded() -> None:
    """Of 3,000 iterations with two failures the iterations of two buckets are read, and no others."""
    worker = Worker(7, 2_345)
    world = World(worker)
    items = str(list(range(3_000)))
    text = LOOP.replace("FIELDS", "continue_on_failure: true, ").replace("[1, 2, 3, 4, 5, 6]", items)
    world.publish(flow(text, "{id: after, type: Python}"))
    world.start()
    world.settle()
    assert len(worker.ran) == 3_000
    read: list[int] = []
    runs = world.store.runs

    async def counted(selection: RunList) -> object:
        page = await runs(selection)
        if isinstance(selection, InstancePage):
            read.append(len(page.elements))
        return page

    world.swap("runs", counted)
    assert restarted(world, worker) == [7, 2_345]
    assert read == [200, 200]
    assert world.status() == "SUCCEEDED"
