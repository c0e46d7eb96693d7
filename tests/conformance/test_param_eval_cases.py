"""The behaviour cases about evaluating parameters and interpolating literals, one test for each."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.behaviour import Case, Then, cases_of, check_error
from tests.conformance.param_host import definition, definitions, evaluated, scope_of
from tests.conformance.test_params import plain

from stretto.model.errors import Unprocessable
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.wire import encode, to_json
from stretto.params import (
    Evaluated,
    ParamError,
    ParamLimits,
    evaluate,
    evaluate_one,
    evaluate_text,
    references_of,
    workflow_params,
)
from stretto.params.values import kind_of
from stretto.sel import SelError, evaluate_maestro

pytestmark = pytest.mark.conformance

CASES = cases_of("param-eval", "param-literal")
ZONES = {name: case for name, case in cases_of("time-trigger").items() if name.startswith("time-zone-params")}
PROSE: dict[str, Callable[[Case, Then], None]] = {}
RUN = {"scope": "workflow", "workflow_id": "test-workflow"}


def prose(*case_ids: str) -> Callable[[Callable[[Case, Then], None]], Callable[[Case, Then], None]]:
    """Marks the function that understands some cases whose `given` is prose."""

    def register(check: Callable[[Case, Then], None]) -> Callable[[Case, Then], None]:
        PROSE.update(dict.fromkeys(case_ids, check))
        return check

    return register


@pytest.mark.parametrize("case_id", [*CASES, *ZONES])
def test_case(case_id: str) -> None:
    case = {**CASES, **ZONES}[case_id]
    then = Then(case)
    shape = check_literal if case["area"] == "param-literal" else check_expression
    PROSE.get(case_id, shape)(case["given"], then)
    then.assert_all_taken()


def result(found: Any) -> Any:
    assert isinstance(found, Parameter), found
    return plain(found.evaluated_result)


def known(value: Any) -> Parameter:
    """`123 (evaluated)` or a plain value."""
    if isinstance(value, str) and value.endswith(" (evaluated)"):
        value = int(value.removesuffix(" (evaluated)"))
    return evaluated({"type": kind_of(value), "value": value})


# ----------------------------------------------------------------------------------------- param-literal
def check_literal(given: Case, then: Then) -> None:
    written = given.get("evaluated_params", {})
    if isinstance(written, str):
        assert written == "same set as case literal-string"
        written = CASES["literal-string"]["given"]["evaluated_params"]
    params: dict[str, ParamDefinition] = {}
    for name, typed in written.items():
        [(kind, value)] = typed.items()
        params[name] = Parameter(type=ParamType(kind), value=value, evaluated_result=value)
    if "notEvaluated" in given:
        assert given["notEvaluated"] == "declared but not evaluated"
        params["notEvaluated"] = ParamDefinition(type=ParamType.STRING)
    param = definition(given["param"])
    if "error" in then:
        with pytest.raises(ParamError) as raised:
            evaluate_one("p", param, scope_of(RUN), params)
        check_error(raised.value, then.take("error"))
        return
    assert result(evaluate_one("p", param, scope_of(RUN), params)) == then.take("result")
    if "referenced_params" in then:
        names = [reference.name for reference in references_of("p", param)]
        assert names == then.take("referenced_params")


# -------------------------------------------------------------------------------------------- param-eval
def check_expression(given: Case, then: Then) -> None:
    """One parameter beside workflow parameters: its result, its notes, or its error."""
    around = definitions(given.get("workflow_params", {}))
    written = given["param"]
    if "error" in then:
        with pytest.raises(ParamError) as raised:
            evaluate_one(written["name"], definition(written), scope_of(RUN), around)
        check_error(raised.value, then.take("error"))
        return
    found = evaluate_one(written["name"], definition(written), scope_of(RUN), around)
    assert result(found) == then.take(written["name"])
    assert isinstance(found, Parameter)
    for note in ("info", "warn"):
        if f"meta.{note}" in then:
            assert found.meta[note] == then.take(f"meta.{note}")


@prose("expr-implicit-string-to-boolean")
def _(given: Case, then: Then) -> None:
    note = then.take("meta.warn")
    for case, wanted in zip(given["cases"], then.take("results"), strict=True):
        around = {name: known(value) for name, value in case.items()}
        found = evaluate_one("bar", definition(given["param"]), scope_of(RUN), around)
        assert result(found) is wanted
        assert isinstance(found, Parameter)
        assert found.meta["warn"] == note
    wrong = definition({**given["param"], "expression": "'foo';"})
    with pytest.raises(ParamError) as raised:
        evaluate_one("bar", wrong, scope_of(RUN))
    check_error(raised.value, then.take("error_for_expression_foo"))


@prose(
    "step-param-self-step-reference",
    "step-param-same-name-unevaluated-reads-workflow",
    "step-param-same-name-evaluated-wins",
)
def _(given: Case, then: Then) -> None:
    own: dict[str, ParamDefinition] = {
        name: definition(value) if isinstance(value, dict) else known(value)
        for name, value in given["step_params"].items()
    }
    workflow = {
        name: {"type": "LONG", "evaluated_result": value}
        for name, value in given.get("workflow_params", {}).items()
    }
    scope = scope_of({"step_id": given.get("step_id", "step1"), "workflow_params": workflow})
    [(name, wanted)] = then.rest().items()
    written = given.get("param") or given["step_params"][name]
    param = definition({"type": kind_of(wanted), **written})
    assert result(evaluate_one(name, param, scope, own)) == wanted


@prose("step-param-order-effect-1", "step-param-order-effect-2")
def _(given: Case, then: Then) -> None:
    ordered = [item for entry in given["step_params_in_order"] for item in entry.items()]
    own = {name: ParamDefinition(type=ParamType.LONG, expression=text) for name, text in ordered}
    workflow = {
        name: {"type": "LONG", "evaluated_result": value} for name, value in given["workflow_params"].items()
    }
    found = evaluate(own, scope_of({"step_id": "step1", "workflow_params": workflow}))
    assert isinstance(found, Evaluated)
    assert {name: result(param) for name, param in found.items()} == then.rest()


@prose(
    "step-ref-three-underscores",
    "step-ref-four-underscores",
    "step-ref-ambiguous",
    "step-ref-not-found",
)
def _(given: Case, then: Then) -> None:
    state = {"step_id": given.get("current_step", "step1"), "step_ids_with_output": given["steps"]}
    own: dict[str, ParamDefinition] = {
        name: known(value) for name, value in given.get("step_params", {}).items()
    }
    param = definition({"type": "STRING", **given["param"]})
    if "error" in then:
        with pytest.raises(ParamError) as raised:
            evaluate_one("bar", param, scope_of(state), own)
        check_error(raised.value, then.take("error"))
    else:
        assert result(evaluate_one("bar", param, scope_of(state), own)) == then.take("result")


@prose("params-map-access")
def _(given: Case, then: Then) -> None:
    workflow = {
        name: {"type": "STRING", "evaluated_result": value}
        for name, value in given["workflow_params"].items()
    }
    scope = scope_of({"step_id": "step1", "workflow_params": workflow})
    for expression, wanted in zip(given["expressions"], then.take("results"), strict=True):
        param = ParamDefinition(type=kind_of(wanted), expression=expression)
        assert result(evaluate_one("bar", param, scope)) == wanted


@prose("cyclic-workflow-param", "cyclic-step-param")
def _(given: Case, then: Then) -> None:
    kind = ParamType.STRING if "workflow" in given else ParamType.LONG
    params = {
        name: ParamDefinition(type=kind, expression=expression)
        for name, expression in given["params"].items()
    }
    scope = scope_of(
        {**RUN, "workflow_id": given["workflow"]} if "workflow" in given else {"step_id": given["step"]}
    )
    with pytest.raises(ParamError) as raised:
        evaluate(params, scope)
    check_error(raised.value, then.take("error"))


@prose("attribute-parsing")
def _(given: Case, then: Then) -> None:
    around = definitions(given["params"])
    for text, wanted in zip(given["attributes"], then.take("results"), strict=True):
        assert evaluate_text("bar", text, scope_of(RUN), around) == wanted
    undefined = then.take("undefined_reference")
    assert undefined.keys() == {"ignore_error_true", "ignore_error_false"}
    with pytest.raises(Unprocessable, match=r"\[bar\].*\[test-workflow\]"):  # a caller may ignore it
        evaluate_text("bar", "${undefined}", scope_of(RUN), around)


@prose("params-size-limit")
def _(given: Case, then: Then) -> None:
    def params_of(size: int) -> dict[str, ParamDefinition]:
        """A text whose parameter set counts as that many bytes; a result equal to its value counts once."""
        blank = Parameter(type=ParamType.STRING, evaluated_result="", evaluated_time=0)
        room = size - len(to_json({"p": encode(blank)}))
        return {"p": ParamDefinition(type=ParamType.STRING, value="x" * room)}

    limits = ParamLimits(size=750_000)
    small, large = given["serialized_size"]
    assert then.take("ok") == [small]
    assert isinstance(evaluate(params_of(small), scope_of(RUN), limits), Evaluated)
    with pytest.raises(ParamError) as raised:
        evaluate(params_of(large), scope_of(RUN), limits)
    check_error(raised.value, then.take(f"error_for_{large}"))


# -------------------------------------------------------------------------------------------- functions
def call(script: str, state: Case) -> Any:
    return plain(evaluate_maestro(script, {}, scope_of(state).environment("p")))


@prose("ext-get-from-step")
def _(given: Case, then: Then) -> None:
    facts = given["step1"]
    state = {
        "step_outputs": {
            "step1": {
                "params": {"param1": {"type": "STRING", "value": facts["param1"]}},
                "status": facts["status"],
                "end_time": facts["end_time"],
            }
        }
    }
    names = ("param1", "MAESTRO_STEP_STATUS", "MAESTRO_STEP_END_TIME")
    found = [call(f"params.getFromStep('step1', '{name}')", state) for name in names]
    assert found == then.take("results")


@prose("ext-get-from-foreach")
def _(given: Case, then: Then) -> None:
    assert then.take("note") == "iterations without a value yield the type default"
    name, kind = given["param"].removesuffix(")").split(" (")
    foreach = {"type": "FOREACH", "foreach": {"total_loop_count": given["total_iterations"]}}
    state = {
        "step_outputs": {given["foreach_step"]: foreach},
        "foreach_results": {"param_type": kind, "results": given["recorded_results"]},
    }
    script = f"params.getFromForeach('{given['foreach_step']}', '{given['inner_step']}', '{name}')"
    assert call(script, state) == then.take("result")


@prose("ext-get-from-foreach-invalid")
def _(given: Case, then: Then) -> None:
    assert then.take("error") == "getFromForeach throws an exception (all variants)"
    states: dict[str, Case] = {
        "unknown foreach step": {"step_outputs": {}},
        "step is not a FOREACH": {"step_outputs": {"f": {"type": "NOOP"}}},
        "foreach artifact missing": {"step_outputs": {"f": {"type": "FOREACH"}}},
        "inner param is an array type": {
            "step_outputs": {"f": {"type": "FOREACH", "foreach": {"total_loop_count": 1}}},
            "foreach_results": {"param_type": "LONG_ARRAY", "results": {}},
        },
    }
    assert states.keys() == set(given["variants"])
    for state in states.values():
        with pytest.raises(SelError, match="getFromForeach"):
            call("params.getFromForeach('f', 'job1', 'p')", state)


@prose("ext-get-from-subworkflow")
def _(given: Case, then: Then) -> None:
    step, inner, name = given["subworkflow_step"], given["inner_step"], given["param"]
    value = {"type": "LONG", "value": given["value_in_subworkflow"]}
    state = {
        "step_outputs": {step: {"type": "SUBWORKFLOW"}},
        "subworkflow_steps": {inner: {"params": {name: value}}},
    }
    assert call(f"params.getFromSubworkflow('{step}', '{inner}', '{name}')", state) == then.take("result")


@prose("ext-get-from-signal")
def _(given: Case, then: Then) -> None:
    state = {
        "initiator": given["initiator"],
        "signal_instances": [
            {
                "name": key.partition("#")[0],
                "id": int(key.partition("#")[2]),
                "params": {name: {"value": value} for name, value in params.items()},
            }
            for key, params in given["signal_instances"].items()
        ],
    }
    calls = ("params.getFromSignal('signal-a','param1')", "params.getFromSignal('signal-b','param2')")
    assert [call(script, state) for script in calls] == then.take("results")
    for written, wanted in then.take("or_default").items():
        script = written.replace("...", "'nonExistingParam','defaultValue'")
        assert call(f"params.{script}", state) == wanted


@prose("ext-get-from-instance")
def _(given: Case, then: Then) -> None:
    instance = given["instance"]
    kind, _, user = instance["initiator"].partition(" by ")
    state = {
        "scope": "workflow",
        "workflow_id": instance["workflow_id"],
        "workflow_instance_id": instance["instance_id"],
        "workflow_run_id": instance["run_id"],
        "initiator": {"type": kind, "user": user},
        "initiator_timezone": instance["initiator_tz"],
        "run_policy": instance["run_policy"],
        "owner": instance["owner"],
        "first_time_trigger_timezone": instance["first_time_trigger_tz"],
    }
    for field, wanted in then.rest().items():
        assert call(f"params.getFromInstance('{field}')", state) == wanted


# ------------------------------------------------------------------------------------- default parameters
@prose("time-zone-params-no-trigger", "time-zone-params-manual", "time-zone-params-time-initiator")
def _(given: Case, then: Then) -> None:
    has_triggers = given.get("time_triggers") != []
    kind, _, zone = given["initiator"].partition(" with timezone ")
    state = {
        **RUN,
        "initiator": {"type": kind},
        "initiator_timezone": zone or None,
        "first_time_trigger_timezone": "US/Pacific" if has_triggers else None,  # as in the data file
    }
    found = evaluate(workflow_params({}), scope_of(state))
    assert isinstance(found, Evaluated)
    wanted = then.rest()
    assert {name: result(found[name]) for name in wanted} == wanted
