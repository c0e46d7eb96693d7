"""What the steps before a step have returned."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from stretto.engine.outcome import is_undelivered
from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.param import RESULT, ParamType
from stretto.ports.history import History, NewestInInstance
from stretto.ports.run_snapshot import NewestAttempts
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.failures import ARTIFACT
from stretto.runtimes.python.own_params import FUNCTION, value_of
from stretto.runtimes.python.registry import Registry
from stretto.runtimes.python.values import Kind, decode

ONE_BY_ONE: Final = 4  # of more steps, those of the whole run are read at once


class Upstream:
    """Reads results back from the store: they were committed before anything could follow them."""

    def __init__(self, store: History | None, registry: Registry) -> None:
        self._store = store
        self._registry = registry

    async def results(self, run: RunKey, step_ids: Collection[str]) -> dict[str, Any]:
        """By the ids of these steps; those that never ran are left out."""
        if self._store is None or not step_ids:
            return {}
        found: dict[str, AttemptRecord] = {}
        if len(step_ids) > ONE_BY_ONE:
            rows = await self._store.attempts(NewestAttempts((run,)))
            found = {row.record.key.step_id: row.record for row in rows}
        else:
            for step_id in step_ids:
                newest = await self._store.attempts(NewestAttempts((run,), step_id))
                found.update((step_id, row.record) for row in newest)
        for step_id in step_ids:
            if step_id not in found:  # it was done in an earlier run, which this one goes on from
                earlier = await self._store.attempts(
                    NewestInInstance(run.workflow_id, run.instance_id, step_id)
                )
                found.update((step_id, row.record) for row in earlier)
        return {each: self._value(found[each]) for each in step_ids if each in found}

    def _value(self, record: AttemptRecord) -> Any:
        """What a step returned, as its own function would see it if it is known here."""
        params = record.params or {}
        param = params.get(RESULT)
        if param is None or param.evaluated_result is None or is_undelivered(record, RESULT):
            artifact = record.artifacts.get(ARTIFACT)
            kept = artifact.data.get(RESULT) if isinstance(artifact, DefaultArtifact) else None
            return decode(kept, Kind(ParamType.MAP), Any, record.key.step_id)
        function = self._registry.get(value_of(params, FUNCTION) or "")
        if function is None or function.kind is None:
            return decode(param.evaluated_result, Kind(param.type), Any, record.key.step_id)
        # Where a step holds the result in another way than its function says, as texts, they are JSON.
        is_json = function.kind.json if param.type is function.kind.type else _holds_text(param.type)
        kind = Kind(param.type, is_json)
        return decode(param.evaluated_result, kind, function.returns, record.key.step_id)


def _holds_text(kind: Any) -> bool:
    return str(kind.value).startswith("STRING")


def mapped(mapping: Mapping[str, str], results: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a step takes over from steps before it: `{target: "step.field"}`, or only `field`."""
    values: dict[str, Any] = {}
    lost: list[str] = []
    for target, source in mapping.items():
        found = _looked_up(source, results)
        if found is None:
            lost.append(f"`{source}` for `{target}`")
        else:
            values[target] = found[0]
    if lost:
        known = ", ".join(results) or "none"
        raise Refused(f"result_mapping finds nothing at {', '.join(lost)}; steps before this one: {known}")
    return values


def sources(mapping: Mapping[str, str]) -> set[str]:
    """The steps that a mapping may mean."""
    return {source.partition(".")[0] for source in mapping.values()}


def _looked_up(source: str, results: Mapping[str, Any]) -> tuple[Any] | None:
    step_id, _, path = source.partition(".")
    if step_id in results:
        found = _inside(results[step_id], path)
        if found is not None:
            return found
    return next(filter(None, (_inside(each, source) for each in results.values())), None)


def _inside(value: Any, path: str) -> tuple[Any] | None:
    for name in path.split(".") if path else ():
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif not isinstance(value, Mapping) and name.isidentifier() and hasattr(value, name):
            value = getattr(value, name)
        else:
            return None
    return (value,)
