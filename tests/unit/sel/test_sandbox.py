"""Row 61: nothing in an expression reaches Python, files, the network or other evaluations."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, run

from stretto.sel import Kind, SelError, compile_expression
from stretto.sel.runtime.access import METHODS, STATIC, VARIADIC
from stretto.sel.values import PRESETS

MEMBERS = (
    "__class__",
    "__globals__",
    "__init__",
    "__dict__",
    "getClass",
    "mro",
    "format",
    "encode",
    "evaluate",
)
SAFE = {"format"}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    "receiver",
    ["'a'", "(1)", "(1.5)", "true", "null", "new Map()", "new int[1]", "new DateTime(0)", *sorted(PRESETS)],
)
def test_row_61_no_attribute_of_python_is_reachable(receiver: str, member: str) -> None:
    for script in (f"{receiver}.{member};", f"{receiver}.{member}();", f"{receiver}.{member}('x');"):
        try:
            run(script)
        except SelError as error:
            assert error.kind in {Kind.UNSUPPORTED, Kind.ILLEGAL_ARGUMENT, Kind.PARSE}  # noqa: PT017 - either way
        else:
            assert receiver == "params" or member in SAFE


@pytest.mark.parametrize(
    "script",
    [
        "import java.lang.Runtime; Runtime.getRuntime().exec('id');",
        "System.exit(1);",
        "System.getenv('HOME');",
        "new ProcessBuilder('sh');",
        "new java.io.FileWriter('x');",
        "Thread.sleep(1);",
        "Class.forName('x');",
        "__import__('os');",
        "eval('1');",
        "open('x');",
        "(1).__class__.__bases__[0].__subclasses__();",
        "params.__class__.__name__;",
        "params.get('x').__class__;",
        "DateTimeZone.forID('../../etc/passwd');",
    ],
)
def test_row_61_attempts_to_escape_are_errors(script: str) -> None:
    assert failure(script).kind in {Kind.UNSUPPORTED, Kind.PARSE, Kind.ILLEGAL_ARGUMENT}


def test_row_61_nothing_stays_between_evaluations() -> None:
    run("x = 5; String = 'changed'; int y = 1;")
    assert run("x;") is None
    assert run("String.valueOf(1);") == "1"
    script = compile_expression("a = new int[]{1}; a[0] += 1; m = new Map(); m.put('k', a); return m;")
    first, second = script.evaluate(), script.evaluate()
    assert first == second == {"k": [2]}
    assert first is not second
    assert first["k"] is not second["k"]


def test_row_61_a_result_is_no_way_to_change_what_was_bound() -> None:
    given: dict[str, Any] = {"xs": [1, 2], "m": {"k": {"deep": [1]}}}
    result = run("m.get('k').put('new', xs); xs[0] = 9; return m;", **given)
    result["k"]["deep"].append(2)
    assert given == {"xs": [1, 2], "m": {"k": {"deep": [1]}}}


def test_tables_hold_only_functions() -> None:
    for tables in (METHODS, STATIC, VARIADIC):
        assert all(callable(method) for table in tables.values() for method in table.values())
