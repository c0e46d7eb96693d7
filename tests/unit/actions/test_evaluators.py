"""Whoever waits for a run to be made may have its parameters evaluated where that can be killed."""

import pickle
from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest
from tests.unit.actions.test_nested_restart import TWO, effect_for, with_child
from tests.unit.actions.world import ANN, CHAIN, World, failing, flow

from stretto.actions.parts.evaluation import (
    Evaluator,
    FreshRun,
    RunQuestion,
    answer_to,
    evaluate_here,
    question_of,
    unique_number,
)
from stretto.actions.publish import check_definition, publish
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.actions.start import start
from stretto.actions.start_child import start_child
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.model.errors import TimedOut
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.request import InstanceRestartRequest, StartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.params import Fault, ParamError, RunFacts
from stretto.ports.run_snapshot import read_newest_run

INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
PARAMS = "  params: {n: {expression: 'return 6 * 7;', type: LONG}}\n"
DEFINITION = flow(*CHAIN, more=PARAMS)


class Elsewhere:
    """Evaluates what crosses a border, and what comes back over it."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []

    async def __call__(self, question: RunQuestion, /) -> Mapping[str, Parameter]:
        self.asked.append(set(question.params))
        sent: RunQuestion = pickle.loads(pickle.dumps(question))  # noqa: S301 - our own
        found: dict[str, Parameter] = pickle.loads(pickle.dumps(dict(answer_to(sent))))  # noqa: S301
        return found


async def too_slow(_question: RunQuestion, /) -> Mapping[str, Parameter]:
    raise TimedOut("it took longer than 20 s")


def failed() -> World:
    world = World(failing("b"))
    world.publish(DEFINITION)
    world.start()
    return world.settle()


def test_a_start_is_evaluated_by_whom_it_brings() -> None:
    world = World()
    world.publish(DEFINITION)
    request, elsewhere = StartRequest(initiator=ManualInitiator()), Elsewhere()
    world.do(start(world.store, ANN, "flow", "latest", request, evaluate=elsewhere))
    assert world.row().record.params["n"].evaluated_result == 42
    assert "n" in elsewhere.asked[0]


def test_where_it_is_evaluated_makes_no_difference() -> None:
    world = World()
    world.publish(DEFINITION)
    evaluators: tuple[Evaluator, ...] = (evaluate_here, Elsewhere())
    for number, evaluate in enumerate(evaluators, 1):
        request = StartRequest(initiator=ManualInitiator(), request_id=f"r{number}")
        world.do(start(world.store, ANN, "flow", "latest", request, evaluate=evaluate))
    one, other = (dict(world.row(instance_id=number).record.params) for number in (1, 2))
    assert {name: each.evaluated_result for name, each in one.items()} == {
        name: each.evaluated_result for name, each in other.items()
    }


def test_what_takes_too_long_is_refused_and_nothing_is_stored() -> None:
    world = World()
    world.publish(DEFINITION)
    request = StartRequest(initiator=ManualInitiator(), persist_failed_run=True)
    with pytest.raises(TimedOut, match="20 s"):
        world.do(start(world.store, ANN, "flow", "latest", request, evaluate=too_slow))
    assert world.do(read_newest_run(world.store, "flow", 1)) is None


def test_what_has_no_value_may_be_kept_as_failed() -> None:
    async def broken(_question: RunQuestion, /) -> Mapping[str, Parameter]:
        raise ParamError(Fault.REQUIRED, "n", "killed after 20 s")

    world = World()
    world.publish(DEFINITION)
    request = StartRequest(initiator=ManualInitiator(), persist_failed_run=True)
    world.do(start(world.store, ANN, "flow", "latest", request, evaluate=broken))
    assert world.status() == "FAILED"


def test_restarts_and_skips_are_evaluated_by_whom_they_bring() -> None:
    again = InstanceRestartRequest(restart_policy=INCOMPLETE)
    step = StepRestartRequest(restart_policy=INCOMPLETE)
    works: list[Any] = [
        lambda w, e: restart(w.store, ANN, "flow", 1, again, evaluate=e),
        lambda w, e: restart_step(w.store, ANN, "flow", 1, "b", step, evaluate=e),
        lambda w, e: skip_step(w.store, ANN, "flow", 1, "b", evaluate=e),
    ]
    for work in works:
        world, elsewhere = failed(), Elsewhere()
        world.do(work(world, elsewhere))
        assert len(elsewhere.asked) == 1
        assert world.row().key.run_id == 2


def test_so_are_the_params_that_the_restart_of_an_iteration_changes() -> None:
    world = World(failing("h"))
    world.publish(flow(TWO))
    world.start()
    world.settle()
    inline = world.do(world.store.loops(world.row().key))[0].inline_id
    changed = {"p": ParamDefinition(type=ParamType.LONG, expression="i * 100")}
    request = InstanceRestartRequest(restart_policy=INCOMPLETE, run_params=changed)
    elsewhere = Elsewhere()
    world.do(restart(world.store, ANN, inline, 2, request, evaluate=elsewhere))
    assert "p" in elsewhere.asked[0]


def test_so_are_children() -> None:
    world, elsewhere = with_child(failing("b")), Elsewhere()
    world.do(start_child(world.store, *effect_for(world), "r1", evaluate=elsewhere))
    assert len(elsewhere.asked) == 1


def test_so_is_a_definition_before_it_is_published() -> None:
    world, elsewhere = World(), Elsewhere()
    (definition,) = load(DEFINITION, Options())
    world.do(check_definition(world.store, ANN, definition, evaluate=elsewhere))
    world.do(publish(world.store, ANN, definition, evaluate=elsewhere))
    assert len(elsewhere.asked) == 2
    with pytest.raises(TimedOut):
        world.do(publish(world.store, ANN, definition, evaluate=too_slow))
    assert world.do(world.store.version("flow", 2)) is None


@pytest.mark.parametrize("request_id", ["", "request", "übung", str(UUID(int=7))])
def test_numbers_of_a_request_are_those_of_its_uuid(request_id: str) -> None:
    """They may have been given out before: the same request has the same ones."""
    mask = 2**63 - 1
    assert unique_number(request_id) == uuid5(NAMESPACE_OID, f"number of {request_id}").int & mask
    question = question_of({}, FreshRun(RunFacts(workflow_id="wf")), request_id, 5)
    assert question.scope.moment.seed == uuid5(NAMESPACE_OID, request_id).int & mask
