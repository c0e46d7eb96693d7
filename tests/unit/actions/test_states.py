"""The state of a run in columns: over restarts, and inside loops."""

from typing import Any

import pytest
from tests.unit.actions.test_nesting import OUTER, inline, made
from tests.unit.actions.world import ANN, CHAIN, World, failing, flow

from stretto.actions.reading.states import Scope, StateView, get_state
from stretto.actions.restart import restart
from stretto.engine.records import RunKey
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.store.sql.history import STATES
from stretto.store.sql.views import COUNTED, GLANCES, GLANCES_OF, INSTANCES, STEP_TIMES
from stretto.store.sqlite.dialect import DIALECT


def state_of(world: World, run: str = "1", workflow_id: str = "flow", **more: Any) -> StateView:
    return world.do(get_state(world.store, ANN, workflow_id, 1, run, **more))


def restarted(policy: RunPolicy = RunPolicy.RESTART_FROM_INCOMPLETE) -> World:
    """A chain whose second step failed in the first run, and did not in the second."""
    world = World(failing("b"))
    world.publish(flow(*CHAIN))
    world.start()
    world.settle()
    world.clock.time += 500
    world.runtime = failing()
    request = InstanceRestartRequest(restart_policy=policy)
    world.do(restart(world.store, ANN, "flow", 1, request))
    return world.settle()


def test_what_a_restart_leaves_alone_is_not_part_of_it() -> None:
    world = restarted()
    first, second = state_of(world), state_of(world, "latest")
    assert (first.codes, first.status, first.attempts) == ("sF.", RunStatus.FAILED, (1, 1, 0))
    assert (second.codes, second.status, second.attempts) == ("-ss", RunStatus.SUCCEEDED, (0, 1, 1))
    assert (second.starts[0], second.durations[0]) == (-1, -1)
    assert second.runs is None
    assert second.origin == second.start_time


def test_over_all_runs_each_step_is_as_its_newest_run_left_it() -> None:
    world = restarted()
    found = state_of(world, "2", scope=Scope.AGGREGATED)
    assert (found.codes, found.runs) == ("sss", (1, 2, 2))
    assert found.origin == state_of(world).start_time
    assert found.starts == (0, 500, 500)
    earlier = state_of(world, "1", scope=Scope.AGGREGATED)
    assert (earlier.codes, earlier.runs) == ("sF.", (1, 1, 0))


def test_a_run_from_the_beginning_covers_everything() -> None:
    world = restarted(RunPolicy.RESTART_FROM_BEGINNING)
    assert state_of(world, "2").codes == "sss"


def test_a_queued_run_has_not_begun() -> None:
    world = World()
    world.publish(flow(*CHAIN))
    world.start()
    found = state_of(world)
    assert (found.codes, found.start_time, found.origin) == ("...", None, found.create_time)


def test_loops_say_how_their_iterations_ended() -> None:
    world = made(OUTER, "{id: last, type: NoOp}")
    found = state_of(world)
    assert found.codes == "Fs"
    assert found.children.places == (0,)
    assert found.children.refs == (inline(world, "outer"),)
    assert found.children.totals == (2,)
    assert sum(found.children.counts[0].values()) == 2
    (ref,) = found.children.refs
    inside = state_of(world, workflow_id=ref)
    assert inside.children.refs == (inline(world, "inner", RunKey(ref, 1, 1)),)
    assert inside.codes[0] == "F"


def test_an_iteration_that_runs_again_says_itself_what_it_covers() -> None:
    world = made()
    world.runtime = failing()
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    ref = inline(world, "outer", RunKey("flow", 1, 2))
    again = state_of(world, "latest", workflow_id=ref)
    assert (again.workflow_run_id, again.codes) == (2, "s-")
    assert state_of(world, "latest", workflow_id=ref, scope=Scope.AGGREGATED).codes == "ss"


def test_a_subworkflow_says_where_its_steps_stand() -> None:
    world = World()
    world.publish(flow("{id: copy, type: Python}", name="clean"))
    world.publish(flow("subworkflow: {id: s, params: {subworkflow_id: {value: clean, type: STRING}}}"))
    world.start()
    world.settle()
    found = state_of(world)
    assert (found.children.refs, found.children.totals) == (("clean/1/1",), (-1,))


@pytest.mark.parametrize(
    "statement",
    [
        STATES,
        COUNTED,
        GLANCES,
        STEP_TIMES,
        *GLANCES_OF._statements.values(),
        *INSTANCES._statements.values(),
    ],
)
def test_no_document_is_read(statement: Any) -> None:
    """Of steps and runs only columns are read: a document may be as large as it likes."""
    columns = statement.of(DIALECT).partition(" FROM ")[0]
    assert "doc" not in columns
    assert "*" not in columns.replace("COUNT(*)", "")
    assert "params" not in columns
