"""Parameters that follow others which a restart changes."""

from stretto.model.param import ParamDefinition, Parameter, ParamSource, ParamType
from stretto.params import changed_names, derived_params

N = Parameter(type=ParamType.LONG, value=1, evaluated_result=1, source=ParamSource.DEFINITION)
TWICE = Parameter(type=ParamType.LONG, expression="n * 2", evaluated_result=2, source=ParamSource.DEFINITION)
WRITTEN = {
    "n": ParamDefinition(type=ParamType.LONG, value=1),
    "twice": ParamDefinition(type=ParamType.LONG, expression="n * 2"),
    "scheduler": ParamDefinition(type=ParamType.LONG, expression="n"),
}
CHANGED = {"n": ParamDefinition(type=ParamType.LONG, value=5)}


def test_what_is_made_of_a_changed_parameter_follows_as_it_was_written() -> None:
    found = derived_params({"n": N, "twice": TWICE}, WRITTEN, CHANGED)
    assert {name: param.expression for name, param in found.items()} == {"twice": "n * 2"}
    assert derived_params({"n": N, "twice": TWICE}, WRITTEN, {}) == {}


def test_names_that_nobody_can_set_do_not_follow() -> None:
    assert derived_params({"n": N, "scheduler": TWICE}, WRITTEN, CHANGED) == {}


def test_a_parameter_that_was_not_there_is_changed() -> None:
    assert changed_names({}, CHANGED) == ["n"]
    assert changed_names({"n": N}, {"n": WRITTEN["n"]}) == []
