"""What is read from a row equals what was written into it, for every record that is stored."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ports.values import OPEN, values_of

from stretto.engine import events
from stretto.engine.kinds.loops import IterationParams
from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.model.artifact import DefaultArtifact, HttpArtifact
from stretto.model.errors import Internal
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import ForeachStep, SubworkflowStep, TypedStep
from stretto.model.tag import Tag
from stretto.model.wire.scalars import NAN
from stretto.ports.failures import Poison
from stretto.sel.values import LongArray
from stretto.store.sql import codec
from stretto.store.sql.codec import ATTEMPT, BODIES, LOOP, PARAMS, RUN, Document
from stretto.store.sql.codec.document import MOST_CHARACTERS
from stretto.store.sql.codec.exact import pack_any, unpack_any
from stretto.store.sql.codec.forms import form_of, lean_form

KEY = RunKey("wf", 1, 1)
STORED = {
    **{name: each for name, each in vars(codec).items() if isinstance(each, Document)},
    **{f"body {kind}": each for kind, each in BODIES.items()},
    **{  # some travel in messages, the others are here so that they could
        f"event {each.__name__}": Document(each.__name__, each)
        for each in vars(events).values()
        if isinstance(each, type) and issubclass(each, events.Event)
    },
}


def attempt(**fields: Any) -> AttemptRecord:
    return AttemptRecord(key=AttemptKey(KEY, "s", 1), sequence=1, **fields)


def run(**fields: Any) -> RunRecord:
    return RunRecord(
        key=KEY, uuid="u", version_id=1, initiator=ManualInitiator(), correlation_id="c", **fields
    )


@pytest.mark.parametrize("name", STORED)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_records_come_back(name: str, data: st.DataObject) -> None:
    check(STORED[name], data)


def check(document: Document[Any], data: st.DataObject) -> None:
    value = data.draw(values_of(document._tp))
    back = document.read(document.write(value))
    if document is RUN:  # its parameters are stored apart
        back.params = PARAMS.read(PARAMS.write(value.params))
    assert back == value


@pytest.mark.prove
@pytest.mark.parametrize("name", STORED)
@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_many_records_come_back(name: str, data: st.DataObject) -> None:
    check(STORED[name], data)


@settings(max_examples=300, deadline=None)
@given(value=OPEN)
def test_open_values_come_back_with_their_types(value: Any) -> None:
    text = msgspec.json.encode(pack_any(value))
    back = unpack_any(msgspec.json.decode(text))
    assert back == value
    assert types_of(back) == types_of(value)


def types_of(value: Any) -> Any:
    """The types inside a value: `1`, `True` and `1.0` are equal, and not the same."""
    match value:
        case dict():
            return {key: types_of(each) for key, each in value.items()}
        case list() | tuple():
            return type(value), [types_of(each) for each in value]
        case Decimal():
            return str(value)
        case _:
            return type(value)


# --------------------------------------------------------------------------------------------- what is odd
def test_digits_are_kept() -> None:
    param = Parameter(type=ParamType.DOUBLE, value=Decimal("1.50"), evaluated_result=Decimal("1E+3"))
    back = ATTEMPT.read(ATTEMPT.write(attempt(params={"d": param}))).params
    assert back is not None
    assert str(back["d"].value) == "1.50"
    assert str(back["d"].evaluated_result) == "1E+3"


def test_numbers_that_json_has_no_word_for_come_back() -> None:
    values: list[Any] = [
        2**70,
        Decimal("Infinity"),
        float("-inf"),
        10**3_999,
        (1, -(2**70), Decimal("-Infinity")),
    ]
    record = attempt(outputs={f"v{number}": value for number, value in enumerate(values)})
    assert ATTEMPT.read(ATTEMPT.write(record)) == record
    nan = attempt(params={"d": Parameter(type=ParamType.DOUBLE, value=NAN, evaluated_result=NAN)})
    assert ATTEMPT.read(ATTEMPT.write(nan)) == nan  # one object stands for all of them
    back = ATTEMPT.read(ATTEMPT.write(attempt(outputs={"x": float("nan")})))
    assert math.isnan(back.outputs["x"])


def test_maps_of_parameters_hold_parameters() -> None:
    inner = ParamDefinition(type=ParamType.LONG, value=3, tags=(Tag(name="t", attributes={"a": (1,)}),))
    outer = Parameter(type=ParamType.MAP, value={"inner": inner}, evaluated_result={"inner": 3})
    record = attempt(params={"m": outer}, outputs={"o": outer})
    assert ATTEMPT.read(ATTEMPT.write(record)) == record


def test_layers_of_parameters_become_one() -> None:
    own = {"a": Parameter(type=ParamType.STRING, value="own")}
    base = {"a": Parameter(type=ParamType.STRING, value="base"), "b": Parameter(type=ParamType.LONG, value=1)}
    back = PARAMS.read(PARAMS.write(IterationParams(own, base)))
    assert back == {"a": own["a"], "b": base["b"]}
    assert type(back) is dict


def test_free_artifacts_are_told_from_known_ones() -> None:
    record = attempt(
        artifacts={"free": DefaultArtifact(data={"type": "HTTP", "n": Decimal(1)}), "http": HttpArtifact()}
    )
    assert ATTEMPT.read(ATTEMPT.write(record)) == record


def test_parameters_of_a_run_are_stored_apart() -> None:
    record = run(params={"a": Parameter(type=ParamType.STRING, value="x")})
    assert RUN.read(RUN.write(record)) == run()


def test_defaults_are_not_written() -> None:
    assert ATTEMPT.write(attempt()) == '{"key":[["wf",1,1],"s",1],"sequence":1}'
    assert '"start_time"' not in RUN.write(run())
    assert '"ended"' not in LOOP.write(LoopRecord(key=AttemptKey(KEY, "s", 1), inline_id="i", run_id=1))


class Lean(msgspec.Struct, omit_defaults=True):
    """A record whose class says by itself that defaults are left out."""

    number: int = 0
    words: tuple[str, ...] = ()


class Simple(msgspec.Struct, kw_only=True):
    """A record without anything that must be packed, and one field that has no default."""

    name: str
    number: int = 0


def test_a_class_may_leave_out_defaults_itself() -> None:
    document: Document[Lean] = Document("lean record", Lean, lean=True)
    assert document.write(Lean(number=1)) == '{"number":1}'
    assert lean_form(Lean) is form_of(Lean)
    simple: Document[Simple] = Document("simple record", Simple, lean=True)
    assert simple.write(Simple(name="x")) == '{"name":"x"}'
    assert simple.read('{"name":"x"}') == Simple(name="x")


class Odd(msgspec.Struct):
    """Keys and rows that no record has so far."""

    pairs: Mapping[RunKey, float] = {}
    names: frozenset[str] = frozenset()
    rows: tuple[Mapping[RunKey, int], ...] = ()
    share: tuple[float, ...] = ()


def test_maps_may_have_keys_that_are_records() -> None:
    document: Document[Odd] = Document("odd record", Odd)
    for value in (Odd(), Odd(pairs={KEY: 0.5}, names=frozenset("ab"), rows=({KEY: 1},), share=(0.5,))):
        assert document.read(document.write(value)) == value


class Strange(NamedTuple):
    inside: Any


@pytest.mark.parametrize("tp", [bytes, complex, Strange, tuple[Any, int], Iterator[int]])
def test_what_nobody_can_store_is_an_error_of_ours(tp: Any) -> None:
    with pytest.raises(TypeError, match="nobody knows how to store"):
        form_of(tp)


# ------------------------------------------------------------------------------------------- what is refused
DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        "\0",
        "a\0b",
        {"\0": 1},
        "\ud800",
        {1, object()},
        b"bytes",
        object(),
        DEEP,
        "x" * MOST_CHARACTERS,
    ],
    ids=["nul", "inner", "key", "surrogate", "set", *"bodl"],
)
def test_poison_is_refused_where_it_comes_in(value: Any) -> None:
    with pytest.raises(Poison):
        ATTEMPT.write(attempt(outputs={"value": value}))


def test_poison_is_told_from_its_looks() -> None:
    """A backslash before `u0000` is no NUL."""
    for text in ("\\u0000", "\\\\u0000", "u0000"):
        record = attempt(outputs={"value": text})
        assert ATTEMPT.read(ATTEMPT.write(record)) == record
    with pytest.raises(Poison, match="NUL"):
        ATTEMPT.write(attempt(outputs={"value": "\\\0"}))


def test_a_field_of_the_wrong_type_is_poison() -> None:
    with pytest.raises(Poison):
        ATTEMPT.write(attempt(reason=object()))


def test_arrays_of_expressions_become_lists() -> None:
    loop = Parameter(type=ParamType.MAP, value={}, evaluated_result={"i": LongArray([1, 2**40])})
    record = attempt(params={"loop_params": loop})
    back = ATTEMPT.read(ATTEMPT.write(record))
    assert back == record
    assert back.params is not None
    assert type(back.params["loop_params"].evaluated_result["i"]) is list


def test_steps_inside_steps_come_back() -> None:
    params = {"d": ParamDefinition(type=ParamType.DOUBLE, value=Decimal("2.50"), tags=(Tag(name="t"),))}
    undo = TypedStep(id="undo", type="NoOp", params=params)
    step = TypedStep(id="do", type="NoOp", compensation=undo)
    loop = LoopRecord(
        key=AttemptKey(KEY, "s", 1),
        inline_id="i",
        run_id=1,
        steps=(step, ForeachStep(id="each", steps=(undo, SubworkflowStep(id="sub")))),
    )
    assert LOOP.read(LOOP.write(loop)) == loop


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(Poison):
        LOOP.write(LoopRecord(key=AttemptKey(KEY, "s", 1), inline_id="i", run_id=1, tolerance=float("nan")))


def test_large_numbers_in_open_values_are_kept() -> None:
    record = attempt(outputs={"n": 2**200, "m": -(2**64)})
    assert ATTEMPT.read(ATTEMPT.write(record)) == record


def test_words_in_open_values_become_text() -> None:
    record = attempt(outputs={"status": StepStatus.RUNNING, "map": MappingProxyType({"a": 1})})
    back = ATTEMPT.read(ATTEMPT.write(record))
    assert back.outputs == {"status": "RUNNING", "map": {"a": 1}}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key":[["wf",1,1],"s",1]}'])
def test_what_can_not_be_read_says_so(text: str) -> None:
    with pytest.raises(Internal, match="a stored step attempt can not be read") as caught:
        ATTEMPT.read(text)
    assert caught.value.hint is not None


def test_what_a_newer_version_wrote_is_read_as_far_as_it_is_known() -> None:
    """Fields that are added in a release do not harm the release before it, which may still run."""
    text = RUN.write(run(status=RunStatus.FAILED))
    assert RUN.read(text[:-1] + ',"from_the_future":[1]}') == run(status=RunStatus.FAILED)


LONG = 2 * 1024 * 1024  # characters


@pytest.mark.parametrize(
    "value", ["x" * LONG, ("x" * 100_000,) * 21, tuple(range(LONG // 8))], ids=["text", "texts", "numbers"]
)
def test_a_long_value_is_written_once_with_its_result(value: Any) -> None:
    param = Parameter(type=ParamType.STRING, value=value, evaluated_result=value, evaluated_time=1)
    alone = Parameter(type=ParamType.STRING, value=value, evaluated_time=1)
    text = PARAMS.write({"p": param})
    assert len(text) < len(PARAMS.write({"p": alone})) + 100
    assert PARAMS.read(text) == {"p": param}


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("x" * LONG, "x" * (LONG - 1) + "y"),
        ((1,) * LONG, (True,) * LONG),
        ((1,) * LONG, [1] * LONG),
        ("x", "x"),
        ("x" * LONG, {"~value": True}),
    ],
    ids=["other", "flags", "list", "short", "mark"],
)
def test_a_result_that_is_not_read_as_its_value_is_written(value: Any, result: Any) -> None:
    param = Parameter(type=ParamType.STRING, value=value, evaluated_result=result, evaluated_time=1)
    found = PARAMS.read(PARAMS.write({"p": param}))["p"].evaluated_result
    assert found == result
    assert type(found) is type(result)
    assert [*map(type, found)] == [*map(type, result)]


@pytest.mark.parametrize("value", ["x" * (LONG - 1), ("x" * 100_000,) * 20], ids=["text", "texts"])
def test_what_earlier_releases_could_store_is_written_as_they_did(value: Any) -> None:
    """They read the same database while a deployment goes on."""
    param = Parameter(type=ParamType.STRING, value=value, evaluated_result=value, evaluated_time=1)
    assert "~value" not in PARAMS.write({"p": param})
