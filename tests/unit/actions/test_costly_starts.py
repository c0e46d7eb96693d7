"""A start never makes what a parameter asks for, if that is a loop of 25,000 x 25,000 passes or values.

What is counted is what the budget counts: visits, and the memory of values made.
"""

from collections.abc import Mapping
from typing import Final

import pytest
from tests.unit.actions.test_trials import LOOPS, Processes, long
from tests.unit.actions.world import ANN, NOOP, World, failing, flow

from stretto.actions.parts import evaluation
from stretto.actions.parts.evaluation import evaluator_within
from stretto.actions.restart import restart
from stretto.actions.start import PendingStart, start, start_batch
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.request import InstanceRestartRequest, StartRequest
from stretto.model.run_config import RunPolicy
from stretto.params import ParamError, ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.run_snapshot import read_newest_run
from stretto.runtimes.expressions.asked import Asked
from stretto.sel import Budget, Limits

P = ParamType
SETTINGS: Final = "settings `params.visits` and `params.memory`"
LEAST_VALUE: Final = 32  # bytes that the budget counts for a value


def computed(kind: ParamType, text: str) -> ParamDefinition:
    return ParamDefinition(type=kind, expression=text)


def nested_map() -> ParamDefinition:
    return ParamDefinition(type=P.MAP, value={"a": computed(P.LONG, LOOPS)})


def ranges_in_ranges() -> ParamDefinition:
    text = (
        "m = new Map(); for (int i = 0; i < 25000; i += 1) { m.put('k' + i, Util.intsBetween(0, 25000, 1)); }"
        " return m;"
    )
    return computed(P.MAP, text)


COSTLY: Final[Mapping[str, Params]] = {
    "loops in loops": {"n": computed(P.LONG, LOOPS)},
    "a member of a map": {"n": nested_map()},
    "a rule": {
        "n": ParamDefinition(type=P.LONG, value=1, validator=LOOPS.replace("return s;", "return s > 0;"))
    },
    "arrays in a map": {"n": ranges_in_ranges()},
    "many values": {"n": computed(P.LONG_ARRAY, "Util.intsBetween(0, 3000000, 1)")},
    "many short ones": {
        f"n{each}": computed(P.LONG_ARRAY, "Util.intsBetween(0, 90000, 1)") for each in range(40)
    },
    "texts that double": {
        "n0": ParamDefinition(type=P.STRING, value="x" * 1_000),
        **{
            f"n{each}": ParamDefinition(type=P.STRING, value=f"${{n{each - 1}}}${{n{each - 1}}}")
            for each in range(1, 40)
        },
    },
}


@pytest.mark.parametrize("given", COSTLY.values(), ids=COSTLY)
def test_a_start_refuses_what_takes_longer_than_the_settings_say(given: Params) -> None:
    world, processes = World(), Processes()
    world.publish(flow(NOOP))
    request = StartRequest(initiator=ManualInitiator(), run_params=given)
    server = Asked(processes, EngineSettings())
    command_line = evaluator_within(Limits(), DEFAULT_LIMITS)
    for evaluate in (server, command_line):
        with pytest.raises(ParamError, match=SETTINGS):
            world.do(start(world.store, ANN, "flow", "latest", request, evaluate=evaluate))
    with pytest.raises(ParamError, match=SETTINGS):
        world.do(start(world.store, ANN, "flow", "latest", request))
    (answer,) = world.do(start_batch(world.store, "flow", [PendingStart(ANN, "latest", request)]))
    assert isinstance(answer, ParamError)
    assert processes.questions == 0
    assert world.do(read_newest_run(world.store, "flow", 1)) is None


@pytest.mark.parametrize("given", COSTLY.values(), ids=COSTLY)
def test_what_is_used_up_until_then_is_the_budget_and_no_more(
    given: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Budget] = []
    budget_of = evaluation.budget_of

    def noted(limits: ParamLimits) -> Budget:
        made.append(budget_of(limits))
        return made[-1]

    monkeypatch.setattr(evaluation, "budget_of", noted)
    world = World()
    world.publish(flow(NOOP))
    request = StartRequest(initiator=ManualInitiator(), run_params=given)
    with pytest.raises(ParamError):
        world.do(start(world.store, ANN, "flow", "latest", request))
    (budget,) = made
    assert DEFAULT_LIMITS.visits - budget.visits <= DEFAULT_LIMITS.visits <= 1_000_000
    assert DEFAULT_LIMITS.memory - max(budget.memory, 0) <= DEFAULT_LIMITS.memory <= LEAST_VALUE * 1_250_000


def test_a_restart_that_changes_a_parameter_is_refused_as_well() -> None:
    world, processes = World(failing("a")), Processes()
    world.publish(flow("{id: a, type: Python}", more="  params: {n: {type: LONG, value: 1}}\n"))
    world.start()
    world.settle()
    request = InstanceRestartRequest(
        restart_policy=RunPolicy.RESTART_FROM_BEGINNING, run_params={"n": computed(P.LONG, LOOPS)}
    )
    with pytest.raises(ParamError, match=SETTINGS):
        world.do(restart(world.store, ANN, "flow", 1, request, evaluate=Asked(processes, EngineSettings())))
    assert processes.questions == 0


def test_one_loop_of_25_000_passes_is_evaluated() -> None:
    text = "long s = 0; for (int i = 0; i < 25000; i += 1) { s += i; } return s;"
    world = World()
    world.publish(flow(NOOP, more=f"  params: {{{long('n', text)}}}\n"))
    world.start()
    assert world.row().record.params["n"].evaluated_result == sum(range(25_000))


def test_the_settings_allow_more() -> None:
    text = LOOPS.replace("j < 25000", "j < 3")
    world = World()
    world.publish(flow(NOOP, more=f"  params: {{{long('n', text)}}}\n"))
    request = StartRequest(initiator=ManualInitiator())
    with pytest.raises(ParamError, match=SETTINGS):
        world.do(start(world.store, ANN, "flow", "latest", request))
    more = evaluator_within(Limits(), ParamLimits(visits=10_000_000))
    world.do(start(world.store, ANN, "flow", "latest", request, evaluate=more))
    assert world.row().record.params["n"].evaluated_result == 75_000
