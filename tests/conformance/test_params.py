"""Every case of `data/sel` that concerns parameters: levels interpolate, param and param_set, and `params.*`.

The wording of errors is ours; what is checked is the fault, and that the message names what Maestro's names.
"""

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.param_host import Case, definition, definitions, evaluated, scope_of

from stretto.model.errors import StrettoError, Unprocessable
from stretto.model.param import Parameter, ParamType
from stretto.params import (
    Fault,
    MissingKeys,
    ParamError,
    evaluate,
    evaluate_one,
    evaluate_text,
    references_of,
    result_text,
    use_as,
)
from stretto.sel import SelError, evaluate_maestro, type_of

pytestmark = pytest.mark.conformance

CASES: list[Case] = [
    case
    for name in ("cases.json", "probes.json")
    for case in json.loads(corpus("sel", name).read_text(encoding="utf-8"))
]

# What Maestro's kinds of errors are called here. A number format is told apart from other wrong types.
FAULTS: dict[str, set[Fault]] = {
    "illegal_argument": {Fault.WRONG_TYPE, Fault.CYCLE},
    "number_format": {Fault.NOT_A_NUMBER},
    "maestro_invalid_expression": {Fault.EXPRESSION, Fault.UNKNOWN_REFERENCE},
    "maestro_internal": {
        Fault.UNKNOWN_REFERENCE,
        Fault.NOT_EVALUATED,
        Fault.AMBIGUOUS_REFERENCE,
        Fault.WRONG_TYPE,
    },
}
# Bracketed texts of Maestro's messages that ours do not repeat: the literal around a variable, `null`.
NOT_REPEATED = re.compile(r"Cannot interpolate \[.*?\] as ")


def of_level(level: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["level"] == level]


def plain(value: Any) -> Any:
    """A result as the corpus writes it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def check_error(error: StrettoError, expected: Case) -> None:
    kind = expected["kind"]
    if kind == "maestro_unprocessable_entity":
        assert isinstance(error, Unprocessable)
    else:
        assert isinstance(error, ParamError)
        assert error.fault in FAULTS[kind], error
    names = re.findall(r"\[([^\[\]]+)\]", NOT_REPEATED.sub("", expected["message"]))
    assert names or kind == "number_format"
    for name in names:
        assert name in error.message, (name, error.message)


def check_result(param: Parameter, expected: Case) -> None:
    assert param.type is ParamType(expected["type"])
    assert plain(param.evaluated_result) == expected["value"]
    for key, note in expected.get("meta", {}).items():
        assert param.meta[key] == note
    if "result_string" in expected:
        assert result_text(param) == expected["result_string"]


@pytest.mark.parametrize("case", of_level("interpolate"))
def test_a_literal_is_interpolated(case: Case) -> None:
    params = {
        name: evaluated(written) if written.get("evaluated", True) else definition(written)
        for name, written in case["bindings"].items()
    }
    param = definition(case["param"])
    assert [reference.name for reference in references_of("p", param)] == case["expect_refs"]
    scope = scope_of({"scope": "workflow"})
    if "expect_error" in case:
        with pytest.raises(ParamError) as raised:
            evaluate_one("p", param, scope, params)
        check_error(raised.value, case["expect_error"])
    else:
        found = evaluate_one("p", param, scope, params)
        assert isinstance(found, Parameter)
        check_result(found, case["expect"])


def result_of(case: Case) -> Any:
    """What the real code makes of a case of level `param`."""
    state, written = case["context"], case["param"]
    scope = scope_of(state, now_millis=case.get("clock_millis", 0))
    around = definitions(state["step_params"] if scope.step is not None else state["workflow_params"])
    if state.get("attribute"):
        try:
            return evaluate_text(written["name"], written["value"], scope, around)
        except Unprocessable:
            if state["ignore_error"]:
                return None
            raise
    return evaluate_one(written["name"], definition(written), scope, around)


@pytest.mark.parametrize("case", of_level("param"))
def test_a_parameter_is_evaluated_in_its_context(case: Case) -> None:
    if "expect_error" in case:
        with pytest.raises(StrettoError) as raised:
            use(case, result_of(case))
        check_error(raised.value, case["expect_error"])
        return
    found = result_of(case)
    if isinstance(found, Parameter):
        check_result(found, case["expect"])
    else:  # a field of the definition: its text, or nothing
        assert case["context"]["attribute"]
        assert found == case["expect"]["value"]


def use(case: Case, found: Any) -> None:
    """Some cases fail only when the result is used as another type."""
    expected = case["expect_error"]
    if "access_as" not in expected:
        pytest.fail(f"an error was expected, this is {found}")
    name = case["param"]["name"]
    for key in expected.get("access_path", ()):
        name, found = key, Parameter(type=found.value[key].type, evaluated_result=found.evaluated_result[key])
    use_as(name, found, ParamType(expected["access_as"]))


@pytest.mark.parametrize("case", of_level("param_set"))
def test_a_set_is_evaluated_in_order(case: Case) -> None:
    state = case["context"]
    ordered = state.get("step_params_in_order") or state["workflow_params_in_order"]
    found = evaluate({name: definition(written) for name, written in ordered}, scope_of(state))
    assert not isinstance(found, MissingKeys)
    expected = case["expect"]["value"]
    assert found.keys() == expected.keys()
    for name, param in found.items():
        check_result(param, expected[name])


HOSTED = [
    pytest.param(case, id=case["id"])
    for case in CASES
    if case["group"] in {"maestro-ext", "maestro-ext-unit"} and case["level"] == "maestro"
]


@pytest.mark.parametrize("case", HOSTED)
def test_a_function_of_params_answers_from_the_declared_state(case: Case) -> None:
    scope = scope_of(case["context"], case["limits"])
    environment = scope.environment("p")
    if "expect_error" in case:
        with pytest.raises(SelError) as raised:
            evaluate_maestro(case["script"], {}, environment)
        assert raised.value.kind == case["expect_error"]["kind"]
        cause = raised.value.cause
        assert cause is not None
        assert cause.kind == case["expect_error"].get("inner", {"kind": "maestro_internal"})["kind"]
    else:
        result = evaluate_maestro(case["script"], {}, environment)
        assert type_of(result) == case["expect"]["type"]
        assert plain(result) == case["expect"]["value"]
