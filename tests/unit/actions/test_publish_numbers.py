"""What `stretto validate` accepts can be published: the same numbers, in every field that has one."""

import json
from typing import Any, Final

import pytest
from tests.unit.actions.world import ANN, World

from stretto.actions.publish import publish
from stretto.definition import check, load
from stretto.definition.parse import Options
from stretto.model.errors import StrettoError

NUMBERS: Final = (
    *(0, -1, 1, 2**31, 10**20, 0.5),
    *("0", "0s", "0 min", "0 ms", "-1", "-5 s", "00", " 0 ", "0.5", "1", "1 ms", "121 days", "", "never"),
)
ITEMS: Final = {"loop_params": {"value": {"i": {"value": [1], "type": "LONG_ARRAY"}}, "type": "MAP"}}
K: Final = {"loop_params": {"value": {"k": {"value": 0, "type": "LONG"}}, "type": "MAP"}}
BODY: Final = [{"step": {"id": "b", "type": "NoOp"}}]


def definition(properties: Any = None, step: Any = None, **workflow: Any) -> dict[str, Any]:
    steps = [step or {"step": {"id": "a", "type": "NoOp"}}]
    return {
        "properties": {"owner": "ann", **(properties or {})},
        "workflow": {"id": "flow", "steps": steps, **workflow},
    }


def typed(**fields: Any) -> dict[str, Any]:
    return definition(step={"step": {"id": "a", "type": "NoOp", **fields}})


def retried(**policy: Any) -> dict[str, Any]:
    return typed(retry_policy=policy)


def backing_off(kind: str, name: str, value: Any) -> dict[str, Any]:
    return retried(backoff={"type": kind, name: value})


FIELDS: Final[dict[str, Any]] = {
    "workflow timeout": lambda n: definition(timeout=n),
    "timeout of a step": lambda n: typed(timeout=n),
    "timeout of a foreach": lambda n: definition(
        step={"foreach": {"id": "f", "params": ITEMS, "steps": BODY, "timeout": n}}
    ),
    "instance_step_concurrency": lambda n: definition(instance_step_concurrency=n),
    "step_concurrency": lambda n: definition({"step_concurrency": n}),
    "workflow_concurrency": lambda n: definition(
        {"run_strategy": {"rule": "PARALLEL", "workflow_concurrency": n}}
    ),
    "concurrency of a foreach": lambda n: definition(
        step={"foreach": {"id": "f", "params": ITEMS, "steps": BODY, "concurrency": n}}
    ),
    "max_iterations": lambda n: definition(
        step={"while": {"id": "w", "condition": "k < 1", "params": K, "steps": BODY, "max_iterations": n}}
    ),
    **{
        f"{kind}_retry_limit": lambda n, kind=kind: retried(**{f"{kind}_retry_limit": n})
        for kind in ("error", "platform", "timeout")
    },
    **{
        f"fixed {kind}": lambda n, kind=kind: backing_off("FIXED_BACKOFF", f"{kind}_retry_backoff_in_secs", n)
        for kind in ("error", "platform", "timeout")
    },
    **{
        name: lambda n, name=name: backing_off("EXPONENTIAL_BACKOFF", name, n)
        for name in ("error_retry_exponent", "error_retry_limit_in_secs", "error_retry_backoff_in_secs")
    },
    "rate": lambda n: typed(rate=n),
}


async def is_published(world: World, text: str) -> bool:
    try:
        (read,) = load(text, Options(rules=False))
        await publish(world.store, ANN, read)
    except StrettoError:
        return False
    return True


@pytest.mark.parametrize("field", FIELDS)
def test_validate_accepts_what_can_be_published(field: str) -> None:
    world = World()
    made = {repr(number): json.dumps(FIELDS[field](number)) for number in NUMBERS}
    valid = {number: not check(text, Options()).problems for number, text in made.items()}
    assert valid == {number: world.do(is_published(world, text)) for number, text in made.items()}
    assert set(valid.values()) == {True, False} or field == "rate"
