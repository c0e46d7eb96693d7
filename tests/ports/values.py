"""Values of any annotated type, for hypothesis: what the codecs of stores must give back as it was."""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec.structs import fields

from stretto.engine.kinds.loops import IterationParams
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.artifact import KNOWN_ARTIFACTS, DefaultArtifact, TypedArtifact
from stretto.model.param import ParamDefinition, Parameter, ParamType

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
INTS = st.integers(-(2**63), 2**63 - 1)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
DEEPEST = 3

KEYS = st.builds(RunKey, TEXT, INTS, INTS)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | DECIMALS
    | KEYS
    | st.builds(AttemptKey, KEYS, TEXT, INTS)
    | st.builds(Parameter, type=st.sampled_from(ParamType), value=DECIMALS, evaluated_result=TEXT)
    | st.builds(ParamDefinition, type=st.just(ParamType.LONG), value=INTS)
)
NAMES = TEXT | st.sampled_from(["~", "~decimal", "~map"])
HASHABLE = TEXT | st.integers() | st.tuples(TEXT, st.integers())
OPEN = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(NAMES, inner, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=2)
        | st.frozensets(HASHABLE, max_size=2)
    ),
    max_leaves=5,
)


def values_of(tp: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a type."""
    if tp in {Any, object}:
        return OPEN if depth < DEEPEST else PLAIN
    origin, args = get_origin(tp), get_args(tp)
    if origin is Annotated:
        return values_of(args[0], depth)
    if origin in {Union, UnionType}:
        return _of_union(args, depth)
    if origin in {tuple, list, frozenset}:
        return _of_row(origin, args, depth)
    if origin in {dict, Mapping}:
        return _of_map(origin, args, depth)
    if tp in _SCALARS:
        return _SCALARS[tp]
    if issubclass(tp, Enum):
        return st.sampled_from(tp)
    if issubclass(tp, tuple):
        return st.builds(tp, *(values_of(each, depth) for each in get_type_hints(tp).values()))
    return _of_struct(tp, depth)


_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: INTS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    Decimal: DECIMALS,
    NoneType: st.none(),
}


def _of_union(args: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if set(args) == {TypedArtifact, DefaultArtifact}:
        args = (*KNOWN_ARTIFACTS, DefaultArtifact)
    if depth >= DEEPEST and NoneType in args:
        return st.none()
    return st.one_of([values_of(each, depth) for each in args])


def _of_row(origin: type, args: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is tuple and args[-1] is not Ellipsis:
        return st.tuples(*(values_of(each, depth) for each in args))
    if depth >= DEEPEST:
        return st.just(origin())
    return st.lists(values_of(args[0], depth + 1), max_size=2).map(origin)


def _of_map(origin: Any, args: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if depth >= DEEPEST:
        return st.just({})
    key, value = args
    keys = HASHABLE if key is object else values_of(key, depth + 1)
    plain = st.dictionaries(keys, values_of(value, depth + 1), max_size=2)
    if origin is dict:
        return plain
    others: st.SearchStrategy[Any] = plain.map(MappingProxyType)
    if value is Parameter:
        others |= st.builds(IterationParams, plain, plain)
    return plain | others


def _of_struct(tp: type[msgspec.Struct], depth: int) -> st.SearchStrategy[Any]:
    """Most fields are left out most of the time: a record has many."""
    infos = fields(tp)
    required = {each.name: values_of(each.type, depth + 1) for each in infos if each.required}

    @st.composite
    def made(draw: st.DrawFn) -> Any:
        optional = [each for each in infos if not each.required]
        chosen = draw(st.lists(st.sampled_from(optional), max_size=4)) if optional else []
        given = {name: draw(each) for name, each in required.items()}
        given |= {each.name: draw(values_of(each.type, depth + 1)) for each in chosen}
        return tp(**given)

    return made()
