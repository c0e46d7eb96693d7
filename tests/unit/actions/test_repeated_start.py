"""A request id that is used again: which requests count as the same."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.actions.world import NOOP, World, flow

from stretto.actions.parts.repeated_start import check_repeated_start
from stretto.engine.records import RunKey
from stretto.model.errors import Conflict
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.ports.run_snapshot import read_run

P = ParamType


def of(kind: ParamType, value: Any, **more: Any) -> ParamDefinition:
    return ParamDefinition(type=kind, value=value, **more)


def json(value: Any) -> ParamDefinition:
    kind = P.STRING if isinstance(value, str) else P.STRING_ARRAY
    return of(kind, value, meta={"format": "json"})


def check(first: ParamDefinition, again: ParamDefinition) -> None:
    world = World()
    world.publish(flow(NOOP))

    def ask(param: ParamDefinition) -> tuple[StartResponse, StartRequest]:
        params: Params = {"x": param}
        request = StartRequest(initiator=ManualInitiator(), request_id="r1", run_params=params)
        return world.start(request_id="r1", params=params), request

    ask(first)
    made, request = ask(again)
    assert made.status is StartStatus.DUPLICATED
    world.do(check_repeated_start(world.store, made, request))


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (json('{"a": 1, "b": {"c": 2, "d": 3}}'), json('{"b": {"d": 3, "c": 2}, "a": 1}')),
        (json(('{"a": 1, "b": 2}', "[]")), json(('{"b": 2, "a": 1}', "[ ]"))),
        (json("[1, 1.50]"), json("[1.0, 1.5]")),
        (json("[NaN]"), json("[NaN]")),
        (json("not JSON"), json("not JSON")),
        (of(P.DOUBLE, Decimal("1.0")), of(P.DOUBLE, Decimal("1.00"))),
        (of(P.STRING_MAP, {"a": "1", "b": "2"}), of(P.STRING_MAP, {"b": "2", "a": "1"})),
        (of(P.STRING, "a[NULL]b"), of(P.STRING, "a\0b")),  # as databases store it
    ],
)
def test_the_same_values(first: ParamDefinition, again: ParamDefinition) -> None:
    check(first, again)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (json('{"a": 1}'), json('{"a": true}')),
        (json("[0]"), json("[false]")),
        (json("[1, 2]"), json("[2, 1]")),
        (json("[1]"), json("[1, 2]")),
        (json(("1", "2")), json(("2", "1"))),
        (json('"1"'), json("1")),
        (json("not JSON"), json("no JSON")),
        (of(P.STRING, "[1, 2]"), of(P.STRING, "[1,2]")),  # a text, not JSON
        (of(P.LONG, 1), of(P.BOOLEAN, True)),
        (of(P.STRING, "1"), of(P.LONG, 1)),
        (of(P.BOOLEAN_ARRAY, (True,)), of(P.BOOLEAN_ARRAY, (False,))),
        (of(P.LONG, 1), ParamDefinition(type=P.LONG, expression="return 1;")),
    ],
)
def test_other_values(first: ParamDefinition, again: ParamDefinition) -> None:
    with pytest.raises(Conflict, match="with other parameters: x"):
        check(first, again)


def test_a_run_that_is_gone_is_not_compared() -> None:
    world = World()
    made = StartResponse(
        workflow_id="flow",
        workflow_version_id=1,
        workflow_instance_id=7,
        workflow_run_id=1,
        workflow_uuid="r1",
        status=StartStatus.DUPLICATED,
    )
    assert world.do(read_run(world.store, RunKey("flow", 7, 1))) is None
    request = StartRequest(initiator=ManualInitiator(), request_id="r1", run_params={"x": json("1")})
    world.do(check_repeated_start(world.store, made, request))
