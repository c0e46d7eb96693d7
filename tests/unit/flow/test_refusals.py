# mypy: disable-error-code="arg-type, attr-defined, call-arg, misc"
# ruff: noqa: ARG001, ARG005
"""What can not be done with a value that is not known yet, and what is refused in workflow functions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from stretto.flow import (
    TraceError,
    collect,
    each,
    either,
    foreach,
    loop_while,
    on_failure,
    otherwise,
    size,
    step,
    subworkflow,
    switch,
    text,
    when,
    workflow,
)


@dataclass
class Order:
    total: float
    tags: list[str]


@step
def order(n: int) -> Order:
    return Order(n, [])


@step
def number(n: int) -> int:
    return n


@step
def words(n: int) -> list[str]:
    return ["x"] * n


@step
def anything(value: Any) -> Any:
    return value


@step
def total(values: list[int], by: int = 1) -> int:
    return sum(values) * by


@step
def nothing() -> None:
    pass


@workflow
def inner(n: int, m: int = 1) -> int:
    return number(n + m)


@workflow
def taking(subworkflow_id: str) -> None:
    anything(subworkflow_id)


def refused(function: Callable[[Any, Any], Any]) -> str:
    """The message that a workflow gives which does this with the number `n` and the order `o`."""

    def described(n: int) -> Any:
        function(n, order(n))

    with pytest.raises(TraceError) as caught:
        _ = workflow(id="w")(described).definition
    where, _, message = str(caught.value).partition(": ")
    assert where.startswith("tests/unit/flow/test_refusals.py:")
    return message


NOT_KNOWN = "is not known while the workflow is traced"


@pytest.mark.parametrize(
    "function",
    [
        lambda n, _: bool(n),
        lambda n, _: n or 1,
        lambda n, _: not n,
        lambda n, _: [each for each in n],  # noqa: C416
        lambda _, o: len(o),
        lambda _, o: 3 in o,
        lambda n, _: {n: 1},
        lambda n, _: str(n),
        lambda n, _: f"{n:>5}",
        lambda n, _: int(n),
        lambda n, _: float(n),
        lambda n, _: [1, 2][n],
        lambda n, _: n(),
        lambda n, _: n.__await__(),
        lambda _, o: setattr(o, "total", 1),
        lambda _, o: o.__setitem__("total", 1),
        lambda n, _: n.__enter__(),
        lambda n, _: n.real,
        lambda n, _: n[0],
        lambda _, o: o.tags["x"],
        lambda _, o: o[1.5],
        lambda _, o: o[True],
        lambda _, o: o.tags[:2],
    ],
)
def test_what_needs_the_value_now(function: Any) -> None:
    assert NOT_KNOWN in refused(function)


MESSAGES: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda n, _: n + {}, "the parameter `n` can not be computed with a dict; compute it in a step"),
    (
        lambda n, _: n + "x",
        "`+` of a whole number and text, the parameter `n` and 'x', can not be computed here",
    ),
    (lambda _, o: o + o, "`+` of an object and an object, the result of `order` and the result of `order`"),
    (lambda n, _: (n + 0.5) // 2, "`//` of a number and a whole number"),
    (lambda n, _: 2**n, "the exponent the parameter `n` is not known while the workflow is traced"),
    (lambda n, _: abs(text(n)), "the text is text: it has no absolute value"),
    (lambda n, _: n == "x", "they can not be compared; compare them in a step that returns a bool"),
    (lambda n, _: words(n) == words(n), "the result of `words_2` is a list: they can not be compared"),
    (lambda n, _: n & (n > 1), "`&` combines conditions, and the parameter `n` is a whole number"),
    (lambda n, _: (n > 1) | 1, "`|` combines conditions, and 1 is a whole number"),
    (lambda n, _: ~n, "the parameter `n` is a whole number, not a condition"),
    (lambda n, _: size(n), "the parameter `n` is a whole number, which has no size"),
    (lambda n, _: text(n, [1]), "`text` is given a list; give texts, numbers and values of steps"),
    (lambda _, o: number(o.nothing), "of the class `Order`, which has no `nothing`; it has total, tags"),
    (lambda n, o: number({"a": n}), "`n` is a whole number, and a dict was given; give a single value"),
    (lambda n, _: anything({1: n}), "a key of `value` is an `int`; use texts as keys"),
    (lambda n, _: anything({"n": n, "x": object()}), '`value["x"]` is an `object`'),
    (lambda n, _: anything({"n": n, "x": int}), '`value["x"]` is a `type`'),
    (lambda n, _: number(nothing()), "the result of `nothing` is nothing: the step is annotated `-> None`"),
    (lambda n, _: number(n, n), "`number` takes 1 arguments, and 2 were given; its arguments are n"),
    (lambda n, _: number(n, n=n), "`n` of `number` is given twice; give it once"),
    (lambda n, _: total(words(n)), "`values` is a list, and the result of `words` is a list; change one"),
    (lambda n, _: total([n], values=[n]), "`values` of `total` is given twice; give it once"),
    (lambda n, _: nothing(n), "`nothing` takes 0 arguments, and 1 were given; its arguments are none"),
    (lambda n, _: number(zzz=n), "`number` has no argument `zzz`; its arguments are n"),
    (lambda n, _: number.map({"a": 1}), "a loop goes through a list, and this is a `dict`; give a list"),
    (
        lambda n, _: number.map(n=n),
        "`.map(...)` of `number` goes through a list, and none of its arguments is",
    ),
    (
        lambda n, _: total.map(each([[1]]), by=each([1, 2])),
        "goes through lists side by side, and `values` has 1 element, `by` has 2 elements",
    ),
    (lambda n, _: anything.map(3), "a loop goes through a list, and this is an `int`"),
    (lambda n, _: inner(n, 2, 3), "the workflow `inner` has 2 parameters, and 3 values were given"),
    (lambda n, _: inner(n, n=2), "`n` of the workflow `inner` is given twice; give it once"),
    (lambda n, _: inner(n, k=2), "the workflow `inner` has no parameter `k`; its parameters are n, m"),
    (lambda n, _: inner(), "the workflow `inner` needs `n`; give a value"),
    (
        lambda n, _: subworkflow("x")(n),
        "the arguments of `x` are known by their names only; write `name=value`",
    ),
    (lambda n, _: taking("x"), "`subworkflow_id` says which workflow is meant; rename the argument"),
    (lambda n, _: either(), "`either(...)` takes what steps returned; give a plain value as"),
    (lambda n, _: either(n, 3), "`either(...)` takes what steps returned"),
    (
        lambda n, _: collect(3),
        "`collect(...)` gathers the results of a step in a loop; give it such a result",
    ),
    (lambda _, o: collect(o), "the result of `order` is not the result of a step in a loop that has ended"),
    (
        lambda n, _: number(n).after(n),
        "`.after(...)` needs the result of a step, not a value computed from it",
    ),
    (lambda n, _: number(n).after(3), "`.after(...)` needs the result of a step, not a int"),
    (lambda n, _: switch(3).__enter__(), "`switch` is given 3, which is known already; write a plain `if`"),
]


@pytest.mark.parametrize(
    ("annotation", "given", "message"),
    [
        (list[int], number, "returns a list, and the result of `number` is a whole number"),
        (str, number, "returns text, and the result of `number` is a whole number"),
        (int, words, "returns a whole number, and the result of `words` is a list"),
    ],
)
def test_a_workflow_returns_what_its_annotation_says(annotation: Any, given: Any, message: str) -> None:
    def returning(n: int) -> Any:
        return given(n)

    returning.__annotations__["return"] = annotation
    with pytest.raises(TraceError, match=message):
        _ = workflow(returning).definition


@pytest.mark.parametrize(("function", "message"), MESSAGES)
def test_each_refusal_says_why(function: Any, message: str) -> None:
    assert message in refused(function)


# ------------------------------------------------------------------------------------------------ statements
def cases_after_default(n: Any, _: Any) -> None:
    with switch(n) as case:
        with case(1):
            nothing()
        with case.default():
            nothing()
        with case(2):
            nothing()


def default_alone(n: Any, _: Any) -> None:
    with switch(n) as case, case.default():
        nothing()


def case_without_value(n: Any, _: Any) -> None:
    with switch(n) as case, case():
        nothing()


def case_in_case(n: Any, _: Any) -> None:
    with switch(n) as case, case(1), case(2):
        nothing()


def failure_elsewhere(n: Any, _: Any) -> None:
    with when(n > 1):
        a = number(n)
    with on_failure(a):
        nothing()


def failure_with_a_mode(n: Any, _: Any) -> None:
    a = number.with_options(failure_mode="FAIL_IMMEDIATELY")(n)
    with on_failure(a):
        nothing()


def second_otherwise(n: Any, _: Any) -> None:
    with when(n > 1):
        nothing()
    with otherwise():
        nothing()
    with otherwise():
        nothing()


def empty_loop(n: Any, _: Any) -> None:
    with foreach([1, 2]):
        pass


def empty_while(n: Any, _: Any) -> None:
    with loop_while(lambda v: v.i < 3, i=0):
        pass


def while_without_a_condition(n: Any, _: Any) -> None:
    with loop_while(lambda _v: True, i=0):
        nothing()


def step_in_a_condition(n: Any, _: Any) -> None:
    with loop_while(lambda v: number(v.i) < 3, i=0) as v:
        v.i = number(v.i)


def variable_set_after_the_loop(n: Any, _: Any) -> None:
    with loop_while(lambda v: v.i < 3, i=0) as v:
        v.i = number(v.i)
    v.i = 3


def no_variables(n: Any, _: Any) -> None:
    with loop_while(lambda _v: n > 3) as v:
        v.i = number(1)


def item_after_the_loop(n: Any, _: Any) -> None:
    with foreach([1]) as item:
        number(item)
    number(item)


def choice_after_the_loop(n: Any, _: Any) -> None:
    with foreach([1]) as item:
        a = number(item)
    either(a, default=1)


def inner_loop_gathered_outside(n: Any, _: Any) -> None:
    with foreach([1]), foreach([1]) as item:
        a = number(item)
    collect(a)


def while_gathered(n: Any, _: Any) -> None:
    with loop_while(lambda v: v.i < 3, i=0) as v:
        v.i = number(v.i)
        a = number(1)
    collect(a)


def later_in_a_branch(n: Any, _: Any) -> None:
    with when(n > 1):
        a = number(n)
    with when(n > 2):
        number(a)


STATEMENTS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (cases_after_default, "a case follows `default`, where it never runs; write `default` last"),
    (default_alone, "`default` is the only case; write a `case(value)` before it"),
    (case_without_value, "a case needs a value; write `case(value)`, or `case.default()`"),
    (case_in_case, "a case stands inside of another case; end the other one first"),
    (
        failure_elsewhere,
        "`number` is in another branch or loop than its `on_failure`; write `on_failure` beside",
    ),
    (
        failure_with_a_mode,
        "the failure of `number` is handled, so its failure mode can not be FAIL_IMMEDIATELY",
    ),
    (second_otherwise, "`otherwise` does not follow a `when`"),
    (empty_loop, "the loop `foreach` has no step in it; call a step in its body"),
    (empty_while, "the loop `loop` has no step in it"),
    (while_without_a_condition, "the condition of the loop does not depend on anything that changes"),
    (
        step_in_a_condition,
        "the condition of the loop calls the step `number`; call it in the body, and carry",
    ),
    (variable_set_after_the_loop, "`i` of `loop` is set after the loop; set it in the body"),
    (no_variables, "the loop has no variable `i`, only none; begin with `loop_while(..., i=...)`"),
    (item_after_the_loop, "the item of `foreach` is known only inside its loop; use it in the body"),
    (choice_after_the_loop, "the result of `number` is a different one in each pass of its loop"),
    (
        inner_loop_gathered_outside,
        "the result of `number` is in a loop inside of `foreach`; gather it at the end",
    ),
    (
        while_gathered,
        "the result of `number_2` is a different one in each pass of `loop`, and a while keeps none",
    ),
    (later_in_a_branch, "the result of `number` is known only inside its branch, which may not run"),
]


@pytest.mark.parametrize(("function", "message"), STATEMENTS)
def test_statements_in_the_wrong_place(function: Any, message: str) -> None:
    assert message in refused(function)


# -------------------------------------------------------------------------------------------- other workflows
def test_values_of_another_workflow_are_refused() -> None:
    leaked: list[Any] = []

    @workflow
    def first(n: int) -> None:
        leaked.extend([n, number(n)])

    _ = first.definition
    for use, message in [
        (lambda: number(leaked[0]), "the parameter `n` belongs to the workflow `first`, not to this one"),
        (lambda: either(leaked[1]), "the result of `number` belongs to the workflow `first`"),
        (lambda: collect(leaked[1]), "`collect(...)` gathers the results of a step in a loop"),
        (lambda: number(1).after(leaked[1]), "`number` and `number` belong to different workflows"),
    ]:
        assert message in refused(lambda _n, _o, use=use: use())


def test_workflows_that_call_each_other() -> None:
    flows: list[Any] = []

    @workflow
    def ping(n: int) -> None:
        flows[1](n)

    @workflow
    def pong(n: int) -> None:
        flows[0](n)

    flows += [ping, pong]
    with pytest.raises(TraceError, match="the workflow `ping` calls itself; write a `loop_while`"):
        _ = ping.definition


# ---------------------------------------------------------------------------------------------- compensation
def undo_two(a: int, b: int) -> None:
    assert a + b


def undo_text(answer: str) -> None:
    assert answer


@pytest.mark.parametrize(
    ("undo", "does", "message"),
    [
        (undo_two, number.fn, "`undo_two`, which undoes `number`, takes `a` and `b` besides"),
        (undo_text, nothing.fn, "`undo_text`, which undoes `nothing`, takes `answer` besides"),
        (undo_text, number.fn, "`answer` of what undoes `number` does not fit to what it would be given"),
    ],
)
def test_what_can_not_undo_a_step(undo: Any, does: Any, message: str) -> None:
    made = step(compensate=undo)(does)
    arguments = {each.name: 1 for each in made.function.values}
    assert message in refused(lambda _n, _o: made(**arguments))


# ----------------------------------------------------------------------------------------------------- others
def test_references_can_be_shown_and_looked_at() -> None:
    seen: list[str] = []

    @workflow
    def shown(n: int) -> None:
        done = nothing()
        with loop_while(lambda v: v.i < n, i=0) as v:
            v.i = number(v.i)
            assert not hasattr(v, "__wrapped__")
        assert not hasattr(n, "__wrapped__")
        seen.extend([repr(n), repr(order(n).total), repr(done)])

    _ = shown.definition
    assert seen == [
        "<the parameter `n`, not known yet>",
        "<the result of `order`.total, not known yet>",
        "<the result of `nothing`: nothing>",
    ]


def test_constants_that_no_expression_can_hold() -> None:
    @workflow
    def too_large(n: int) -> None:
        number(n + 10**4_000)

    with pytest.raises(TraceError, match="an integer has more than 4,000 digits"):
        _ = too_large.definition


def test_an_annotation_that_means_nothing() -> None:
    def described(x: "Unheard") -> None:  # type: ignore[name-defined]  # noqa: F821
        anything(x)

    with pytest.raises(TraceError, match="the annotation `Unheard` of `x` means nothing at run time"):
        workflow(described)
