"""Limits: each has its own error, at its exact boundary, and everything that could run away meets one."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, run

from stretto.sel import BUDGET, Budget, Environment, Kind, Limits, SelError, compile_expression


@pytest.mark.parametrize(
    ("script", "visits"),
    [
        ("1;", 5),
        ("1+1;", 8),
        ("x=1;", 9),
        ("int x = 1;", 9),
        ("'a'.length();", 9),
        ("'a'.substring(1);", 12),
        ("new int[2];", 10),
        ("new int[]{1};", 10),
        ("new String();", 8),
        ("params.get('a');", 12),
        ("params['a'];", 10),
        ("params.a;", 7),
        ("if (true) 1;", 10),
        ("true ? 1 : 2;", 9),
        ("-1;", 6),
        ("for(;;) break;", 7),
        ("for(i=0;i<1;i+=1) 1;", 33),
        ("while(false) 1;", 6),
        ("{1;}", 7),
        ("(1);", 7),
        ("import a.b; 1;", 6),
    ],
)
def test_row_60_visits_are_counted_as_in_the_reference(script: str, visits: int) -> None:
    error = failure(script, limits=Limits(visit=visits))
    assert (error.kind, error.limit, error.line) == (Kind.ILLEGAL_STATE, "visit", 1)
    run(script, limits=Limits(visit=visits + 1))


@pytest.mark.parametrize(
    ("script", "operands"),
    [
        ("1+1+1+1;", 2),
        ("1+(1+(1+1));", 4),
        ("int x = 1;", 2),
        ("new int[]{1,1,1};", 4),
        ("int[] x = new int[]{1,1,1};", 5),
        ("String.join('', 'a', 'b');", 5),
        ("params.a;", 2),
        ("x = new int[1]; x[0] = 1;", 2),
        ("true ? 1 + 1 : 0;", 2),
        ("true && true;", 2),
    ],
)
def test_row_60_operands_are_counted_as_in_the_reference(script: str, operands: int) -> None:
    error = failure(script, limits=Limits(stack=operands - 1))
    assert (error.kind, error.limit) == (Kind.INDEX_OUT_OF_BOUNDS, "stack")
    run(script, limits=Limits(stack=operands))


def test_row_60_loops() -> None:
    script = "i = 0; while (true) { i += 1; if (i == 10) break; } return i;"
    assert run(script, limits=Limits(loop=10)) == 10
    error = failure(script.replace("10", "11"), limits=Limits(loop=10))
    assert (error.kind, error.limit) == (Kind.ILLEGAL_STATE, "loop")


def test_row_60_arrays() -> None:
    assert run("new int[9].length;", limits=Limits(array=10)) == 9
    for script in ("new int[10];", "new int[]{1,1,1,1,1,1,1,1,1,1};"):
        error = failure(script, limits=Limits(array=10))
        assert (error.kind, error.limit) == (Kind.ILLEGAL_ARGUMENT, "array")


def test_row_60_length_of_the_expression() -> None:
    assert compile_expression("1+1;" + " " * 11, 16).evaluate() == 2
    for text in ("1+1;" + " " * 12, "'" + "😀" * 7 + "';"):
        with pytest.raises(SelError) as caught:
            compile_expression(text, 16)
        assert (caught.value.kind, caught.value.limit) == (Kind.ILLEGAL_ARGUMENT, "length")


@pytest.mark.parametrize(
    ("script", "enough"),
    [
        ("1+1;", 65),  # two literals, before it runs
        ("'a' + 'b';", 69),
        ("x + 1;", 65),  # the binding and the sum
        ("new int[3];", 129),
        ("xs;", 97),
        ("m;", 129),
        ("throw 'ab';", 37),
    ],
)
def test_row_60_memory(script: str, enough: int) -> None:
    bindings: dict[str, Any] = {"x": 1, "xs": [1, 2], "m": {"a": 1, "b": "x"}}
    run(script, limits=Limits(memory=10_000), **bindings)
    error = failure(script, limits=Limits(memory=enough - 33), **bindings)
    assert (error.kind, error.limit) == (Kind.ILLEGAL_STATE, "memory")


def test_strings_have_a_limit_of_their_own() -> None:
    limits = Limits(string=100)
    assert run("s = 'a'; for (i = 0; i < 6; i += 1) s += s; s.length();", limits=limits) == 64
    for script in (
        "s = 'a'; while (true) s += s;",
        "s = 'a'; while (true) s = s + s;",
        "s = 'aaaaaaaaaa'; a = new String[50]; for (i = 0; i < 50; i += 1) a[i] = s;",
        "s = 'aaaaaaaaaa'; m = new Map(); for (i = 0; i < 50; i += 1) m.put('k' + i, s);",
    ):
        error = failure(script, limits=limits)
        assert (error.kind, error.limit, error.line) == (Kind.ILLEGAL_STATE, "string", 1)


SMALL = Limits(visit=1_000_000, memory=5_000_000, string=500_000)
LONG_STRING = "s = 'aaaaaaaaaaaaaaaa'; for (i = 0; i < 14; i += 1) s += s; "
BOMB = "a = new Map(); for (i = 0; i < 60; i += 1) { b = new Map(); b.put('x', a); b.put('y', a); a = b; } "


@pytest.mark.parametrize(
    ("script", "limit"),
    [
        ("while (true) {}", "loop"),
        ("for (;;) { for (;;) {} }", "loop"),
        ("s = 'a'; while (true) s += s;", "string"),
        ("s = 'a'; while (true) s = s + s;", "string"),
        ("s = 'a'; while (true) s = s.replace('a', 'aa');", "string"),
        ("s = 'a'; while (true) s = s.replaceAll('a', 'aa');", "visit"),
        ("s = 'a'; while (true) s = String.join(s, s, s, s);", "memory"),
        (LONG_STRING + "while (true) s == s + '';", "memory"),
        (LONG_STRING + "while (true) s.length();", "visit"),
        (LONG_STRING + "while (true) s == s;", "visit"),
        (LONG_STRING + "while (true) s += '';", "visit"),
        ("new int[2000000000];", "array"),
        ("m = new Map(); for (i = 0; i < 25000; i += 1) m.put('k' + i, new int[25000]);", "memory"),
        ("Util.intsBetween(0, 2147483647, 1);", "memory"),
        ("Util.dateIntsBetween('00010101', 99991231, 1000).length;", None),
        ("String.format('%999999999d', 1);", "memory"),
        ("String.format('%.999999999f', 1.0);", "memory"),
        (BOMB + "return 'x' + a;", "memory"),
        (BOMB + "return Util.toJson(a);", "memory"),
        ("{" * 4_000 + "}" * 4_000, "depth"),
        ("true ? 1 : " * 800 + "1;", "depth"),
        ("a[" * 3_000 + "0" + "]" * 3_000 + ";", "depth"),
        ("1 + (" * 1_000 + "1" + ")" * 1_000 + ";", "depth"),
        ("1 + (" * 128 + "1" + ")" * 128 + ";", "stack"),
        ("1 + (" * 127 + "1" + ")" * 127 + ";", None),
    ],
)
def test_row_60_what_could_run_away_ends_with_the_right_error(script: str, limit: str | None) -> None:
    if limit is None:
        run(script, limits=SMALL)
    else:
        assert failure(script, limits=SMALL).limit == limit


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("(" * 4_900 + "1" + ")" * 4_900 + ";", 1),
        ("- " * 4_900 + "1;", 1),
        ("1" + "+1" * 4_900 + ";", 4_901),
        ("'a'" + ".trim()" * 1_400 + ";", "a"),
        ("true" + "&&true" * 1_600 + ";", True),
        ("s = 'a'; for (i = 0; i < 14; i += 1) s += s; s.replaceAll('(a*)*b', 'x').length();", 16_384),
        ("s = 'a'; for (i = 0; i < 14; i += 1) s += s; (s + '!').split('(a|aa)+$').length;", 1),
    ],
)
def test_row_60_what_is_only_long_has_a_value(script: str, value: Any) -> None:
    assert run(script) == value


def test_a_caller_deep_in_the_stack_gets_an_error_and_no_crash() -> None:
    script = compile_expression("1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 + 1))))))))));")

    def dive(levels: int, bottom: Callable[[], Any]) -> Any:
        return dive(levels - 1, bottom) if levels else bottom()

    def deepest(bottom: Callable[[], Any]) -> SelError:
        """As deep as one can go before even the smallest expression fails."""
        for levels in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit()):
            try:
                dive(levels, bottom)
            except SelError as error:
                return error
        raise AssertionError

    assert deepest(script.evaluate).limit == "stack"
    fresh = iter(range(10_000))
    assert deepest(lambda: compile_expression(f"(({next(fresh)} + 1) + 2) * 9;")).limit == "stack"


# ------------------------------------------------------------------------------------------------ budgets
def test_an_evaluation_may_use_half_of_what_is_left_of_its_budget() -> None:
    budget = Budget(visits=100, memory=10_000)
    around = Environment(budget=budget)
    expression = compile_expression("while (true) 1;")
    for left in (50, 25, 13):
        with pytest.raises(SelError, match="its share of") as caught:
            expression.evaluate(environment=around)
        assert caught.value.limit == BUDGET
        assert budget.visits == left
    assert compile_expression("1;").evaluate(environment=around) == 1
    assert budget.visits == 13 - 5


def test_memory_has_a_budget_too() -> None:
    around = Environment(budget=Budget(visits=100_000, memory=100_000))
    with pytest.raises(SelError, match=r"its share of 100000 bytes of memory") as caught:
        compile_expression("Util.intsBetween(0, 5000, 1);").evaluate(environment=around)
    assert caught.value.limit == BUDGET
    with pytest.raises(SelError, match="its share of") as caught:
        compile_expression(f"'{'a' * 9000}';").evaluate(environment=Environment(budget=Budget(100, 18_000)))
    assert caught.value.limit == BUDGET


@pytest.mark.parametrize(("limits", "limit"), [(Limits(visit=20), "visit"), (Limits(memory=90), "memory")])
def test_a_limit_below_the_share_of_the_budget_is_that_limit(limits: Limits, limit: str) -> None:
    around = Environment(limits=limits, budget=Budget(visits=1_000, memory=100_000))
    with pytest.raises(SelError) as caught:
        compile_expression("while (true) 'a' + 'b';").evaluate(environment=around)
    assert caught.value.limit == limit
