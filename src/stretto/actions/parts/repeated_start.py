"""A start whose request id was used before: is it the same request?"""

from collections.abc import Iterator
from typing import Any, Final

from stretto.actions.parts.offload import offload
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.run_text import run_text
from stretto.model.errors import Conflict
from stretto.model.param import FORMAT, JSON, ParamDefinition, Params
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.model.wire import encode, loads, to_json, without_nul
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store

FIRST_RUN: Final = 1  # of an instance: the only one that a start makes
NEW_ID: Final = "use another request id to start a new run"


async def check_repeated_start(store: Store, made: StartResponse, request: StartRequest) -> None:
    """Refuse a start that repeats the request id of another request: of a start with other parameters, or of
    a restart. Only a duplicate costs a read.
    """
    if made.status is not StartStatus.DUPLICATED:
        return
    key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
    row = await read_run(store, key)
    if row is None:  # deleted meanwhile
        return
    if key.run_id > FIRST_RUN:
        raise _conflict(key, request, "which a restart made", NEW_ID)
    size = len(row.record.step_run_params) + len(request.step_run_params or {})
    names = await offload(size, _changed_names, row.record, request)
    if names:
        difference = f"which was started with other parameters: {', '.join(names)}"
        raise _conflict(key, request, difference, f"{NEW_ID}, or the parameters of that run to get it")


def _conflict(key: RunKey, request: StartRequest, difference: str, hint: str) -> Conflict:
    return Conflict(
        f"The request id [{request.request_id}] of workflow [{key.workflow_id}] belongs to run"
        f" {run_text(key)}, {difference}",
        hint=hint,
    )


def _changed_names(record: RunRecord, request: StartRequest) -> list[str]:
    """The parameters that differ, those of steps as `STEP:NAME`."""
    names = list(_differences(record.run_params, request.run_params or {}))
    before, now = record.step_run_params, request.step_run_params or {}
    for step_id in sorted({*before, *now}):
        names += [f"{step_id}:{name}" for name in _differences(before.get(step_id, {}), now.get(step_id, {}))]
    return names


def _differences(before: Params, now: Params) -> Iterator[str]:
    """Names of parameters that only one of them has, or that differ."""
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if one is None or other is None or not _is_same(_stored(one), _stored(other)):
            yield name


def _stored(param: ParamDefinition) -> dict[str, Any]:
    """A parameter as a database returns it, with the values of JSON texts instead of the texts."""
    wire = without_nul(encode(param))
    if wire.get(FORMAT) == JSON and "value" in wire:
        wire["value"] = _parsed(wire["value"])
    return dict(wire)


def _parsed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_parsed(each) for each in value]
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except ValueError:
        return value


def _is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: maps in any order of keys, numbers by value. `true` is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other) or to_json(one) == to_json(other)  # NaN does not equal itself
