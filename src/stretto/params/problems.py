"""What can be said about parameters without running anything: for the time when a definition is published."""

from collections.abc import Mapping

from stretto.model.param import ParamDefinition, ParamType
from stretto.model.problem import Code, Place, Problem, problem_at
from stretto.params.errors import ParamError
from stretto.params.references import references_of
from stretto.params.validators import check_validator


def problems_of(params: Mapping[str, ParamDefinition], at: Place = None) -> list[Problem]:
    """Every expression and every validator that can not be read, each at its place."""
    problems: list[Problem] = []
    for name, param in params.items():
        here: Place = (at, name)
        if param.expression is not None:
            try:
                references_of(name, param)
            except ParamError as error:
                problems.append(problem_at((here, "expression"), Code.BAD_EXPRESSION, error.message))
        try:
            check_validator(name, param)
        except ParamError as error:
            problems.append(problem_at((here, "validator"), Code.BAD_PARAM, error.message))
        if param.type is ParamType.MAP and param.value is not None:
            problems += problems_of(param.value, (here, "value"))
    return problems
