"""Options of the wrong type are refused where they are written, with what to write instead."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from stretto import Cron, TraceError, step, workflow


@step
def work(n: int) -> int:
    return n


def of_step(**options: Any) -> Any:
    return step(**options)(work.fn)


def of_use(**options: Any) -> Any:
    return work.with_options(**options)


def of_workflow(**options: Any) -> Any:
    def traced(n: int = 1) -> int:
        return work(n)

    return workflow(**options)(traced)


def of_cron(**options: Any) -> Any:
    return of_workflow(schedule=Cron(**{"expression": "0 6 * * *", **options}))


WRONG: dict[Callable[..., Any], dict[str, list[Any]]] = {
    of_step: {
        "id": [3, b"x"],
        "retries": ["3", True, 2.5],
        "retry_delay": ["x", True, [1]],
        "backoff": [True, [1], "x", 2.5],
        "retry_limit": [[1]],
        "retry_if": [3, True],
        "timeout": [[1], True, "x", float("nan")],
        "tags": [3, [3], {"a": 1}],
        "rate": [10, True, ["10/minute"]],
        "failure_mode": [3, ["x"]],
        "waits_for": [3, [3]],
        "announces": [3, [None]],
        "description": [3],
        "name": [3],
        "on_success": [3, "x"],
        "on_failure": [[3]],
        "on_timeout": [{"a": print}],
        "cache_key": [3],
        "pool": [3],
        "tolerance": ["x", None, True],
        "required": [3, [3]],
    },
    of_use: {"rate": [10], "tags": [[3]], "timeout": [{}]},
    of_workflow: {
        "id": [3, b"x"],
        "owner": [3],
        "description": [3],
        "schedule": [3, [3], {"a": 1}],
        "signals": [3, [3]],
        "run_strategy": [3.5, [1], True],
        "timeout": [[1]],
        "tags": [3, [3]],
        "concurrency": ["x", 2.5, True],
        "undo_on_stop": [1],
        "on_status": [3, "x"],
    },
    of_cron: {
        "expression": [3, None],
        "catch_up": [None, 3, ["x"]],
        "catch_up_limit": [True, 2.5, "3"],
        "timezone": [3],
        "within": [[1], True],
    },
}


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (make, name, value)
        for make, each in WRONG.items()
        for name, values in each.items()
        for value in values
    ],
    ids=lambda each: getattr(each, "__name__", repr(each)),
)
def test_a_wrong_type_is_refused(make: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises(TraceError, match=f"`{name}` is .*{re.escape(repr(value).strip(chr(39)))}.*; write "):
        make(**{name: value})


def test_handlers_of_a_status() -> None:
    with pytest.raises(TraceError, match=r"`on_status\[FAILED\]` is 3; write a function"):
        of_workflow(on_status={"FAILED": 3})


def test_right_types_are_taken() -> None:
    assert of_step(tags={"a"}, rate="10/minute", on_success=[print], tolerance=0, required=("n",), id=None)
    assert of_workflow(
        schedule=[Cron("@daily"), "0 6 * * *"], tags=["a"], concurrency=3, on_status={"FAILED": print}
    )
    assert of_cron(catch_up="all", catch_up_limit=3, timezone="Europe/Berlin", within=60)


# ---------------------------------------------------------------------------------- what belongs to a class
class Shop:
    @step
    @staticmethod
    def close(n: int) -> int:
        return n

    @staticmethod
    def opened(n: int) -> int:
        return n

    @classmethod
    def made(cls, n: int) -> int:
        return n

    @property
    def size(self) -> int:
        return 1

    @cached_property
    def sum(self) -> int:
        return 1

    def total(self, n: int) -> int:
        return work(n)


@pytest.mark.parametrize("name", ["made", "size", "sum"])
@pytest.mark.parametrize("decorate", [step, step(retries=1), workflow, workflow(id="x")])
def test_what_needs_a_class_is_neither_step_nor_workflow(decorate: Any, name: str) -> None:
    function = vars(Shop)[name]
    with pytest.raises(TraceError) as refused:
        decorate(function)
    kind = type(function).__name__
    assert "test_option_types.py:" in str(refused.value)
    assert f"is a `{kind}`, which belongs to a class" in str(refused.value)
    assert "; write a function outside of the class" in str(refused.value)


@pytest.mark.parametrize("decorate", [workflow, workflow(id="x")])
def test_a_method_is_no_workflow(decorate: Any) -> None:
    with pytest.raises(
        TraceError, match=r"`Shop.total` is a method, and a workflow has no object to call it on"
    ):
        decorate(Shop.total)
    with pytest.raises(TraceError, match=r"`Shop.total` is a method"):
        decorate(Shop().total)
    with pytest.raises(TraceError, match="write `@staticmethod` above `@workflow`"):
        decorate(vars(Shop)["opened"])


def test_a_static_method_is_a_step() -> None:
    assert Shop.close(3) == Shop().close(4) - 1 == 3
    assert step(vars(Shop)["opened"])(5) == 5
