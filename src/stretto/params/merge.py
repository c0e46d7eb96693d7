"""Fold one layer of parameters into another, name by name.

    merge(base, layer, stage) -> the base with the layer on top; neither argument changes

A literal MAP is merged member by member and a literal STRING_MAP key by key; anything else is replaced. The
base decides the type, the stage decides who may change what. A parameter that comes with its result (a
parent's, or the previous run's) keeps it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from stretto.model.param import (
    InternalParamMode,
    ParamDefinition,
    Parameter,
    ParamMode,
    Params,
    ParamSource,
    ParamType,
)
from stretto.params.convert import cast, type_mismatch
from stretto.params.errors import Fault, ParamError
from stretto.params.literals import literal_texts
from stretto.params.modes import IMPLIED, STRICTNESS, SYSTEM_SOURCES, Stage, stricter
from stretto.params.values import is_evaluated

Layer = Mapping[str, ParamDefinition]
Content = dict[str, Any]


def merge(base: Layer, layer: Layer, stage: Stage) -> Params:
    """The base with a layer on top: known names keep their place, new ones follow."""
    return _Fold(stage).all(base, layer)


@dataclass(frozen=True, slots=True)
class _Fold:
    """One merge at one depth. Members of a MAP are at least as strict as the map around them."""

    stage: Stage
    path: str = ""
    enclosing: ParamMode = ParamMode.MUTABLE

    def all(self, base: Layer, layer: Layer) -> Params:
        merged = dict(base)
        for name, param in layer.items():
            known = merged.get(name)
            merged[name] = self.added(name, param) if known is None else self.changed(name, known, param)
        return merged

    def added(self, name: str, param: ParamDefinition) -> ParamDefinition:
        """A parameter that the base does not have."""
        if self._is_merged(param):
            return param
        own_source = param.source if self.stage.is_system else None
        if param.source is not None and not self.stage.is_system and not self.stage.upstream:
            raise _belongs_to_system(self.path + name, "source")
        mode = stricter(effective_mode(param), self.enclosing)
        value = param.value
        if is_literal_map(param) and not is_evaluated(param):
            value = self._inside(name, mode).all({}, value)
        return msgspec.structs.replace(
            param,
            value=value,
            tags=param.tags or (),
            mode=mode,
            source=own_source or self.stage.source,
            meta={},
        )

    def _is_merged(self, param: ParamDefinition) -> bool:
        """Whether a default went through a merge before and would come out as it is."""
        complete = param.source is not None and param.mode is not None and param.tags is not None
        return complete and not param.meta and self.stage.is_system and self.enclosing is ParamMode.MUTABLE

    def changed(self, name: str, base: ParamDefinition, param: ParamDefinition) -> ParamDefinition:
        """A parameter that the base has, too."""
        if self._goes_through(param) and _is_fact(base):
            return base
        content = self._content(name, base, param)
        merged = self._rebuilt(base, param, content)
        if not _differ(base, merged, self.enclosing):
            return self._with_kept_source(base, merged)
        if not self.stage.is_system and not self._goes_through(param):
            self._check_right(self.path + name, base, param, merged)
        return merged

    def _inside(self, name: str, mode: ParamMode) -> "_Fold":
        return _Fold(self.stage, f"{self.path}{name}.", stricter(mode, self.enclosing))

    # ----------------------------------------------------------------------------------- what it contains
    def _content(self, name: str, base: ParamDefinition, param: ParamDefinition) -> Content:
        """Value, expression and result of the merged parameter, in the type of the base."""
        if param.value is None and param.expression is None:  # a layer that only asks for something
            return _content_of(base)
        if is_literal_map(param):
            return {"value": self._members(name, base, param)}
        if param.type is not base.type:
            return self._cast(self.path + name, param, base.type)
        if param.type is ParamType.STRING_MAP and param.is_literal and base.value is not None:
            return _overlaid(base, param)
        return _content_of(param)

    def _members(self, name: str, base: ParamDefinition, param: ParamDefinition) -> Params:
        path = self.path + name
        if base.type is not ParamType.MAP:
            raise type_mismatch(path, param.type, base.type)
        if not base.is_literal:
            message = f"Param [{path}] is a MAP made by an expression, so members can not be merged into it"
            raise ParamError(Fault.NOT_A_LITERAL, path, message, details=[f"expression: {base.expression}"])
        return self._inside(name, effective_mode(base)).all(base.value or {}, param.value)

    @staticmethod
    def _cast(path: str, param: ParamDefinition, wanted: ParamType) -> Content:
        """The content in another type. An expression stays: its result is converted when there is one."""
        content = _content_of(param)
        for field in ("value", "evaluated_result"):
            if content.get(field) is not None:
                content[field] = cast(path, content[field], param.type, wanted)
        return content

    # --------------------------------------------------------------------------------- what surrounds it
    def _rebuilt(self, base: ParamDefinition, param: ParamDefinition, content: Content) -> ParamDefinition:
        internal_mode = param.internal_mode or base.internal_mode
        mode = stricter(param.mode or base.mode or ParamMode.MUTABLE, self.enclosing)
        if internal_mode is not None:
            mode = stricter(mode, IMPLIED[internal_mode])
        if self.stage.upstream:
            mode = stricter(mode, effective_mode(base))
        record = Parameter if "evaluated_result" in content else ParamDefinition
        return record(
            type=base.type,
            validator=param.validator or base.validator,
            tags=_union(base.tags or (), param.tags or ()),
            mode=mode,
            internal_mode=internal_mode,
            source=self.stage.source,
            **content,
        )

    def _with_kept_source(self, base: ParamDefinition, merged: ParamDefinition) -> ParamDefinition:
        """Who only repeats what is there does not become its source, unless a user did it."""
        if base.source is None or not (self.stage.is_system or self.stage.upstream):
            return merged
        return msgspec.structs.replace(merged, source=base.source)

    # -------------------------------------------------------------------------------- by which right
    def _goes_through(self, param: ParamDefinition) -> bool:
        """What a parent did not define itself (its defaults, its own parent's values) is not judged again."""
        return self.stage.upstream and param.source not in (None, ParamSource.DEFINITION)

    def _check_right(
        self, path: str, base: ParamDefinition, param: ParamDefinition, merged: ParamDefinition
    ) -> None:
        if param.internal_mode is not None:
            raise _belongs_to_system(path, "internal_mode")
        if param.source is not None and not self.stage.upstream:
            raise _belongs_to_system(path, "source")
        before, after = stricter(effective_mode(base), self.enclosing), effective_mode(merged)
        for mode in (before, after):
            if mode not in self.stage.changeable:
                message = f"Param [{path}] has the mode [{mode}] and can not be changed by {self._who()}"
                raise ParamError(Fault.NOT_CHANGEABLE, path, message)
        if STRICTNESS[after] < STRICTNESS[before]:
            message = f"The mode of param [{path}] can not be weakened from [{before}] to [{after}]"
            raise ParamError(Fault.WEAKER_MODE, path, message)

    def _who(self) -> str:
        return f"{self.stage.source}{' in a restart' if self.stage.restart else ''}"


def effective_mode(param: ParamDefinition) -> ParamMode:
    """The mode that counts: as given, raised to what the internal mode implies."""
    mode = param.mode or ParamMode.MUTABLE
    return mode if param.internal_mode is None else stricter(mode, IMPLIED[param.internal_mode])


def _is_fact(param: ParamDefinition) -> bool:
    """What the system says about this run, such as its id. It is not what it says about the parent."""
    return param.source in SYSTEM_SOURCES and effective_mode(param) is ParamMode.CONSTANT


def is_literal_map(param: ParamDefinition) -> bool:
    """Whether the parameter is a MAP whose members are written down."""
    return param.type is ParamType.MAP and param.is_literal and param.value is not None


def _content_of(param: ParamDefinition) -> Content:
    content: Content = {"value": param.value, "expression": param.expression}
    if isinstance(param, Parameter) and is_evaluated(param):
        content["evaluated_result"] = param.evaluated_result
        content["evaluated_time"] = param.evaluated_time
    return content


def _overlaid(base: ParamDefinition, param: ParamDefinition) -> Content:
    """Two literal STRING_MAPs in one. It has a result if both have one."""
    if is_evaluated(base) and isinstance(param, Parameter) and is_evaluated(param):
        both = {**base.value, **param.value}
        return {"value": both, "evaluated_result": both, "evaluated_time": param.evaluated_time}
    return {"value": {**literal_texts(base), **literal_texts(param)}}


def _union(some: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*some, *(tag for tag in others if tag not in some)) if others else some


def _differ(one: ParamDefinition, other: ParamDefinition, enclosing: ParamMode) -> bool:
    """Whether two parameters differ in anything but meta."""
    mode = stricter(effective_mode(one), enclosing)
    return (
        one.expression != other.expression
        or mode is not stricter(effective_mode(other), enclosing)
        or one.validator != other.validator
        or (one.tags or ()) != (other.tags or ())
        or one.type is not other.type
        or (
            _members_differ(one.value, other.value, mode) if is_literal_map(one) else one.value != other.value
        )
    )


def _members_differ(one: Layer, other: Layer, enclosing: ParamMode) -> bool:
    return one.keys() != other.keys() or any(_differ(one[name], other[name], enclosing) for name in one)


def _belongs_to_system(path: str, field: str) -> ParamError:
    message = f"The {field} of param [{path}] is the system's own and can not be set"
    return ParamError(Fault.SYSTEM_FIELD, path, message)


def settle(merged: Layer) -> Params:
    """The parameters that go into evaluation: each has a value or an expression, none an internal mode."""
    return _settled(merged, "")


def _settled(merged: Layer, path: str) -> Params:
    settled: Params = {}
    for name, param in merged.items():
        if param.type is ParamType.MAP and is_literal_map(param):
            param = _settled_map(param, f"{path}{name}.")  # noqa: PLW2901 - the same, settled
        if param.internal_mode is None and (param.value is not None or param.expression is not None):
            settled[name] = param
        elif not _is_dropped(param, path + name):
            settled[name] = msgspec.structs.replace(param, internal_mode=None)
    return settled


def _settled_map(param: ParamDefinition, path: str) -> ParamDefinition:
    return msgspec.structs.replace(param, value=_settled(param.value, path))


def _is_dropped(param: ParamDefinition, path: str) -> bool:
    """An optional parameter goes if it is empty; any other one must not be."""
    has_value = param.value is not None or param.expression is not None
    if param.internal_mode is InternalParamMode.OPTIONAL:
        return not has_value or (is_literal_map(param) and not param.value)
    if not has_value:
        message = f"Param [{path}] is a required parameter (type=[{param.type}]), and nobody gave it a value"
        raise ParamError(Fault.REQUIRED, path, message)
    return False
