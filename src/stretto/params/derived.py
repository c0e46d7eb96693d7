"""Parameters of a run that were made of others: when a restart changes those, they follow."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource
from stretto.params.errors import ParamError
from stretto.params.literals import definition_of
from stretto.params.merge import Layer
from stretto.params.prepared import declared_workflow_params
from stretto.params.references import ALL_PARAMS, references_of
from stretto.params.requests import RESERVED_NAMES
from stretto.params.values import is_evaluated

WRITTEN: Final = (ParamSource.DEFINITION, ParamSource.SYSTEM_DEFAULT)  # nobody has given another value


def changed_names(previous: Mapping[str, Parameter], given: Layer) -> list[str]:
    """The names of those that are given another value than they had."""
    return [name for name, param in given.items() if not _is_same(previous.get(name), param)]


def derived_params(previous: Mapping[str, Parameter], definition: Layer, given: Layer) -> Params:
    """Those that were made of parameters which are given another value, directly or through others: as they
    were written, to be evaluated again. What somebody has given himself stays as it is.
    """
    changed = set(changed_names(previous, given))
    if not changed:
        return {}
    written = dict(_written(previous, definition))
    left = {name: set(_names_in(name, param)) for name, param in written.items() if name not in given}
    found: set[str] = set()
    changed.add(ALL_PARAMS.name)
    while more := {name for name, reads in left.items() if not changed.isdisjoint(reads)}:
        found |= more
        changed |= more
        left = {name: reads for name, reads in left.items() if name not in more}
    return {name: param for name, param in written.items() if name in found}


def _written(previous: Mapping[str, Parameter], definition: Layer) -> Iterator[tuple[str, ParamDefinition]]:
    """The parameters of a run before they were evaluated. A restart keeps the results of what its definition
    has, which says how they are made.
    """
    defined = declared_workflow_params(definition)
    for name, param in previous.items():
        if name not in RESERVED_NAMES:
            yield name, defined[name] if param.source in WRITTEN and name in defined else definition_of(param)


def _names_in(name: str, param: ParamDefinition) -> Iterator[str]:
    with suppress(ParamError):  # it has no value, or can not be read: then it was not made of others
        for reference in references_of(name, param):
            yield reference.name


def _is_same(before: Parameter | None, param: ParamDefinition) -> bool:
    if before is None:
        return False
    if isinstance(param, Parameter) and is_evaluated(param):
        return bool(_plain(param.evaluated_result) == _plain(before.evaluated_result))
    return param.is_literal and bool(_plain(param.value) == _plain(before.evaluated_result))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
