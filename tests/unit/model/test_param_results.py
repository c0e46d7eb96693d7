"""Results of parameters that a store must be able to keep and give back."""

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.wire import decode, encode


def test_a_collected_array_may_have_gaps() -> None:
    param = Parameter(
        type=ParamType.STRING_ARRAY, value=("a",), evaluated_result=("a", None), evaluated_time=1
    )
    again, problems = decode(Parameter, encode(param))
    assert not problems
    assert again == param


def test_a_map_may_hold_parameters_with_results() -> None:
    member = Parameter(type=ParamType.LONG, value=1, evaluated_result=1, evaluated_time=1)
    outer = ParamDefinition(type=ParamType.MAP, value={"a": member})
    assert encode(outer) == {"value": {"a": {"value": 1, "type": "LONG"}}, "type": "MAP"}


def test_a_number_beyond_all_digits_is_refused() -> None:
    for text in ("1e999999", "1e-999999"):
        _, problems = decode(ParamDefinition, {"type": "DOUBLE", "value": text})
        assert [(problem.code, problem.path) for problem in problems] == [("out-of-range", "value")]
