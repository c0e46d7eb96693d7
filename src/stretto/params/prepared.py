"""A set of parameters before evaluation, looked at once for all runs that use it.

Most parameters of a definition need no evaluation: a default that nobody changed is a fact, and a literal
without variables is its own result. Both get their record when somebody asks for it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params.defaults.native import BY_NAME, STEP_BY_NAME, NativeDefault
from stretto.params.errors import ParamError
from stretto.params.literals import bare_value
from stretto.params.references import Reference, references_of, split_reference
from stretto.params.requests import SEPARATOR
from stretto.params.sizes import rough_size
from stretto.params.values import beyond_maestro, is_evaluated

P = ParamType
Definitions = Mapping[str, ParamDefinition]

NATIVE_SIZE: Final = 600  # bytes of JSON that a native default has at most
NUMERIC: Final = frozenset({P.LONG, P.DOUBLE, P.LONG_ARRAY, P.MAP})  # what may be beyond Maestro
TIME_SIZE: Final = 16  # of the time that a literal gets with its evaluation


class Open(NamedTuple):
    """A parameter that must be evaluated. None as references: they can not be read, as whoever evaluates it
    will find.
    """

    name: str
    param: ParamDefinition
    references: tuple[Reference, ...] | None = None


class Prepared:
    """Definitions by name, in the order of the merge, and what each of them needs."""

    __slots__ = ("beyond", "definitions", "given", "literals", "native", "open", "size")

    def __init__(self, definitions: Definitions, rows: Mapping[str, NativeDefault]) -> None:
        self.definitions = definitions
        self.native = _untouched(definitions, rows)
        self.given: dict[str, Parameter] = {}  # those that come with their result
        self.literals: dict[str, Parameter] = {}  # with their result, but without a time
        self.open: list[Open] = []  # those that must be evaluated
        for name, param in definitions.items():
            if name in self.native:
                continue
            if isinstance(param, Parameter) and is_evaluated(param):
                self.given[name] = msgspec.structs.replace(param, value=bare_value(param))
            elif _is_plain(param):
                self.literals[name] = _literal(param)
            else:
                self.open.append(_opened(name, param))
        self.beyond = _beyond_maestro({**self.given, **self.literals})
        if self.open and self.literals:
            self._keep_order()
        self.size = (
            rough_size(self.literals) + TIME_SIZE * len(self.literals) + NATIVE_SIZE * len(self.native)
        )

    def _keep_order(self) -> None:
        """What a step's parameter calls `day` is the step's own if that was evaluated before, else the run's:
        a literal has its turn, too, if a parameter that may come before it names it.
        """
        named = _names(self.open)
        places = {name: place for place, name in enumerate(self.definitions)}
        first = places[self.open[0].name]
        late = [name for name in self.literals if places[name] > first and (named is None or name in named)]
        if late:
            self.open += [Open(name, self.definitions[name], ()) for name in late]
            self.open.sort(key=lambda each: places[each.name])
            for name in late:
                del self.literals[name]

    @classmethod
    def of_run(cls, definitions: Definitions) -> "Prepared":
        return cls(definitions, BY_NAME)

    @classmethod
    def of_step(cls, definitions: Definitions) -> "Prepared":
        return cls(definitions, STEP_BY_NAME)


def _untouched(definitions: Definitions, rows: Mapping[str, NativeDefault]) -> dict[str, NativeDefault]:
    """The defaults that nobody changed and that have no result yet."""
    return {
        name: row
        for name, row in rows.items()
        if type(found := definitions.get(name)) is ParamDefinition
        and found.expression == row.expression
        and found.validator is None
    }


def _is_plain(param: ParamDefinition) -> bool:
    """Whether a literal is its own result: there is no variable in it, and no rule for it."""
    if param.expression is not None or param.validator is not None or param.value is None:
        return False
    return param.type is not P.MAP and not any("$" in text for text in _texts(param.type, param.value))


def _beyond_maestro(params: Mapping[str, Parameter]) -> tuple[str, str] | None:
    """The first parameter with a value that Maestro's have not, and why they have not."""
    for name, param in params.items():
        if param.type in NUMERIC and (why := beyond_maestro(param.evaluated_result)) is not None:
            return name, why
    return None


def _texts(kind: ParamType, value: Any) -> Iterable[str]:
    if kind is P.STRING:
        return (value,)
    if kind is P.STRING_ARRAY:
        return value  # type: ignore[no-any-return]
    return (*value, *value.values()) if kind is P.STRING_MAP else ()


def _opened(name: str, param: ParamDefinition) -> Open:
    try:
        return Open(name, param, references_of(name, param))
    except ParamError:
        return Open(name, param)


def _names(params: Iterable[Open]) -> set[str] | None:
    """What parameters refer to, also as `step__param`; None if one of them can not be read."""
    found: set[str] = set()
    for each in params:
        if each.references is None:
            return None
        for reference in each.references:
            found.add(reference.name)
            if SEPARATOR in reference.name:
                found.update(reading.param for reading in split_reference(reference.name, SEPARATOR))
    return found


def _literal(param: ParamDefinition) -> Parameter:
    return Parameter(
        type=param.type,
        value=param.value,
        tags=param.tags,
        mode=param.mode,
        source=param.source,
        meta=param.meta,
        evaluated_result=param.value,
    )
