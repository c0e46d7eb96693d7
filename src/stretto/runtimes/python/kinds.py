"""Which type of parameter an annotation becomes."""

import types
from collections.abc import Collection, Iterable, MutableSequence, MutableSet, Sequence, Set
from typing import Annotated, Any, Final, Literal, NamedTuple, NewType, TypeVar, Union, get_args, get_origin

from stretto.model.param import FORMAT, JSON, ParamDefinition, ParamType

P = ParamType

SCALARS: Final[dict[Any, ParamType]] = {int: P.LONG, float: P.DOUBLE, str: P.STRING, bool: P.BOOLEAN}
ARRAYS: Final[dict[ParamType, ParamType]] = {
    P.LONG: P.LONG_ARRAY,
    P.DOUBLE: P.DOUBLE_ARRAY,
    P.STRING: P.STRING_ARRAY,
    P.BOOLEAN: P.BOOLEAN_ARRAY,
}
LISTS: Final = frozenset(
    {list, set, frozenset, Sequence, MutableSequence, Set, MutableSet, Collection, Iterable}
)


class Kind(NamedTuple):
    """How a Python value travels: the type of its parameter, and whether its texts are JSON."""

    type: ParamType
    json: bool = False

    @property
    def meta(self) -> dict[str, Any]:
        """What the definition of such a parameter says beside its type."""
        return {FORMAT: JSON} if self.json else {}

    @property
    def text(self) -> str:
        """For people: `LONG`, `STRING (json)`."""
        return f"{self.type.value} (json)" if self.json else self.type.value


JSON_TEXT: Final = Kind(P.STRING, json=True)
JSON_TEXTS: Final = Kind(P.STRING_ARRAY, json=True)


def kind_of(annotation: Any) -> Kind:
    """The kind that values of an annotation have. What is no number, text, flag or list of them is JSON."""
    annotation = bare(annotation)
    scalar = _scalar(annotation)
    if scalar is not None:
        return Kind(scalar)
    element = element_of(annotation)
    if element is None:
        return JSON_TEXT
    inner = _scalar(bare(element[0]))
    return JSON_TEXTS if inner is None else Kind(ARRAYS[inner])


def kind_of_param(param: ParamDefinition) -> Kind:
    """The kind that a definition declares."""
    return Kind(param.type, param.meta.get(FORMAT) == JSON)


def bare(annotation: Any) -> Any:
    """An annotation without what only people and checkers read."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif isinstance(annotation, TypeVar):
            annotation = annotation.__bound__ or Any
        else:
            return annotation


def element_of(annotation: Any) -> tuple[Any] | None:
    """What a list of any number of like elements holds, in a tuple; None for everything else."""
    origin = get_origin(annotation) or annotation
    if origin is tuple:
        args = get_args(annotation)
        return (args[0],) if len(args) == 2 and args[1] is Ellipsis else None if args else (Any,)
    try:
        is_list = origin in LISTS
    except TypeError:  # an annotation need not be hashable
        return None
    return ((*get_args(annotation), Any)[0],) if is_list else None


def is_optional(annotation: Any) -> bool:
    """Whether None is among the values of an annotation."""
    return any(each is None or each is types.NoneType or each is Any for each in members_of(annotation))


def members_of(annotation: Any) -> tuple[Any, ...]:
    """The annotations that a union is made of; any other one is its own only member."""
    annotation = bare(annotation)
    if get_origin(annotation) in {Union, types.UnionType}:
        return tuple(member for each in get_args(annotation) for member in members_of(each))
    return (annotation,)


def union_of(members: tuple[Any, ...]) -> Any:
    """The annotation for values of any of these."""
    return Union[members]  # noqa: UP007 - they are known only now


def _scalar(annotation: Any) -> ParamType | None:
    if get_origin(annotation) is Literal:
        kinds = {SCALARS.get(type(each)) for each in get_args(annotation)}
        return kinds.pop() if len(kinds) == 1 else None
    try:
        return SCALARS.get(annotation)
    except TypeError:  # see above
        return None
