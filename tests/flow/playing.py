"""Run a traced workflow in virtual time, with its real functions as the work of its steps."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stretto.flow import Flow
from stretto.model.param import Parameter
from stretto.model.step import TypedStep
from stretto.ports.runtime import Done
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.kinds import kind_of_param
from stretto.runtimes.python.values import decode, encode
from stretto.testing.harness import Harness
from stretto.testing.viewing import Run
from stretto.testing.working import Work

RESULT = "result"  # the output parameter of a function


class Played(NamedTuple):
    """How a run ended: what it returned, the statuses of its steps, and the calls of its functions."""

    value: Any
    status: str
    steps: dict[str, str]
    calls: list[tuple[str, dict[str, Any]]]
    run: Run

    def ran(self, step_id: str) -> bool:
        return self.steps.get(step_id) == "SUCCEEDED"


def carry_out(harness: Harness, flow: Flow[..., Any]) -> list[tuple[str, dict[str, Any]]]:
    """Let the functions of a workflow do the work of its steps; gives the list of calls, which grows."""
    functions: Mapping[str, Function] = {each.name: each for each in flow.functions}
    calls: list[tuple[str, dict[str, Any]]] = []

    def work(told: Work) -> Done:
        step = told.context.step
        assert isinstance(step, TypedStep)
        declared = step.params or {}
        function = functions[told.params["function"]]
        given = {
            each.name: decode(
                told.params[each.name], kind_of_param(declared[each.name]), each.annotation, each.name
            )
            for each in function.values
            if each.name in declared
        }
        calls.append((step.id, given))
        answer = function.call(**given)
        if function.kind is None:
            return Done()
        kind = kind_of_param(declared[RESULT])
        value = encode(answer, kind, RESULT)
        made = Parameter(type=kind.type, value=value, evaluated_result=value, evaluated_time=1)
        return Done(outputs={RESULT: made})

    harness.does("Python", work)
    return calls


def play(flow: Flow[..., Any], *, fails: bool = False, **params: Any) -> Played:
    """Run a workflow to its end."""
    with Harness() as harness:
        return play_in(harness, flow, fails=fails, **params)


def play_in(harness: Harness, flow: Flow[..., Any], *, fails: bool = False, **params: Any) -> Played:
    calls = carry_out(harness, flow)
    for each in flow.subflows:
        harness.publish(each.definition)
    run = harness.start(flow.definition, flow.encode(params))
    status = harness.finish(run)
    if status != "SUCCEEDED" and not fails:
        raise AssertionError({step_id: run.step(step_id).reason for step_id in run.steps})
    return Played(value_of(flow, run), status, run.steps, calls, run)


def value_of(flow: Flow[..., Any], run: Run) -> Any:
    """What a run returned; None if the step that would have returned it did not."""
    found = flow.returns
    if found is None or run.step(found.step).status != "SUCCEEDED":
        return None
    return decode(run.step(found.step).params[found.param], found.kind, found.annotation, "the result")


def conditions(flow: Flow[..., Any]) -> dict[str, dict[str, str]]:
    """The edges of the top level: step -> what follows it, and when."""
    return {step.id: dict(step.transition.successors) for step in flow.definition.workflow.steps}
