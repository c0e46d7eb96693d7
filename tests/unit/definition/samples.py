"""Small definitions for tests, and short ways to say what came out of them."""

import json
from textwrap import dedent
from typing import Any

from stretto.definition import check, parse
from stretto.definition.limits import Limits
from stretto.definition.parse import DEFAULT_OPTIONS, Options
from stretto.model.wire import encode

Raw = dict[str, Any]


def step(step_id: str, *successors: str, **more: Any) -> Raw:
    """A NoOp step with unconditional edges."""
    transition = {"successors": dict.fromkeys(successors, "true")} if successors else {}
    return {"step": {"id": step_id, "type": "NoOp", "transition": transition, **more}}


def foreach(step_id: str, steps: list[Raw], loop: Raw | None = None, **more: Any) -> Raw:
    loop = {"i": {"value": [1, 2], "type": "LONG_ARRAY"}} if loop is None else loop
    params = {"loop_params": {"value": loop, "type": "MAP"}}
    return {"foreach": {"id": step_id, "params": params, "steps": steps, **more}}


def while_(step_id: str, steps: list[Raw], **more: Any) -> Raw:
    return {"while": {"id": step_id, "condition": "x < 3", "steps": steps, **more}}


def flow(*steps: Raw, properties: Raw | None = None, **workflow: Any) -> Raw:
    made = {"workflow": {"id": "wf", **workflow, "steps": list(steps)}}
    return made if properties is None else {"properties": properties, **made}


def text_of(value: Raw | str) -> str:
    return dedent(value) if isinstance(value, str) else json.dumps(value)


def found(value: Raw | str, options: Options = DEFAULT_OPTIONS) -> list[tuple[str, str]]:
    """Code and path of every problem."""
    return [(problem.code, problem.path) for problem in check(text_of(value), options).problems]


def spots(value: Raw | str, options: Options = DEFAULT_OPTIONS) -> list[tuple[str, int | None, int | None]]:
    """Code, line and column of every problem."""
    return [(each.code, each.line, each.column) for each in check(text_of(value), options).problems]


def with_limits(**limits: Any) -> Options:
    return Options(limits=Limits(**limits))


def model(value: Raw | str, options: Options = DEFAULT_OPTIONS) -> Raw:
    """The JSON value of the one definition in a text, as the model writes it."""
    made: Raw = encode(parse(text_of(value), options))
    return made


def steps_of(value: Raw | str, options: Options = DEFAULT_OPTIONS) -> list[Raw]:
    """The bodies of the top-level steps after compilation."""
    return [body for wrapped in model(value, options)["workflow"]["steps"] for body in wrapped.values()]


def edges_of(value: Raw | str) -> dict[str, Raw]:
    """Step id -> successors with their conditions, on the top level."""
    return {body["id"]: body["transition"].get("successors", {}) for body in steps_of(value)}


def place(text: str, mark: str) -> tuple[int, int]:
    """Line and column of the first place where `mark` stands."""
    before = text.partition(mark)[0]
    assert mark in text
    return before.count("\n") + 1, len(before) - before.rfind("\n")
