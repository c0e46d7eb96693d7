"""Maps, `params` and values from outside."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run, shown

from stretto.sel import (
    BooleanArray,
    DoubleArray,
    Kind,
    LongArray,
    Missing,
    SelError,
    StringArray,
    Type,
    compile_expression,
    type_of,
)
from stretto.sel.text import MAX_NESTING, text_of
from stretto.sel.values import PARAMS, Unset, is_null


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("m = new Map(); m.put('a', 1); m.put('a', 2);", 1),
        ("m = new HashMap(); m.put('a', 1);", None),
        ("m = new Map(); m.put('a', 1); m.get('a') + m.size();", 2),
        ("m = new Map(); m.get('a');", None),
        ("m = new Map(); m.containsKey('a');", False),
        ("m = new LinkedHashMap(); m.getOrDefault('a', 'x');", "x"),
        ("m = new Map(); m['a'];", None),
        ("x = new Map(); y = 1; x.put('foo', y); y = 2; x.get('foo');", 1),
        ("m = new Map(); n = m; n.put('a', 1); m.size();", 1),
        ("Map m; m.size();", 0),
        ("Map m; m.containsKey('a');", False),
        ("Map m; 'x' + m;", "xnull"),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("new Map().get(1);", Kind.CLASS_CAST),
        ("new Map().put(1, 1);", Kind.CLASS_CAST),
        ("Map m; m.get('a');", Kind.NULL_POINTER),
        ("Map m; m.put('a', 1);", Kind.NULL_POINTER),
        ("new Map().remove('a');", Kind.UNSUPPORTED),
        ("new Map().foo;", Kind.UNSUPPORTED),
        ("new Map()[1];", Kind.CLASS_CAST),
        ("new Map()[1.5];", Kind.ILLEGAL_ARGUMENT),
    ],
)
def test_what_does_not_exist_or_fails(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_text_and_json() -> None:
    script = "m = new Map(); m.put('a', 'x\"'); m.put('b', new double[]{1.0, 1e10}); m.put('c', VALUE); "
    assert shown(script.replace("VALUE", "new Map()") + "m;") == '{a=x", b=[1.0, 1.0E10], c={}}'
    assert shown(script.replace("VALUE", "null") + "m;").endswith("c=NULL}")
    json = run(script.replace("VALUE", "new int[0]") + "Util.toJson(m);")
    assert json == '{"a":"x\\"","b":[1.0,1.0E10],"c":[]}'
    assert (
        run("Util.toJson(new Map()) + Util.toJson(null) + Util.toJson(true) + Util.toJson(0.0/0);")
        == '{}nulltrue"NaN"'
    )
    assert shown("new int[0];") == "[]"
    assert shown("String[] a = new String[]{'x', 'y'}; a;") == "[x, y]"
    assert kind("Util.toJson(new DateTime(0));") is Kind.UNSUPPORTED
    assert kind("m = new Map(); m.put('a', null); Util.toJson(m);") is Kind.UNSUPPORTED
    assert kind("Util.toJson();") is Kind.ILLEGAL_ARGUMENT


def test_a_map_that_contains_itself_ends_in_an_error() -> None:
    for use in ("'x' + m", "Util.toJson(m)", "String.valueOf(m)"):
        error = failure(f"m = new Map(); m.put('m', m); return {use};")
        assert (error.kind, error.limit) == (Kind.ILLEGAL_STATE, "stack")


# ------------------------------------------------------------------------------------------------ params
def test_params_are_read_in_three_ways_and_copied_each_time() -> None:
    assert run("params.get('x') + params.x + params['x'];", x=41) == 123
    assert run("params.containsKey('x') && !params.containsKey('y');", x=1) is True
    assert run("params.y == null && params['y'] == null;") is True
    xs = [1, 2]
    assert run("long[] a = params.get('xs'); a[0] = 9; params.xs[0];", xs=xs) == 1
    assert run("xs[0] = 9; xs[0];", xs=xs) == 9
    assert xs == [1, 2]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("params.get(1);", Kind.CLASS_CAST),
        ("params.containsKey(1);", Kind.CLASS_CAST),
        ("params[1];", Kind.CLASS_CAST),
        ("params[1.5];", Kind.ILLEGAL_ARGUMENT),
        ("params.get();", Kind.UNSUPPORTED),
        ("params.put('a', 'b');", Kind.UNSUPPORTED),
        ("params.getFromStep('a');", Kind.UNSUPPORTED),
    ],
)
def test_params_can_do_no_more(script: str, expected: Any) -> None:
    assert kind(script) is expected


class Engine:
    """A host that knows one step."""

    def call(self, method, arguments):
        match method, *arguments:
            case "getFromStep", "extract", "rows":
                return 5
            case "getFromStep", "extract", "later":
                return Missing(("extract", "later"))
            case "getFromForeach", "loop", "job", name:
                return [1, 2] if name == "rows" else 3
            case _:
                raise SelError(Kind.MAESTRO_INTERNAL, f"{method} failed")


def test_row_65_the_host_answers_what_the_script_asks() -> None:
    assert run("params.getFromStep('extract', 'rows') + 1;", host=Engine()) == 6
    assert run("params.getFromForeach('loop', 'job', 'rows')[1];", host=Engine()) == 2
    assert run("params.get('x');", x=1, host=Engine()) == 1


def test_what_the_host_lacks_is_the_result() -> None:
    script = "x = 1; if (true) { x = params.getFromStep('extract', 'later'); } return x;"
    assert run(script, host=Engine()) == Missing(("extract", "later"))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("params.getFromStep('nope', 'rows');", Kind.MAESTRO_INTERNAL),
        ("params.getFromForeach('loop', 'job', 'x');", Kind.ILLEGAL_STATE),
        ("params.getFromStep(1);", Kind.UNSUPPORTED),
        ("params.f('a', 'b', 'c', 'd');", Kind.UNSUPPORTED),
    ],
)
def test_row_65_what_the_host_refuses_is_an_error(script: str, expected: Any) -> None:
    error = failure(script, host=Engine())
    assert (error.kind, error.line) == (expected, 1)


# ----------------------------------------------------------------------------------- values from outside
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", Type.STRING),
        (1, Type.LONG),
        (1.5, Type.DOUBLE),
        (True, Type.BOOLEAN),
        (None, Type.NULL),
        ([], Type.STRING_ARRAY),
        (["a", None], Type.STRING_ARRAY),
        ([1, 2], Type.LONG_ARRAY),
        ([1, 2.5], Type.DOUBLE_ARRAY),
        ([True], Type.BOOLEAN_ARRAY),
        (LongArray([1]), Type.LONG_ARRAY),
        (BooleanArray(), Type.BOOLEAN_ARRAY),
        (DoubleArray(), Type.DOUBLE_ARRAY),
        (StringArray(), Type.STRING_ARRAY),
        ({"a": 1, "b": [1], "c": {"d": "e"}}, Type.MAP),
    ],
)
def test_plain_values_have_types(value: Any, expected: Any) -> None:
    assert type_of(run("x;", x=value)) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**63, Kind.UNSUPPORTED),
        ({1, 2}, Kind.UNSUPPORTED),
        ((1, 2), Kind.UNSUPPORTED),
        (["a", 1], Kind.UNSUPPORTED),
        ([2**64], Kind.UNSUPPORTED),
        ({"a": object()}, Kind.ILLEGAL_ARGUMENT),
        ({"a": None}, Kind.ILLEGAL_ARGUMENT),
        ({"a": 2**63}, Kind.ILLEGAL_ARGUMENT),
        ({1: "a"}, Kind.ILLEGAL_ARGUMENT),
    ],
)
def test_other_values_are_refused_where_they_are_used(value: Any, expected: Any) -> None:
    error = failure("1 + x;", x=value)
    assert (error.kind, error.column) == (expected, 5)
    assert run("1;", x=value) == 1


def test_data_that_is_too_deep_is_refused() -> None:
    data: dict[str, Any] = {}
    for _ in range(MAX_NESTING + 2):
        data = {"m": data}
    assert kind("x;", x=data) is Kind.ILLEGAL_STATE


def test_half_characters_from_outside_are_joined() -> None:
    assert run("x.length() + x;", x="\ud83d\ude00") == "2😀"


def test_class_names_are_unset_values() -> None:
    assert repr(run("Days;")) == "Unset(DATETIME_DAYS)"
    assert isinstance(run("String;"), Unset)
    assert run("Long;") == 0
    assert run("params;") is PARAMS
    assert is_null(run("Map;"))
    assert run("Days;", Days=5) is not 5  # noqa: F632 - a class name hides a binding
    assert shown("Math;") == "MATH"
    assert text_of(compile_expression("int x = 1;").evaluate(), lambda _: None) == "VOID"
    assert text_of(compile_expression("throw 'x';").evaluate(), lambda _: None) == "ERROR: x"
