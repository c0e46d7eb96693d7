"""Sets of parameters that are looked at once: what is known of them, and in which order they have a turn."""

import pytest
from tests.unit.params.make import NOW, World, expression, number, text

from stretto.model.param import ParamDefinition, ParamSource, ParamType
from stretto.params import (
    STEP_DEFAULTS,
    Evaluated,
    Fault,
    Moment,
    ParamError,
    ParamLimits,
    Prepared,
    RunFacts,
    Scope,
    StepFacts,
    StepLayers,
    evaluate,
    merge_outputs,
    step_params,
)

WORLD = World(run=RunFacts(workflow_id="wf", instance_id=1, run_id=1))
UUID = "00000000-0000-5000-8000-000000000000"


def in_step(**workflow: ParamDefinition) -> Scope:
    run = evaluate(workflow, Scope(context=WORLD, moment=Moment(NOW)))
    assert isinstance(run, Evaluated)
    step = StepFacts(step_id="s", type="NoOp", step_attempt_id=1, uuid=lambda: UUID)
    return Scope(context=WORLD, moment=Moment(NOW), workflow=run, step=step)


def results(found: object) -> dict[str, object]:
    assert isinstance(found, Evaluated)
    return {name: found[name].evaluated_result for name in found}


def test_one_set_serves_many_evaluations() -> None:
    merged = step_params(StepLayers(definition={"a": text("x"), "b": number(2)}, defaults=STEP_DEFAULTS))
    prepared = Prepared.of_step(merged)
    first, second = (evaluate(prepared, in_step()) for _ in range(2))
    assert results(first) == results(second)
    assert results(first)["step_instance_uuid"] == UUID
    step = in_step().step
    assert step is not None
    assert step.step_instance_uuid == UUID
    assert isinstance(first, Evaluated)
    assert (first["a"].evaluated_time, first["a"].source) == (NOW, ParamSource.DEFINITION)
    assert dict(first.items()) == dict(first)


@pytest.mark.parametrize(
    ("params", "seen"),
    [
        ({"day": text("own"), "a": text("${day}")}, "own"),  # it was evaluated before
        ({"a": text("${day}"), "day": text("own")}, "of the run"),  # it was not
        ({"a": text("${s__day}"), "day": text("own")}, "own"),  # its own is asked for
        ({"a": expression("STRING", "day"), "day": text("own")}, "of the run"),
    ],
)
def test_a_literal_has_its_turn_among_those_that_name_it(
    params: dict[str, ParamDefinition], seen: str
) -> None:
    assert results(evaluate(params, in_step(day=text("of the run"))))["a"] == seen


def test_what_can_not_be_read_is_found_when_it_is_evaluated() -> None:
    broken = {"a": expression("LONG", "1 +"), "b": text("x")}
    prepared = Prepared.of_step(broken)
    assert [each.name for each in prepared.open] == ["a", "b"]
    with pytest.raises(ParamError) as raised:
        evaluate(prepared, in_step())
    assert raised.value.fault is Fault.EXPRESSION


def test_outputs_change_a_set_and_leave_the_one_before_as_it_was() -> None:
    declared = step_params(StepLayers(definition={"n": number(1), "other": text("x")}))
    before = evaluate(declared, in_step())
    assert isinstance(before, Evaluated)
    after = merge_outputs(before, {"n": number(2)}, NOW + 1)
    assert (before["n"].evaluated_result, after["n"].evaluated_result) == (1, 2)
    assert (after["n"].source, after["n"].evaluated_time) == (ParamSource.OUTPUT_PARAMETER, NOW + 1)
    assert after["other"] == before["other"]
    with pytest.raises(ParamError, match="total size"):
        merge_outputs(before, {"other": text("y" * 500)}, NOW, ParamLimits(size=300))


def test_an_expression_that_is_only_a_name_is_its_value() -> None:
    for kind, value in ((ParamType.LONG, 7), (ParamType.BOOLEAN, True)):
        given = ParamDefinition(type=kind, value=value)
        found = results(evaluate({"a": ParamDefinition(type=kind, expression="x")}, in_step(x=given)))
        assert found["a"] is value
