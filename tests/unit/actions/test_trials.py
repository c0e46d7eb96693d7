"""A push evaluates parameters within a small budget: a long expression is left to the runs."""

from collections.abc import Mapping
from typing import Final

import pytest
from tests.unit.actions.world import ANN, NOOP, World, flow

from stretto.actions.check_text import CheckRequest, check_text
from stretto.actions.parts.dry_run import TRIAL_MEMORY, TRIAL_VISITS
from stretto.actions.parts.evaluation import Evaluator, RunQuestion, answer_to, evaluate_here
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.engine.elsewhere import Question
from stretto.engine.events import Evaluated
from stretto.engine.settings import EngineSettings
from stretto.engine.timeouts import BadTimeout
from stretto.model.initiator import ManualInitiator
from stretto.model.param import Parameter
from stretto.model.request import StartRequest
from stretto.model.workflow import Definition
from stretto.params import ParamError, ParamLimits
from stretto.ports.evaluator import refused
from stretto.runtimes.expressions.asked import Asked
from stretto.sel import Limits

LOOPS: Final = (
    "long s = 0; for (int i = 0; i < 25000; i += 1) {"
    " for (int j = 0; j < 25000; j += 1) { s += 1; } } return s;"
)


class Processes:
    """Stands for the processes that evaluate long expressions, and counts what they are asked."""

    def __init__(self) -> None:
        self.questions = 0

    async def evaluate(self, question: Question) -> Evaluated:
        self.questions += 1
        return refused(question, "it was killed")


class Recorder:
    """Keeps the budgets of the questions that it answers."""

    def __init__(self) -> None:
        self.left: list[tuple[int, int]] = []
        self.known: list[set[str]] = []

    async def __call__(self, question: RunQuestion, /) -> Mapping[str, Parameter]:
        found = answer_to(question)
        budget = question.scope.moment.budget
        assert budget is not None
        self.left.append((budget.visits, budget.memory))
        self.known.append(set(found))
        return found


def made(params: str, more: str = "") -> Definition:
    (definition,) = load(flow(NOOP, more=f"  params: {{{params}}}\n{more}"), Options())
    return definition


def push(definition: Definition, evaluate: Evaluator) -> World:
    world = World()
    world.do(publish(world.store, ANN, definition, evaluate=evaluate))
    return world


def long(name: str, text: str = LOOPS) -> str:
    return f"{name}: {{type: LONG, expression: '{text}'}}"


def test_a_push_does_not_wait_for_nested_loops_and_a_start_may_have_them_evaluated_elsewhere() -> None:
    processes = Processes()
    asked = Asked(processes, EngineSettings(params=ParamLimits(visits=100_000_000)))
    world = push(made(long("n")), asked)
    assert processes.questions == 0
    assert world.do(world.store.version("flow", 1)) is not None
    request = StartRequest(initiator=ManualInitiator())
    with pytest.raises(ParamError, match="it was killed"):
        world.do(start(world.store, ANN, "flow", "latest", request, evaluate=asked))
    assert processes.questions == 1


def test_the_budget_is_one_for_all_expressions_of_a_workflow() -> None:
    recorder = Recorder()
    push(made(", ".join(long(f"n{number}") for number in range(200))), recorder)
    ((visits, memory),) = recorder.left
    assert 0 <= visits < TRIAL_VISITS
    assert 0 <= memory <= TRIAL_MEMORY
    assert not any(f"n{number}" in recorder.known[0] for number in range(200))


def test_what_makes_many_values_is_left_to_the_runs_too() -> None:
    recorder = Recorder()
    text = "{type: LONG_ARRAY, expression: 'Util.intsBetween(0, 3000000, 1);'}"
    push(made(f"many: {text}, few: {text.replace('3000000', '3')}"), recorder)
    assert "many" not in recorder.known[0]
    assert "few" in recorder.known[0]


def test_so_is_what_reads_it_and_what_a_long_rule_checks() -> None:
    recorder = Recorder()
    rule = LOOPS.replace("return s;", "return param > s;")
    params = f"{long('n')}, twice: {{type: LONG, expression: 'n * 2'}}, checked: {{type: LONG, value: 1, validator: '{rule}'}}"  # noqa: E501
    push(
        made(f"{params}, day: {{type: STRING, value: '${{other}}'}}, other: {{value: x, type: STRING}}"),
        recorder,
    )
    assert recorder.known[0].isdisjoint({"n", "twice", "checked"})
    assert recorder.known[0] >= {"day", "other", "workflow_id"}


@pytest.mark.parametrize(
    "broken", ["b: {type: LONG, expression: '1 / 0'}", "b: {type: LONG, expression: 'nobody + 1'}"]
)
def test_an_error_beside_a_long_expression_is_still_found(broken: str) -> None:
    definition = made(f"{long('a')}, {broken}, {long('c')}")
    for evaluate in (evaluate_here, Asked(Processes(), EngineSettings())):
        with pytest.raises(ParamError, match=r"\[b\]"):
            push(definition, evaluate)


def test_a_limit_that_every_run_would_reach_is_an_error_of_the_push() -> None:
    for limits in (Limits(visit=1_000), Limits(memory=1_000)):
        settings = EngineSettings(expressions=limits)
        with pytest.raises(ParamError, match=r"1000 (steps|bytes of memory) or more"):
            push(
                made("a: {type: LONG_ARRAY, expression: 'Util.intsBetween(0, 3000, 1);'}, " + long("b")),
                Asked(Processes(), settings),
            )


def test_a_timeout_that_reads_a_long_expression_waits_for_the_run() -> None:
    push(made(long("n"), "  timeout: '${n} days'\n"), evaluate_here)
    with pytest.raises(BadTimeout):
        push(made(f"{long('n')}, m: {{type: LONG, value: 1000}}", "  timeout: '${m} days'\n"), evaluate_here)


def test_the_check_of_a_text_has_the_same_budget() -> None:
    world, recorder = World(), Recorder()
    text = flow(NOOP, more=f"  params: {{{long('n')}, m: {{type: LONG, expression: '6 * 7'}}}}\n")
    found = world.do(check_text(world.store, ANN, CheckRequest(text=text), evaluate=recorder))
    assert found.valid
    assert found.params is not None
    assert "n" not in found.params
    assert found.params["m"].evaluated_result == 42
    assert recorder.left[0][0] >= 0
