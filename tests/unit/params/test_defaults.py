"""Default parameters: natively the same as their expressions, and only when somebody asks."""

from typing import Any

import pytest
from tests.unit.params.make import NOW, World, done, expression, in_run, in_step, number, results, text

from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource, ParamType
from stretto.model.wire import encode, to_json
from stretto.params import (
    STEP_DEFAULTS,
    TYPE_DEFAULTS,
    Evaluated,
    ParamError,
    RunFacts,
    StepFacts,
    StepLayers,
    evaluate,
    step_params,
    workflow_params,
)
from stretto.params.defaults import NATIVE_DEFAULTS
from stretto.params.functions import Functions
from stretto.params.prepared import NATIVE_SIZE
from stretto.sel import Environment, evaluate_maestro

ZONES = ("UTC", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Berlin")
MOMENTS = (
    0,
    NOW,
    1_552_213_799_000,  # the hour before and after clocks changed in Los Angeles
    1_552_215_600_000,
    1_572_769_800_000,
    951_782_400_000,  # 29 February
    1_577_836_799_999,  # the last millisecond of a year
    -1,
)


def facts(**fields: Any) -> RunFacts:
    return RunFacts(workflow_id="wf", owner="ann", **fields)


def evaluated(params: Params, run: RunFacts | None = None) -> Evaluated:
    found = evaluate(params, in_run(World(run=run or facts())))
    assert isinstance(found, Evaluated)
    return found


def by_expression(run: RunFacts, run_ts: int) -> dict[str, Any]:
    """What the expressions say, one after the other."""
    said: dict[str, Any] = {}
    environment = Environment(now_millis=run_ts, host=Functions(World(run=run)))
    for row in NATIVE_DEFAULTS:
        said[row.name] = evaluate_maestro(row.expression, said, environment)
    return said


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("run_ts", MOMENTS)
def test_native_defaults_equal_their_expressions(zone: str, run_ts: int) -> None:
    run = facts(initiator="TIME", initiator_timezone=zone, first_trigger_timezone="US/Pacific")
    found = evaluated(workflow_params({}, {"RUN_TS": number(run_ts)}), run)
    assert found.waiting == {row.name for row in NATIVE_DEFAULTS} - {"RUN_TS"}
    assert {name: found[name].evaluated_result for name in found} == by_expression(run, run_ts)


def test_without_triggers_and_owner_there_are_still_values() -> None:
    run = RunFacts(workflow_id="wf")
    found = evaluated(workflow_params({}), run)
    assert (
        found["DSL_DEFAULT_TZ"].evaluated_result == found["WORKFLOW_CRON_TIMEZONE"].evaluated_result == "UTC"
    )
    assert (found["owner"].evaluated_result, found["RUN_TS"].evaluated_result) == ("", NOW)


def test_a_run_that_names_no_default_computes_none() -> None:
    found = evaluated(workflow_params({"a": text("x"), "b": expression("LONG", "1 + 1")}))
    assert found.waiting == {row.name for row in NATIVE_DEFAULTS}
    assert len(found) == len(NATIVE_DEFAULTS) + 2


def test_a_run_computes_the_defaults_that_it_names() -> None:
    found = evaluated(
        workflow_params({"a": text("$RUN_DATE"), "b": expression("STRING", "TARGET_RUN_HOUR + 'h'")})
    )
    assert {row.name for row in NATIVE_DEFAULTS} - found.waiting == {"RUN_DATE", "TARGET_RUN_HOUR"}
    assert (found["a"].evaluated_result, found["b"].evaluated_result) == ("20190920", "22h")


def test_a_default_looks_like_any_other_parameter_once_somebody_looks() -> None:
    found = evaluated(workflow_params({}))["RUN_DATE"]
    assert (found.source, found.evaluated_time, found.tags) == (ParamSource.SYSTEM_DEFAULT, NOW, ())
    assert encode(found)["evaluated_result"] == "20190920"
    with pytest.raises(KeyError):
        evaluated({})["RUN_DATE"]
    with pytest.raises(KeyError):
        evaluated(workflow_params({}))["nothing"]


def test_the_bound_of_a_waiting_default_holds() -> None:
    run = facts(initiator_timezone="America/Argentina/ComodRivadavia")
    assert (
        max(len(to_json(encode(param))) for param in evaluated(workflow_params({}), run).values())
        < NATIVE_SIZE
    )


def test_who_changes_an_input_gets_what_the_expressions_make_of_it() -> None:
    found = evaluated(workflow_params({}, {"TARGET_RUN_DATE": text("20200229")}))
    assert found["DERIVED_RUN_DATE_UTC_PLUS_ONE"].evaluated_result == "20200301"
    assert "DERIVED_RUN_DATE_UTC" not in found.waiting
    assert "RUN_DATE" in found.waiting  # it does not follow from what was changed


def test_a_run_stamp_made_by_an_expression_is_followed_too() -> None:
    found = evaluated(workflow_params({"RUN_TS": expression("LONG", "86400000")}))
    assert found["RUN_DATE"].evaluated_result == "19700102"


def test_values_that_can_not_be_fail_at_once_and_not_when_somebody_looks() -> None:
    for wrong in ({"TARGET_RUN_DATE": text("garbage")}, {"TARGET_RUN_HOUR": text("99")}):
        with pytest.raises(ParamError):
            evaluate(workflow_params({}, wrong), in_run())
    nowhere = World(run=facts(initiator_timezone="Mars/Olympus"))
    with pytest.raises(ParamError, match="Mars"):
        evaluate(workflow_params({}), in_run(nowhere))


def test_a_time_beyond_the_calendar_is_left_to_the_expressions() -> None:
    far = 400_000_000_000_000  # the year 14645
    with pytest.raises(ParamError, match="DERIVED_RUN_TS"):  # which can not read a year of five digits
        evaluate(workflow_params({}, {"RUN_TS": number(far)}), in_run())


def test_where_clocks_skip_the_hour_the_run_still_starts() -> None:
    run = facts(initiator_timezone="Australia/Lord_Howe")
    skipped = 1_570_289_400_000 + 60_000  # 2019-10-06T02:31, and 02:00 to 02:30 did not exist
    found = evaluated(workflow_params({}, {"RUN_TS": number(skipped)}), run)
    assert found["TARGET_RUN_HOUR"].evaluated_result == "02"
    assert found["DERIVED_RUN_TS"].evaluated_result == 1_570_289_400_000


def test_a_default_with_a_rule_is_evaluated_at_once() -> None:
    stamp = workflow_params({})["RUN_DATE"]
    ruled = expression("STRING", str(stamp.expression), validator="param == '19700101'")
    with pytest.raises(ParamError, match="breaks its own rule"):
        evaluate(workflow_params({"RUN_DATE": ruled}), in_run())


def test_a_child_keeps_the_stamp_of_its_parent() -> None:
    parent = dict(evaluated(workflow_params({}, {"RUN_TS": number(0)})))
    found = evaluated(workflow_params({}, parent, ParamSource.SUBWORKFLOW))
    assert found.waiting == {"owner", "workflow_id"}  # its own facts
    assert found["RUN_DATE"].evaluated_result == "19700101"


def test_an_evaluated_default_is_not_computed_again() -> None:
    stamp = workflow_params({})["RUN_TS"]
    earlier = Parameter(
        type=ParamType.LONG, expression=stamp.expression, evaluated_result=5, evaluated_time=1
    )
    assert results({"RUN_TS": earlier})["RUN_TS"] == 5


def test_defaults_of_a_step_are_its_facts() -> None:
    params = step_params(StepLayers(defaults=STEP_DEFAULTS, definition={"p": text("$step_id")}))
    scope = in_step(World(run=facts(instance_id=7)))
    assert results(params, scope) == {
        "workflow_instance_id": 7,
        "step_instance_uuid": "uuid-1",
        "step_attempt_id": 1,
        "step_id": "here",
        "p": "here",
    }


@pytest.mark.parametrize("kind", TYPE_DEFAULTS)
def test_defaults_of_each_type_ask_for_what_they_need(kind: str) -> None:
    wanted: dict[str, Params] = {
        "foreach": {"loop_params": ParamDefinition(type=ParamType.MAP, value={"i": number(1)})},
        "while": {"loop_params": ParamDefinition(type=ParamType.MAP, value={"i": number(1)})},
        "subworkflow": {"subworkflow_id": text("child")},
        "Http": {"http": ParamDefinition(type=ParamType.MAP, value={"url": text("u")})},
        "Kubernetes": {"kubernetes": ParamDefinition(type=ParamType.MAP, value={"image": text("i")})},
        "Notebook": {
            "kubernetes": ParamDefinition(type=ParamType.MAP, value={"image": text("i")}),
            "notebook": ParamDefinition(type=ParamType.MAP, value={"input_path": text("p")}),
        },
        "Sleep": {},
        "Wait": {},
    }
    own = {**wanted[kind], "RUN_TS": number(1_700_000_000_000), "workflow_id": text("w")}
    layers = StepLayers(defaults=STEP_DEFAULTS, type_defaults=TYPE_DEFAULTS[kind], definition=own)
    found = results(step_params(layers), in_step(World(run=facts(instance_id=7, run_id=1))))
    assert wanted[kind].keys() <= found.keys()
    if wanted[kind]:
        with pytest.raises(ParamError, match="required"):
            step_params(StepLayers(type_defaults=TYPE_DEFAULTS[kind], definition={}))
    if kind == "Notebook":
        assert found["notebook"]["output_path"] == "maestro-output_20231114221320__7_here_uuid-1.ipynb"
        assert found["notebook"]["run_id"] == "w_7_1_here_1"


def test_steps_have_no_native_defaults() -> None:
    workflow = {"RUN_TS": done("LONG", 5)}
    found = evaluate({"p": text("$RUN_TS")}, in_step(workflow=workflow))
    assert isinstance(found, Evaluated)
    assert not found.waiting
    assert found["p"].evaluated_result == "5"
    assert StepFacts(step_id="s", type="NoOp").params == {}
