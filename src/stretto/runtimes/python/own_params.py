"""Parameters of a Python step that are not arguments of its function."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.definition.forms.task_engine import FUNCTION_TYPE, OWN_PARAMS
from stretto.model.param import RESULT, ParamDefinition, Parameter, ParamType
from stretto.runtimes.python.function import Function

TYPE: Final = FUNCTION_TYPE  # of the steps that functions do the work of
FUNCTION: Final = "function"  # the name of a registered function
ENTRYPOINT: Final = "entrypoint"  # or `module:function`, which is imported
SCRIPT: Final = "script"  # or lines of Python
ISOLATION: Final = "isolation"  # where an entrypoint or a script runs
REQUIREMENTS: Final = "requirements"  # packages that must be installed there, with their versions
REQUIRED: Final = "required_params"
MAPPING: Final = "result_mapping"
CALLBACKS: Final = "callbacks"
_OF_LOADED: Final = frozenset({ISOLATION, REQUIREMENTS})  # nothing to a registered function
OWN: Final = frozenset({*OWN_PARAMS, ENTRYPOINT, SCRIPT, RESULT}) | _OF_LOADED


def taken_names(function: Function) -> list[str]:
    """Arguments of a function that no parameter of a step can be named after."""
    return [each.name for each in function.values if each.name in OWN - _OF_LOADED]


def named(function: str) -> ParamDefinition:
    """The parameter that names a step's function."""
    return ParamDefinition(type=ParamType.STRING, value=function.replace("$", "$$"))


def value_of(params: Mapping[str, Parameter], name: str) -> Any:
    """The evaluated value of a parameter, or None."""
    param = params.get(name)
    return None if param is None else param.evaluated_result


def functions_named(params: Mapping[str, Parameter]) -> tuple[str, ...]:
    """The functions that an evaluated step calls by name, sorted: its own, and its handlers."""
    function = value_of(params, FUNCTION)
    if CALLBACKS not in params:
        return () if function is None else (str(function),)
    handlers = value_of(params, CALLBACKS) or {}
    named = {str(each) for names in handlers.values() for each in names}
    return tuple(sorted(named if function is None else {*named, str(function)}))
