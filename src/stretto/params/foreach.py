"""Loops: one set of values for each iteration on the way in, one array for all iterations on the way out."""

import math
from collections.abc import Mapping
from typing import Any, Final

from stretto.model.param import Parameter, ParamType
from stretto.params.context import Collected
from stretto.params.errors import Fault, ParamError
from stretto.params.values import ARRAY_OF, exact, kind_of, to_sel
from stretto.sel.values import Array

GAPS: Final[Mapping[ParamType, Any]] = {
    ParamType.STRING: None,
    ParamType.LONG: 0,
    ParamType.DOUBLE: 0.0,
    ParamType.BOOLEAN: False,
}
"""What stands in Maestro's array for an iteration that left no value."""

ELEMENT: Final = {array: element for element, array in ARRAY_OF.items()}


def iteration_count(loop_params: Parameter) -> int:
    """How often a foreach runs its steps: once for each combination of its loop parameters."""
    return math.prod(len(values) for _, _, values in _arrays(loop_params))


def iteration_values(loop_params: Parameter, index: int) -> dict[str, Parameter]:
    """The loop parameters of one iteration (counted from 0). The one that is written first varies fastest."""
    chosen: dict[str, Parameter] = {}
    for name, kind, values in _arrays(loop_params):
        index, at = divmod(index, len(values))
        value = exact(values[at])
        chosen[name] = Parameter(
            type=kind, value=value, evaluated_result=value, evaluated_time=loop_params.evaluated_time
        )
    return chosen


def collect(total: int, collected: Collected, *, follows_maestro: bool = True) -> Array:
    """The values of all iterations as an array. Where one left no value it is null; in Maestro, it is what
    the parameter was declared with, or the empty value of the type.
    """
    kind = collected.type or ParamType.STRING
    array = ARRAY_OF.get(kind)
    if array is None:
        raise ValueError(f"a {kind} can not be collected from a foreach")
    gap, absent = (GAPS[kind], frozenset()) if follows_maestro else (None, collected.undelivered)
    values = [
        gap if iteration in absent else collected.values.get(iteration, gap)
        for iteration in range(1, total + 1)
    ]
    typed: Array = to_sel(array, values)
    return typed


def _arrays(loop_params: Parameter) -> list[tuple[str, ParamType, Any]]:
    """Name, element type and values of each loop parameter."""
    arrays = []
    for name, values in loop_params.evaluated_result.items():
        kind = ELEMENT.get(kind_of(values))
        if kind is None:
            message = f"Loop param [{name}] must be an array, and it is a [{kind_of(values)}]"
            raise ParamError(Fault.WRONG_TYPE, name, message)
        arrays.append((name, kind, values))
    return arrays
